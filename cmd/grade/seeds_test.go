package main

import (
	"flag"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/verdict"
)

var (
	seeds      = flag.Int("seeds", 0, "test accepted submissions on inputs of so many seeds; make seeds")
	seedChecks = flag.String("checks", "", "with -seeds: only checks whose names match this pattern, after their tests were changed")
)

// No honest solution fails by luck of the draw: the reference and every accepted
// submission keep all points of correctness over many seeds, and the race detector sees
// nothing in any of their runs.
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
		first := grader.NewSeed()
		for _, one := range right {
			t.Run(one.Dir, func(t *testing.T) {
				t.Parallel()
				overSeeds(t, g, e, one, first)
			})
		}
	})
}

// seeded are the names of the checks that were asked for; none: all.
func seeded(t *testing.T, e *course.Exercise) (names []string) {
	if *seedChecks == "" {
		return nil
	}
	pattern, err := regexp.Compile(*seedChecks)
	require.NoError(t, err)
	for _, c := range e.Checks {
		if pattern.MatchString(c.Name) && slices.Contains(notMeasured, c.Kind) {
			names = append(names, c.Name)
		}
	}
	require.NotEmpty(t, names, "no check of %s is called %s", e.Name, *seedChecks)
	return names
}

var notMeasured = []verdict.Kind{verdict.Correctness, verdict.Race}

func overSeeds(t *testing.T, g *grader.Grader, e *course.Exercise, one fixture.Submission, first string) {
	r := gradeFiles(t, g, e, one.Dir, one.Files, grader.Options{Seed: first, Only: notMeasured, Checks: seeded(t, e), Repeat: *seeds})
	require.Equal(t, verdict.Graded, r.Verdict)
	tests := 0
	for _, c := range r.Checks {
		if c.Verdict != verdict.NotRun && slices.Contains(notMeasured, verdict.Kind(c.Kind)) {
			tests++
			require.Equal(t, verdict.Passed, c.Verdict, "%s with seed %s: %s", c.Name, r.Seed, c.Detail)
		}
	}
	t.Logf("%d checks, each on %d seeds, all passed", tests, *seeds)
}
