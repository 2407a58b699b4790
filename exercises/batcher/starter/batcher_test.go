package batcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// These tests show the idea, by examples of README.md. The hidden ones check all
// of it, with inputs that are new each time.

// squares is a model that takes 4 ms a call and notes when it is called with what.
type squares struct {
	start time.Time
	calls []string
}

func (m *squares) answer(ctx context.Context, in []int) (out []int, err error) {
	m.calls = append(m.calls, fmt.Sprint(time.Since(m.start), in))
	time.Sleep(4 * time.Millisecond)
	for _, x := range in {
		if x < 0 {
			return nil, errNegative
		}
		out = append(out, x*x)
	}
	return out, nil
}

var errNegative = errors.New("negative")

// open makes a batcher for the model. The bubble of the test ends with an error if
// Close leaves something running.
func open(t *testing.T, m *squares, cfg Config) *Batcher[int, int] {
	t.Helper()
	m.start = time.Now()
	b, err := New(m.answer, cfg)
	if err != nil || b == nil {
		t.Fatalf("New: %v, %v", b, err)
	}
	return b
}

// The example of rule 7: the wait of a batch begins with its first request. Time in a
// bubble of synctest jumps when everybody waits, so this takes no time.
func TestWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m squares
		b := open(t, &m, Config{MaxBatch: 3, MaxWait: 10 * time.Millisecond})
		var wg sync.WaitGroup
		for _, at := range []int{0, 1, 2, 3, 15} {
			wg.Go(func() {
				time.Sleep(time.Duration(at) * time.Millisecond)
				if got, err := b.Submit(t.Context(), at); got != at*at || err != nil {
					t.Errorf("Submit(%d) = %d, %v", at, got, err)
				}
			})
		}
		wg.Wait()
		b.Close()
		if want := []string{"2ms [0 1 2]", "13ms [3]", "25ms [15]"}; !slices.Equal(m.calls, want) {
			t.Errorf("calls %q, want %q", m.calls, want)
		}
	})
}

// One request is given up, and the other does not notice.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m squares
		b := open(t, &m, Config{MaxBatch: 2, MaxWait: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := b.Submit(ctx, 5); err != context.DeadlineExceeded || time.Since(m.start) != 2*time.Millisecond {
				t.Errorf("after %v: %v", time.Since(m.start), err)
			}
		})
		if got, err := b.Submit(t.Context(), 6); got != 36 || err != nil {
			t.Errorf("the other: %d, %v", got, err)
		}
		wg.Wait()
		b.Close()
	})
}

// All requests of a call get its error, and the next call is a new one.
func TestModelFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m squares
		b := open(t, &m, Config{MaxBatch: 2, MaxWait: time.Millisecond})
		var wg sync.WaitGroup
		for _, x := range []int{-1, 1} {
			wg.Go(func() {
				if got, err := b.Submit(t.Context(), x); got != 0 || err != errNegative {
					t.Errorf("Submit(%d) = %d, %v", x, got, err)
				}
			})
		}
		wg.Wait()
		if got, err := b.Submit(t.Context(), 3); got != 9 || err != nil {
			t.Errorf("after a failure: %d, %v", got, err)
		}
		b.Close()
	})
}

// Close has what waits answered at once, and then takes nothing more.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m squares
		b := open(t, &m, Config{MaxBatch: 100, MaxWait: time.Hour})
		var wg sync.WaitGroup
		wg.Go(func() {
			if got, err := b.Submit(t.Context(), 7); got != 49 || err != nil {
				t.Errorf("Submit(7) = %d, %v", got, err)
			}
		})
		synctest.Wait()
		b.Close()
		wg.Wait()
		if _, err := b.Submit(t.Context(), 8); !errors.Is(err, ErrClosed) || time.Since(m.start) != 4*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(m.start), err)
		}
	})
}
