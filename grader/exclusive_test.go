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

// Where there are CPUs enough, all boxes but those that are measured leave the last one
// alone, once the first of them has shown how many there are.
func TestAside(t *testing.T) {
	for _, c := range []struct {
		from int
		want []int
	}{{0, nil}, {4, nil}, {3, []int{0, 2}}, {2, []int{0, 2}}, {1, []int{0, 2}}} {
		g := New(nil, Config{ApartFrom: c.from})
		r := &grading{Grader: g}
		assert.Nil(t, g.aside(), "nobody knows yet")
		r.sub, r.ref = &station{box: boxOn{cpus: []int{0, 2, 5}}}, &station{box: boxOn{cpus: []int{0, 2, 5}}}
		g.learn(r.sub)
		assert.Equal(t, c.want, g.aside())
		r.sub.spec.CPUs, r.sub.box = g.aside(), boxOn{cpus: []int{0, 2}}
		if c.want == nil {
			r.sub.box = boxOn{cpus: []int{0, 2, 5}}
		}
		g.learn(r.sub)
		cpu, _, err := r.exclusive(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 5, cpu, "measured is on the one that was kept")
	}
	one := New(nil, Config{ApartFrom: 1})
	one.learn(&station{box: boxOn{cpus: []int{7}}})
	assert.Nil(t, one.aside(), "all there is")
}

// Gradings measure beside others where they may, each on a CPU of its own, also those of
// other processes. One that measures alone waits for all of them and says so; whoever
// comes after it waits for it.
func TestExclusive(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	var news []string
	want := func(ctx context.Context, beside bool) (int, func(), error) {
		r := &grading{
			Grader:  New(nil, Config{LockFile: file}),
			events:  make(chan struct{}, 1),
			options: Options{Beside: beside, OnEvent: func(e Event) { news = append(news, e.Text) }},
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
	require.ErrorIs(t, err, context.Canceled, "one beside it still measures")
	second()

	cpu, alone, err := want(t.Context(), false)
	require.NoError(t, err)
	assert.Equal(t, 5, cpu)
	for _, beside := range []bool{true, false} {
		_, _, err = want(gaveUp, beside)
		require.ErrorIs(t, err, context.Canceled)
	}
	alone()
	_, again, err := want(t.Context(), true)
	require.NoError(t, err, "whoever gave up holds nothing")
	again()
}

// A grading that waits goes before those that come later, of either kind.
func TestExclusiveIsInOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	waiting := make(chan struct{})
	want := func(ctx context.Context, beside bool) (func(), error) {
		r := &grading{
			Grader: New(nil, Config{LockFile: file}), events: make(chan struct{}, 1), options: Options{Beside: beside},
			ref: &station{box: boxOn{cpus: []int{0, 1}}}, sub: &station{box: boxOn{cpus: []int{0, 1}}},
		}
		if !beside {
			r.options.OnEvent = func(Event) { close(waiting) }
		}
		_, release, err := r.exclusive(ctx)
		return release, err
	}
	beside, err := want(t.Context(), true)
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
	beside()
	(<-done)()
}
