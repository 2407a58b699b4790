package allreduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
		copy(part, message)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// faulty is a link whose Sends fail after some that don't.
type faulty struct {
	Link
	good int
}

var errFaulty = errors.New("faulty")

func (f *faulty) Send(ctx context.Context, part []float64) error {
	if f.good--; f.good < 0 {
		return errFaulty
	}
	return f.Link.Send(ctx, part)
}

func newRing(t *testing.T, n, capacity int) *Ring {
	t.Helper()
	links := make([]Link, n)
	for i := range links {
		links[i] = make(channel, capacity)
	}
	r, err := New(links)
	require.NoError(t, err)
	return r
}

// countdown is data of n ranks: rank r has r+length, r+length-1, ...
func countdown(n, length int) [][]float64 {
	data := make([][]float64, n)
	for r := range data {
		for i := range length {
			data[r] = append(data[r], float64(r+length-i))
		}
	}
	return data
}

func reduce(ctx context.Context, r *Ring, data [][]float64, op Op) []error {
	errs := make([]error, len(data))
	var wg sync.WaitGroup
	for rank := range data {
		wg.Go(func() { errs[rank] = r.AllReduce(ctx, rank, data[rank], op) })
	}
	wg.Wait()
	return errs
}

// expected computes what AllReduce should, on one rank.
func expected(data [][]float64, op Op) []float64 {
	want := slices.Clone(data[0])
	for _, x := range data[1:] {
		combine(want, x, op)
	}
	if op == Mean {
		divide(want, len(data))
	}
	return want
}

func TestAllReduce(t *testing.T) {
	for n := 1; n <= 6; n++ {
		for length := range 14 {
			for op := Sum; op <= Max; op++ {
				synctest.Test(t, func(t *testing.T) {
					data := countdown(n, length)
					want := expected(data, op)
					r := newRing(t, n, length%2)
					for rank, err := range reduce(t.Context(), r, data, op) {
						require.NoError(t, err)
						require.Equal(t, want, data[rank], "operation %d of %d ranks", op, n)
					}
				})
			}
		}
	}
}

func TestParts(t *testing.T) {
	data := []float64{0, 1, 2, 3, 4}
	assert.Equal(t, []float64{0, 1}, part(data, 3, 0))
	assert.Equal(t, []float64{2, 3}, part(data, 3, -2))
	assert.Equal(t, []float64{4}, part(data, 3, 5))
	assert.Empty(t, part(data, 7, 5))
}

// Whichever message is lost, all ranks know and none has changed.
func TestLinkFails(t *testing.T) {
	for good := range 6 {
		for at := range 4 {
			synctest.Test(t, func(t *testing.T) {
				r := newRing(t, 4, 10)
				r.links[at] = &faulty{r.links[at], good}
				data := countdown(4, 7)
				for rank, err := range reduce(t.Context(), r, data, Mean) {
					require.Equal(t, &RankError{at, errFaulty}, err)
					require.Equal(t, countdown(4, 7)[rank], data[rank])
				}
			})
		}
	}
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRing(t, 3, 0)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errFaulty)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			assert.Equal(t, &RankError{1, context.DeadlineExceeded}, r.AllReduce(t.Context(), 0, make([]float64, 3), Sum))
		})
		assert.Equal(t, &RankError{1, context.DeadlineExceeded}, r.AllReduce(ctx, 1, make([]float64, 3), Sum))
		wg.Wait()
		assert.Equal(t, &RankError{1, context.DeadlineExceeded}, r.AllReduce(t.Context(), 2, nil, Max))
	})
}

func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRing(t, 2, 1)
		assert.ErrorIs(t, r.AllReduce(t.Context(), 2, nil, Sum), ErrConfig)
		assert.ErrorIs(t, r.AllReduce(t.Context(), 0, nil, 3), ErrConfig)
		first := make(chan error)
		go func() { first <- r.AllReduce(t.Context(), 0, []float64{1}, Sum) }()
		synctest.Wait()
		assert.ErrorIs(t, r.AllReduce(t.Context(), 0, []float64{1}, Sum), ErrBusy)
		err := r.AllReduce(t.Context(), 1, []float64{1, 2}, Sum)
		assert.Equal(t, &RankError{1, ErrMismatch}, err)
		assert.Equal(t, err, <-first)
	})
	_, err := New([]Link{nil})
	assert.ErrorIs(t, err, ErrConfig)
}

// A rank is a goroutine. All of them end with the same gradients.
func Example() {
	links := []Link{make(channel, 1), make(channel, 1)}
	ring, err := New(links)
	if err != nil {
		panic(err)
	}
	grads := [][]float64{{1, 2, 3}, {3, 6, 9}}
	fmt.Println(reduce(context.Background(), ring, grads, Mean), grads)
	// Output: [<nil> <nil>] [[2 4 6] [2 4 6]]
}
