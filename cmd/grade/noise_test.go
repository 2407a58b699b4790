package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/measure"
	"grade/grader/prove"
	"grade/grader/verdict"
)

var noise = flag.Int("noise", 0, "record so many gradings of each reference beside busy loops; make noise")

// recorded is what package measure's tests replay: pairs of runs of one program, the
// reference, by benchmark, in the order in which they were taken, in microseconds.
type recorded struct {
	Machine string                `json:"machine"`
	Loops   int                   `json:"loops"` // busy, beside the gradings
	Pairs   map[string][][3]int64 `json:"pairs"` // windows of both, and the submission's excess outside
}

// It records what a loaded machine does to the figures of one program.
func TestRecordNoise(t *testing.T) {
	if *noise == 0 {
		t.Skip("grades each reference many times beside busy loops: make noise")
	}
	g := graderIn(t, openEngine(t))
	rec := recorded{Machine: fmt.Sprintf("%d CPUs, %s/%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH), Loops: 2 * runtime.NumCPU(), Pairs: map[string][][3]int64{}}
	for range rec.Loops {
		busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		require.NoError(t, busy.Start())
		t.Cleanup(func() { _ = busy.Wait() }) // ended by the context
	}
	eachExercise(t, func(t *testing.T, e *course.Exercise, _ []fixture.Submission) {
		snapshot, err := prove.Snapshot("reference/"+e.Name, e.Reference)
		require.NoError(t, err)
		for range *noise {
			r, err := g.Grade(t.Context(), snapshot, e, grader.Options{Only: []verdict.Kind{verdict.Speed}, Judged: rec.of(e.Name)})
			require.NoError(t, err)
			require.Equal(t, r.MaxScore, r.Score)
		}
	})
	data, err := json.Marshal(rec)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("../../grader/measure/testdata/loaded.json", append(data, '\n'), 0o600))
}

// of keeps the pairs of an exercise.
func (rec recorded) of(exercise string) func(grader.Run) {
	return func(r grader.Run) {
		if r.Check.Kind != verdict.Speed {
			return
		}
		if p, _, err := measure.NewPair(r.Reference, r.Submission); err == nil {
			name := exercise + " " + r.Check.Func
			rec.Pairs[name] = append(rec.Pairs[name], [3]int64{p.Reference.Microseconds(), p.Submission.Microseconds(), (p.Excess.Before + p.Excess.After).Microseconds()})
		}
	}
}
