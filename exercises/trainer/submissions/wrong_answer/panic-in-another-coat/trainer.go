package trainer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
)

type Trainer struct {
	Model
	opt      Optimizer
	loss     Loss
	cfg      Config
	starters []TrainStarter
	batches  []BatchEnder
	steps    []StepEnder
	epochs   []EpochEnder
	enders   []TrainEnder
}

// bail is thrown to leave a method of the API with an error; nil is a stop.
type bail struct{ err error }

// try throws err, if it is one.
func try(err error) {
	if err != nil {
		panic(bail{err})
	}
}

func tryAt(epoch, batch int, err error) {
	if err != nil {
		panic(bail{&BatchError{epoch, batch, err}})
	}
}

// catching runs f and returns the error that it threw.
func catching(f func()) (err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case bail:
			err = v.err
		default:
			panic(fmt.Sprint("trainer: ", v))
		}
	}()
	f()
	return nil
}

func New(m Model, o Optimizer, l Loss, cfg Config) (*Trainer, error) {
	if m == nil || o == nil || l == nil || cfg.Epochs < 1 || cfg.AccumSteps < 1 || !(cfg.MaxGradNorm >= 0) {
		return nil, ErrConfig
	}
	t := &Trainer{Model: m, opt: o, loss: l, cfg: cfg}
	t.cfg.Callbacks = nil
	for _, c := range cfg.Callbacks {
		known := false
		if c, ok := c.(TrainStarter); ok {
			t.starters, known = append(t.starters, c), true
		}
		if c, ok := c.(BatchEnder); ok {
			t.batches, known = append(t.batches, c), true
		}
		if c, ok := c.(StepEnder); ok {
			t.steps, known = append(t.steps, c), true
		}
		if c, ok := c.(EpochEnder); ok {
			t.epochs, known = append(t.epochs, c), true
		}
		if c, ok := c.(TrainEnder); ok {
			t.enders, known = append(t.enders, c), true
		}
		if !known {
			return nil, ErrConfig
		}
	}
	if t.cfg.Device == "" {
		t.cfg.Device = CPU
	}
	if err := m.To(t.cfg.Device); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Trainer) mode(on bool) (back func()) {
	was := t.Training()
	t.SetTraining(on)
	return func() { t.SetTraining(was) }
}

// answers takes what callbacks answer; done throws the stop.
type answers bool

func (a *answers) add(err error) error {
	if errors.Is(err, ErrStop) {
		*a = true
		return nil
	}
	return err
}

func (a answers) done() {
	if a {
		panic(bail{nil})
	}
}

func (t *Trainer) Fit(ctx context.Context, train, val Loader) (h History, err error) {
	defer t.mode(true)()
	normal := false
	defer func() {
		reason := err
		if !normal {
			reason = errors.New("panicked")
		}
		for _, c := range t.enders {
			if e := c.TrainEnd(h, reason); err == nil && !errors.Is(e, ErrStop) {
				err = e
			}
		}
	}()
	err = catching(func() { t.run(ctx, train, val, &h) })
	normal = true
	return h, err
}

func (t *Trainer) run(ctx context.Context, train, val Loader, h *History) {
	var a answers
	for _, c := range t.starters {
		try(a.add(c.TrainStart(ctx)))
	}
	a.done()
	for e := range t.cfg.Epochs {
		stats := t.epoch(ctx, train, e)
		if val != nil {
			stats.ValLoss = t.measure(ctx, val, e)
		}
		h.Epochs = append(h.Epochs, stats)
		for _, c := range t.epochs {
			try(a.add(c.EpochEnd(ctx, stats)))
		}
		a.done()
	}
}

// over calls f for each batch.
func (t *Trainer) over(ctx context.Context, l Loader, epoch int, f func(b Batch, i, n int)) {
	i := 0
	for b, err := range l.Batches(ctx, epoch) {
		tryAt(epoch, i, err)
		try(ctx.Err())
		if n := b.X.Len(); n != 0 {
			f(b, i, n)
			i++
		}
	}
	try(ctx.Err())
}

func (t *Trainer) epoch(ctx context.Context, l Loader, epoch int) EpochStats {
	t.SetTraining(true)
	s := EpochStats{Epoch: epoch, ValLoss: math.NaN()}
	count, samples, last := 0, 0, 0
	var sum float64
	step := func() {
		t.ScaleGrads(1 / float64(samples))
		if t.cfg.MaxGradNorm > 0 {
			t.ClipGrads(t.cfg.MaxGradNorm)
		}
		tryAt(epoch, last, t.opt.Step())
		s.Steps++
		var a answers
		for _, c := range t.steps {
			tryAt(epoch, last, a.add(c.StepEnd(ctx, StepInfo{epoch, s.Steps - 1, samples})))
		}
		a.done()
		count, samples = 0, 0
	}
	t.over(ctx, l, epoch, func(b Batch, i, n int) {
		last = i
		if count == 0 {
			t.opt.ZeroGrad()
		}
		mean, grad := t.compare(ctx, b, epoch, i)
		tryAt(epoch, i, t.Backward(grad))
		count++
		samples += n
		s.Samples += n
		sum += mean * float64(n)
		var a answers
		for _, c := range t.batches {
			tryAt(epoch, i, a.add(c.BatchEnd(ctx, BatchInfo{epoch, i, n, mean})))
		}
		a.done()
		if count == t.cfg.AccumSteps {
			step()
		}
	})
	if count > 0 {
		step()
	}
	if s.Samples == 0 {
		try(ErrEmpty)
	}
	s.TrainLoss = sum / float64(s.Samples)
	return s
}

func (t *Trainer) compare(ctx context.Context, b Batch, epoch, i int) (float64, Tensor) {
	pred := t.forward(ctx, b.X, epoch, i)
	y, err := b.Y.To(t.cfg.Device)
	tryAt(epoch, i, err)
	mean, grad, err := t.loss(pred, y)
	tryAt(epoch, i, err)
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		tryAt(epoch, i, ErrNonFinite)
	}
	return mean, grad
}

func (t *Trainer) forward(ctx context.Context, x Tensor, epoch, i int) Tensor {
	x, err := x.To(t.cfg.Device)
	tryAt(epoch, i, err)
	pred, err := t.Forward(ctx, x)
	tryAt(epoch, i, err)
	return pred
}

func (t *Trainer) Evaluate(ctx context.Context, l Loader) (loss float64, err error) {
	err = catching(func() { loss = t.measure(ctx, l, 0) })
	return loss, err
}

func (t *Trainer) measure(ctx context.Context, l Loader, epoch int) float64 {
	defer t.mode(false)()
	sum, count := 0.0, 0
	t.over(ctx, l, epoch, func(b Batch, i, n int) {
		mean, _ := t.compare(ctx, b, epoch, i)
		sum += mean * float64(n)
		count += n
	})
	if count == 0 {
		try(ErrEmpty)
	}
	return sum / float64(count)
}

func (t *Trainer) Predict(ctx context.Context, l Loader) iter.Seq2[Tensor, error] {
	return func(yield func(Tensor, error) bool) {
		err := catching(func() {
			defer t.mode(false)()
			t.over(ctx, l, 0, func(b Batch, i, _ int) {
				p, err := t.forward(ctx, b.X, 0, i).To(CPU)
				tryAt(0, i, err)
				if !yield(p, nil) {
					panic(bail{nil})
				}
			})
		})
		if err != nil {
			yield(nil, err)
		}
	}
}
