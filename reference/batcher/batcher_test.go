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

// timeline submits a request at each of the given milliseconds and returns the calls
// of the model, which takes 4 ms each.
func timeline(t *testing.T, cfg Config, at ...int) (calls []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		b, err := New(func(_ context.Context, in []int) ([]int, error) {
			calls = append(calls, fmt.Sprint(time.Since(start), in))
			time.Sleep(4 * time.Millisecond)
			return in, nil
		}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, ms := range at {
			time.Sleep(time.Duration(ms)*time.Millisecond - time.Since(start))
			wg.Go(func() {
				if out, err := b.Submit(t.Context(), ms); out != ms || err != nil {
					t.Errorf("Submit(%d) = %d, %v", ms, out, err)
				}
			})
		}
		wg.Wait()
		b.Close()
	})
	return calls
}

func TestTimelines(t *testing.T) {
	for _, c := range []struct {
		name  string
		cfg   Config
		at    []int
		calls []string
	}{
		{"README", Config{3, 10 * time.Millisecond}, []int{0, 1, 2, 3, 15}, []string{"2ms [0 1 2]", "13ms [3]", "25ms [15]"}},
		{"alone", Config{3, 10 * time.Millisecond}, []int{5}, []string{"15ms [5]"}},
		{"overdue when free", Config{2, 2 * time.Millisecond}, []int{0, 1, 2}, []string{"1ms [0 1]", "5ms [2]"}},
		{"no wait", Config{8, 0}, []int{0, 1, 2, 9}, []string{"0s [0]", "4ms [1 2]", "9ms [9]"}},
		{"one by one", Config{1, time.Hour}, []int{0, 1, 9}, []string{"0s [0]", "4ms [1]", "9ms [9]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := timeline(t, c.cfg, c.at...); !slices.Equal(got, c.calls) {
				t.Errorf("calls %q, want %q", got, c.calls)
			}
		})
	}
}

// A call is cancelled when the last of its requests is given up.
func TestCallCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var done time.Duration
		b, err := New(func(ctx context.Context, in []int) ([]int, error) {
			<-ctx.Done()
			done = time.Since(start)
			return nil, ctx.Err()
		}, Config{MaxBatch: 2})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		wg.Go(func() {
			if _, err := b.Submit(ctx, 1); err != context.DeadlineExceeded {
				t.Error(err)
			}
		})
		wg.Wait()
		b.Close()
		if done != 3*time.Second {
			t.Errorf("the call was cancelled after %v", done)
		}
		if _, err := b.Submit(t.Context(), 2); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

// BenchmarkSubmit is what a request costs beside a model that does nothing.
func BenchmarkSubmit(b *testing.B) {
	q, err := New(func(_ context.Context, in []int) ([]int, error) { return in, nil }, Config{MaxBatch: 64})
	if err != nil {
		b.Fatal(err)
	}
	defer q.Close()
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := q.Submit(context.Background(), 1); err != nil {
				b.Error(err)
			}
		}
	})
}
