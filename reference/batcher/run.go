package batcher

import (
	"container/list"
	"context"
	"fmt"
	"time"
)

// request is one call of Submit.
type request[I, O any] struct {
	in    I
	since time.Time
	place *list.Element // in the list of those that wait
	batch *batch[I, O]  // nil while it waits; guarded by the Batcher's lock

	out  O // this and err are written before done is closed
	err  error
	done chan struct{}
}

// batch is one call of the model.
type batch[I, O any] struct {
	ctx      context.Context
	cancel   context.CancelFunc
	requests []*request[I, O]
	wanted   int // how many requests have not been given up
}

// leave notes that a request was given up. Where it was the last one, nobody needs the
// call any more.
func (p *batch[I, O]) leave() {
	if p.wanted--; p.wanted == 0 {
		p.cancel()
	}
}

// run calls the model until the Batcher is closed and no request waits.
func (b *Batcher[I, O]) run() {
	defer close(b.exited)
	timer := time.NewTimer(b.cfg.MaxWait)
	defer timer.Stop()
	for {
		p, wait, over := b.next()
		if over {
			return
		}
		if p != nil {
			b.answer(p)
			continue
		}
		b.sleep(timer, wait)
	}
}

// sleep waits for a signal and, if wait is above 0, for that time at most.
func (b *Batcher[I, O]) sleep(timer *time.Timer, wait time.Duration) {
	var due <-chan time.Time // never, unless a request waits
	if wait > 0 {
		timer.Reset(wait)
		due = timer.C
	}
	select {
	case <-b.wake:
	case <-due:
	}
}

// next returns the batch that is due. If there is none, it returns how long the oldest
// request will go on waiting, or 0 if no request waits; over says that none will come.
func (b *Batcher[I, O]) next() (p *batch[I, O], wait time.Duration, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.waiting.Len()
	if n == 0 {
		return nil, 0, b.closed
	}
	oldest := b.waiting.Front().Value.(*request[I, O])
	wait = b.cfg.MaxWait - time.Since(oldest.since)
	if n < b.cfg.MaxBatch && wait > 0 && !b.closed {
		return nil, wait, false
	}
	return b.take(min(n, b.cfg.MaxBatch)), 0, false
}

// take makes a batch of the n oldest requests.
func (b *Batcher[I, O]) take(n int) *batch[I, O] {
	p := &batch[I, O]{requests: make([]*request[I, O], n), wanted: n}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for i := range p.requests {
		r := b.waiting.Remove(b.waiting.Front()).(*request[I, O])
		r.batch = p
		p.requests[i] = r
	}
	return p
}

// answer calls the model and gives each request its answer, or all of them the error.
// The answers are taken out of the model's slice here and not in Submit, because the
// model may write into it from its next call on.
func (b *Batcher[I, O]) answer(p *batch[I, O]) {
	defer p.cancel()
	out, err := b.call(p)
	for i, r := range p.requests {
		if r.err = err; err == nil {
			r.out = out[i]
		}
		close(r.done)
	}
}

// call calls the model once. There is an error unless there is an answer for every
// request.
func (b *Batcher[I, O]) call(p *batch[I, O]) (out []O, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v}
		}
	}()
	in := make([]I, len(p.requests))
	for i, r := range p.requests {
		in[i] = r.in
	}
	out, err = b.model(p.ctx, in)
	if err == nil && len(out) != len(p.requests) { // the model may have written into in
		err = fmt.Errorf("%w: %d for %d requests", ErrAnswers, len(out), len(p.requests))
	}
	return out, err
}

// PanicError is the error of requests whose model panicked.
type PanicError struct {
	Value any // of the panic
}

func (e *PanicError) Error() string { return fmt.Sprintf("batcher: the model panicked: %v", e.Value) }

// Unwrap returns the panic's value, if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
