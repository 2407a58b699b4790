// Package verdict holds the words of a result: verdicts, kinds of checks, problems,
// and the [Result] itself with its JSON form. It decides nothing and imports no other
// package of grade, so that reports, stores and courses can all speak of verdicts.
package verdict

// Verdict is the outcome of a submission or of one check. The zero value is invalid;
// [CheckVerdicts] and [SubmissionVerdicts] list the valid ones.
type Verdict string

// The verdicts of a submission.
const (
	Graded       Verdict = "graded"        // built and tested: each check has its own verdict
	Invalid      Verdict = "invalid"       // refused by its files or by the vet, before it ran
	CompileError Verdict = "compile_error" // does not compile, or lacks the exercise's API
)

// The verdicts of a check.
const (
	Passed        Verdict = "passed"          // every observation agrees with the reference's
	DataRace      Verdict = "data_race"       // the race detector saw two accesses without an order between them
	WrongAnswer   Verdict = "wrong_answer"    // an observation differs, or a check inside the test failed
	RuntimeError  Verdict = "runtime_error"   // panic, fatal error, or exit with a status other than 0
	TimeLimit     Verdict = "time_limit"      // exceeded its limit on CPU or wall time
	MemoryLimit   Verdict = "memory_limit"    // exceeded its memory limit
	OutputLimit   Verdict = "output_limit"    // wrote or recorded more than its limit
	TooSlow       Verdict = "too_slow"        // right, and above the limit on CPU time
	TooMuchMemory Verdict = "too_much_memory" // right, and above the limit on peak memory
	Missing       Verdict = "missing"         // exited as if all were well, without a whole record
	NotRun        Verdict = "not_run"         // not asked for, or the time budget was exceeded before
	Waived        Verdict = "waived"          // cannot be decided, by no fault of the submission: its points are given
)

// SubmissionVerdicts are the valid verdicts of a submission.
var SubmissionVerdicts = []Verdict{Graded, Invalid, CompileError}

// CheckVerdicts are the valid verdicts of a check.
var CheckVerdicts = []Verdict{Passed, WrongAnswer, RuntimeError, TimeLimit, MemoryLimit, OutputLimit,
	TooSlow, TooMuchMemory, Missing, NotRun, DataRace, Waived}

// Earns reports whether a check with this verdict has its points.
func (v Verdict) Earns() bool { return v == Passed || v == Waived }
