package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A check that was not asked for costs nothing; points without a pass are none.
func TestAllPoints(t *testing.T) {
	check := func(kind Kind, v Verdict, points int) CheckResult {
		return CheckResult{Kind: string(kind), Verdict: v, Points: points, MaxPoints: 50}
	}
	right, slow := check(Correctness, Passed, 50), check(Speed, TooSlow, 0)
	for name, c := range map[string]struct {
		result Result
		only   []Kind
		want   bool
	}{
		"all":                        {Result{Verdict: Graded, Checks: []CheckResult{right}}, nil, true},
		"refused":                    {Result{Verdict: Invalid}, nil, false},
		"one is missing":             {Result{Verdict: Graded, Checks: []CheckResult{right, slow}}, nil, false},
		"one that was not asked for": {Result{Verdict: Graded, Checks: []CheckResult{right, slow}}, []Kind{Correctness}, true},
		"one that was asked for":     {Result{Verdict: Graded, Checks: []CheckResult{right, slow}}, []Kind{Correctness, Speed}, false},
		"passed for fewer points":    {Result{Verdict: Graded, Checks: []CheckResult{check(Memory, Passed, 49)}}, nil, false},
		"all points, and no pass":    {Result{Verdict: Graded, Checks: []CheckResult{check(Memory, Missing, 50)}}, nil, false},
	} {
		assert.Equal(t, c.want, c.result.AllPoints(c.only), name)
	}
}
