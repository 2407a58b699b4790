// Package allreduce keeps all that ranks share under one mutex, and has them wait at
// its condition variable.
package allreduce

import (
	"context"
	"slices"
	"sync"
)

type Ring struct {
	links []Link

	mu     sync.Mutex
	cond   *sync.Cond
	err    *RankError
	calls  []*call // by rank; nil if it is not in one
	length int     // of the round that is open, if anybody has come
	op     Op
	came   int
	done   int
	rounds int // that are complete
}

type call struct {
	rank   int
	round  int
	cancel context.CancelFunc
}

func New(links []Link) (*Ring, error) {
	if len(links) == 0 || slices.Contains(links, nil) {
		return nil, ErrConfig
	}
	r := &Ring{links: slices.Clone(links), calls: make([]*call, len(links))}
	r.cond = sync.NewCond(&r.mu)
	return r, nil
}

func (r *Ring) Size() int { return len(r.links) }

func (r *Ring) Abort(rank int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fail(rank, err)
}

// fail ends the ring; the mutex is held.
func (r *Ring) fail(rank int, err error) {
	if r.err != nil {
		return
	}
	r.err = &RankError{rank, err}
	for _, c := range r.calls {
		if c != nil {
			c.cancel()
		}
	}
	r.cond.Broadcast()
}

func (r *Ring) AllReduce(ctx context.Context, rank int, data []float64, op Op) error {
	if rank < 0 || rank >= len(r.links) || op < Sum || op > Max {
		return ErrConfig
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &call{rank: rank, cancel: cancel}
	if err := r.enter(ctx, c, len(data), op); err != nil {
		return err
	}
	defer r.leave(rank)
	defer context.AfterFunc(ctx, func() { r.failIn(c, ctx.Err()) })()
	work := slices.Clone(data)
	if err := r.steps(inner, ctx, c, work, op); err != nil {
		return err
	}
	if err := r.meet(c); err != nil {
		return err
	}
	copy(data, work)
	return nil
}

func (r *Ring) enter(ctx context.Context, c *call, length int, op Op) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls[c.rank] != nil {
		return ErrBusy
	}
	if ctx.Err() != nil {
		r.fail(c.rank, ctx.Err())
	}
	if r.came > 0 && (r.length != length || r.op != op) {
		r.fail(c.rank, ErrMismatch)
	}
	if r.err != nil {
		return r.err
	}
	c.round = r.rounds
	r.calls[c.rank] = c
	r.length, r.op = length, op
	r.came++
	return nil
}

func (r *Ring) leave(rank int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[rank] = nil
}

// failIn is a failure of a call, if its round is not over.
func (r *Ring) failIn(c *call, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.round == r.rounds {
		r.fail(c.rank, err)
	}
	return r.err
}

func (r *Ring) steps(inner, outer context.Context, c *call, work []float64, op Op) error {
	n := len(r.links)
	next, prev := r.links[c.rank], r.links[(c.rank+n-1)%n]
	bounds := cut(len(work), n)
	at := func(p int) []float64 {
		p = (p + 2*n) % n
		return work[bounds[p]:bounds[p+1]]
	}
	buf := make([]float64, bounds[1])
	for s := range 2 * (n - 1) {
		out, own := at(c.rank-s), at(c.rank-s-1)
		in := buf[:len(own)]
		sent := make(chan error, 1)
		go func() {
			err := next.Send(inner, out)
			if err != nil {
				err = r.blame(outer, c, err)
			}
			sent <- err
		}()
		err := prev.Recv(inner, in)
		if err != nil {
			err = r.blame(outer, c, err)
		}
		if late := <-sent; err == nil {
			err = late
		}
		if err != nil {
			return err
		}
		switch {
		case s >= n-1:
			copy(own, in)
		case op == Max:
			for i, x := range in {
				own[i] = max(own[i], x)
			}
		default:
			for i, x := range in {
				own[i] += x
			}
		}
	}
	if op == Mean {
		for i := range work {
			work[i] /= float64(n)
		}
	}
	return nil
}

func (r *Ring) blame(outer context.Context, c *call, err error) error {
	if outer.Err() != nil {
		err = outer.Err()
	}
	return r.failIn(c, err)
}

// meet waits until all ranks are here, or one of them has failed.
func (r *Ring) meet(c *call) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.done++
	}
	if r.done == len(r.links) {
		r.rounds++
		r.came, r.done = 0, 0
		r.cond.Broadcast()
	}
	for r.rounds == c.round && r.err == nil {
		r.cond.Wait()
	}
	if r.rounds == c.round {
		return r.err
	}
	return nil
}

// cut returns where the parts begin, and where the last one ends.
func cut(length, n int) []int {
	bounds := make([]int, n+1)
	for i := range n {
		bounds[i+1] = bounds[i] + length/n
		if i < length%n {
			bounds[i+1]++
		}
	}
	return bounds
}
