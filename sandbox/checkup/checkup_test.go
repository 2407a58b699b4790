package checkup

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox/docker"
)

func TestCgroup(t *testing.T) {
	for version, want := range map[string]Cause{"v1": "", "v2": "", "": NoLimits, "v3": NoLimits} {
		f := cgroup(version, true)
		assert.Equal(t, want, f.Cause, version)
		assert.Equal(t, want != "", f.Grave, version)
		assert.Equal(t, want != "", f.Advice != "", version)
	}
	swaps := cgroup("v1", false)
	assert.Contains(t, swaps.Found, "but swap is not")
	assert.Contains(t, swaps.Advice, "swapoff")
	assert.False(t, swaps.Grave)
}

// Where there is no engine, nothing that depends on one is looked at.
func TestNoEngine(t *testing.T) {
	gone := func(context.Context) (*docker.Engine, error) { return nil, errors.New("no socket") }
	assert.Equal(t, []Finding{{What: "engine", Found: "no socket", Cause: NoEngine, Grave: true}}, Engine(t.Context(), gone))
}

// A machine without the race detector can give a grade that counts.
func TestRaces(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for image, want := range map[string]string{"": "gcc is missing", "golang:1.26": "with golang:1.26"} {
		f := Races(image)
		assert.Contains(t, f.Found, want)
		assert.Equal(t, NoRace, f.Cause)
		assert.NotEmpty(t, f.Advice)
		assert.False(t, f.Grave)
	}
}

// A round is long enough to be timed, and a slow clock is told and is not grave: what stays
// unclear is decided for the submission.
func TestNoise(t *testing.T) {
	require.Positive(t, calibrate())
	f := Noise()
	assert.Regexp(t, `^equal work takes \d+ % longer in a slow round than in a fast one$`, f.Found)
	assert.Equal(t, f.Cause == Noisy, f.Advice != "")
	assert.False(t, f.Grave)
}
