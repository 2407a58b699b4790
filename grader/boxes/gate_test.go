package boxes

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

// leaseOn is a lease of boxes that may use some CPUs each.
func leaseOn(p *Pool, sub, ref []int) *Lease {
	return &Lease{pool: p, Submission: &Runner{box: boxOn{cpus: sub}}, Reference: &Runner{box: boxOn{cpus: ref}}}
}

// Where there are CPUs enough, all boxes but those that are timed leave the last one
// alone, once the first of them has shown how many there are.
func TestUnreserved(t *testing.T) {
	for _, c := range []struct {
		from int
		want []int
	}{{0, nil}, {4, nil}, {3, []int{0, 2}}, {2, []int{0, 2}}, {1, []int{0, 2}}} {
		p := New(nil, Config{ReserveFrom: c.from})
		assert.Nil(t, p.unreserved(), "no box has shown how many there are")
		all := []int{0, 2, 5}
		l := leaseOn(p, all, all)
		p.learn(l.Submission)
		assert.Equal(t, c.want, p.unreserved())
		l.Submission.spec.CPUs, l.Submission.box = p.unreserved(), boxOn{cpus: []int{0, 2}}
		if c.want == nil {
			l.Submission.box = boxOn{cpus: all}
		}
		p.learn(l.Submission)
		cpu, _, err := l.Reserve(t.Context(), false, nil)
		require.NoError(t, err)
		assert.Equal(t, 5, cpu, "programs are timed on the CPU that was kept")
	}
	few := New(nil, Config{ReserveFrom: 1})
	few.learn(&Runner{box: boxOn{cpus: []int{3, 7}}})
	assert.Equal(t, []int{3}, few.unreserved())
	one := New(nil, Config{ReserveFrom: 1})
	one.learn(&Runner{box: boxOn{cpus: []int{7}}})
	assert.Nil(t, one.unreserved(), "there is no other")
}

// Boxes without a CPU in common cannot be compared, which is our fault.
func TestNoSharedCPU(t *testing.T) {
	_, _, err := leaseOn(New(nil, Config{}), []int{0}, []int{1}).Reserve(t.Context(), false, nil)
	assert.ErrorContains(t, err, "share no CPU")
}

// What is not timed runs on each in turn of the CPUs that nothing is timed on.
func TestUntimed(t *testing.T) {
	l := leaseOn(New(nil, Config{}), []int{0, 1, 4}, []int{0, 1, 4})
	var got []int
	for range 4 {
		cpu, err := l.Untimed()
		require.NoError(t, err)
		got = append(got, cpu)
	}
	assert.Equal(t, []int{1, 0, 1, 0}, got)
	only := leaseOn(New(nil, Config{}), []int{3}, []int{3})
	cpu, err := only.Untimed()
	require.NoError(t, err)
	assert.Equal(t, 3, cpu, "there is no other")
}

// Gradings are timed side by side where they may, each on a CPU of its own, also those of
// other processes. One that is timed alone waits for all of them and says so; what comes
// after it waits for it.
func TestReserve(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	waited := 0
	reserve := func(ctx context.Context, shared bool) (int, func(), error) {
		l := leaseOn(New(nil, Config{LockFile: file}), []int{2, 4, 5}, []int{0, 2, 5})
		return l.Reserve(ctx, shared, func() { waited++ })
	}
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()

	cpu, first, err := reserve(t.Context(), true)
	require.NoError(t, err)
	assert.Equal(t, 5, cpu)
	cpu, second, err := reserve(t.Context(), true)
	require.NoError(t, err)
	assert.Equal(t, 2, cpu)
	assert.Zero(t, waited)
	_, _, err = reserve(gaveUp, true)
	require.ErrorIs(t, err, context.Canceled, "both CPUs are taken")
	assert.Equal(t, 1, waited)
	_, _, err = reserve(gaveUp, false)
	require.ErrorIs(t, err, context.Canceled)
	first()
	_, _, err = reserve(gaveUp, false)
	require.ErrorIs(t, err, context.Canceled, "another is still timed beside it")
	second()

	cpu, alone, err := reserve(t.Context(), false)
	require.NoError(t, err)
	assert.Equal(t, 5, cpu)
	for _, shared := range []bool{true, false} {
		_, _, err = reserve(gaveUp, shared)
		require.ErrorIs(t, err, context.Canceled)
	}
	alone()
	_, again, err := reserve(t.Context(), true)
	require.NoError(t, err, "those that gave up hold nothing")
	again()
}

// A grading that waits goes before those that come later, of either kind.
func TestReserveIsInOrder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	reserve := func(ctx context.Context, shared bool, waiting func()) (func(), error) {
		l := leaseOn(New(nil, Config{LockFile: file}), []int{0, 1}, []int{0, 1})
		_, release, err := l.Reserve(ctx, shared, waiting)
		return release, err
	}
	shared, err := reserve(t.Context(), true, nil)
	require.NoError(t, err)
	waiting, done := make(chan struct{}), make(chan func())
	go func() {
		release, err := reserve(t.Context(), false, func() { close(waiting) })
		assert.NoError(t, err)
		done <- release
	}()
	<-waiting
	gaveUp, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = reserve(gaveUp, true, nil)
	require.ErrorIs(t, err, context.Canceled, "a CPU is free, and another grading waits for it")
	shared()
	(<-done)()
}
