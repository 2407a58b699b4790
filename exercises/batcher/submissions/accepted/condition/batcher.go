// Package batcher collects requests into batches for one model. A worker waits on a
// condition variable, which timers and Submit wake; the queue is a map by numbers that
// grow, so that a request is given up by deleting it.
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

func (e *PanicError) Error() string { return fmt.Sprintf("the model panicked with %v", e.Value) }

func (e *PanicError) Unwrap() error {
	switch v := e.Value.(type) {
	case error:
		return v
	default:
		return nil
	}
}

// ticket is one request. Everything in it is guarded by the lock.
type ticket[I, O any] struct {
	number int
	in     I
	came   time.Time
	out    O
	err    error
	over   bool // answered, or given up
	group  *group
	wake   *sync.Cond
}

type group struct {
	left   int
	cancel func()
}

type Batcher[I, O any] struct {
	model Model[I, O]
	cfg   Config

	mu          sync.Mutex
	changed     *sync.Cond
	first, next int // numbers: the oldest is not below first
	queue       map[int]*ticket[I, O]
	closed      bool
	finished    bool
}

func New[I, O any](model Model[I, O], cfg Config) (*Batcher[I, O], error) {
	var err error
	switch {
	case model == nil:
		err = errors.Join(ErrConfig, errors.New("no model"))
	case cfg.MaxBatch < 1, cfg.MaxWait < 0:
		err = errors.Join(ErrConfig, fmt.Errorf("%+v", cfg))
	}
	if err != nil {
		return nil, err
	}
	b := &Batcher[I, O]{model: model, cfg: cfg, queue: map[int]*ticket[I, O]{}}
	b.changed = sync.NewCond(&b.mu)
	go b.work()
	return b, nil
}

func (b *Batcher[I, O]) Submit(ctx context.Context, in I) (O, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := &ticket[I, O]{number: b.next, in: in, came: time.Now(), wake: sync.NewCond(&b.mu)}
	if ctx.Err() != nil {
		return t.out, ctx.Err()
	}
	if b.closed {
		return t.out, ErrClosed
	}
	b.next++
	b.queue[t.number] = t
	b.changed.Broadcast()
	stop := context.AfterFunc(ctx, func() { b.drop(t, ctx.Err()) })
	defer stop()
	for !t.over {
		t.wake.Wait()
	}
	return t.out, t.err
}

// drop gives a request up.
func (b *Batcher[I, O]) drop(t *ticket[I, O], err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.over {
		return
	}
	t.err, t.over = err, true
	t.wake.Signal()
	if t.group == nil {
		delete(b.queue, t.number)
		b.changed.Broadcast()
		return
	}
	if t.group.left--; t.group.left == 0 {
		t.group.cancel()
	}
}

func (b *Batcher[I, O]) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.changed.Broadcast()
	for !b.finished {
		b.changed.Wait()
	}
}

// oldest is nil if no request waits.
func (b *Batcher[I, O]) oldest() *ticket[I, O] {
	for ; b.first < b.next; b.first++ {
		if t := b.queue[b.first]; t != nil {
			return t
		}
	}
	return nil
}

// work makes all calls, and holds the lock while it makes none and does not wait.
func (b *Batcher[I, O]) work() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		t := b.oldest()
		if t == nil && b.closed {
			b.finished = true
			b.changed.Broadcast()
			return
		}
		if t == nil {
			b.changed.Wait()
			continue
		}
		if left := b.cfg.MaxWait - time.Since(t.came); left > 0 && len(b.queue) < b.cfg.MaxBatch && !b.closed {
			b.waitAtMost(left)
			continue
		}
		b.call()
	}
}

func (b *Batcher[I, O]) waitAtMost(d time.Duration) {
	timer := time.AfterFunc(d, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})
	defer timer.Stop()
	b.changed.Wait()
}

// call takes the oldest requests, calls the model without the lock, and takes the lock
// again to answer.
func (b *Batcher[I, O]) call() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	g := &group{cancel: cancel}
	var tickets []*ticket[I, O]
	var in []I
	for t := b.oldest(); t != nil && len(in) < b.cfg.MaxBatch; t = b.oldest() {
		delete(b.queue, t.number)
		t.group = g
		tickets, in = append(tickets, t), append(in, t.in)
	}
	g.left = len(tickets)
	b.mu.Unlock()
	out, err := b.ask(ctx, in)
	b.mu.Lock()
	for i, t := range tickets {
		if t.over {
			continue
		}
		switch {
		case err != nil:
			t.err = err
		case len(out) != len(tickets):
			t.err = fmt.Errorf("%d of %d: %w", len(out), len(tickets), ErrAnswers)
		default:
			t.out = out[i]
		}
		t.over = true
		t.wake.Signal()
	}
}

func (b *Batcher[I, O]) ask(ctx context.Context, in []I) (out []O, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v}
		}
	}()
	return b.model(ctx, in)
}
