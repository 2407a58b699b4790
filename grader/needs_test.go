package grader

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/verdict"
	"grade/observe/wire"
	"grade/sandbox"
)

// named is a run of a test that observes numbers under the names a, b, ...
func named(values ...int64) sandbox.Outcome {
	var records []wire.Record
	for i, x := range values {
		r := integer(x)
		r.Name = string(rune('a' + i))
		records = append(records, r)
	}
	return record(sandbox.Outcome{}, records...)
}

// needing is a world in which TestRatio, the first check, needs TestAllocs for its
// observation b, and the benchmark needs TestRatio.
func needing(t *testing.T) *world {
	w := newWorld(t)
	w.exercise.Checks[0].Points, w.exercise.Checks[1].Points = w.exercise.Checks[1].Points, w.exercise.Checks[0].Points
	w.exercise.Checks[0].Needs = []course.Need{{Check: "TestAllocs", Observations: []string{"b"}}}
	w.exercise.Checks[3].Needs = []course.Need{{Check: "TestRatio"}}
	w.Script["reference TestRatio"] = answers(named(1, 2))
	w.Script["submission TestRatio"] = answers(named(1, 3))
	return w
}

// One mistake costs one check: what rests on a failed check is not counted again, though
// the needed check is the later one in the exercise.
func TestOneMistakeOneLoss(t *testing.T) {
	w := needing(t)
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.WrongAnswer, r.Checks[0].Verdict, "TestAllocs is passed, so that all counts")
	assert.Empty(t, r.Checks[0].Cause)

	w = needing(t)
	w.Script["submission TestAllocs"] = answers(selfReported(9))
	r, err = w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, []string{"TestRatio", "TestAllocs", "BenchmarkTrain/speed", "BenchmarkTrain/memory"}, namesOf(r.Checks), "in the exercise's order")
	assert.Equal(t, verdict.WrongAnswer, r.Checks[1].Verdict)
	assert.Equal(t, verdict.Passed, r.Checks[0].Verdict)
	assert.Contains(t, r.Checks[0].Detail, "rest on TestAllocs")
	assert.Equal(t, 40, r.Score)
}

// A check that is failed on purpose excuses no more than it costs.
func TestACheapFailureExcusesNoDearOne(t *testing.T) {
	w := needing(t)
	w.exercise.Checks[0].Points, w.exercise.Checks[1].Points = 32, 31
	w.Script["submission TestAllocs"] = answers(selfReported(9))
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.WrongAnswer, r.Checks[0].Verdict)
	assert.Equal(t, "TestAllocs", r.Checks[0].Cause)
	assert.Equal(t, 100-63, r.Score)
}

// A check that fails all the same names the one that explains it, also where that one needs
// another in turn.
func TestCauseIsTheRoot(t *testing.T) {
	w := needing(t)
	w.Script["submission TestAllocs"] = answers(selfReported(9))
	w.Script["submission TestRatio"] = answers(named(8, 2))
	w.Script["submission bench"] = answers(peaked(900 << 20))
	r, err := w.grade(t)
	require.NoError(t, err)
	for i, want := range []string{"TestAllocs", "", "", "TestAllocs"} {
		assert.Equal(t, want, r.Checks[i].Cause, r.Checks[i].Name)
	}
}

// A check alone comes to the same verdict as among all: what may excuse it is run too.
func TestNeededChecksAreRun(t *testing.T) {
	w := needing(t)
	w.Script["submission TestAllocs"] = answers(selfReported(9))
	w.options.Checks = []string{"TestRatio"}
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.Passed, r.Checks[0].Verdict)
	assert.Equal(t, verdict.WrongAnswer, r.Checks[1].Verdict)

	w = needing(t)
	w.options.Checks = []string{"BenchmarkTrain/memory"}
	r, err = w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.NotRun, r.Checks[0].Verdict, "it would explain, and excuse nothing")
}

// In a crash before any test, no check explains another.
func TestNoCauseInASmokeTest(t *testing.T) {
	w := needing(t)
	w.Script["submission start"] = answers(sandbox.Outcome{ExitCode: 2})
	r, err := w.grade(t)
	require.NoError(t, err)
	for _, c := range r.Checks {
		assert.Empty(t, c.Cause, c.Name)
	}
}

func namesOf(checks []verdict.CheckResult) (names []string) {
	for _, c := range checks {
		names = append(names, c.Name)
	}
	return names
}
