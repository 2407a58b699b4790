package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Fit trains for the configured number of epochs, numbered from 0, and after each
// evaluates on val unless that is nil. It returns the epochs that were completed,
// also with an error; that a callback stopped it is none. The model is left in
// the mode it was found in.
func (t *Trainer) Fit(ctx context.Context, train, val Loader) (h History, err error) {
	defer t.model.SetTraining(t.model.Training()) // what it is now
	err = errPanicked                             // until run returns
	defer func() { err = t.callbacks.end(h, err) }()
	err = t.run(ctx, train, val, &h)
	if errors.Is(err, errStopped) {
		err = nil
	}
	return h, err
}

// run adds to h as it goes, for a panic leaves no results.
func (t *Trainer) run(ctx context.Context, train, val Loader, h *History) error {
	if err := t.callbacks.start(ctx); err != nil {
		return err
	}
	for epoch := range t.epochs {
		stats, err := t.trainEpoch(ctx, train, epoch)
		if err != nil {
			return err
		}
		if val != nil {
			if stats.ValLoss, err = t.evaluate(ctx, val, epoch); err != nil {
				return fmt.Errorf("validate: %w", err)
			}
		}
		h.Epochs = append(h.Epochs, stats)
		if err := t.callbacks.epoch(ctx, stats); err != nil {
			return fmt.Errorf("end of epoch %d: %w", epoch, err)
		}
	}
	return nil
}

// pass is one epoch of training.
type pass struct {
	*Trainer
	ctx   context.Context
	stats EpochStats
	total float64 // loss of all samples so far
	batch int     // the last one

	// The window: what was accumulated since the last step.
	batches, samples int
}

func (t *Trainer) trainEpoch(ctx context.Context, l Loader, epoch int) (EpochStats, error) {
	t.model.SetTraining(true)
	p := pass{Trainer: t, ctx: ctx, stats: EpochStats{Epoch: epoch, ValLoss: math.NaN()}}
	if err := each(ctx, l, epoch, p.learn); err != nil {
		return EpochStats{}, err
	}
	if p.batches > 0 {
		if err := p.step(); err != nil {
			return EpochStats{}, &BatchError{epoch, p.batch, err}
		}
	}
	if p.stats.Samples == 0 {
		return EpochStats{}, fmt.Errorf("train epoch %d: %w", epoch, ErrEmpty)
	}
	p.stats.TrainLoss = p.total / float64(p.stats.Samples)
	return p.stats, nil
}

// learn trains on one batch. It clears the gradients at the start of a window and not
// after a step, so that an epoch without samples does not touch the optimizer.
func (p *pass) learn(i int, b Batch, samples int) error {
	mean, grad, err := p.answer(p.ctx, b)
	if err != nil {
		return err
	}
	if p.batches == 0 {
		p.optimizer.ZeroGrad()
	}
	if err := p.model.Backward(grad); err != nil {
		return fmt.Errorf("backward: %w", err)
	}
	p.batch = i
	p.batches++
	p.samples += samples
	p.stats.Samples += samples
	p.total += mean * float64(samples)
	if err := p.callbacks.batch(p.ctx, BatchInfo{p.stats.Epoch, i, samples, mean}); err != nil {
		return err
	}
	if p.batches == p.accumSteps {
		return p.step()
	}
	return nil
}

// step ends a window, be it full or what an epoch leaves over.
func (p *pass) step() error {
	p.model.ScaleGrads(1 / float64(p.samples))
	if p.maxGradNorm > 0 {
		p.model.ClipGrads(p.maxGradNorm)
	}
	if err := p.optimizer.Step(); err != nil {
		return fmt.Errorf("step: %w", err)
	}
	info := StepInfo{p.stats.Epoch, p.stats.Steps, p.samples}
	p.stats.Steps++
	p.batches, p.samples = 0, 0
	return p.callbacks.step(p.ctx, info)
}
