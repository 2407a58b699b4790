// Package batcher collects requests into batches for one model. One goroutine owns all
// that is known of them; Submit, Close and the calls of the model send it messages.
package batcher

import (
	"context"
	"errors"
	"fmt"
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

// PanicError is the error of requests whose model panicked.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprint("batcher: panic: ", e.Value) }

func (e *PanicError) Unwrap() error {
	if err, ok := e.Value.(error); ok {
		return err
	}
	return nil
}

// result is what Submit returns.
type result[O any] struct {
	out O
	err error
}

// request is known by its address.
type request[I, O any] struct {
	in      I
	since   time.Time
	answer  chan result[O] // has room for it
	gone    bool           // given up in the queue
	running bool
}

type Batcher[I, O any] struct {
	model  Model[I, O]
	cfg    Config
	submit chan *request[I, O]
	forget chan *request[I, O]
	stop   chan struct{}
	over   chan struct{} // closed at the end
}

func New[I, O any](model Model[I, O], cfg Config) (*Batcher[I, O], error) {
	if model == nil || cfg.MaxBatch < 1 || cfg.MaxWait < 0 {
		return nil, ErrConfig
	}
	b := &Batcher[I, O]{model, cfg, make(chan *request[I, O]), make(chan *request[I, O]), make(chan struct{}), make(chan struct{})}
	go (&manager[I, O]{Batcher: b, returned: make(chan struct{}, 1)}).run()
	return b, nil
}

func (b *Batcher[I, O]) Submit(ctx context.Context, in I) (zero O, err error) {
	if ctx.Err() != nil {
		return zero, ctx.Err()
	}
	r := &request[I, O]{in: in, answer: make(chan result[O], 1)}
	select {
	case b.submit <- r:
	case <-b.over:
		return zero, ErrClosed
	}
	select {
	case a := <-r.answer:
		return a.out, a.err
	case <-ctx.Done():
	}
	select {
	case b.forget <- r:
	case <-b.over:
	}
	return zero, ctx.Err()
}

func (b *Batcher[I, O]) Close() {
	select {
	case b.stop <- struct{}{}:
	case <-b.over:
	}
	<-b.over
}
