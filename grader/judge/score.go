package judge

import (
	"fmt"
	"slices"

	"grade/exercises/course"
	"grade/grader/verdict"
)

// Points returns all points of a check that is passed or waived, and none of any other.
func Points(check course.Check, v verdict.Verdict) int {
	if v.Earns() {
		return check.Points
	}
	return 0
}

// Score adds up the points that the results earn and the most that the checks in
// list can give. The list holds the checks that the grading was asked for; one
// without a result earns nothing and counts in the maximum. An error is a fault of
// the grader: two results of one name, an invalid verdict, or a result of a check
// outside the list that is not [verdict.NotRun].
func Score(list []course.Check, results []verdict.CheckResult) (points, most int, err error) {
	verdicts := make(map[string]verdict.Verdict, len(results))
	for _, r := range results {
		if _, twice := verdicts[r.Name]; twice {
			return 0, 0, fmt.Errorf("score: two results of %s", r.Name)
		}
		if !slices.Contains(verdict.CheckVerdicts, r.Verdict) {
			return 0, 0, fmt.Errorf("score: %s has the invalid verdict %q", r.Name, r.Verdict)
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
			return 0, 0, fmt.Errorf("score: %s has the verdict %s, but the grading was not asked for it", name, v)
		}
	}
	return points, most, nil
}
