package allreduce

import (
	"context"
	"sync"
)

// call is one rank's part of a round.
type call struct {
	ring  *Ring
	round *round
	rank  int
	outer context.Context // the caller's
	ctx   context.Context // the links': done also when the ring has failed
}

// circulate sends parts round the ring, N-1 times to combine them and N-1 times to
// hand out what came of it. A rank begins with the part of its own number. In each
// step it sends the part that it received in the one before, so that after N-1 steps
// it has combined the one after its own with those of all others. It stops where the ring
// has failed.
func (c *call) circulate(work []float64) {
	n := c.ring.Size()
	received := make([]float64, len(part(work, n, 0))) // the first is the longest
	for s := range n - 1 {
		mine := part(work, n, c.rank-s-1)
		if !c.exchange(part(work, n, c.rank-s), received[:len(mine)]) {
			return
		}
		combine(mine, received, c.round.op)
	}
	if c.round.op == Mean {
		divide(part(work, n, c.rank+1), n)
	}
	for s := range n - 1 {
		if !c.exchange(part(work, n, c.rank-s+1), part(work, n, c.rank-s)) {
			return
		}
	}
}

// exchange sends one part to the next rank and receives another from the previous
// one. Both at the same time: a link may hold nothing, and if all ranks first sent
// and then received, all would wait. It is over when both are, and says whether the ring
// goes on.
func (c *call) exchange(out, in []float64) bool {
	links, n := c.ring.links, c.ring.Size()
	var sending sync.WaitGroup
	sending.Go(func() { c.check(links[c.rank].Send(c.ctx, out)) })
	c.check(links[(c.rank+n-1)%n].Recv(c.ctx, in))
	sending.Wait()
	return c.failure() == nil
}

// check ends the ring if a link has failed. A link that only says that its context
// is done is not the cause: outcome is where that is looked into.
func (c *call) check(err error) {
	if err != nil && c.ctx.Err() == nil {
		c.fail(err)
	}
}

// failure ends the ring if the caller's context is done, and returns what ended it.
func (c *call) failure() error {
	if err := c.outer.Err(); err != nil {
		c.fail(err)
	}
	return context.Cause(c.ring.failed)
}

// fail ends the ring, unless this round is complete already.
func (c *call) fail(err error) {
	c.ring.mu.Lock()
	defer c.ring.mu.Unlock()
	if c.round.left > 0 {
		c.ring.fail(&RankError{c.rank, err})
	}
}

// finish says that this rank is through, and waits for the others. The last one opens
// the next round.
func (c *call) finish() {
	c.ring.arrive(c.round)
	select {
	case <-c.round.complete:
	case <-c.ctx.Done():
	}
}

// arrive counts a rank, unless the ring has failed.
func (r *Ring) arrive(round *round) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed.Err() != nil {
		return
	}
	if round.left--; round.left == 0 {
		r.round = nil
		close(round.complete)
	}
}

// outcome is nil if the round is complete: what happens after that is the next
// round's concern.
func (c *call) outcome() error {
	err := c.failure()
	select {
	case <-c.round.complete:
		return nil
	default:
		return err
	}
}
