package trainer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
)

type Trainer struct {
	model Model
	opt   Optimizer
	loss  Loss
	cfg   Config
}

func New(m Model, o Optimizer, l Loss, cfg Config) (*Trainer, error) {
	if m == nil || o == nil || l == nil {
		return nil, fmt.Errorf("%w: something is nil", ErrConfig)
	}
	if cfg.Epochs < 1 || cfg.AccumSteps < 1 {
		return nil, fmt.Errorf("%w: Epochs and AccumSteps have to be at least 1", ErrConfig)
	}
	if cfg.MaxGradNorm < 0 || math.IsNaN(cfg.MaxGradNorm) {
		return nil, fmt.Errorf("%w: MaxGradNorm is %v", ErrConfig, cfg.MaxGradNorm)
	}
	for _, c := range cfg.Callbacks {
		switch c.(type) {
		case TrainStarter, BatchEnder, StepEnder, EpochEnder, TrainEnder:
		default:
			return nil, fmt.Errorf("%w: %T is not a callback", ErrConfig, c)
		}
	}
	cfg.Callbacks = append([]Callback(nil), cfg.Callbacks...)
	if cfg.Device == "" {
		cfg.Device = CPU
	}
	if err := m.To(cfg.Device); err != nil {
		return nil, err
	}
	return &Trainer{model: m, opt: o, loss: l, cfg: cfg}, nil
}

// label is the key of a batch's name in its context.
type label struct{}

// errStop stands for ErrStop where it came from a callback.
var errStop = errors.New("stop")

// notify calls one method of all callbacks.
func (t *Trainer) notify(call func(Callback) error) error {
	stop := false
	for _, c := range append([]Callback(nil), t.cfg.Callbacks...) {
		err := call(c)
		if errors.Is(err, ErrStop) {
			stop = true
		} else if err != nil {
			return err
		}
	}
	if stop {
		return errStop
	}
	return nil
}

func (t *Trainer) Fit(ctx context.Context, train, val Loader) (h History, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before := t.model.Training()
	defer func() { t.model.SetTraining(before) }()
	finished := false
	defer func() {
		told := err
		if !finished {
			told = errors.New("panic")
		}
		for _, c := range t.cfg.Callbacks {
			if e, ok := c.(TrainEnder); ok {
				if e := e.TrainEnd(h, told); err == nil && e != nil && !errors.Is(e, ErrStop) {
					err = e
				}
			}
		}
	}()
	err = t.fit(ctx, train, val, &h)
	if err == errStop {
		err = nil
	}
	finished = true
	return h, err
}

func (t *Trainer) fit(ctx context.Context, train, val Loader, h *History) error {
	err := t.notify(func(c Callback) error {
		if c, ok := c.(TrainStarter); ok {
			return c.TrainStart(ctx)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for epoch := 0; epoch < t.cfg.Epochs; epoch++ {
		stats, err := t.trainEpoch(ctx, train, epoch)
		if err != nil {
			return err
		}
		if val != nil {
			stats.ValLoss, err = t.evaluate(ctx, val, epoch)
			if err != nil {
				return err
			}
		}
		h.Epochs = append(h.Epochs, stats)
		err = t.notify(func(c Callback) error {
			if c, ok := c.(EpochEnder); ok {
				return c.EpochEnd(ctx, stats)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Trainer) trainEpoch(ctx context.Context, train Loader, epoch int) (EpochStats, error) {
	stats := EpochStats{Epoch: epoch, ValLoss: math.NaN()}
	var losses []float64
	var sizes []int
	batches := 0  // in this epoch
	inWindow := 0 // batches since the last step
	samples := 0  // since the last step
	fail := func(batch int, err error) (EpochStats, error) {
		if err == errStop {
			return stats, err
		}
		return stats, &BatchError{Epoch: epoch, Batch: batch, Err: err}
	}

	t.model.SetTraining(true)
	for b, err := range train.Batches(ctx, epoch) {
		if err != nil {
			return fail(batches, err)
		}
		if ctx.Err() != nil {
			return fail(batches, ctx.Err())
		}
		n := b.X.Len()
		if n == 0 {
			continue
		}
		batchCtx := context.WithValue(ctx, label{}, fmt.Sprint("batch ", batches))
		mean, grad, err := t.forward(batchCtx, b)
		if err != nil {
			return fail(batches, err)
		}
		if inWindow == 0 {
			t.opt.ZeroGrad()
		}
		if err := t.model.Backward(grad); err != nil {
			return fail(batches, err)
		}
		losses = append(losses, mean)
		sizes = append(sizes, n)
		stats.Samples += n
		samples += n
		inWindow++
		err = t.notify(func(c Callback) error {
			if c, ok := c.(BatchEnder); ok {
				return c.BatchEnd(ctx, BatchInfo{Epoch: epoch, Batch: batches, Samples: n, Loss: mean})
			}
			return nil
		})
		if err != nil {
			return fail(batches, err)
		}
		if inWindow == t.cfg.AccumSteps {
			if err := t.step(ctx, &stats, samples); err != nil {
				return fail(batches, err)
			}
			inWindow, samples = 0, 0
		}
		batches++
	}
	if err := ctx.Err(); err != nil {
		return stats, err
	}
	if inWindow > 0 {
		if err := t.step(ctx, &stats, samples); err != nil {
			return fail(batches-1, err)
		}
	}
	if stats.Samples == 0 {
		return stats, ErrEmpty
	}
	for i, loss := range losses {
		stats.TrainLoss += loss * float64(sizes[i]) / float64(stats.Samples)
	}
	return stats, nil
}

// step ends a window with so many samples.
func (t *Trainer) step(ctx context.Context, stats *EpochStats, samples int) error {
	t.model.ScaleGrads(1 / float64(samples))
	if t.cfg.MaxGradNorm > 0 {
		t.model.ClipGrads(t.cfg.MaxGradNorm)
	}
	if err := t.opt.Step(); err != nil {
		return err
	}
	info := StepInfo{Epoch: stats.Epoch, Step: stats.Steps, Samples: samples}
	stats.Steps++
	return t.notify(func(c Callback) error {
		if c, ok := c.(StepEnder); ok {
			return c.StepEnd(ctx, info)
		}
		return nil
	})
}

// forward computes loss and gradient of a batch.
func (t *Trainer) forward(ctx context.Context, b Batch) (float64, Tensor, error) {
	x, err := b.X.To(t.cfg.Device)
	if err != nil {
		return 0, nil, err
	}
	y, err := b.Y.To(t.cfg.Device)
	if err != nil {
		return 0, nil, err
	}
	pred, err := t.model.Forward(ctx, x)
	if err != nil {
		return 0, nil, err
	}
	mean, grad, err := t.loss(pred, y)
	if err != nil {
		return 0, nil, err
	}
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return 0, nil, ErrNonFinite
	}
	return mean, grad, nil
}

func (t *Trainer) Evaluate(ctx context.Context, l Loader) (float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return t.evaluate(ctx, l, 0)
}

func (t *Trainer) evaluate(ctx context.Context, l Loader, epoch int) (float64, error) {
	before := t.model.Training()
	defer func() { t.model.SetTraining(before) }()
	t.model.SetTraining(false)
	sum, samples, batches := 0.0, 0, 0
	for b, err := range l.Batches(ctx, epoch) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, &BatchError{Epoch: epoch, Batch: batches, Err: err}
		}
		n := b.X.Len()
		if n == 0 {
			continue
		}
		mean, _, err := t.forward(ctx, b)
		if err != nil {
			return 0, &BatchError{Epoch: epoch, Batch: batches, Err: err}
		}
		sum += mean * float64(n)
		samples += n
		batches++
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if samples == 0 {
		return 0, ErrEmpty
	}
	return sum / float64(samples), nil
}

func (t *Trainer) Predict(ctx context.Context, l Loader) iter.Seq2[Tensor, error] {
	return func(yield func(Tensor, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		before := t.model.Training()
		defer func() { t.model.SetTraining(before) }()
		t.model.SetTraining(false)
		batches := 0
		for b, err := range l.Batches(ctx, 0) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, &BatchError{Batch: batches, Err: err})
				return
			}
			if b.X.Len() == 0 {
				continue
			}
			pred, err := t.predict(ctx, b.X)
			if err != nil {
				yield(nil, &BatchError{Batch: batches, Err: err})
				return
			}
			if !yield(pred, nil) {
				return
			}
			batches++
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// predict computes the prediction for x and brings it back.
func (t *Trainer) predict(ctx context.Context, x Tensor) (Tensor, error) {
	x, err := x.To(t.cfg.Device)
	if err != nil {
		return nil, err
	}
	pred, err := t.model.Forward(ctx, x)
	if err != nil {
		return nil, err
	}
	return pred.To(CPU)
}
