// Package report writes a grading down: one file a format, each a function of a
// [grader.Result] and nothing else. It decides nothing about points and asks no
// clock, file or terminal; the same result gives the same bytes.
//
// What a submission can put into a result (file names, messages, details, its
// folder's name) is hostile until written: each format escapes for the place where
// it is read.
package report

import "grade/grader/verdict"

// kinds is the order in which a report tells about checks, with their headings.
var kinds = []struct{ kind, title string }{
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
	verdict.Missing:       "no evidence",
	verdict.NotRun:        "not run",
}

// word says v to a person, and says so when v is none of the verdicts.
func word(v verdict.Verdict) string {
	if w, ok := words[v]; ok {
		return w
	}
	return "unknown verdict"
}
