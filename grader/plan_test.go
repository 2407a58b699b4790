package grader

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
)

var update = flag.Bool("update", false, "write the golden files anew")

// What is going to run can be read before anything has run.
func TestPlan(t *testing.T) {
	for name, o := range map[string]Options{
		"student":     {},
		"batch":       {Purpose: ForBatch},
		"mutant":      {Purpose: ForMutant, Only: []verdict.Kind{verdict.Correctness}},
		"seeds":       {Purpose: ForBatch, Only: []verdict.Kind{verdict.Correctness}, Repeat: 100},
		"only-memory": {Only: []verdict.Kind{verdict.Memory}},
		"one-check":   {Checks: []string{"BenchmarkTrain/speed", "TestAllocs"}},
		"race":        {Repeat: 2},
		"race-mutant": {Purpose: ForMutant, Only: []verdict.Kind{verdict.Correctness, verdict.Race}},
		"nothing":     {Only: []verdict.Kind{verdict.Speed}, Checks: []string{"TestRatio"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if strings.HasPrefix(name, "race") {
				w = racing(t)
			}
			got := PlanOf(w.exercise, o).String()
			golden := filepath.Join("testdata", "plan", name+".txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o666))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, strings.ReplaceAll(string(want), "\r\n", "\n"), got)
		})
	}
}

// The checks of a plan are in the exercise's order, in which results have them.
func TestPlanOrder(t *testing.T) {
	var names []string
	for _, c := range PlanOf(newWorld(t).exercise, Options{}).Checks() {
		names = append(names, c.Name)
	}
	assert.Equal(t, []string{"TestRatio", "TestAllocs", "BenchmarkTrain/speed", "BenchmarkTrain/memory"}, names)
}

// What was planned and what runs are the same.
func TestPlanIsRun(t *testing.T) {
	w := newWorld(t)
	w.options.Checks = []string{"TestAllocs", "BenchmarkTrain/memory"}
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, []string{"graded 13/13", "TestRatio not_run", "TestAllocs passed", "BenchmarkTrain/speed not_run", "BenchmarkTrain/memory passed"}, lines(r))
	assert.Zero(t, w.count("submission TestRatio")+w.count("submission bench")-2)
}
