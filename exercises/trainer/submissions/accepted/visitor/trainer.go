package trainer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
)

type Trainer struct {
	model    Model
	opt      Optimizer
	loss     Loss
	device   Device
	epochs   int
	steps    int
	norm     float64
	starters []TrainStarter
	batchers []BatchEnder
	steppers []StepEnder
	epochers []EpochEnder
	enders   []TrainEnder
}

func New(m Model, o Optimizer, l Loss, cfg Config) (*Trainer, error) {
	if m == nil || o == nil || l == nil || cfg.Epochs <= 0 || cfg.AccumSteps <= 0 || !(cfg.MaxGradNorm >= 0) {
		return nil, fmt.Errorf("new trainer: %w", ErrConfig)
	}
	t := &Trainer{model: m, opt: o, loss: l, device: cfg.Device, epochs: cfg.Epochs, steps: cfg.AccumSteps, norm: cfg.MaxGradNorm}
	for i, c := range cfg.Callbacks {
		if !t.register(c) {
			return nil, fmt.Errorf("new trainer: callback %d: %w", i, ErrConfig)
		}
	}
	if t.device == "" {
		t.device = CPU
	}
	return t.moved()
}

func (t *Trainer) moved() (*Trainer, error) {
	if err := t.model.To(t.device); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Trainer) register(c Callback) (known bool) {
	if c, ok := c.(TrainStarter); ok {
		t.starters, known = append(t.starters, c), true
	}
	if c, ok := c.(BatchEnder); ok {
		t.batchers, known = append(t.batchers, c), true
	}
	if c, ok := c.(StepEnder); ok {
		t.steppers, known = append(t.steppers, c), true
	}
	if c, ok := c.(EpochEnder); ok {
		t.epochers, known = append(t.epochers, c), true
	}
	if c, ok := c.(TrainEnder); ok {
		t.enders, known = append(t.enders, c), true
	}
	return known
}

// wish is what ErrStop becomes when a callback has said it.
type wish struct{}

func (wish) Error() string { return "a callback wishes to stop" }

func tell[C any](all []C, one func(C) error) (err error) {
	for _, c := range all {
		e := one(c)
		if errors.Is(e, ErrStop) {
			err = wish{}
		} else if e != nil {
			return e
		}
	}
	return err
}

// visitor is who wants the batches of a loader.
type visitor interface {
	visit(k int, b Batch, n int) error
	finish() error // after the last batch, if nothing has failed
}

func at(epoch, k int, err error) error {
	if err == nil || err == error(wish{}) {
		return err
	}
	return &BatchError{Epoch: epoch, Batch: k, Err: err}
}

func walk(ctx context.Context, l Loader, epoch int, v visitor) error {
	k := 0
	for b, err := range l.Batches(ctx, epoch) {
		switch {
		case err != nil:
			return at(epoch, k, err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		n := b.X.Len()
		if n == 0 {
			continue
		}
		if err := v.visit(k, b, n); err != nil {
			return at(epoch, k, err)
		}
		k++
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return v.finish()
}

// tally is the mean of losses.
type tally struct {
	*Trainer
	ctx     context.Context
	sum     float64
	samples int
}

func (t *tally) look(b Batch, n int) (float64, Tensor, error) {
	x, err := b.X.To(t.device)
	if err != nil {
		return 0, nil, err
	}
	p, err := t.model.Forward(t.ctx, x)
	if err != nil {
		return 0, nil, err
	}
	y, err := b.Y.To(t.device)
	if err != nil {
		return 0, nil, err
	}
	mean, grad, err := t.loss(p, y)
	if err == nil && !(math.Abs(mean) <= math.MaxFloat64) {
		err = fmt.Errorf("mean %v: %w", mean, ErrNonFinite)
	}
	if err == nil {
		t.sum += float64(n) * mean
		t.samples += n
	}
	return mean, grad, err
}

func (t *tally) visit(_ int, b Batch, n int) error {
	_, _, err := t.look(b, n)
	return err
}

func (t *tally) finish() error {
	if t.samples == 0 {
		return ErrEmpty
	}
	return nil
}

func (t *tally) mean() float64 { return t.sum / float64(t.samples) }

// learner is a tally that learns.
type learner struct {
	tally
	epoch, steps, last int
	open, gathered     int // batches and samples of the window
}

func (l *learner) visit(k int, b Batch, n int) error {
	mean, grad, err := l.look(b, n)
	if err != nil {
		return err
	}
	if l.open == 0 {
		l.opt.ZeroGrad()
	}
	if err := l.model.Backward(grad); err != nil {
		return err
	}
	l.open, l.gathered, l.last = l.open+1, l.gathered+n, k
	info := BatchInfo{Epoch: l.epoch, Batch: k, Samples: n, Loss: mean}
	if l.open < l.Trainer.steps {
		return tell(l.batchers, func(c BatchEnder) error { return c.BatchEnd(l.ctx, info) })
	}
	l.scale()
	if err := tell(l.batchers, func(c BatchEnder) error { return c.BatchEnd(l.ctx, info) }); err != nil {
		return err
	}
	return l.step()
}

func (l *learner) scale() {
	l.model.ScaleGrads(1 / float64(l.gathered))
	if l.norm > 0 {
		l.model.ClipGrads(l.norm)
	}
}

func (l *learner) step() error {
	if err := l.opt.Step(); err != nil {
		return err
	}
	info := StepInfo{Epoch: l.epoch, Step: l.steps, Samples: l.gathered}
	l.steps, l.open, l.gathered = l.steps+1, 0, 0
	return tell(l.steppers, func(c StepEnder) error { return c.StepEnd(l.ctx, info) })
}

func (l *learner) finish() error {
	if l.open > 0 {
		l.scale()
		if err := l.step(); err != nil {
			return at(l.epoch, l.last, err)
		}
	}
	return l.tally.finish()
}

// quietly runs f in evaluation mode.
func (t *Trainer) quietly(f func() error) error {
	before := t.model.Training()
	defer func() { t.model.SetTraining(before) }()
	t.model.SetTraining(false)
	return f()
}

func (t *Trainer) evaluate(ctx context.Context, l Loader, epoch int) (float64, error) {
	v := &tally{Trainer: t, ctx: ctx}
	err := t.quietly(func() error { return walk(ctx, l, epoch, v) })
	return v.mean(), err
}

func (t *Trainer) Evaluate(ctx context.Context, l Loader) (float64, error) {
	return t.evaluate(ctx, l, 0)
}

func (t *Trainer) Fit(ctx context.Context, train, val Loader) (h History, err error) {
	before := t.model.Training()
	outcome := errors.New("fit did not return")
	defer func() {
		t.model.SetTraining(before)
		for _, c := range t.enders {
			e := c.TrainEnd(h, outcome)
			if err == nil && e != nil && !errors.Is(e, ErrStop) {
				err = e
			}
		}
	}()
	outcome = t.train(ctx, train, val, &h)
	if outcome == error(wish{}) {
		outcome = nil
	}
	return h, outcome
}

func (t *Trainer) train(ctx context.Context, train, val Loader, h *History) error {
	err := tell(t.starters, func(c TrainStarter) error { return c.TrainStart(ctx) })
	for epoch := 0; err == nil && epoch < t.epochs; epoch++ {
		v := &learner{tally: tally{Trainer: t, ctx: ctx}, epoch: epoch}
		t.model.SetTraining(true)
		if err = walk(ctx, train, epoch, v); err != nil {
			break
		}
		s := EpochStats{Epoch: epoch, Samples: v.samples, Steps: v.steps, TrainLoss: v.mean(), ValLoss: math.NaN()}
		if val != nil {
			if s.ValLoss, err = t.evaluate(ctx, val, epoch); err != nil {
				break
			}
		}
		h.Epochs = append(h.Epochs, s)
		err = tell(t.epochers, func(c EpochEnder) error { return c.EpochEnd(ctx, s) })
	}
	return err
}

// predictor yields what it visits.
type predictor struct {
	*Trainer
	ctx   context.Context
	yield func(Tensor, error) bool
	left  bool
}

var errLeft = errors.New("the range was left")

func (p *predictor) visit(_ int, b Batch, _ int) error {
	x, err := b.X.To(p.device)
	if err != nil {
		return err
	}
	y, err := p.model.Forward(p.ctx, x)
	if err != nil {
		return err
	}
	y, err = y.To(CPU)
	if err != nil {
		return err
	}
	if !p.yield(y, nil) {
		p.left = true
		return errLeft
	}
	return nil
}

func (p *predictor) finish() error { return nil }

func (t *Trainer) Predict(ctx context.Context, l Loader) iter.Seq2[Tensor, error] {
	return func(yield func(Tensor, error) bool) {
		_ = t.quietly(func() error {
			p := &predictor{Trainer: t, ctx: ctx, yield: yield}
			if err := walk(ctx, l, 0, p); err != nil && !p.left {
				yield(nil, err)
			}
			return nil
		})
	}
}
