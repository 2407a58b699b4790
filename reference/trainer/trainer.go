// Package trainer runs the loop that trains a model: it moves batches from a loader
// to a device, runs the model forward and backward, accumulates gradients over
// several batches for one step, validates, keeps a history, and calls callbacks.
//
//	t, err := trainer.New(model, optimizer, loss, trainer.Config{Epochs: 10, AccumSteps: 4})
//	history, err := t.Fit(ctx, train, val)
//	for prediction, err := range t.Predict(ctx, test) { ... }
//
// It knows nothing of numbers, layers or files, which are behind the interfaces in
// types.go. It does not read ahead and starts no goroutine, so that only one batch
// is reachable at a time; reading ahead is the loader's task.
//
// # Losses and gradients
//
// Every sample has the same weight, whatever its batch. A mean of the batches' means
// would give more weight to the samples of a short last batch, and so would dividing
// gradients by the number of batches. The package therefore weights losses by the
// samples of their batch, and divides the gradients of a window, which are sums, by
// its samples, once.
package trainer

import "fmt"

// Trainer trains a model, evaluates it, and predicts with it. It is for one
// goroutine at a time, but a callback may call Evaluate and Predict: a Trainer
// holds nothing of a run.
type Trainer struct {
	model     Model
	optimizer Optimizer
	loss      Loss

	device      Device
	epochs      int
	accumSteps  int
	maxGradNorm float64
	callbacks   callbacks
}

// New returns a Trainer for m, which it moves to cfg.Device, unless an argument
// is not as it has to be: that is an ErrConfig, and leaves m alone. Of cfg it
// keeps a copy.
func New(m Model, o Optimizer, l Loss, cfg Config) (*Trainer, error) {
	if err := check(m, o, l, cfg); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	cbs, err := sortOut(cfg.Callbacks)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if cfg.Device == "" {
		cfg.Device = CPU
	}
	if err := m.To(cfg.Device); err != nil {
		return nil, fmt.Errorf("move the model to %s: %w", cfg.Device, err)
	}
	return &Trainer{
		model: m, optimizer: o, loss: l,
		device: cfg.Device, epochs: cfg.Epochs, accumSteps: cfg.AccumSteps, maxGradNorm: cfg.MaxGradNorm,
		callbacks: cbs,
	}, nil
}

func check(m Model, o Optimizer, l Loss, cfg Config) error {
	switch {
	case m == nil || o == nil || l == nil:
		return fmt.Errorf("model, optimizer and loss are all needed")
	case cfg.Epochs < 1:
		return fmt.Errorf("%d epochs", cfg.Epochs)
	case cfg.AccumSteps < 1:
		return fmt.Errorf("%d batches for a step", cfg.AccumSteps)
	case !(cfg.MaxGradNorm >= 0): // NaN too
		return fmt.Errorf("gradients no longer than %v", cfg.MaxGradNorm)
	}
	return nil
}
