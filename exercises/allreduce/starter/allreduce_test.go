package allreduce

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// These tests show the idea, by examples of README.md. The hidden ones check all
// of it, with inputs that are new each time.

// channel is a link that holds as many messages as its channel does.
type channel chan []float64

func (c channel) Send(ctx context.Context, part []float64) error {
	select {
	case c <- slices.Clone(part):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c channel) Recv(ctx context.Context, part []float64) error {
	select {
	case message := <-c:
		if copy(part, message) != len(message) || len(part) != len(message) {
			return errors.New("a message of another length")
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// broken is a link that fails.
type broken struct{ Link }

var errBroken = errors.New("broken")

func (broken) Send(context.Context, []float64) error { return errBroken }

// newRing makes a ring of n ranks. The links hold so many messages.
func newRing(t *testing.T, n, capacity int, change func(links []Link)) *Ring {
	t.Helper()
	links := make([]Link, n)
	for i := range links {
		links[i] = make(channel, capacity)
	}
	if change != nil {
		change(links)
	}
	r, err := New(links)
	if err != nil || r == nil {
		t.Fatalf("New: %v, %v", r, err)
	}
	return r
}

// reduce calls AllReduce on all ranks that have data, at the same time.
func reduce(ctx context.Context, r *Ring, data [][]float64, op Op) []error {
	errs := make([]error, len(data))
	var wg sync.WaitGroup
	for rank := range data {
		wg.Go(func() { errs[rank] = r.AllReduce(ctx, rank, data[rank], op) })
	}
	wg.Wait()
	return errs
}

// Where all goroutines wait for ever, a bubble of synctest says so at once.
func TestOperations(t *testing.T) {
	for op, want := range map[Op][]float64{
		Sum:  {6, 3, 15, 0, 1},
		Mean: {2, 1, 5, 0, 1.0 / 3},
		Max:  {3, 4, 6, 1, 1},
	} {
		for _, capacity := range []int{100, 0} {
			synctest.Test(t, func(t *testing.T) {
				data := [][]float64{{1, 4, 4, 1, 0}, {2, -1, 5, 0, 1}, {3, 0, 6, -1, 0}}
				for rank, err := range reduce(t.Context(), newRing(t, 3, capacity, nil), data, op) {
					if err != nil || !slices.Equal(data[rank], want) {
						t.Errorf("operation %d, links that hold %d: rank %d has %v, %v; want %v", op, capacity, rank, data[rank], err, want)
					}
				}
			})
		}
	}
}

func TestOneRank(t *testing.T) {
	data := [][]float64{{1, 2}}
	errs := reduce(t.Context(), newRing(t, 1, 0, nil), data, Mean)
	if errs[0] != nil || !slices.Equal(data[0], []float64{1, 2}) {
		t.Errorf("got %v, %v", data, errs)
	}
}

// One link is broken. No rank has a result, and all know whose fault it is.
func TestBrokenLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRing(t, 4, 100, func(links []Link) { links[2] = broken{links[2]} })
		data := [][]float64{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}}
		for rank, err := range reduce(t.Context(), r, data, Sum) {
			wantError(t, err, 2, errBroken)
			if !slices.Equal(data[rank], []float64{1, 1, 1, 1}) {
				t.Errorf("rank %d has %v", rank, data[rank])
			}
		}
	})
}

// One rank never comes, and the others give up.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r := newRing(t, 3, 100, nil)
		contexts := []context.Context{t.Context(), ctx}
		var wg sync.WaitGroup
		for rank, ctx := range contexts {
			wg.Go(func() { wantError(t, r.AllReduce(ctx, rank, make([]float64, 3), Sum), 1, context.DeadlineExceeded) })
		}
		wg.Wait()
	})
}

func wantError(t *testing.T, err error, rank int, cause error) {
	t.Helper()
	var e *RankError
	if !errors.As(err, &e) || e.Rank != rank || !errors.Is(err, cause) {
		t.Errorf("got the error %v, want a RankError of rank %d: %v", err, rank, cause)
	}
}
