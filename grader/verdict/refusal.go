package verdict

// Refusal is a verdict on a submission as a whole, [Invalid] or [CompileError],
// with the reasons. The zero value says that there is none.
type Refusal struct {
	Verdict  Verdict
	Problems []Problem
}

// Any reports whether there is a refusal.
func (r Refusal) Any() bool { return r.Verdict != "" }
