package loader

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// These tests show the idea, by examples of README.md. The hidden ones check all
// of it, with inputs that are new each time.

// squares is a dataset: sample i is i². A Get takes some milliseconds.
type squares struct {
	n      int
	broken int // the sample that cannot be read, if above 0
	begun  atomic.Int64
}

func (d *squares) Len() int { return d.n }

func (d *squares) Get(ctx context.Context, i int) (int, error) {
	d.begun.Add(1)
	select {
	case <-time.After(time.Duration(1+i*7%10) * time.Millisecond):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if d.broken > 0 && i == d.broken {
		return 0, errBroken
	}
	return i * i, nil
}

var errBroken = errors.New("broken")

func keep(_ []int, samples []int) ([]int, error) { return samples, nil }

// collect goes through an epoch and returns its batches and its error.
func collect(t *testing.T, ds *squares, cfg Config, epoch int) (batches [][]int, last error) {
	t.Helper()
	l, err := New(ds, keep, cfg)
	if err != nil || l == nil {
		t.Fatalf("New: %v, %v", l, err)
	}
	for batch, err := range l.Epoch(t.Context(), epoch) {
		if err != nil {
			return batches, err
		}
		batches = append(batches, batch)
	}
	if l.Len() != len(batches) {
		t.Errorf("Len is %d, and there were %d batches", l.Len(), len(batches))
	}
	return batches, nil
}

func equal(t *testing.T, got, want [][]int) {
	t.Helper()
	if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Time in a bubble of synctest jumps when everybody waits, so this takes no time.
func TestInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 4} {
			got, err := collect(t, &squares{n: 5}, Config{BatchSize: 2, Workers: workers}, 0)
			equal(t, got, [][]int{{0, 1}, {4, 9}, {16}})
			if err != nil {
				t.Error(err)
			}
		}
	})
}

func TestDropLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, _ := collect(t, &squares{n: 5}, Config{BatchSize: 2, DropLast: true}, 0)
		equal(t, got, [][]int{{0, 1}, {4, 9}})
	})
}

func TestShuffled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{BatchSize: 30, Workers: 2, Shuffle: true, Seed: 1}
		first, _ := collect(t, &squares{n: 30}, cfg, 0)
		again, _ := collect(t, &squares{n: 30}, cfg, 0)
		next, _ := collect(t, &squares{n: 30}, cfg, 1)
		equal(t, again, first)
		if len(first) != 1 || len(next) != 1 || slices.Equal(first[0], next[0]) {
			t.Fatalf("want one batch each, in different orders: %v, %v", first, next)
		}
		slices.Sort(next[0])
		ordered, _ := collect(t, &squares{n: 30}, Config{BatchSize: 30}, 0)
		equal(t, next, ordered)
	})
}

// What comes before the broken sample is yielded, however long it takes.
func TestBrokenSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, err := collect(t, &squares{n: 100, broken: 4}, Config{BatchSize: 2, Workers: 8}, 0)
		equal(t, got, [][]int{{0, 1}, {4, 9}})
		var item *ItemError
		if !errors.As(err, &item) || item.Index != 4 || !errors.Is(err, errBroken) {
			t.Errorf("got the error %v, want an *ItemError on sample 4", err)
		}
	})
}

// The body never comes back from the first batch, and the workers stop.
func TestBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := &squares{n: 1000}
		l, err := New(ds, keep, Config{BatchSize: 1, Workers: 3, Prefetch: 8})
		if err != nil || l == nil {
			t.Fatalf("New: %v, %v", l, err)
		}
		batches := 0
		for range l.Epoch(t.Context(), 0) {
			batches++
			time.Sleep(time.Hour)
			break // and with it everything ends, or synctest complains
		}
		if n := ds.begun.Load(); batches != 1 || n < 2 || n > 9 {
			t.Errorf("%d batches, and Get was called %d times: want 2 to 9", batches, n)
		}
	})
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(path, []byte("aaabbbccc"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := OpenRecords(path, 3)
	if err != nil || r == nil {
		t.Fatalf("OpenRecords: %v, %v", r, err)
	}
	defer r.Close()
	if b, err := r.Get(t.Context(), 1); string(b) != "bbb" || err != nil {
		t.Errorf("record 1 is %q, %v", b, err)
	}
	if _, err := r.Get(t.Context(), 3); !errors.Is(err, ErrIndex) || r.Len() != 3 {
		t.Errorf("record 3 of %d: %v", r.Len(), err)
	}
}
