package grader

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Hasty gradings measure side by side; one whose figures are shown waits for them,
// says so, and lets none of them begin.
func TestLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	var news []string
	with := func(hasty bool) *grading {
		return &grading{
			Grader:  New(nil, Config{LockFile: file}),
			events:  make(chan struct{}, 1),
			options: Options{Hasty: hasty, OnEvent: func(e Event) { news = append(news, e.Text) }},
		}
	}
	first, err := with(true).lock(t.Context())
	require.NoError(t, err)
	second, err := with(true).lock(t.Context())
	require.NoError(t, err)
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = with(false).lock(gaveUp)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []string{"waiting for another grading to finish measuring"}, news)
	first()
	_, err = with(false).lock(gaveUp)
	require.ErrorIs(t, err, context.Canceled, "one hasty grading still measures")
	second()
	alone, err := with(false).lock(t.Context())
	require.NoError(t, err)
	defer alone()
	_, err = with(true).lock(gaveUp)
	require.ErrorIs(t, err, context.Canceled)
}

// Every hasty grading has a CPU of its own, and waits for one where all are taken.
func TestCPUs(t *testing.T) {
	var c cpus
	first, giveBack, err := c.take(t.Context(), []int{2, 5})
	require.NoError(t, err)
	second, _, err := c.take(t.Context(), []int{2, 5})
	require.NoError(t, err)
	assert.ElementsMatch(t, []int{2, 5}, []int{first, second})
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = c.take(gaveUp, []int{2, 5})
	require.ErrorIs(t, err, context.Canceled)
	giveBack()
	again, _, err := c.take(t.Context(), []int{2, 5})
	require.NoError(t, err)
	assert.Equal(t, first, again)
}
