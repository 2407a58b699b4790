package prove

import (
	"cmp"
	"slices"

	"grade/grader/verdict"
)

// Change is the effect of a changed exercise on one submission.
type Change struct {
	Submission string        `json:"submission"`
	Seed       string        `json:"seed"` // of both gradings
	Old        Outcome       `json:"old"`
	New        Outcome       `json:"new"`
	Checks     []CheckChange `json:"checks"` // the checks that differ; empty if one version did not test the submission
}

// Outcome is a submission under one version of an exercise.
type Outcome struct {
	Verdict  verdict.Verdict `json:"verdict"`
	Score    int             `json:"score"`
	MaxScore int             `json:"max_score"`
	Problem  string          `json:"problem"` // the first, of one that was refused or does not compile
}

// CheckChange is a check with another verdict or other points. A verdict is empty if
// that version of the exercise has no such check.
type CheckChange struct {
	Name      string          `json:"name"`
	Old       verdict.Verdict `json:"old"`
	New       verdict.Verdict `json:"new"`
	OldPoints int             `json:"old_points"`
	NewPoints int             `json:"new_points"`
	Why       string          `json:"why"` // detail or hint of the check that failed, the new one first

	kind verdict.Kind
}

// Scores reports whether the score changes.
func (c *Change) Scores() bool { return c.Old.Score != c.New.Score }

// measured reports whether a measured check differs, which may be chance.
func (c *Change) measured() bool { return slices.ContainsFunc(c.Checks, CheckChange.measured) }

// measured reports whether a check that both versions have was measured.
func (c CheckChange) measured() bool {
	return c.kind.Measured() && c.Old != "" && c.New != ""
}

// confirmed returns c without the measured checks that differ otherwise in a second
// comparison: near a limit a ratio falls on either side, whatever the exercise. It
// returns nil if no difference is left.
func (c *Change) confirmed(other *Change) *Change {
	kept := []CheckChange{}
	for _, one := range c.Checks {
		again := other != nil && slices.ContainsFunc(other.Checks, func(o CheckChange) bool {
			return o.Name == one.Name && o.Old == one.Old && o.New == one.New
		})
		if one.measured() && !again {
			c.New.Score += one.OldPoints - one.NewPoints
			continue
		}
		kept = append(kept, one)
	}
	c.Checks = kept
	if !c.Scores() && c.Old.Verdict == c.New.Verdict && len(kept) == 0 {
		return nil
	}
	return c
}

// Compare compares the results of one submission under two versions of an exercise. It
// returns nil if score and verdicts are the same.
func Compare(submission string, before, after *verdict.Result) *Change {
	c := &Change{Submission: submission, Seed: after.Seed, Old: outcome(before), New: outcome(after), Checks: []CheckChange{}}
	if before.Verdict == verdict.Graded && after.Verdict == verdict.Graded {
		c.Checks = compareChecks(before.Checks, after.Checks)
	}
	if !c.Scores() && before.Verdict == after.Verdict && len(c.Checks) == 0 {
		return nil
	}
	return c
}

func outcome(r *verdict.Result) Outcome {
	o := Outcome{Verdict: r.Verdict, Score: r.Score, MaxScore: r.MaxScore}
	if r.Verdict != verdict.Graded && len(r.Problems) > 0 {
		p := r.Problems[0]
		o.Problem = inPlace(p.File, p.Line, p.Message)
	}
	return o
}

// compareChecks lists the checks that differ, in the order of the new exercise; checks
// that it lacks come last. It skips a check that ran in neither grading.
func compareChecks(before, after []verdict.CheckResult) []CheckChange {
	changes := []CheckChange{}
	add := func(was, is verdict.CheckResult) {
		gained := was.Points != is.Points || was.Verdict != is.Verdict
		if asked := ran(was) || ran(is); asked && gained {
			changes = append(changes, CheckChange{
				Name: cmp.Or(is.Name, was.Name), Old: was.Verdict, New: is.Verdict, OldPoints: was.Points, NewPoints: is.Points,
				Why: cmp.Or(why(is), why(was)), kind: verdict.Kind(cmp.Or(is.Kind, was.Kind)),
			})
		}
	}
	for _, is := range after {
		add(find(before, is.Name), is)
	}
	for _, was := range before {
		if find(after, was.Name).Name == "" {
			add(was, verdict.CheckResult{})
		}
	}
	return changes
}

func ran(c verdict.CheckResult) bool { return c.Verdict != "" && c.Verdict != verdict.NotRun }

// find returns the check of that name, or the zero value.
func find(list []verdict.CheckResult, name string) verdict.CheckResult {
	if i := slices.IndexFunc(list, func(c verdict.CheckResult) bool { return c.Name == name }); i >= 0 {
		return list[i]
	}
	return verdict.CheckResult{}
}

// why returns the detail or the hint of a check that is not passed.
func why(c verdict.CheckResult) string {
	if c.Verdict == verdict.Passed {
		return ""
	}
	return cmp.Or(c.Detail, c.Hint)
}
