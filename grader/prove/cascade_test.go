package prove

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
		return findings(c)
	}
	const begins = "exercises/mean/submissions: half of the mistakes without a reason (cascade) cost "
	assert.Empty(t, find(4, 5))
	assert.Equal(t, []string{begins + "6 points or more in hidden tests that they do not declare; want less than half of them above 5"}, find(4, 6))
	assert.Empty(t, find(12, 12))
	assert.Equal(t, []string{begins + "13 points or more in hidden tests that they do not declare; want less than half of them above 12 (which a hidden test has on average)"}, find(12, 13))
}
