// Package trainer runs the loop that trains a model: epochs, accumulated
// gradients, validation, prediction, callbacks. README.md says what is wanted,
// and types.go has the interfaces.
package trainer

import (
	"context"
	"iter"
)

// Trainer trains a model, and evaluates it.
type Trainer struct {
	// TODO: your fields.
}

// New checks its arguments, moves m to cfg.Device and returns a Trainer for it.
func New(m Model, o Optimizer, l Loss, cfg Config) (*Trainer, error) { return &Trainer{}, nil }

// Fit trains for cfg.Epochs epochs, with validation after each unless val is nil.
func (t *Trainer) Fit(ctx context.Context, train, val Loader) (History, error) {
	return History{}, nil
}

// Evaluate returns the mean loss of all samples of l.
func (t *Trainer) Evaluate(ctx context.Context, l Loader) (float64, error) { return 0, nil }

// Predict returns the predictions for the batches of l, in order, on the CPU.
func (t *Trainer) Predict(ctx context.Context, l Loader) iter.Seq2[Tensor, error] {
	return func(yield func(Tensor, error) bool) {}
}
