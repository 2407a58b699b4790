// Package batcher collects requests of many goroutines into batches for one model.
// exercises/batcher has the contract.
//
// Requests wait in a list. One goroutine, started by New and ended by Close, sleeps
// until the model may be called, takes the oldest requests out of the list, calls the
// model and hands out the answers. As that goroutine makes all calls, no two of them
// overlap. A request is found in the list by its own element, so that giving it up
// takes the same time however many wait.
package batcher

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Errors of this package, for errors.Is.
var (
	ErrConfig  = errors.New("batcher: bad configuration")
	ErrClosed  = errors.New("batcher: closed")
	ErrAnswers = errors.New("batcher: wrong number of answers")
)

// Model answers a batch of requests: answer i belongs to request i. The slice in is
// its own.
type Model[I, O any] func(ctx context.Context, in []I) ([]O, error)

// Config says when the model is called.
type Config struct {
	MaxBatch int           // requests of one call, at most
	MaxWait  time.Duration // of the oldest request that waits, for others to join it
}

// Batcher hands the requests of many goroutines to one model.
type Batcher[I, O any] struct {
	model  Model[I, O]
	cfg    Config
	wake   chan struct{} // of one element: something has changed that run waits for
	exited chan struct{} // closed when run has returned

	mu      sync.Mutex
	waiting *list.List // of *request[I, O], the oldest first
	closed  bool
}

// New returns a Batcher, which must be closed, or an error that is ErrConfig.
func New[I, O any](model Model[I, O], cfg Config) (*Batcher[I, O], error) {
	switch {
	case model == nil:
		return nil, fmt.Errorf("%w: no model", ErrConfig)
	case cfg.MaxBatch < 1:
		return nil, fmt.Errorf("%w: MaxBatch is %d", ErrConfig, cfg.MaxBatch)
	case cfg.MaxWait < 0:
		return nil, fmt.Errorf("%w: MaxWait is %v", ErrConfig, cfg.MaxWait)
	}
	b := &Batcher[I, O]{
		model:   model,
		cfg:     cfg,
		wake:    make(chan struct{}, 1),
		exited:  make(chan struct{}),
		waiting: list.New(),
	}
	go b.run()
	return b, nil
}

// Submit returns the model's answer to in, or ctx.Err() as soon as ctx is done.
func (b *Batcher[I, O]) Submit(ctx context.Context, in I) (O, error) {
	var zero O
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	r, err := b.enter(in)
	if err != nil {
		return zero, err
	}
	select {
	case <-r.done:
		return r.out, r.err
	case <-ctx.Done():
		b.giveUp(r)
		return zero, ctx.Err()
	}
}

// Close takes no more requests, has the model answer those that wait, and returns when
// nothing is left running.
func (b *Batcher[I, O]) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.signal()
	<-b.exited
}

// enter puts a request at the end of the list. A request that neither begins a batch
// nor fills one changes nothing for run.
func (b *Batcher[I, O]) enter(in I) (*request[I, O], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	r := &request[I, O]{in: in, since: time.Now(), done: make(chan struct{})}
	r.place = b.waiting.PushBack(r)
	if n := b.waiting.Len(); n == 1 || n == b.cfg.MaxBatch {
		b.signal()
	}
	return r, nil
}

// giveUp forgets a request whose ctx is done.
func (b *Batcher[I, O]) giveUp(r *request[I, O]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.batch == nil {
		b.waiting.Remove(r.place)
		return
	}
	r.batch.leave()
}

// signal has run look again. If it has not yet seen the last signal, that one serves
// for both.
func (b *Batcher[I, O]) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}
