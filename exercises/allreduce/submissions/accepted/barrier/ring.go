// Package allreduce combines the gradients of several ranks, and gives the result to
// all of them: Sum, Mean or Max, element by element. exercises/allreduce has the
// contract.
//
// The numbers go round a ring of links, in the way that Gibiansky's "Bringing HPC
// Techniques to Deep Learning" (Baidu Research, 2017) made known: each rank sends
// 2(N-1) parts of an N-th of the data, however many ranks there are. Whether a
// reduction holds is decided apart from the links, at a meeting of all ranks at its
// end: so all of them have the result, or none has.
package allreduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Op is how the numbers of the ranks become one.
type Op int

// What AllReduce can do.
const (
	Sum  Op = iota
	Mean    // the sum, divided by the number of ranks
	Max     // as Go's max: NaN if one of them is
)

// Link takes parts from one rank to the next, in their order.
type Link interface {
	// Send is over when the link is done with part, which may be as late as the
	// other side has received it.
	Send(ctx context.Context, part []float64) error
	// Recv fills part with the next one that was sent, which has its length.
	Recv(ctx context.Context, part []float64) error
}

// What the errors of this package are, for errors.Is.
var (
	ErrConfig   = errors.New("allreduce: bad argument")
	ErrBusy     = errors.New("allreduce: the rank is in a call already")
	ErrMismatch = errors.New("allreduce: ranks disagree on the length or the operation")
)

// RankError says which rank ended a ring, and why.
type RankError struct {
	Rank int
	Err  error
}

func (e *RankError) Error() string { return fmt.Sprintf("allreduce: rank %d: %v", e.Rank, e.Err) }

// Unwrap returns Err.
func (e *RankError) Unwrap() error { return e.Err }

// Ring is a group of ranks. One failure ends it.
type Ring struct {
	links []Link // links[i] leads from rank i to the next

	// The cause of failed is the *RankError that ended the ring. A context keeps
	// the first cause it is given, and wakes up all who wait.
	failed context.Context
	fail   context.CancelCauseFunc

	mu    sync.Mutex // whether a round is complete, and whether the ring has failed, is decided under it
	busy  []bool     // by rank
	round *round     // that ranks join now; nil until the first one comes
}

// round is one reduction.
type round struct {
	length   int
	op       Op
	left     int           // ranks that have not finished
	missing  int           // ranks that have not come
	begin    chan struct{} // closed when all have come
	complete chan struct{} // closed when all have
}

// New returns a ring of as many ranks as there are links: links[i] takes what rank i
// sends to the rank after it, the last one to rank 0. It copies the list.
func New(links []Link) (*Ring, error) {
	if len(links) == 0 {
		return nil, fmt.Errorf("%w: no links", ErrConfig)
	}
	if i := slices.Index(links, nil); i >= 0 {
		return nil, fmt.Errorf("%w: link %d is nil", ErrConfig, i)
	}
	r := &Ring{links: slices.Clone(links), busy: make([]bool, len(links))}
	r.failed, r.fail = context.WithCancelCause(context.Background())
	return r, nil
}

// Size returns the number of ranks.
func (r *Ring) Size() int { return len(r.links) }

// Abort ends the ring for all ranks, because this one cannot go on.
func (r *Ring) Abort(rank int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail(&RankError{rank, err})
}

// AllReduce combines data with that of all other ranks, each of which has to call it
// too, and waits for all of them. Then data is the result. Where one rank fails, all
// return the same *RankError and keep what they had, and the ring is of no more use.
func (r *Ring) AllReduce(ctx context.Context, rank int, data []float64, op Op) error {
	if rank < 0 || rank >= r.Size() {
		return fmt.Errorf("%w: rank %d of %d", ErrConfig, rank, r.Size())
	}
	if op < Sum || op > Max {
		return fmt.Errorf("%w: operation %d", ErrConfig, op)
	}
	round, err := r.enter(rank, len(data), op)
	if err != nil {
		return err
	}
	defer r.leave(rank)
	return r.run(ctx, round, rank, data)
}

// enter makes the rank a part of the round that is open.
func (r *Ring) enter(rank, length int, op Op) (*round, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[rank] {
		return nil, fmt.Errorf("%w: rank %d", ErrBusy, rank)
	}
	if r.round == nil {
		r.round = &round{length: length, op: op, left: r.Size(), complete: make(chan struct{}), missing: r.Size(), begin: make(chan struct{})}
	}
	if r.round.length != length || r.round.op != op {
		r.fail(&RankError{rank, ErrMismatch})
	}
	r.busy[rank] = true
	if r.round.missing--; r.round.missing == 0 {
		close(r.round.begin)
	}
	return r.round, nil
}

func (r *Ring) leave(rank int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy[rank] = false
}

// run takes one rank through the round.
func (r *Ring) run(ctx context.Context, round *round, rank int, data []float64) error {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.failed, cancel)()
	c := &call{ring: r, round: round, rank: rank, outer: ctx, ctx: inner}
	work := slices.Clone(data)
	select {
	case <-round.begin:
	case <-inner.Done():
	}
	if c.failure() == nil {
		c.circulate(work)
		c.finish()
	}
	if err := c.outcome(); err != nil {
		return err
	}
	copy(data, work)
	return nil
}
