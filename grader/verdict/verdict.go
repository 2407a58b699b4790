package verdict

// Verdict is what came of a submission or of one check. The zero value is
// invalid; [CheckVerdicts] and [SubmissionVerdicts] list the valid ones.
type Verdict string

// The verdicts of a submission.
const (
	Graded       Verdict = "graded"        // built and tested: the checks tell the rest
	Invalid      Verdict = "invalid"       // refused by the vet, before anything ran
	CompileError Verdict = "compile_error" // does not compile, or lacks the exercise's API
)

// The verdicts of a check.
const (
	Passed        Verdict = "passed"          // every observation agrees with the reference's
	WrongAnswer   Verdict = "wrong_answer"    // an observation differs, or a precondition failed
	RuntimeError  Verdict = "runtime_error"   // panic, fatal error, or exit with a status
	TimeLimit     Verdict = "time_limit"      // CPU or wall time used up
	MemoryLimit   Verdict = "memory_limit"    // killed for its memory
	OutputLimit   Verdict = "output_limit"    // wrote more than it may
	TooSlow       Verdict = "too_slow"        // right, and surely above the limit on CPU time
	TooMuchMemory Verdict = "too_much_memory" // right, and above the limit on peak memory
	Missing       Verdict = "missing"         // ended as if well, without the evidence
	NotRun        Verdict = "not_run"         // not asked for, or the budget was used up before
)

// SubmissionVerdicts are the valid verdicts of a submission.
var SubmissionVerdicts = []Verdict{Graded, Invalid, CompileError}

// CheckVerdicts are the valid verdicts of a check.
var CheckVerdicts = []Verdict{Passed, WrongAnswer, RuntimeError, TimeLimit, MemoryLimit, OutputLimit,
	TooSlow, TooMuchMemory, Missing, NotRun}
