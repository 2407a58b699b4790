package loader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// pass is one way through the dataset.
type pass[S, B any] struct {
	*Loader[S, B]
	outer context.Context // the caller's
	order []int
	count int // of batches

	slots   []slot[B]
	tickets chan int     // numbers of batches whose slots are free
	last    atomic.Int64 // the batch after which none is wanted any more
}

// slot is where a batch lies until its turn.
type slot[B any] struct {
	ready chan struct{} // holds a token while there is a result
	batch B
	err   error
}

var errGoexit = errors.New("loader: Get or Collate called runtime.Goexit")

// indices are those of a batch. Collate may keep them and append to them.
func (p *pass[S, B]) indices(batch int) []int {
	lo := batch * p.cfg.BatchSize
	hi := lo + min(p.cfg.BatchSize, len(p.order)-lo)
	return p.order[lo:hi:hi]
}

// inTurn does everything in the goroutine of the loop.
func (p *pass[S, B]) inTurn(yield func(B, error) bool) {
	ctx, cancel := context.WithCancel(p.outer)
	defer cancel()
	var none B
	for i := range p.count {
		if err := p.outer.Err(); err != nil {
			yield(none, err)
			return
		}
		batch, err := p.load(ctx, p.indices(i))
		if outer := p.outer.Err(); outer != nil {
			err = outer
		}
		if err != nil {
			yield(none, err)
			return
		}
		if !yield(batch, nil) {
			return
		}
	}
}

// ahead lets workers fetch what comes next. When it returns, or a panic of the
// loop's body goes through it, no worker is left.
func (p *pass[S, B]) ahead(yield func(B, error) bool) {
	if err := p.outer.Err(); err != nil && p.count > 0 {
		var none B
		yield(none, err)
		return
	}
	ctx, cancel := context.WithCancel(p.outer)
	p.slots = make([]slot[B], min(p.cfg.Prefetch, p.count))
	p.tickets = make(chan int, len(p.slots))
	p.last.Store(int64(p.count))
	for i := range p.slots {
		p.slots[i].ready = make(chan struct{}, 1)
		p.tickets <- i
	}
	var workers sync.WaitGroup
	for range min(p.cfg.Workers, p.count) {
		workers.Go(func() { p.work(ctx) })
	}
	stop := sync.OnceFunc(func() {
		p.endAt(-1)
		cancel()
		close(p.tickets)
		workers.Wait()
	})
	defer stop()
	for i := range p.count {
		batch, err := p.take(i)
		if err != nil {
			stop() // so that nothing runs while the body looks at the error
			yield(batch, err)
			return
		}
		if !yield(batch, nil) {
			return
		}
	}
}

// take waits for a batch, in its turn, and gives its slot to another.
func (p *pass[S, B]) take(i int) (batch B, err error) {
	s := &p.slots[i%len(p.slots)]
	select {
	case <-s.ready:
	case <-p.outer.Done():
	}
	// A Get that was cancelled has failed as well: the reason is told, and not
	// its consequence. A batch that is ready is not wanted any more.
	if err := p.outer.Err(); err != nil {
		return batch, err
	}
	batch, err = s.batch, s.err
	*s = slot[B]{ready: s.ready}
	if next := i + len(p.slots); err == nil && next < p.count {
		p.tickets <- next // there is room: a ticket for each slot
	}
	return batch, err
}

// work fetches batches until there are no more tickets. After a failure those
// before it are wanted still, and another worker may be about to begin one.
func (p *pass[S, B]) work(ctx context.Context) {
	for i := range p.tickets {
		if int64(i) < p.last.Load() {
			p.fill(ctx, i)
		}
	}
}

// endAt makes a batch the last that is wanted.
func (p *pass[S, B]) endAt(i int) {
	for {
		last := p.last.Load()
		if last <= int64(i) || p.last.CompareAndSwap(last, int64(i)) {
			return
		}
	}
}

// fill loads a batch into its slot; also where Get ends the goroutine, for the
// loop would wait for ever.
func (p *pass[S, B]) fill(ctx context.Context, i int) {
	s := &p.slots[i%len(p.slots)]
	s.err = errGoexit
	defer func() {
		if s.err != nil {
			p.endAt(i)
		}
		s.ready <- struct{}{}
	}()
	s.batch, s.err = p.load(ctx, p.indices(i))
}

// load fetches and collates one batch. One recover serves for all its samples.
func (p *pass[S, B]) load(ctx context.Context, idx []int) (batch B, err error) {
	at := -1
	defer func() {
		if v := recover(); v != nil {
			var none B
			batch, err = none, &ItemError{at, panicked(v)}
		}
	}()
	samples := make([]S, len(idx))
	for j, i := range idx {
		at = i
		if err := ctx.Err(); err != nil { // nobody waits for this batch any more
			return batch, &ItemError{i, err}
		}
		if samples[j], err = p.data.Get(ctx, i); err != nil {
			return batch, &ItemError{i, err}
		}
	}
	at = -1
	made, err := p.collate(idx, samples)
	if err != nil {
		return batch, &ItemError{-1, err}
	}
	return made, nil
}

// panicked makes an error of a panic's value, which stays to be found if it was
// one.
func panicked(v any) error {
	if err, ok := v.(error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic: %v", v)
}
