package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// numbers is a dataset whose samples are their indices.
type numbers struct {
	n      int
	delay  func(i int) time.Duration
	broken func(i int) error
	begun  atomic.Int64
}

func (d *numbers) Len() int { return d.n }

func (d *numbers) Get(ctx context.Context, i int) (int, error) {
	d.begun.Add(1)
	if d.delay != nil {
		select {
		case <-time.After(d.delay(i)):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	if d.broken != nil {
		if err := d.broken(i); err != nil {
			return 0, err
		}
	}
	return i, nil
}

func list(_ []int, samples []int) ([]int, error) { return samples, nil }

func mustNew(t *testing.T, ds Dataset[int], cfg Config) *Loader[int, []int] {
	t.Helper()
	l, err := New(ds, list, cfg)
	require.NoError(t, err)
	return l
}

func epoch(t *testing.T, l *Loader[int, []int], epoch int) (batches [][]int) {
	t.Helper()
	for b, err := range l.Epoch(t.Context(), epoch) {
		require.NoError(t, err)
		batches = append(batches, b)
	}
	require.Len(t, batches, l.Len())
	return batches
}

func TestOrder(t *testing.T) {
	for _, workers := range []int{0, 1, 3, 50} {
		for _, prefetch := range []int{0, 1, 2, 100} {
			cfg := Config{BatchSize: 4, Workers: workers, Prefetch: prefetch}
			assert.Equal(t, [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}, epoch(t, mustNew(t, &numbers{n: 10}, cfg), 0))
			cfg.DropLast = true
			assert.Equal(t, [][]int{{0, 1, 2, 3}, {4, 5, 6, 7}}, epoch(t, mustNew(t, &numbers{n: 10}, cfg), 0))
			assert.Empty(t, epoch(t, mustNew(t, &numbers{n: 3}, cfg), 0))
			assert.Empty(t, epoch(t, mustNew(t, &numbers{}, cfg), 0))
		}
	}
}

func TestShuffle(t *testing.T) {
	a := mustNew(t, &numbers{n: 40}, Config{BatchSize: 8, Shuffle: true, Seed: 1})
	b := mustNew(t, &numbers{n: 40}, Config{BatchSize: 8, Shuffle: true, Seed: 2, Workers: 3})
	assert.Equal(t, epoch(t, a, 1), epoch(t, a, 1))
	assert.NotEqual(t, epoch(t, a, 2), epoch(t, b, 1))
	all := slices.Concat(epoch(t, b, 5)...)
	slices.Sort(all)
	assert.Equal(t, slices.Concat(epoch(t, mustNew(t, &numbers{n: 40}, Config{BatchSize: 1}), 0)...), all)
}

func TestConfig(t *testing.T) {
	for _, cfg := range []Config{{}, {BatchSize: -1}, {BatchSize: 1, Workers: -1}, {BatchSize: 1, Prefetch: -1}} {
		_, err := New(&numbers{}, list, cfg)
		assert.ErrorIs(t, err, ErrConfig)
	}
}

// Whatever fails, and however late: earlier batches come first, and the first
// failure in order is the one that is told.
func TestFailures(t *testing.T) {
	boom := errors.New("boom")
	for name, fail := range map[string]func() error{
		"error": func() error { return boom },
		"panic": func() error { panic(boom) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ds := &numbers{
					n:     100,
					delay: func(i int) time.Duration { return time.Duration(100-i) * time.Millisecond },
					broken: func(i int) error {
						if i >= 41 {
							return fail()
						}
						return nil
					},
				}
				var batches int
				var last error
				for _, err := range mustNew(t, ds, Config{BatchSize: 5, Workers: 8}).Epoch(t.Context(), 0) {
					require.NoError(t, last)
					if last = err; err == nil {
						batches++
					}
				}
				assert.Equal(t, 8, batches)
				assert.ErrorIs(t, last, boom)
				var item *ItemError
				require.ErrorAs(t, last, &item)
				assert.Equal(t, 41, item.Index)
			})
		})
	}
}

func TestGoexit(t *testing.T) {
	ds := &numbers{n: 9, broken: func(i int) error {
		if i == 5 {
			runtime.Goexit()
		}
		return nil
	}}
	var got []error
	for _, err := range mustNew(t, ds, Config{BatchSize: 2, Workers: 2}).Epoch(t.Context(), 0) {
		got = append(got, err)
	}
	assert.Equal(t, []error{nil, nil, errGoexit}, got)
}

func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := &numbers{n: 1000, delay: func(int) time.Duration { return time.Millisecond }}
		ctx, cancel := context.WithTimeout(t.Context(), 25500*time.Microsecond)
		defer cancel()
		var batches int
		var last error
		for _, err := range mustNew(t, ds, Config{BatchSize: 1, Workers: 2}).Epoch(ctx, 0) {
			if last = err; err == nil {
				batches++
			}
		}
		assert.Equal(t, 50, batches)
		assert.Equal(t, context.DeadlineExceeded, last)
	})
}

func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := &numbers{n: 1000}
		for range mustNew(t, ds, Config{BatchSize: 1, Workers: 3, Prefetch: 8}).Epoch(t.Context(), 0) {
			synctest.Wait()
			assert.EqualValues(t, 9, ds.begun.Load())
			break
		}
	})
}

func TestAllocations(t *testing.T) {
	l, err := New(Dataset[int](&numbers{n: 6400}), func(_, s []int) (int, error) { return len(s), nil }, Config{BatchSize: 32, Workers: 4})
	require.NoError(t, err)
	allocs := testing.AllocsPerRun(5, func() {
		for range l.Epoch(t.Context(), 0) {
		}
	})
	assert.LessOrEqual(t, allocs/200, 2.0)
}

func TestRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	require.NoError(t, os.WriteFile(path, []byte("aaabbbccc"), 0o600))
	_, err := OpenRecords(path, 2)
	assert.ErrorIs(t, err, ErrSize)
	_, err = OpenRecords(path, 0)
	assert.ErrorIs(t, err, ErrConfig)
	_, err = OpenRecords(path+"?", 3)
	assert.ErrorIs(t, err, os.ErrNotExist)
	r, err := OpenRecords(path, 3)
	require.NoError(t, err)
	assert.Equal(t, 3, r.Len())
	for i, want := range []string{"aaa", "bbb", "ccc"} {
		got, err := r.Get(t.Context(), i)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	for _, i := range []int{-1, 3} {
		_, err := r.Get(t.Context(), i)
		assert.ErrorIs(t, err, ErrIndex)
	}
	require.NoError(t, os.Truncate(path, 7))
	_, err = r.Get(t.Context(), 2)
	assert.ErrorIs(t, err, io.EOF)
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	_, err = r.Get(t.Context(), 0)
	assert.ErrorIs(t, err, os.ErrClosed)
}

func TestErrorText(t *testing.T) {
	assert.Equal(t, "loader: sample 3: no", (&ItemError{3, fmt.Errorf("no")}).Error())
	assert.Equal(t, "loader: collate: no", (&ItemError{-1, fmt.Errorf("no")}).Error())
}
