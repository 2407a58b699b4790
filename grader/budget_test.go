package grader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"grade/sandbox"
)

// A run may take what is left and some more, and no more than it might before.
func TestBudgetBoundsRuns(t *testing.T) {
	for name, c := range map[string]struct {
		spent, reference, limit, want time.Duration
		lower                         bool
	}{
		"much is left":          {0, 0, time.Minute, time.Minute, false},
		"some is left":          {45 * time.Second, 0, time.Minute, 25 * time.Second, true},
		"nothing is left":       {60 * time.Second, 0, time.Minute, 10 * time.Second, true},
		"less than nothing":     {90 * time.Second, 0, time.Minute, 10 * time.Second, true},
		"nothing, quick anyway": {90 * time.Second, 0, time.Second, time.Second, false},
		"a slow machine":        {90 * time.Second, 2 * time.Second, time.Minute, 20 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			sub := 7 * time.Second
			b := newBudget(func() time.Duration { return sub })
			sub += c.spent
			b.credit(sandbox.Outcome{Wall: c.reference})
			l, lower := b.bound(sandbox.Limits{Wall: c.limit, CPU: time.Hour}, 10*time.Second)
			assert.Equal(t, sandbox.Limits{Wall: c.want, CPU: time.Hour}, l)
			assert.Equal(t, c.lower, lower)
		})
	}
}

// The reference's time counts twentyfold, but what is used up stays so.
func TestBudgetStaysExceeded(t *testing.T) {
	sub := 7 * time.Second
	b := newBudget(func() time.Duration { return sub })
	sub += 80 * time.Second
	b.credit(sandbox.Outcome{Wall: time.Second})
	assert.False(t, b.exceeded())
	sub++
	assert.True(t, b.exceeded())
	b.credit(sandbox.Outcome{Wall: time.Hour})
	assert.True(t, b.exceeded())
}
