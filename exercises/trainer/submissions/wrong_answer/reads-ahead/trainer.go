package trainer

import (
	"context"
	"fmt"
	"iter"
	"math"

	"errors"
)

type Trainer struct {
	m   Model
	o   Optimizer
	l   Loss
	cfg Config
}

func New(m Model, o Optimizer, l Loss, cfg Config) (*Trainer, error) {
	var problems []error
	if m == nil {
		problems = append(problems, errors.New("no model"))
	}
	if o == nil {
		problems = append(problems, errors.New("no optimizer"))
	}
	if l == nil {
		problems = append(problems, errors.New("no loss"))
	}
	if cfg.Epochs <= 0 {
		problems = append(problems, errors.New("no epochs"))
	}
	if cfg.AccumSteps <= 0 {
		problems = append(problems, errors.New("AccumSteps is not positive"))
	}
	if cfg.MaxGradNorm != cfg.MaxGradNorm || cfg.MaxGradNorm < 0 {
		problems = append(problems, errors.New("MaxGradNorm is negative or NaN"))
	}
	own := make([]Callback, len(cfg.Callbacks))
	for i, c := range cfg.Callbacks {
		own[i] = c
		_, a := c.(TrainStarter)
		_, b := c.(BatchEnder)
		_, s := c.(StepEnder)
		_, e := c.(EpochEnder)
		_, z := c.(TrainEnder)
		if !(a || b || s || e || z) {
			problems = append(problems, fmt.Errorf("callback %d does nothing", i))
		}
	}
	cfg.Callbacks = own
	if len(problems) > 0 {
		return nil, errors.Join(append(problems, ErrConfig)...)
	}
	if cfg.Device == "" {
		cfg.Device = CPU
	}
	if err := m.To(cfg.Device); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return &Trainer{m, o, l, cfg}, nil
}

// cursor goes over the batches of a loader.
type cursor struct {
	ctx   context.Context
	next  func() (Batch, error, bool)
	close func()
	epoch int
	index int // of the batch at hand, -1 before the first
	Batch
	n int
}

func (t *Trainer) open(ctx context.Context, l Loader, epoch int) *cursor {
	next, stop := iter.Pull2(l.Batches(ctx, epoch))
	return &cursor{ctx: ctx, next: next, close: stop, epoch: epoch, index: -1}
}

// ahead keeps one batch more than is at hand.
func (c *cursor) ahead() {
	next := c.next
	b, err, ok := next()
	c.next = func() (Batch, error, bool) {
		wasB, wasErr, wasOK := b, err, ok
		if ok {
			b, err, ok = next()
		}
		return wasB, wasErr, wasOK
	}
}

// advance goes to the next batch with samples; false is the end.
func (c *cursor) advance() (bool, error) {
	for {
		b, err, ok := c.next()
		if ok && err != nil {
			c.index++
			return false, c.wrap(err)
		}
		if err := c.ctx.Err(); err != nil {
			return false, fmt.Errorf("epoch %d: %w", c.epoch, err)
		}
		if !ok {
			return false, nil
		}
		if n := b.X.Len(); n > 0 {
			c.Batch, c.n = b, n
			c.index++
			return true, nil
		}
	}
}

func (c *cursor) wrap(err error) error { return &BatchError{c.epoch, c.index, err} }

// a run is one call of Fit.
type run struct {
	*Trainer
	ctx     context.Context
	stopped bool
	History
}

func (t *Trainer) Fit(ctx context.Context, train, val Loader) (h History, err error) {
	r := &run{Trainer: t, ctx: ctx}
	mode := t.m.Training()
	ok := false
	defer func() {
		t.m.SetTraining(mode)
		if !ok { // on the way out with a panic
			r.end(errors.New("panicking"))
			return
		}
		h, err = r.History, r.end(err)
	}()
	err = r.all(train, val)
	ok = true
	return r.History, err
}

func (r *run) end(err error) error {
	result := err
	for _, c := range r.cfg.Callbacks {
		ender, is := c.(TrainEnder)
		if !is {
			continue
		}
		if e := ender.TrainEnd(r.History, err); e != nil && result == nil && !errors.Is(e, ErrStop) {
			result = e
		}
	}
	return result
}

// heard takes the answer of a callback.
func (r *run) heard(err error) error {
	if errors.Is(err, ErrStop) {
		r.stopped = true
		return nil
	}
	return err
}

func (r *run) all(train, val Loader) error {
	for _, c := range r.cfg.Callbacks {
		if c, ok := c.(TrainStarter); ok {
			if err := r.heard(c.TrainStart(r.ctx)); err != nil {
				return err
			}
		}
	}
	for epoch := 0; epoch < r.cfg.Epochs && !r.stopped; epoch++ {
		s, err := r.epoch(train, epoch)
		if err != nil || r.stopped {
			return err
		}
		s.ValLoss = math.NaN()
		if val != nil {
			if s.ValLoss, err = r.evaluate(r.ctx, val, epoch); err != nil {
				return err
			}
		}
		r.Epochs = append(r.Epochs, s)
		for _, c := range r.cfg.Callbacks {
			if c, ok := c.(EpochEnder); ok {
				if err := r.heard(c.EpochEnd(r.ctx, s)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *run) epoch(train Loader, epoch int) (s EpochStats, err error) {
	s.Epoch = epoch
	r.m.SetTraining(true)
	c := r.open(r.ctx, train, epoch)
	defer c.close()
	c.ahead()
	for more := true; more && !r.stopped; {
		if more, err = r.window(c, &s); err != nil {
			return s, err
		}
	}
	if s.Samples == 0 && !r.stopped {
		return s, fmt.Errorf("epoch %d: %w", epoch, ErrEmpty)
	}
	s.TrainLoss /= float64(s.Samples)
	return s, nil
}

// window does a window, and reports whether there may be another.
func (r *run) window(c *cursor, s *EpochStats) (more bool, err error) {
	samples := 0
	for i := 0; i < r.cfg.AccumSteps; i++ {
		if more, err = c.advance(); err != nil {
			return false, err
		}
		if !more {
			break
		}
		if i == 0 {
			r.o.ZeroGrad()
		}
		mean, grad, err := r.look(r.ctx, c)
		if err == nil {
			err = r.m.Backward(grad)
		}
		if err != nil {
			return false, c.wrap(err)
		}
		samples += c.n
		s.Samples += c.n
		s.TrainLoss += mean * float64(c.n)
		info := BatchInfo{c.epoch, c.index, c.n, mean}
		for _, cb := range r.cfg.Callbacks {
			if cb, ok := cb.(BatchEnder); ok {
				if err := r.heard(cb.BatchEnd(r.ctx, info)); err != nil {
					return false, c.wrap(err)
				}
			}
		}
		if r.stopped {
			return false, nil
		}
	}
	if samples == 0 {
		return false, nil
	}
	r.m.ScaleGrads(1 / float64(samples))
	if r.cfg.MaxGradNorm != 0 {
		r.m.ClipGrads(r.cfg.MaxGradNorm)
	}
	if err := r.o.Step(); err != nil {
		return false, c.wrap(err)
	}
	s.Steps++
	for _, cb := range r.cfg.Callbacks {
		if cb, ok := cb.(StepEnder); ok {
			if err := r.heard(cb.StepEnd(r.ctx, StepInfo{c.epoch, s.Steps - 1, samples})); err != nil {
				return false, c.wrap(err)
			}
		}
	}
	return more, nil
}

// look computes the loss of the batch at hand.
func (t *Trainer) look(ctx context.Context, c *cursor) (float64, Tensor, error) {
	y, err := c.Y.To(t.cfg.Device)
	if err != nil {
		return 0, nil, fmt.Errorf("Y: %w", err)
	}
	x, err := c.X.To(t.cfg.Device)
	if err != nil {
		return 0, nil, fmt.Errorf("X: %w", err)
	}
	p, err := t.m.Forward(ctx, x)
	if err != nil {
		return 0, nil, err
	}
	mean, grad, err := t.l(p, y)
	if err == nil && mean-mean != 0 { // NaN and infinities only
		err = ErrNonFinite
	}
	return mean, grad, err
}

func (t *Trainer) Evaluate(ctx context.Context, l Loader) (float64, error) {
	return t.evaluate(ctx, l, 0)
}

func (t *Trainer) evaluate(ctx context.Context, l Loader, epoch int) (float64, error) {
	mode := t.m.Training()
	defer func() { t.m.SetTraining(mode) }()
	t.m.SetTraining(false)
	c := t.open(ctx, l, epoch)
	defer c.close()
	// A running mean, which needs no division at the end.
	loss, n := 0.0, 0
	for {
		more, err := c.advance()
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
		mean, _, err := t.look(ctx, c)
		if err != nil {
			return 0, c.wrap(err)
		}
		n += c.n
		loss += (mean - loss) * float64(c.n) / float64(n)
	}
	if n == 0 {
		return 0, ErrEmpty
	}
	return loss, nil
}

func (t *Trainer) Predict(ctx context.Context, l Loader) iter.Seq2[Tensor, error] {
	return func(yield func(Tensor, error) bool) {
		mode := t.m.Training()
		defer func() { t.m.SetTraining(mode) }()
		t.m.SetTraining(false)
		c := t.open(ctx, l, 0)
		defer c.close()
		for {
			more, err := c.advance()
			if err != nil {
				yield(nil, err)
				return
			}
			if !more {
				return
			}
			p, err := t.bring(ctx, c.X)
			if err != nil {
				yield(nil, c.wrap(err))
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

func (t *Trainer) bring(ctx context.Context, x Tensor) (p Tensor, err error) {
	if x, err = x.To(t.cfg.Device); err == nil {
		if p, err = t.m.Forward(ctx, x); err == nil {
			p, err = p.To(CPU)
		}
	}
	return p, err
}
