package verdict

// Refusal is a verdict on a submission as a whole, [Invalid] or [CompileError], with
// its reasons. The zero value refuses nothing.
type Refusal struct {
	Verdict  Verdict
	Problems []Problem
}

// Any reports whether there is a refusal.
func (r Refusal) Any() bool { return r.Verdict != "" }
