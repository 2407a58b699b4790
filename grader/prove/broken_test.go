package prove

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/fault"
	"grade/grader/verdict"
)

// A limit that the reference exceeds is told at the limits, with their figures.
func TestLimitEndsTheReference(t *testing.T) {
	c := begun(verdict.Result{})
	c.exercise.LimitsLine, c.exercise.Limits = 5, course.Limits{Memory: 16 << 20, Output: 1 << 20, Scratch: 1 << 20, CPU: 1e6, Wall: 1e9}
	heard := &Explanations{}
	run := grader.Run{Check: c.exercise.Checks[2]}
	run.Reference.OOMKills = 1
	heard.Hear(run)
	c.ungradable(fault.Check("BenchmarkC/speed", fault.Exercise(errors.New("no measure"))), heard)
	require.Len(t, findings(c), 1)
	assert.Contains(t, findings(c)[0], "exercises/mean/exercise.yaml:5: it cannot be graded: BenchmarkC/speed: the reference exceeded its memory limit: raise that limit, or ask for less. A run of a test may take 16 MiB of memory, 0.001 s of CPU time")

	c.report.Findings, c.exceeded = nil, nil
	run.Reference.OOMKills, run.Reference.StderrCut = 0, true
	run.Reference.Stderr = []byte("panic: long\n\t/x/exercises/mean/hidden/mean_test.go:17 +0x1\n")
	heard = &Explanations{}
	heard.Hear(run)
	c.ungradable(fault.Check("BenchmarkC/speed", fault.Exercise(errors.New("no measure"))), heard)
	require.Len(t, findings(c), 1)
	assert.Contains(t, findings(c)[0], "hidden/mean_test.go:17: it cannot be graded: BenchmarkC/speed crashes with the reference")
}

// One that ends all checks of the reference is told once, and not as a fault of each.
func TestLimitEndsAllOfTheReference(t *testing.T) {
	r := result(verdict.TimeLimit, verdict.TimeLimit, verdict.MemoryLimit)
	for i := range r.Checks {
		r.Checks[i].Detail = "exceeded its limit"
	}
	c := begun(r)
	c.sources, c.options.Seeds = []course.File{{Name: "mean.go"}}, 1
	require.NoError(t, c.reference(t.Context(), &Explanations{}))
	require.NoError(t, c.seeds(t.Context(), &Explanations{}))
	require.Len(t, findings(c), 2)
	assert.Contains(t, findings(c)[0], "exercises/mean/exercise.yaml: BenchmarkC/speed: the reference exceeded its limit: raise that limit")
	assert.Contains(t, findings(c)[1], "exercises/mean/exercise.yaml: TestA: the reference exceeded its limit: raise that limit")
}
