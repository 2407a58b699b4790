package wording

import "grade/grader/verdict"

// Kinds is the order in which a report tells about checks, with their headings.
var Kinds = []struct{ Kind, title string }{
	{"correctness", "Correctness"},
	{"memory", "Memory"},
	{"speed", "Speed"},
}

// words say a verdict to a person.
var words = map[verdict.Verdict]string{
	verdict.Graded:        "graded",
	verdict.Invalid:       "refused",
	verdict.CompileError:  "does not compile",
	verdict.Passed:        "passed",
	verdict.WrongAnswer:   "wrong answer",
	verdict.RuntimeError:  "runtime error",
	verdict.TimeLimit:     "time limit",
	verdict.MemoryLimit:   "memory limit",
	verdict.OutputLimit:   "output limit",
	verdict.TooSlow:       "too slow",
	verdict.TooMuchMemory: "too much memory",
	verdict.Missing:       "no result recorded",
	verdict.NotRun:        "not run",
}

// Verdict says v to a person, and says so when v is none of the verdicts.
func Verdict(v verdict.Verdict) string {
	if w, ok := words[v]; ok {
		return w
	}
	return "unknown verdict"
}
