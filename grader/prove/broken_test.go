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

	c.report.Findings, run.Reference.OOMKills, run.Reference.StderrCut = nil, 0, true
	run.Reference.Stderr = []byte("panic: long\n\t/x/exercises/mean/hidden/mean_test.go:17 +0x1\n")
	heard = &Explanations{}
	heard.Hear(run)
	c.ungradable(fault.Check("BenchmarkC/speed", fault.Exercise(errors.New("no measure"))), heard)
	require.Len(t, findings(c), 1)
	assert.Contains(t, findings(c)[0], "hidden/mean_test.go:17: it cannot be graded: BenchmarkC/speed crashes with the reference")
}
