package judge

import (
	"fmt"
	"maps"
	"slices"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader/verdict"
)

// Difference is an expectation that was not met.
type Difference struct {
	Field string // of expect.yaml, as [exercises.Expect.Line] takes it
	What  string
}

func (d Difference) String() string { return d.What }

// Unmet holds a result against what a shipped submission must get, and returns
// what differs. Twin is the result of the submission that it must
// not beat, or nil. Of a grading that was asked for some kinds of check only,
// the score says nothing, and no score is looked at but the twin's, which must
// be of the same kinds.
func Unmet(x fixture.Expect, r, twin *verdict.Result) (differences []Difference) {
	differ := func(field, format string, args ...any) {
		differences = append(differences, Difference{field, fmt.Sprintf(format, args...)})
	}
	if r.Verdict != x.Verdict {
		differ("verdict", "verdict %s, want %s%s", r.Verdict, x.Verdict, firstProblem(r))
	}
	if x.Rule != "" && !slices.ContainsFunc(r.Problems, func(p verdict.Problem) bool { return p.Rule == x.Rule }) {
		differ("rule", "no problem of the rule %s%s", x.Rule, firstProblem(r))
	}
	for _, name := range slices.Sorted(maps.Keys(x.Checks)) {
		i := slices.IndexFunc(r.Checks, func(c verdict.CheckResult) bool { return c.Name == name })
		switch {
		case i < 0:
			differ("checks/"+name, "%s: no such check", name)
		case r.Checks[i].Verdict != x.Checks[name]:
			differ("checks/"+name, "%s: %s, want %s (%s)", name, r.Checks[i].Verdict, x.Checks[name], r.Checks[i].Detail)
		}
	}
	if r.MaxScore == course.MaxScore {
		if x.Score != nil && r.Score != *x.Score {
			differ("score", "score %d, want %d%s", r.Score, *x.Score, lost(r))
		}
		if x.MaxScore != nil && r.Score > *x.MaxScore {
			differ("max_score", "score %d, want at most %d", r.Score, *x.MaxScore)
		}
	}
	if twin != nil && r.Score > twin.Score {
		differ("twin", "score %d, and without the trick %d", r.Score, twin.Score)
	}
	return differences
}

func firstProblem(r *verdict.Result) string {
	if len(r.Problems) == 0 {
		return ""
	}
	p := r.Problems[0]
	return fmt.Sprintf(": %s:%d: %s: %s", p.File, p.Line, p.Rule, p.Message)
}

// lost names the checks that did not pass.
func lost(r *verdict.Result) (list string) {
	for _, c := range r.Checks {
		if c.Verdict != verdict.Passed {
			list += fmt.Sprintf("; %s: %s (%s)", c.Name, c.Verdict, c.Detail)
		}
	}
	return list
}
