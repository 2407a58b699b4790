package sandbox

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSpecCheck(t *testing.T) {
	good := Spec{Purpose: Run, Memory: 1, Pids: 1, Scratch: 1}
	assert.NoError(t, good.Check())
	for _, change := range []func(*Spec){
		func(s *Spec) { s.Purpose = 0 }, func(s *Spec) { s.Purpose = RaceRun + 1 }, func(s *Spec) { s.Memory = 0 },
		func(s *Spec) { s.Pids = -1 }, func(s *Spec) { s.Scratch = 0 },
	} {
		s := good
		change(&s)
		assert.ErrorContains(t, s.Check(), "unset or invalid field")
	}
}

// Every valid cause and source has a text of its own; all others are "invalid".
func TestStrings(t *testing.T) {
	seen := map[string]bool{}
	for c := range causes {
		assert.True(t, c.Valid())
		seen[c.String()] = true
	}
	assert.Len(t, seen, int(causes))
	assert.Equal(t, "invalid", causes.String())
	assert.Equal(t, "invalid", Cause(-1).String())
	seen = map[string]bool{}
	for s := range sources {
		assert.True(t, s.Valid())
		seen[s.String()] = true
	}
	assert.Len(t, seen, int(sources))
	assert.Equal(t, "invalid", sources.String())
	assert.Equal(t, "invalid", Source(-1).String())
}
