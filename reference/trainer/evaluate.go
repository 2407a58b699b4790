package trainer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
)

// Evaluate returns the mean loss of the samples of l, with the model in
// evaluation mode, and leaves the model and its mode as they were.
func (t *Trainer) Evaluate(ctx context.Context, l Loader) (float64, error) {
	loss, err := t.evaluate(ctx, l, 0)
	if err != nil {
		return 0, fmt.Errorf("evaluate: %w", err)
	}
	return loss, nil
}

func (t *Trainer) evaluate(ctx context.Context, l Loader, epoch int) (float64, error) {
	defer t.model.SetTraining(t.model.Training()) // what it is now
	t.model.SetTraining(false)
	var total float64
	var samples int
	err := each(ctx, l, epoch, func(_ int, b Batch, n int) error {
		mean, _, err := t.answer(ctx, b)
		total += mean * float64(n)
		samples += n
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case samples == 0:
		return 0, ErrEmpty
	}
	return total / float64(samples), nil
}

// errBroken reports that the caller left the range over a Predict.
var errBroken = errors.New("range left")

// Predict returns the predictions for the batches of l, in their order and on the
// CPU; after an error there is no more. Nothing happens but while it is ranged
// over, then with the model in evaluation mode, one batch at a time; each range is
// a pass of its own over l.
func (t *Trainer) Predict(ctx context.Context, l Loader) iter.Seq2[Tensor, error] {
	return func(yield func(Tensor, error) bool) {
		defer t.model.SetTraining(t.model.Training())
		t.model.SetTraining(false)
		err := each(ctx, l, 0, func(_ int, b Batch, _ int) error {
			pred, err := t.predict(ctx, b.X)
			if err != nil {
				return err
			}
			if pred, err = pred.To(CPU); err != nil {
				return fmt.Errorf("move the prediction to %s: %w", CPU, err)
			}
			if !yield(pred, nil) {
				return errBroken
			}
			return nil
		})
		if err != nil && !errors.Is(err, errBroken) {
			yield(nil, fmt.Errorf("predict: %w", err))
		}
	}
}

// each calls do with every batch that has samples, its number and how many they
// are. Ctx is looked at whenever the loader has done something: before a batch,
// and at the end, which may have come early because of it.
func each(ctx context.Context, l Loader, epoch int, do func(i int, b Batch, samples int) error) error {
	i := 0
	for b, err := range l.Batches(ctx, epoch) {
		if err != nil {
			err = fmt.Errorf("load: %w", err)
		} else if err = ctx.Err(); err == nil {
			n := b.X.Len()
			if n == 0 {
				continue
			}
			err = do(i, b, n)
		}
		if err != nil {
			return &BatchError{epoch, i, err}
		}
		i++
	}
	return ctx.Err()
}

// answer computes prediction and loss of a batch, and refuses one that would
// spoil all sums that it gets into.
func (t *Trainer) answer(ctx context.Context, b Batch) (mean float64, grad Tensor, err error) {
	pred, err := t.predict(ctx, b.X)
	if err != nil {
		return 0, nil, err
	}
	y, err := b.Y.To(t.device)
	if err != nil {
		return 0, nil, fmt.Errorf("move Y to %s: %w", t.device, err)
	}
	mean, grad, err = t.loss(pred, y)
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("loss: %w", err)
	case math.IsNaN(mean), math.IsInf(mean, 0):
		return 0, nil, fmt.Errorf("%w: %v", ErrNonFinite, mean)
	}
	return mean, grad, nil
}

// predict computes the prediction for x, on the device.
func (t *Trainer) predict(ctx context.Context, x Tensor) (Tensor, error) {
	x, err := x.To(t.device)
	if err != nil {
		return nil, fmt.Errorf("move X to %s: %w", t.device, err)
	}
	pred, err := t.model.Forward(ctx, x)
	if err != nil {
		return nil, fmt.Errorf("forward: %w", err)
	}
	return pred, nil
}
