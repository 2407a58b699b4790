// Package report writes a grading down: one file a format, each a function of a
// [grader.Result] and nothing else. It decides nothing about points and asks no
// clock, file or terminal; the same result gives the same bytes.
//
// What a submission can put into a result (file names, messages, details, its
// folder's name) is hostile until written: each format escapes for the place where
// it is read.
package report

import (
	"grade/grader"
)

// kinds is the order in which a report tells about checks, with their headings.
var kinds = []struct{ kind, title string }{
	{"correctness", "Correctness"},
	{"memory", "Memory"},
	{"speed", "Speed"},
}

// words say a verdict to a person.
var words = map[grader.Verdict]string{
	grader.Graded:        "graded",
	grader.Invalid:       "refused",
	grader.CompileError:  "does not compile",
	grader.Passed:        "passed",
	grader.WrongAnswer:   "wrong answer",
	grader.RuntimeError:  "runtime error",
	grader.TimeLimit:     "time limit",
	grader.MemoryLimit:   "memory limit",
	grader.OutputLimit:   "output limit",
	grader.TooSlow:       "too slow",
	grader.TooMuchMemory: "too much memory",
	grader.Missing:       "no evidence",
	grader.NotRun:        "not run",
}

// word says v to a person, and says so when v is none of the verdicts.
func word(v grader.Verdict) string {
	if w, ok := words[v]; ok {
		return w
	}
	return "unknown verdict"
}
