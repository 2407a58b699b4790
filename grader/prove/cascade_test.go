package prove

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/verdict"
)

// The median may be 5 points, or what a hidden test has on average: the finding says which.
func TestMedianBeyond(t *testing.T) {
	find := func(points, beyond int) []string {
		e := &course.Exercise{Name: "mean"}
		for _, name := range []string{"TestA", "TestB", "TestC"} {
			e.Checks = append(e.Checks, course.Check{Name: name, Kind: verdict.Correctness, Points: points})
		}
		c := &Checking{exercise: e, report: &Report{Exercise: "mean", Cascades: []Cascade{{Submission: "a", Beyond: beyond}, {Submission: "b", Beyond: beyond}, {Submission: "c", Reason: "all", Beyond: 99}}}}
		c.cascades()
		c.medianCascade()
		return findings(c)
	}
	const begins = "exercises/mean/submissions: half of the mistakes without a reason (cascade) cost "
	assert.Empty(t, find(4, 5))
	assert.Equal(t, []string{begins + "6 points or more in hidden tests that they do not declare; want less than half of them above 5"}, find(4, 6))
	assert.Empty(t, find(12, 12))
	assert.Equal(t, []string{begins + "13 points or more in hidden tests that they do not declare; want less than half of them above 12 (which a hidden test has on average)"}, find(12, 13))
}

// Of some submissions the median says nothing about the exercise. What one of them costs is
// told all the same.
func TestMedianOfAll(t *testing.T) {
	find := func(chosen, complete bool) []string {
		c := begun(result(verdict.Passed, verdict.Passed, verdict.Passed))
		c.chosen, c.options.Quick = chosen, true
		c.report.Cascades = []Cascade{{Submission: "wrong_answer/sum", Beyond: 61}}
		c.conclude(complete)
		return findings(c)
	}
	require.Len(t, find(false, true), 2)
	for _, found := range [][]string{find(true, true), find(false, false)} {
		require.Len(t, found, 1)
		assert.Contains(t, found[0], "wrong_answer/sum/expect.yaml: one mistake costs 61 points")
	}
}
