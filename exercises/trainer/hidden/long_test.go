package hidden

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"grade/observe"
	"grade/reference/trainer"
)

// long is a loader of many batches of one sample, which fails at one of them if it
// has an error.
type long struct {
	n, at int
	err   error
	x     *tiny
}

func (l *long) Batches(context.Context, int) iter.Seq2[trainer.Batch, error] {
	return func(yield func(trainer.Batch, error) bool) {
		for i := range l.n {
			err := l.err
			if i != l.at {
				err = nil
			}
			if !yield(trainer.Batch{X: l.x, Y: l.x}, err) {
				return
			}
		}
	}
}

// tinyTrainer makes a Trainer for runs of very many batches.
func tinyTrainer(o *observe.Observer, cfg trainer.Config) (*trainer.Trainer, *tiny) {
	m := &tiny{y: &tiny{n: 1}, quick: true}
	cfg.Epochs, cfg.AccumSteps = max(cfg.Epochs, 1), max(cfg.AccumSteps, 1)
	tr, err := trainer.New(tinyModel{m}, m, m.loss, cfg)
	o.Error("error of New", err)
	return tr, m
}

// beyond draws a number that 8 and 16 bits do not hold, for batches.
func beyond(o *observe.Observer) int { return 1<<16 + 44 + o.Rand().IntN(1000) }

// above draws one that 8 bits do not hold, for epochs: who copies a History is slow, and no more.
func above(o *observe.Observer) int { return 300 + o.Rand().IntN(100) }

// over draws one that 15 bits do not hold, for steps.
func over(o *observe.Observer) int { return 1<<15 + 3 + o.Rand().IntN(1000) }

func placeOf(err error) string {
	var b *trainer.BatchError
	if !errors.As(err, &b) {
		return "no batch"
	}
	return fmt.Sprintf("epoch %d, batch %d", b.Epoch, b.Batch)
}

// last keeps what was told last.
type last struct {
	batch trainer.BatchInfo
	step  trainer.StepInfo
	epoch trainer.EpochStats
}

func (l *last) BatchEnd(_ context.Context, b trainer.BatchInfo) error  { l.batch = b; return nil }
func (l *last) StepEnd(_ context.Context, s trainer.StepInfo) error    { l.step = s; return nil }
func (l *last) EpochEnd(_ context.Context, e trainer.EpochStats) error { l.epoch = e; return nil }

func (l *last) record(o *observe.Observer) {
	o.Ints("very many batches: BatchEnd is told at last", []int{l.batch.Epoch, l.batch.Batch, l.batch.Samples})
	o.Ints("very many batches: StepEnd is told at last", []int{l.step.Epoch, l.step.Step, l.step.Samples})
	o.Ints("very many batches: EpochEnd is told at last", []int{l.epoch.Epoch, l.epoch.Samples, l.epoch.Steps})
}

// lateNumbers has so many batches that 16 bits do not count them, so many steps that 15 bits
// do not, and batches of so many samples that 32 bits do not.
func lateNumbers(o *observe.Observer) {
	told := &last{}
	for _, accum := range []int{1, 1 << 15} {
		n := over(o)
		if accum > 1 {
			n = beyond(o)
		}
		tr, m := tinyTrainer(o, trainer.Config{AccumSteps: accum, Callbacks: []trainer.Callback{told}})
		_, err := tr.Fit(context.Background(), &long{n: n, x: &tiny{n: 1}}, m.aside())
		o.Error("very many batches: error of Fit", err)
		told.record(o)
	}
	for _, size := range []int{1 << 31, 1<<32 + 1, 1 << 53} {
		tr, m := tinyTrainer(o, trainer.Config{Callbacks: []trainer.Callback{told}})
		_, err := tr.Fit(context.Background(), &long{n: 1, x: &tiny{n: size}}, m.aside())
		o.Error("a batch of very many samples: error of Fit", err)
		o.Ints("a batch of very many samples: samples that callbacks are told", []int{told.batch.Samples, told.step.Samples, told.epoch.Samples})
	}
}

// lateEpochs has so many epochs that 8 bits do not count them, and so many steps that 15 bits do not.
func lateEpochs(o *observe.Observer) {
	told := &last{}
	tr, m := tinyTrainer(o, trainer.Config{Epochs: above(o), Callbacks: []trainer.Callback{told}})
	h, err := tr.Fit(context.Background(), &long{n: 1, x: &tiny{n: 1}}, m.aside())
	o.Error("many epochs: error of Fit", err)
	o.Int("many epochs: epochs in the History", len(h.Epochs))
	for _, e := range h.Epochs[max(0, len(h.Epochs)-1):] {
		o.Int("many epochs: number of the last one in the History", e.Epoch)
		o.Ints("many epochs: what callbacks are told at last", []int{told.batch.Epoch, told.step.Epoch, told.epoch.Epoch})
	}
	tr, m = tinyTrainer(o, trainer.Config{})
	h, err = tr.Fit(context.Background(), &long{n: over(o), x: &tiny{n: 1}}, m.aside())
	o.Error("very many steps: error of Fit", err)
	for _, e := range h.Epochs {
		o.Int("very many steps: Steps in the History", e.Steps)
	}
}

// latePlaces has Fit fail at a batch and in an epoch whose number 16 bits, or 8, do not hold.
func latePlaces(o *observe.Observer) {
	n := beyond(o)
	fails := func(name string, failing, left int, cfg trainer.Config, l *long) {
		tr, m := tinyTrainer(o, cfg)
		m.failing, m.left = failing, left
		_, err := tr.Fit(context.Background(), l, m.aside())
		o.String(name+": epoch and batch of the error", placeOf(err))
	}
	cfg := trainer.Config{AccumSteps: n + 1}
	fails("a loader that fails late", 0, 0, cfg, &long{n: n + 9, at: n, err: errCause, x: &tiny{n: 1}})
	fails("a Forward that fails late", 1, n, cfg, &long{n: n + 9, x: &tiny{n: 1}})
	fails("a Step that fails late", 5, 0, cfg, &long{n: n + 9, x: &tiny{n: 1}})
	n = above(o)
	cfg = trainer.Config{Epochs: n + 9}
	fails("a Forward that fails in a late epoch", 1, n, cfg, &long{n: 1, x: &tiny{n: 1}})
	fails("a Step that fails in a late epoch", 5, n, cfg, &long{n: 1, x: &tiny{n: 1}})
}

// lateLooks has validation, Evaluate and Predict fail at such a batch.
func lateLooks(o *observe.Observer) {
	n := beyond(o)
	loads := &long{n: n + 9, at: n, err: errCause, x: &tiny{n: 1}}
	computes := &long{n: n + 9, x: &tiny{n: 1}}
	for _, l := range []*long{loads, computes} {
		name := "Forward fails late"
		if l == loads {
			name = "a loader fails late"
		}
		begin := func() (*trainer.Trainer, *tiny) {
			tr, m := tinyTrainer(o, trainer.Config{})
			if l == computes {
				m.failing, m.left = 1, n
			}
			return tr, m
		}
		tr, _ := begin()
		_, err := tr.Evaluate(context.Background(), l)
		o.String(name+": batch of the error of Evaluate", placeOf(err))
		tr, _ = begin()
		for _, err := range tr.Predict(context.Background(), l) {
			if err != nil {
				o.String(name+": batch of the error of Predict", placeOf(err))
			}
		}
		tr, m := begin()
		m.left++ // the batch of training
		_, err = tr.Fit(context.Background(), &long{n: 1, x: &tiny{n: 1}}, l)
		o.String(name+": batch of the error of validation", placeOf(err))
	}
}
