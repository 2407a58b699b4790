package main

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/verdict"
)

var seeds = flag.Int("seeds", 0, "test accepted submissions on inputs of so many seeds; make seeds")

// No honest solution fails by luck of the draw: the reference and every accepted
// aSubmission keep all points of correctness over many seeds.
func TestAcceptedOverSeeds(t *testing.T) {
	if *seeds == 0 {
		t.Skip("grades each accepted submission many times: make seeds")
	}
	g := graderIn(t, openEngine(t))
	eachExercise(t, func(t *testing.T, e *course.Exercise, shipped []fixture.Submission) {
		right := []fixture.Submission{{Dir: "reference/" + e.Name, Files: e.Reference}}
		for _, one := range shipped {
			if one.Class == fixture.Accepted {
				right = append(right, one)
			}
		}
		for _, one := range right {
			t.Run(one.Dir, func(t *testing.T) {
				t.Parallel()
				overSeeds(t, g, e, one)
			})
		}
	})
}

func overSeeds(t *testing.T, g *grader.Grader, e *course.Exercise, one fixture.Submission) {
	r := gradeFiles(t, g, e, one.Dir, one.Files, grader.Options{Only: []verdict.Kind{verdict.Correctness}, Repeat: *seeds})
	require.Equal(t, verdict.Graded, r.Verdict)
	tests := 0
	for _, c := range r.Checks {
		if c.Kind == string(verdict.Correctness) {
			tests++
			require.Equal(t, verdict.Passed, c.Verdict, "%s with seed %s: %s", c.Name, r.Seed, c.Detail)
		}
	}
	t.Logf("%d tests, each on %d seeds, all passed", tests, *seeds)
}
