// Package batcher collects requests of many goroutines into batches for one model.
// README.md says what is wanted.
package batcher

import (
	"context"
	"errors"
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

// PanicError is the error of requests whose model panicked.
type PanicError struct {
	Value any // of the panic
}

func (e *PanicError) Error() string { return "" }

// Unwrap returns the panic's value, if it is an error.
func (e *PanicError) Unwrap() error { return nil }

// Batcher hands the requests of many goroutines to one model.
type Batcher[I, O any] struct {
	// TODO: your fields.
}

// New returns a Batcher, which must be closed, or an error that is ErrConfig.
func New[I, O any](model Model[I, O], cfg Config) (*Batcher[I, O], error) {
	return nil, nil
}

// Submit returns the model's answer to in, or ctx.Err() as soon as ctx is done.
func (b *Batcher[I, O]) Submit(ctx context.Context, in I) (O, error) {
	var zero O
	return zero, nil
}

// Close takes no more requests, has the model answer those that wait, and returns when
// nothing is left running.
func (b *Batcher[I, O]) Close() {}
