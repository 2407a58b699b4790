package wording

import "grade/grader/verdict"

// Kinds lists the kinds of checks in the order of a report, with their headings.
var Kinds = []struct{ Kind, title string }{
	{"correctness", "Correctness"},
	{"race", "Data races"},
	{"memory", "Memory"},
	{"speed", "Speed"},
}

// words has the words of each verdict.
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
	verdict.DataRace:      "data race",
	verdict.Waived:        "points given",
}

// Verdict returns the words of v. A value that is no verdict says so.
func Verdict(v verdict.Verdict) string {
	if w, ok := words[v]; ok {
		return w
	}
	return "unknown verdict"
}
