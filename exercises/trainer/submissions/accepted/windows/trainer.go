package trainer

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
)

type Trainer struct {
	m    Model
	o    Optimizer
	loss Loss
	Config
}

func New(m Model, o Optimizer, l Loss, cfg Config) (*Trainer, error) {
	ok := m != nil && o != nil && l != nil && min(cfg.Epochs, cfg.AccumSteps) > 0 && cfg.MaxGradNorm >= 0
	for _, c := range cfg.Callbacks {
		_, a := c.(TrainStarter)
		_, b := c.(BatchEnder)
		_, s := c.(StepEnder)
		_, e := c.(EpochEnder)
		_, z := c.(TrainEnder)
		ok = ok && (a || b || s || e || z)
	}
	if !ok {
		return nil, ErrConfig
	}
	if cfg.Device == "" {
		cfg.Device = CPU
	}
	cfg.Callbacks = slices.Clone(cfg.Callbacks)
	if err := m.To(cfg.Device); err != nil {
		return nil, err
	}
	return &Trainer{m, o, l, cfg}, nil
}

// runner does things as long as nothing has failed and nobody has stopped it.
type runner struct {
	*Trainer
	ctx     context.Context
	err     error
	stopped bool
}

func (r *runner) going() bool { return r.err == nil && !r.stopped }

func (r *runner) do(f func() error) bool {
	if r.going() {
		r.err = f()
	}
	return r.going()
}

// place says of an error that has just come where it came from.
func (r *runner) place(epoch, batch int) {
	if r.err != nil {
		r.err = &BatchError{epoch, batch, r.err}
	}
}

// ring calls all callbacks of one kind.
func ring[H any](r *runner, call func(H) error) {
	if !r.going() {
		return
	}
	stop := false
	for _, c := range r.Callbacks {
		h, ok := c.(H)
		if !ok {
			continue
		}
		if err := call(h); errors.Is(err, ErrStop) {
			stop = true
		} else if err != nil {
			r.err = err
			return
		}
	}
	r.stopped = stop
}

// window gathers batches for one step.
type window struct{ batches, samples int }

func (w *window) add(r *runner, grad Tensor, n int) {
	if w.batches == 0 && r.going() {
		r.o.ZeroGrad()
	}
	r.do(func() error { return r.m.Backward(grad) })
	w.batches++
	w.samples += n
}

func (w *window) close(r *runner, s *EpochStats) {
	if !r.going() || w.batches == 0 {
		return
	}
	r.m.ScaleGrads(1 / float64(w.samples))
	if r.MaxGradNorm > 0 {
		r.m.ClipGrads(r.MaxGradNorm)
	}
	if r.do(r.o.Step) {
		info := StepInfo{s.Epoch, s.Steps, w.samples}
		s.Steps++
		ring(r, func(c StepEnder) error { return c.StepEnd(r.ctx, info) })
	}
	*w = window{}
}

// batches numbers the batches that have samples, and stops at an error.
func (r *runner) batches(l Loader, asked, epoch int) iter.Seq2[int, Batch] {
	return func(yield func(int, Batch) bool) {
		k := 0
		for b, err := range l.Batches(r.ctx, asked) {
			if err == nil {
				err = r.ctx.Err()
			}
			if err != nil {
				r.err = err
				r.place(epoch, k)
				return
			}
			if b.X.Len() > 0 {
				if !yield(k, b) {
					return
				}
				k++
			}
		}
		if r.going() {
			r.err = r.ctx.Err()
		}
	}
}

func (r *runner) look(b Batch) (mean float64, grad Tensor) {
	var x, y, p Tensor
	var err error
	r.do(func() error { y, err = b.Y.To(r.Device); return err })
	r.do(func() error { x, err = b.X.To(r.Device); return err })
	r.do(func() error { p, err = r.m.Forward(r.ctx, x); return err })
	r.do(func() error { mean, grad, err = r.loss(p, y); return err })
	if r.going() && mean*0 != 0 {
		r.err = ErrNonFinite
	}
	return mean, grad
}

func (r *runner) learn(l Loader, epoch int) EpochStats {
	s := EpochStats{Epoch: epoch, ValLoss: math.NaN()}
	var w window
	sum, last := 0.0, 0
	r.m.SetTraining(true)
	for k, b := range r.batches(l, epoch, epoch) {
		n := b.X.Len()
		mean, grad := r.look(b)
		if r.going() {
			w.add(r, grad, n)
		}
		ring(r, func(c BatchEnder) error { return c.BatchEnd(r.ctx, BatchInfo{epoch, k, n, mean}) })
		if w.batches == r.AccumSteps {
			w.close(r, &s)
		}
		r.place(epoch, k)
		sum += mean * float64(n)
		s.Samples += n
		last = k
		if !r.going() {
			break
		}
	}
	if r.going() {
		w.close(r, &s)
		r.place(epoch, last)
	}
	if r.going() && s.Samples == 0 {
		r.err = ErrEmpty
	}
	s.TrainLoss = sum / float64(s.Samples)
	return s
}

func (r *runner) judge(l Loader, epoch int) float64 {
	mode := r.m.Training()
	defer func() { r.m.SetTraining(mode) }()
	r.m.SetTraining(false)
	sum, samples := 0.0, 0
	for k, b := range r.batches(l, epoch, epoch) {
		mean, _ := r.look(b)
		r.place(epoch, k)
		sum += mean * float64(b.X.Len())
		samples += b.X.Len()
		if !r.going() {
			break
		}
	}
	if r.going() && samples == 0 {
		r.err = ErrEmpty
	}
	return sum / float64(samples)
}

func (t *Trainer) Fit(ctx context.Context, train, val Loader) (h History, err error) {
	mode := t.m.Training()
	defer func() { t.m.SetTraining(mode) }()
	r := &runner{Trainer: t, ctx: ctx}
	told := errors.New("panic in training")
	defer func() {
		for _, c := range t.Callbacks {
			if c, ok := c.(TrainEnder); ok {
				if e := c.TrainEnd(h, told); err == nil && !errors.Is(e, ErrStop) {
					err = e
				}
			}
		}
	}()
	ring(r, func(c TrainStarter) error { return c.TrainStart(ctx) })
	for epoch := 0; epoch < t.Epochs && r.going(); epoch++ {
		s := r.learn(train, epoch)
		if r.going() && val != nil {
			s.ValLoss = r.judge(val, epoch)
		}
		if r.going() {
			h.Epochs = append(h.Epochs, s)
		}
		ring(r, func(c EpochEnder) error { return c.EpochEnd(ctx, s) })
	}
	told = r.err
	return h, r.err
}

func (t *Trainer) Evaluate(ctx context.Context, l Loader) (float64, error) {
	r := &runner{Trainer: t, ctx: ctx}
	loss := r.judge(l, 0)
	return loss, r.err
}

func (t *Trainer) Predict(ctx context.Context, l Loader) iter.Seq2[Tensor, error] {
	return func(yield func(Tensor, error) bool) {
		mode := t.m.Training()
		defer func() { t.m.SetTraining(mode) }()
		t.m.SetTraining(false)
		r := &runner{Trainer: t, ctx: ctx}
		for k, b := range r.batches(l, 0, 0) {
			var p Tensor
			r.do(func() (err error) { p, err = b.X.To(t.Device); return err })
			r.do(func() (err error) { p, err = t.m.Forward(ctx, p); return err })
			r.do(func() (err error) { p, err = p.To(CPU); return err })
			r.place(0, k)
			if !r.going() {
				break
			}
			if !yield(p, nil) {
				return
			}
		}
		if r.err != nil {
			yield(nil, r.err)
		}
	}
}
