package judge

import (
	"fmt"
	"slices"

	"grade/exercises/course"
	"grade/grader/verdict"
)

// Points is all or nothing: a check is passed or it is not.
func Points(check course.Check, v verdict.Verdict) int {
	if v == verdict.Passed {
		return check.Points
	}
	return 0
}

// Score adds up the points of the checks in list, which are those of the
// exercise that were asked for, and the most that they can give: what has no
// result earns nothing and counts in the maximum. A result outside the list is
// one that was not run. Any other, a second one of a name, or one without a
// valid verdict is a fault of ours.
func Score(list []course.Check, results []verdict.CheckResult) (points, most int, err error) {
	verdicts := make(map[string]verdict.Verdict, len(results))
	for _, r := range results {
		if _, twice := verdicts[r.Name]; twice {
			return 0, 0, fmt.Errorf("score: two results of %s", r.Name)
		}
		if !slices.Contains(verdict.CheckVerdicts, r.Verdict) {
			return 0, 0, fmt.Errorf("score: %s has the verdict %q, which is none", r.Name, r.Verdict)
		}
		verdicts[r.Name] = r.Verdict
	}
	for _, check := range list {
		most += check.Points
		points += Points(check, verdicts[check.Name])
		delete(verdicts, check.Name)
	}
	for name, v := range verdicts {
		if v != verdict.NotRun {
			return 0, 0, fmt.Errorf("score: %s was decided, and nobody asked for it", name)
		}
	}
	return points, most, nil
}
