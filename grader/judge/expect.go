package judge

import (
	"fmt"
	"maps"
	"slices"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader/verdict"
)

// Mismatch is an expectation that a result does not meet.
type Mismatch struct {
	Field string // of expect.yaml, as [fixture.Expect.Line] takes it
	What  string
}

func (d Mismatch) String() string { return d.What }

// Mismatches compares a result with the expectations of a shipped submission. Control
// is the result of the submission that a forgery must not beat, or nil; expect.yaml
// names it in the field twin. A grading of some kinds of check has a score that means
// nothing alone, so that the score is compared with the control's only, whose grading
// must be of the same kinds.
func Mismatches(x fixture.Expect, r, control *verdict.Result) (list []Mismatch) {
	mismatch := func(field, format string, args ...any) {
		list = append(list, Mismatch{field, fmt.Sprintf(format, args...)})
	}
	if r.Verdict != x.Verdict {
		mismatch("verdict", "verdict %s, want %s%s", r.Verdict, x.Verdict, firstProblem(r))
	}
	if x.Rule != "" && !slices.ContainsFunc(r.Problems, func(p verdict.Problem) bool { return p.Rule == x.Rule }) {
		mismatch("rule", "want a problem of rule %s, found none%s", x.Rule, firstProblem(r))
	}
	for _, name := range slices.Sorted(maps.Keys(x.Checks)) {
		i := slices.IndexFunc(r.Checks, func(c verdict.CheckResult) bool { return c.Name == name })
		switch {
		case i < 0:
			mismatch("checks/"+name, "the exercise has no check %s", name)
		case r.Checks[i].Verdict == verdict.Waived: // this machine cannot tell
		case r.Checks[i].Verdict != x.Checks[name]:
			mismatch("checks/"+name, "%s: %s, want %s (%s)", name, r.Checks[i].Verdict, x.Checks[name], r.Checks[i].Detail)
		}
	}
	if r.MaxScore == course.MaxScore {
		if x.Score != nil && r.Score != *x.Score {
			mismatch("score", "score %d, want %d%s", r.Score, *x.Score, Lost(r))
		}
		if x.MaxScore != nil && r.Score > *x.MaxScore {
			mismatch("max_score", "score %d, want at most %d", r.Score, *x.MaxScore)
		}
	}
	if control != nil && r.Score > control.Score {
		mismatch("twin", "score %d; its control, the same program without the trick, scores %d", r.Score, control.Score)
	}
	return list
}

func firstProblem(r *verdict.Result) string {
	if len(r.Problems) == 0 {
		return ""
	}
	p := r.Problems[0]
	return fmt.Sprintf(": %s:%d: %s: %s", p.File, p.Line, p.Rule, p.Message)
}

// Lost names the checks that were run and lost, with their verdicts and why.
func Lost(r *verdict.Result) (list string) {
	for _, c := range r.Checks {
		if c.Verdict != verdict.NotRun && !c.Verdict.Earns() {
			list += fmt.Sprintf("; %s: %s (%s)", c.Name, c.Verdict, c.Detail)
		}
	}
	return list
}
