package grader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"grade/sandbox"
)

// A run may take what is left and ten seconds, or ten times the reference's time, and no more
// than it might before.
func TestBudgetBoundsRuns(t *testing.T) {
	for name, c := range map[string]struct{ spent, reference, limit, want time.Duration }{
		"much is left":          {0, 0, time.Minute, time.Minute},
		"some is left":          {45 * time.Second, 0, time.Minute, 25 * time.Second},
		"nothing is left":       {60 * time.Second, 0, time.Minute, 10 * time.Second},
		"less than nothing":     {90 * time.Second, 0, time.Minute, 10 * time.Second},
		"nothing, quick anyway": {90 * time.Second, 0, time.Second, time.Second},
		"a slow machine":        {100 * time.Second, 2 * time.Second, time.Minute, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var sub, ref time.Duration
			b := newBudget(func() time.Duration { return sub }, func() time.Duration { return ref })
			sub, ref = c.spent, c.reference
			l := b.bound(sandbox.Limits{Wall: c.limit, CPU: time.Hour}, sandbox.Outcome{Wall: c.reference})
			assert.Equal(t, sandbox.Limits{Wall: c.want, CPU: time.Hour}, l)
		})
	}
}

// The reference's time counts twentyfold, but what is used up stays so.
func TestBudgetStaysExceeded(t *testing.T) {
	sub, ref := 7*time.Second, 3*time.Second
	b := newBudget(func() time.Duration { return sub }, func() time.Duration { return ref })
	sub += 80 * time.Second
	ref += time.Second
	assert.False(t, b.exceeded())
	sub++
	assert.True(t, b.exceeded())
	ref += time.Hour
	assert.True(t, b.exceeded())
}
