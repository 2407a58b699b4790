package grader

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
	"grade/sandbox/sandboxtest"
)

// The reference is through with its tests when the submission is compiled: a grading takes
// the longer of the two, and not both.
func TestReferenceRunsAhead(t *testing.T) {
	w := newWorld(t)
	w.config.CacheDir = t.TempDir()
	w.options.Only = []verdict.Kind{verdict.Correctness}
	_, err := w.grade(t) // keeps the compiled reference
	require.NoError(t, err)

	w.Script["submission build"] = []sandboxtest.Answer{{Outcome: built(ofSubmission), Takes: 10 * time.Second}}
	w.Script["reference TestRatio"] = []sandboxtest.Answer{{Outcome: observed(1), Takes: 6 * time.Second}}
	before := len(w.Log())
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.Graded, r.Verdict)
	log := w.Log()[before:]
	assert.Less(t, slices.Index(log, "reference TestAllocs"), slices.Index(log, "submission start"), "%q", log)
	assert.InDelta(t, 10*time.Second, time.Duration(r.Phases.TotalMs*float64(time.Millisecond)), float64(time.Second))
}

// What the reference is at when a submission is refused ends with it.
func TestRefusalEndsTheReference(t *testing.T) {
	w := newWorld(t)
	w.config.CacheDir = t.TempDir()
	w.options.Only = []verdict.Kind{verdict.Correctness}
	_, err := w.grade(t)
	require.NoError(t, err)

	w.Script["submission build"] = []sandboxtest.Answer{{Outcome: unbuilt("reference/gears/gears.go:3:2: undefined: x\n"), Takes: time.Second}}
	w.Script["reference TestRatio"] = []sandboxtest.Answer{{Outcome: observed(1), Takes: time.Hour}}
	r, err := w.grade(t)
	require.NoError(t, err)
	assert.Equal(t, verdict.CompileError, r.Verdict)
	assert.Less(t, r.Phases.TotalMs, 2000.0)
}
