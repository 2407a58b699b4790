// Package batcher collects requests into batches for one model. It has no goroutine of
// its own while nothing is to be done: whoever changes something under the lock looks
// whether a call is due, and a timer looks when the oldest request has waited enough.
package batcher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

var (
	ErrConfig  = errors.New("batcher: bad configuration")
	ErrClosed  = errors.New("batcher: closed")
	ErrAnswers = errors.New("batcher: wrong number of answers")
)

type Model[I, O any] func(ctx context.Context, in []I) ([]O, error)

type Config struct {
	MaxBatch int
	MaxWait  time.Duration
}

type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprintf("model: panic: %v", e.Value) }

func (e *PanicError) Unwrap() error { err, _ := e.Value.(error); return err }

// request is an element of a ring, as long as it waits.
type request[I, O any] struct {
	prev, next *request[I, O]
	in         I
	out        O
	err        error
	since      time.Time
	call       *call
	ready      chan struct{}
}

// call counts those that want its answers.
type call struct {
	wanted int
	cancel context.CancelFunc
}

type Batcher[I, O any] struct {
	model Model[I, O]
	cfg   Config

	mu     sync.Mutex
	ring   request[I, O] // its next is the oldest, its prev the newest
	n      int
	busy   bool
	closed bool
	timer  *time.Timer
	idle   sync.WaitGroup // of calls, and of requests that wait
}

func New[I, O any](model Model[I, O], cfg Config) (*Batcher[I, O], error) {
	if model == nil {
		return nil, fmt.Errorf("model: %w", ErrConfig)
	}
	if cfg.MaxBatch <= 0 || cfg.MaxWait < 0 {
		return nil, fmt.Errorf("%+v: %w", cfg, ErrConfig)
	}
	b := &Batcher[I, O]{model: model, cfg: cfg}
	b.ring.prev, b.ring.next = &b.ring, &b.ring
	return b, nil
}

func (b *Batcher[I, O]) Submit(ctx context.Context, in I) (O, error) {
	var none O
	if err := ctx.Err(); err != nil {
		return none, err
	}
	r := &request[I, O]{in: in, since: time.Now(), ready: make(chan struct{})}
	if !b.add(r) {
		return none, ErrClosed
	}
	select {
	case <-r.ready:
		return r.out, r.err
	case <-ctx.Done():
		b.abandon(r)
		return none, ctx.Err()
	}
}

func (b *Batcher[I, O]) Close() {
	b.mu.Lock()
	b.closed = true
	b.look()
	b.mu.Unlock()
	b.idle.Wait()
}

func (b *Batcher[I, O]) add(r *request[I, O]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	r.prev, r.next = b.ring.prev, &b.ring
	r.prev.next, r.next.prev = r, r
	b.n++
	b.idle.Add(1)
	b.look()
	return true
}

// remove takes a request out of the ring.
func (b *Batcher[I, O]) remove(r *request[I, O]) {
	r.prev.next, r.next.prev = r.next, r.prev
	r.prev, r.next = nil, nil
	b.n--
	b.idle.Done()
}

func (b *Batcher[I, O]) abandon(r *request[I, O]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.next != nil {
		b.remove(r)
		b.look()
	} else if r.call.wanted--; r.call.wanted == 0 {
		r.call.cancel()
	}
}

// look begins a call if one is due, or has a timer look again when one will be.
func (b *Batcher[I, O]) look() {
	if b.busy || b.n == 0 {
		b.unset()
		return
	}
	left := b.cfg.MaxWait - time.Since(b.ring.next.since)
	if b.n >= b.cfg.MaxBatch || left <= 0 || b.closed {
		b.unset()
		b.start()
		return
	}
	if b.timer == nil {
		b.timer = time.AfterFunc(left, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.look()
		})
		return
	}
	b.timer.Reset(left)
}

func (b *Batcher[I, O]) unset() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

func (b *Batcher[I, O]) start() {
	size := min(b.n, b.cfg.MaxBatch)
	batch := make([]*request[I, O], size)
	in := make([]I, size)
	ctx, cancel := context.WithCancel(context.Background())
	c := &call{size, cancel}
	b.busy = true
	b.idle.Add(1)
	for i := range batch {
		r := b.ring.next
		b.remove(r)
		r.call = c
		batch[i], in[i] = r, r.in
	}
	go func() {
		defer b.idle.Done()
		defer cancel()
		b.answer(batch, func() ([]O, error) { return b.model(ctx, in) })
		b.mu.Lock()
		defer b.mu.Unlock()
		b.busy = false
		b.look()
	}()
}

func (b *Batcher[I, O]) answer(batch []*request[I, O], ask func() ([]O, error)) {
	out, err := guarded(ask)
	if err == nil && len(out) != len(batch) {
		err = ErrAnswers
	}
	for i, r := range batch {
		if err == nil {
			r.out = out[i]
		}
		r.err = err
		close(r.ready)
	}
}

func guarded[O any](f func() ([]O, error)) (out []O, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, &PanicError{Value: v}
		}
	}()
	return f()
}
