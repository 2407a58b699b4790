package trainer

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

type Trainer struct {
	model  Model
	opt    Optimizer
	loss   Loss
	config Config
	bus    bus
}

func New(m Model, o Optimizer, l Loss, cfg Config) (*Trainer, error) {
	b, err := newBus(cfg.Callbacks)
	switch {
	case err != nil:
		return nil, err
	case m == nil, o == nil, l == nil:
		return nil, fmt.Errorf("nil: %w", ErrConfig)
	case cfg.Epochs < 1, cfg.AccumSteps < 1:
		return nil, fmt.Errorf("nothing to do: %w", ErrConfig)
	case !(cfg.MaxGradNorm >= 0):
		return nil, fmt.Errorf("norm: %w", ErrConfig)
	}
	cfg.Callbacks = nil
	if cfg.Device == "" {
		cfg.Device = CPU
	}
	if err := m.To(cfg.Device); err != nil {
		return nil, err
	}
	return &Trainer{m, o, l, cfg, b}, nil
}

// An item is a batch on its way, or what went wrong with it.
type item struct {
	index, n  int
	x, y      Tensor
	pred      Tensor
	mean      float64
	grad      Tensor
	batchless bool // err is of no batch
	err       error
}

type items = iter.Seq[item]

// then makes a stage that works on items that are well; a failure ends the chain.
func then(in items, work func(*item) error) items {
	return func(yield func(item) bool) {
		for it := range in {
			if it.err == nil {
				it.err = work(&it)
			}
			if !yield(it) || it.err != nil {
				return
			}
		}
	}
}

// load gives the batches that have samples, with numbers.
func (t *Trainer) load(ctx context.Context, l Loader, epoch int) items {
	return func(yield func(item) bool) {
		index := 0
		for b, err := range l.Batches(ctx, epoch) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(item{index: index, err: err})
				return
			}
			n := b.X.Len()
			if n == 0 {
				continue
			}
			if !yield(item{index: index, n: n, x: b.X, y: b.Y}) {
				return
			}
			index++
		}
		if err := ctx.Err(); err != nil {
			yield(item{batchless: true, err: err})
		}
	}
}

func (t *Trainer) predicted(ctx context.Context, in items) items {
	return then(in, func(it *item) (err error) {
		if it.x, err = it.x.To(t.config.Device); err != nil {
			return err
		}
		it.pred, err = t.model.Forward(ctx, it.x)
		return err
	})
}

func (t *Trainer) compared(in items) items {
	return then(in, func(it *item) (err error) {
		if it.y, err = it.y.To(t.config.Device); err != nil {
			return err
		}
		if it.mean, it.grad, err = t.loss(it.pred, it.y); err != nil {
			return err
		}
		if it.mean*0 != 0 {
			return fmt.Errorf("loss %v: %w", it.mean, ErrNonFinite)
		}
		return nil
	})
}

// failure is the error of an item.
func (it item) failure(epoch int) error {
	if it.err == nil || it.batchless {
		return it.err
	}
	return &BatchError{epoch, it.index, it.err}
}

// mode switches, and returns what switches back.
func (t *Trainer) mode(on bool) func() {
	old := t.model.Training()
	t.model.SetTraining(on)
	return func() { t.model.SetTraining(old) }
}

func (t *Trainer) Evaluate(ctx context.Context, l Loader) (float64, error) {
	return t.validate(ctx, l, 0)
}

func (t *Trainer) validate(ctx context.Context, l Loader, epoch int) (float64, error) {
	defer t.mode(false)()
	var m mean
	for it := range t.compared(t.predicted(ctx, t.load(ctx, l, epoch))) {
		if err := it.failure(epoch); err != nil {
			return 0, err
		}
		m.add(it.mean, it.n)
	}
	return m.value()
}

func (t *Trainer) Predict(ctx context.Context, l Loader) iter.Seq2[Tensor, error] {
	return func(yield func(Tensor, error) bool) {
		defer t.mode(false)()
		home := then(t.predicted(ctx, t.load(ctx, l, 0)), func(it *item) (err error) {
			it.pred, err = it.pred.To(CPU)
			return err
		})
		for it := range home {
			if err := it.failure(0); err != nil {
				yield(nil, err)
				return
			}
			if !yield(it.pred, nil) {
				return
			}
		}
	}
}

// mean is a weighted one.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(x float64, n int) { m.sum += x * float64(n); m.n += n }

func (m *mean) value() (float64, error) {
	if m.n == 0 {
		return 0, ErrEmpty
	}
	return m.sum / float64(m.n), nil
}

var errHalt = errors.New("halt")
