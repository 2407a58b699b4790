package loader

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// pass is one way through the dataset.
type pass[S, B any] struct {
	*Loader[S, B]
	outer context.Context // the caller's
	order []int
	count int // of batches

	slots   []chan result[B] // of one result each
	tickets chan int         // numbers of batches whose slots are free
}

// result is a batch, or the error that it failed with.
type result[B any] struct {
	batch B
	err   error
}

var errGoexit = errors.New("loader: Get or Collate called runtime.Goexit")

// indices returns the indices of a batch. Collate may keep them and append to them.
func (p *pass[S, B]) indices(batch int) []int {
	lo := batch * p.cfg.BatchSize
	hi := lo + min(p.cfg.BatchSize, len(p.order)-lo)
	return p.order[lo:hi:hi]
}

// inTurn does everything in the goroutine of the loop.
func (p *pass[S, B]) inTurn(yield func(B, error) bool) {
	ctx, cancel := context.WithCancel(p.outer)
	defer cancel()
	for i := range p.count {
		r := p.wanted(p.load(ctx, p.indices(i)))
		if !yield(r.batch, r.err) || r.err != nil {
			return
		}
	}
}

// ahead lets workers fetch what comes next. When it returns, or a panic of the
// loop's body goes through it, no worker is left.
func (p *pass[S, B]) ahead(yield func(B, error) bool) {
	ctx, cancel := context.WithCancel(p.outer)
	p.slots = make([]chan result[B], min(p.cfg.Prefetch, p.count))
	p.tickets = make(chan int, len(p.slots))
	for i := range p.slots {
		p.slots[i] = make(chan result[B], 1)
		p.tickets <- i
	}
	var workers sync.WaitGroup
	for range min(p.cfg.Workers, p.count) {
		workers.Go(func() { p.work(ctx) })
	}
	defer func() {
		cancel()
		close(p.tickets)
		workers.Wait()
	}()
	for i := range p.count {
		r := p.take(i)
		if r.err != nil {
			yield(r.batch, r.err)
			return
		}
		if next := i + len(p.slots); next < p.count {
			p.tickets <- next // there is room: a ticket for each slot
		}
		if !yield(r.batch, nil) {
			return
		}
	}
}

// take waits for a batch, in its turn, and leaves its slot to another.
func (p *pass[S, B]) take(i int) result[B] {
	var r result[B]
	select {
	case r = <-p.slots[i%len(p.slots)]:
	case <-p.outer.Done():
	}
	return p.wanted(r)
}

// wanted returns the result for the loop. If the caller's ctx is done, that is the
// ctx's error, even if the batch is ready, or if Get failed because of the ctx.
func (p *pass[S, B]) wanted(r result[B]) result[B] {
	if err := p.outer.Err(); err != nil {
		return result[B]{err: err}
	}
	return r
}

// work fetches batches until there are no more tickets. After the loop has ended, ctx
// is done, and the remaining tickets cost nothing.
func (p *pass[S, B]) work(ctx context.Context) {
	for i := range p.tickets {
		p.fill(ctx, i)
	}
}

// fill loads a batch into its slot. It fills the slot even if Get ends the goroutine,
// because the loop would wait for ever.
func (p *pass[S, B]) fill(ctx context.Context, i int) {
	r := result[B]{err: errGoexit}
	defer func() { p.slots[i%len(p.slots)] <- r }()
	r = p.load(ctx, p.indices(i))
}

// load fetches and collates one batch. One recover serves for all its samples.
func (p *pass[S, B]) load(ctx context.Context, idx []int) (r result[B]) {
	var at int // the sample that is being fetched; -1 while Collate runs
	failed := func(err error) result[B] { return result[B]{err: &ItemError{at, err}} }
	defer func() {
		if v := recover(); v != nil {
			r = failed(panicked(v))
		}
	}()
	samples := make([]S, len(idx))
	for j, i := range idx {
		at = i
		err := ctx.Err()
		if err == nil {
			samples[j], err = p.data.Get(ctx, i)
		}
		if err != nil {
			return failed(err)
		}
	}
	at = -1
	batch, err := p.collate(idx, samples)
	if err != nil {
		return failed(err)
	}
	return result[B]{batch: batch}
}

// panicked makes an error of a panic's value, which stays to be found if it was
// one.
func panicked(v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic: %v", v)
}
