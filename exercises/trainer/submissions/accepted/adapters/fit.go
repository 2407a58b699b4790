package trainer

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// bus has a list of functions for each event.
type bus struct {
	start []func(context.Context) error
	batch []func(context.Context, BatchInfo) error
	step  []func(context.Context, StepInfo) error
	epoch []func(context.Context, EpochStats) error
	end   []func(History, error) error
}

func newBus(cbs []Callback) (b bus, err error) {
	for _, c := range cbs {
		before := b.size()
		if c, ok := c.(TrainStarter); ok {
			b.start = append(b.start, c.TrainStart)
		}
		if c, ok := c.(BatchEnder); ok {
			b.batch = append(b.batch, c.BatchEnd)
		}
		if c, ok := c.(StepEnder); ok {
			b.step = append(b.step, c.StepEnd)
		}
		if c, ok := c.(EpochEnder); ok {
			b.epoch = append(b.epoch, c.EpochEnd)
		}
		if c, ok := c.(TrainEnder); ok {
			b.end = append(b.end, c.TrainEnd)
		}
		if b.size() == before {
			return b, fmt.Errorf("callback of type %T: %w", c, ErrConfig)
		}
	}
	return b, nil
}

func (b *bus) size() int {
	return len(b.start) + len(b.batch) + len(b.step) + len(b.epoch) + len(b.end)
}

func send[T any](ctx context.Context, list []func(context.Context, T) error, event T) (err error) {
	for _, f := range list {
		if e := f(ctx, event); errors.Is(e, ErrStop) {
			err = errHalt
		} else if e != nil {
			return e
		}
	}
	return err
}

func (t *Trainer) Fit(ctx context.Context, train, val Loader) (h History, err error) {
	defer t.mode(true)()
	defer func() {
		v := recover()
		told := err
		if v != nil {
			told = fmt.Errorf("panic: %v", v)
		}
		for _, f := range t.bus.end {
			if e := f(h, told); err == nil && !errors.Is(e, ErrStop) {
				err = e
			}
		}
		if v != nil {
			panic(v)
		}
	}()
	for _, f := range t.bus.start {
		if e := f(ctx); errors.Is(e, ErrStop) {
			err = errHalt
		} else if e != nil {
			return h, e
		}
	}
	for epoch := 0; err == nil && epoch < t.config.Epochs; epoch++ {
		err = t.oneEpoch(ctx, epoch, train, val, &h)
	}
	if errors.Is(err, errHalt) {
		err = nil
	}
	return h, err
}

func (t *Trainer) oneEpoch(ctx context.Context, epoch int, train, val Loader, h *History) error {
	t.model.SetTraining(true)
	stats := EpochStats{Epoch: epoch, ValLoss: math.NaN()}
	var loss, window mean
	batches, last := 0, 0
	for it := range t.compared(t.predicted(ctx, t.load(ctx, train, epoch))) {
		if err := it.failure(epoch); err != nil {
			return err
		}
		err := t.learn(ctx, it, batches == 0, epoch)
		loss.add(it.mean, it.n)
		window.add(0, it.n)
		batches++
		last = it.index
		if err == nil && batches == t.config.AccumSteps {
			err = t.update(ctx, &stats, window.n)
			batches, window = 0, mean{}
		}
		if err != nil {
			return &BatchError{epoch, it.index, err}
		}
	}
	if batches > 0 {
		if err := t.update(ctx, &stats, window.n); err != nil {
			return &BatchError{epoch, last, err}
		}
	}
	var err error
	if stats.TrainLoss, err = loss.value(); err != nil {
		return err
	}
	stats.Samples = loss.n
	if val != nil {
		if stats.ValLoss, err = t.validate(ctx, val, epoch); err != nil {
			return err
		}
	}
	h.Epochs = append(h.Epochs, stats)
	return send(ctx, t.bus.epoch, stats)
}

func (t *Trainer) learn(ctx context.Context, it item, first bool, epoch int) error {
	if first {
		t.opt.ZeroGrad()
	}
	if err := t.model.Backward(it.grad); err != nil {
		return err
	}
	return send(ctx, t.bus.batch, BatchInfo{epoch, it.index, it.n, it.mean})
}

func (t *Trainer) update(ctx context.Context, s *EpochStats, n int) error {
	t.model.ScaleGrads(1 / float64(n))
	if t.config.MaxGradNorm > 0 {
		t.model.ClipGrads(t.config.MaxGradNorm)
	}
	if err := t.opt.Step(); err != nil {
		return err
	}
	s.Steps++
	return send(ctx, t.bus.step, StepInfo{s.Epoch, s.Steps - 1, n})
}
