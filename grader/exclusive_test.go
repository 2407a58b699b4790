package grader

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

// boxOn is a box that may use some CPUs.
type boxOn struct {
	sandbox.Box
	cpus []int
}

func (b boxOn) CPUs() []int { return b.cpus }

// Hasty gradings measure side by side, each on a CPU of its own, also those of other
// processes. One whose figures are shown waits for all of them and says so; whoever
// comes after it waits for it.
func TestExclusive(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	var news []string
	want := func(ctx context.Context, hasty bool) (int, func(), error) {
		r := &grading{
			Grader:  New(nil, Config{LockFile: file}),
			events:  make(chan struct{}, 1),
			options: Options{Hasty: hasty, OnEvent: func(e Event) { news = append(news, e.Text) }},
			ref:     &station{box: boxOn{cpus: []int{0, 2, 5}}}, sub: &station{box: boxOn{cpus: []int{2, 4, 5}}},
		}
		return r.exclusive(ctx)
	}
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()

	cpu, first, err := want(t.Context(), true)
	require.NoError(t, err)
	assert.Equal(t, 5, cpu)
	cpu, second, err := want(t.Context(), true)
	require.NoError(t, err)
	assert.Equal(t, 2, cpu)
	assert.Empty(t, news, "nobody waited")
	_, _, err = want(gaveUp, true)
	require.ErrorIs(t, err, context.Canceled, "both CPUs are taken")
	assert.Equal(t, []string{"waiting for another grading to finish measuring"}, news)
	_, _, err = want(gaveUp, false)
	require.ErrorIs(t, err, context.Canceled)
	first()
	_, _, err = want(gaveUp, false)
	require.ErrorIs(t, err, context.Canceled, "one hasty grading still measures")
	second()

	cpu, alone, err := want(t.Context(), false)
	require.NoError(t, err)
	assert.Equal(t, 5, cpu)
	for _, hasty := range []bool{true, false} {
		_, _, err = want(gaveUp, hasty)
		require.ErrorIs(t, err, context.Canceled)
	}
	alone()
	_, again, err := want(t.Context(), true)
	require.NoError(t, err, "whoever gave up holds nothing")
	again()
}

// A grading that waits goes before those that come later, hasty or not.
func TestExclusiveIsInOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	waiting := make(chan struct{})
	want := func(ctx context.Context, hasty bool) (func(), error) {
		r := &grading{
			Grader: New(nil, Config{LockFile: file}), events: make(chan struct{}, 1), options: Options{Hasty: hasty},
			ref: &station{box: boxOn{cpus: []int{0, 1}}}, sub: &station{box: boxOn{cpus: []int{0, 1}}},
		}
		if !hasty {
			r.options.OnEvent = func(Event) { close(waiting) }
		}
		_, release, err := r.exclusive(ctx)
		return release, err
	}
	hasty, err := want(t.Context(), true)
	require.NoError(t, err)
	done := make(chan func())
	go func() {
		release, err := want(t.Context(), false)
		assert.NoError(t, err)
		done <- release
	}()
	<-waiting
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = want(gaveUp, true)
	require.ErrorIs(t, err, context.Canceled, "a CPU is free, and somebody waits for it")
	hasty()
	(<-done)()
}
