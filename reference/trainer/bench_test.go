package trainer

import (
	"context"
	"errors"
	"iter"
	"math"
	"testing"
)

// The contenders of a workload:
//
//   - reference: this package.
//   - naive: what one writes at first, in the right way: the batches of an epoch in
//     a list, then the loop, callbacks asked at every event what they are.
//   - pull: the loop with iter.Pull, which shows the end of an epoch ahead.
//   - handwritten: the loop of a script, for one model, without callbacks, without
//     places in errors: what a trainer cannot be faster than.
type contender struct {
	name string
	fit  func(ctx context.Context, t *Trainer, list []Callback, train, val Loader) error
}

var contenders = []contender{
	{"reference", func(ctx context.Context, t *Trainer, _ []Callback, train, val Loader) error {
		_, err := t.Fit(ctx, train, val)
		return err
	}},
	{"naive", naive},
	{"pull", pull},
	{"handwritten", handwritten},
}

func benchmark(b *testing.B, cfg Config, train, val Loader) {
	for _, c := range contenders {
		b.Run(c.name, func(b *testing.B) {
			t, _ := newStill(b, cfg)
			for b.Loop() {
				if err := c.fit(context.Background(), t, cfg.Callbacks, train, val); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func five() (list []Callback) {
	for range 5 {
		list = append(list, &hearsAll{})
	}
	return list
}

func BenchmarkManyBatches(b *testing.B) {
	benchmark(b, Config{Epochs: 1, AccumSteps: 4, Callbacks: five()}, &repeated{[]Batch{batch(3, 1)}, 100_000}, nil)
}

func BenchmarkManyEpochs(b *testing.B) {
	benchmark(b, Config{Epochs: 20_000, AccumSteps: 2, Callbacks: five()}, &repeated{[]Batch{batch(3, 1)}, 2}, &repeated{[]Batch{batch(3, 1)}, 1})
}

// fresh gives batches of 1 MiB, each new.
type fresh int

type block struct {
	*still
	data []byte
}

func (f fresh) Batches(context.Context, int) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for range f {
			x := block{&still{n: 1}, make([]byte, 1<<20)}
			for i := 0; i < len(x.data); i += 4096 {
				x.data[i] = 1 // or there is no memory behind it
			}
			if !yield(Batch{X: x, Y: &still{n: 1, loss: 1}}, nil) {
				return
			}
		}
	}
}

// To keeps the block, so that who holds what it was moved to holds it too.
func (b block) To(Device) (Tensor, error) { return b, nil }

func BenchmarkLargeBatches(b *testing.B) {
	benchmark(b, Config{Epochs: 1, AccumSteps: 100}, fresh(150), fresh(50))
}

func BenchmarkPredict(b *testing.B) {
	predict := map[string]func(*Trainer, Loader) iter.Seq2[Tensor, error]{
		"reference": func(t *Trainer, l Loader) iter.Seq2[Tensor, error] { return t.Predict(context.Background(), l) },
		"naive":     predictAll,
	}
	for _, name := range []string{"reference", "naive"} {
		b.Run(name, func(b *testing.B) {
			t, _ := newStill(b, Config{Epochs: 1, AccumSteps: 1})
			for b.Loop() {
				for _, err := range predict[name](t, fresh(200)) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func predictAll(t *Trainer, l Loader) iter.Seq2[Tensor, error] {
	var xs, ps []Tensor
	for b := range l.Batches(context.Background(), 0) {
		xs = append(xs, b.X)
	}
	for _, x := range xs {
		p, _ := t.predict(context.Background(), x)
		ps = append(ps, p)
	}
	return func(yield func(Tensor, error) bool) {
		for _, p := range ps {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func naive(ctx context.Context, t *Trainer, list []Callback, train, val Loader) error {
	var history []EpochStats
	for epoch := range t.epochs {
		t.model.SetTraining(true)
		var all []Batch
		for b, err := range train.Batches(ctx, epoch) {
			if err != nil {
				return err
			}
			all = append(all, b)
		}
		var losses []float64
		total, window := 0, 0
		for i, b := range all {
			mean, grad, err := t.answer(ctx, b)
			if err != nil {
				return err
			}
			if i%t.accumSteps == 0 {
				t.optimizer.ZeroGrad()
				window = 0
			}
			if err := t.model.Backward(grad); err != nil {
				return err
			}
			window += b.X.Len()
			total += b.X.Len()
			losses = append(losses, mean*float64(b.X.Len()))
			for _, c := range list {
				if h, ok := c.(BatchEnder); ok {
					if err := h.BatchEnd(ctx, BatchInfo{epoch, i, b.X.Len(), mean}); err != nil {
						return err
					}
				}
			}
			if (i+1)%t.accumSteps == 0 || i+1 == len(all) {
				t.model.ScaleGrads(1 / float64(window))
				if err := t.optimizer.Step(); err != nil {
					return err
				}
				for _, c := range list {
					if h, ok := c.(StepEnder); ok {
						if err := h.StepEnd(ctx, StepInfo{}); err != nil {
							return err
						}
					}
				}
			}
		}
		sum := 0.0
		for _, l := range losses {
			sum += l
		}
		stats := EpochStats{Epoch: epoch, TrainLoss: sum / float64(total), ValLoss: math.NaN()}
		if val != nil {
			loss, err := t.Evaluate(ctx, val)
			if err != nil {
				return err
			}
			stats.ValLoss = loss
		}
		history = append(history, stats)
		for _, c := range list {
			if h, ok := c.(EpochEnder); ok {
				if err := h.EpochEnd(ctx, history[len(history)-1]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func pull(ctx context.Context, t *Trainer, _ []Callback, train, val Loader) error {
	for epoch := range t.epochs {
		p := pass{Trainer: t, ctx: ctx, stats: EpochStats{Epoch: epoch}}
		err := func() error {
			next, stop := iter.Pull2(train.Batches(ctx, epoch))
			defer stop()
			for i := 0; ; i++ {
				b, err, ok := next()
				switch {
				case !ok && p.batches > 0:
					return p.step()
				case !ok:
					return nil
				case err == nil:
					err = p.learn(i, b, b.X.Len())
				}
				if err != nil {
					return &BatchError{epoch, i, err}
				}
			}
		}()
		if err == nil && val != nil {
			_, err = t.Evaluate(ctx, val)
		}
		if err == nil {
			err = t.callbacks.epoch(ctx, p.stats)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func handwritten(ctx context.Context, t *Trainer, _ []Callback, train, val Loader) error {
	for epoch := range t.epochs {
		batches, window, samples, total := 0, 0, 0, 0.0
		t.model.SetTraining(true)
		for b, err := range train.Batches(ctx, epoch) {
			if err != nil {
				return err
			}
			x, errX := b.X.To(t.device)
			y, errY := b.Y.To(t.device)
			pred, errP := t.model.Forward(ctx, x)
			mean, grad, errL := t.loss(pred, y)
			if err := errors.Join(errX, errY, errP, errL); err != nil {
				return err
			}
			if batches%t.accumSteps == 0 {
				t.optimizer.ZeroGrad()
			}
			if err := t.model.Backward(grad); err != nil {
				return err
			}
			total += mean * float64(b.X.Len())
			window += b.X.Len()
			samples += b.X.Len()
			if batches++; batches%t.accumSteps == 0 {
				t.model.ScaleGrads(1 / float64(window))
				window = 0
				if err := t.optimizer.Step(); err != nil {
					return err
				}
			}
		}
		if window > 0 {
			t.model.ScaleGrads(1 / float64(window))
			if err := t.optimizer.Step(); err != nil {
				return err
			}
		}
		if val != nil {
			if _, err := t.Evaluate(ctx, val); err != nil {
				return err
			}
		}
	}
	return nil
}
