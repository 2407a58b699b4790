// Package amp gives each optimizer an entry of its own, which calls claim.
package amp

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

var (
	// ErrNonFinite means that a gradient is NaN or infinite, so that there is nothing to
	// clip.
	ErrNonFinite = errors.New("amp: a gradient is NaN or infinite")

	// ErrUnscaled means that the gradients of an optimizer have been divided by the scale
	// already, since the last Update.
	ErrUnscaled = errors.New("amp: the optimizer has been unscaled since the last Update")

	// ErrStepped means that an optimizer has had its step since the last Update.
	ErrStepped = errors.New("amp: the optimizer has been stepped since the last Update")

	// ErrNothing means that there was no optimizer to learn from.
	ErrNothing = errors.New("amp: no optimizer since the last Update")
)

// Optimizer changes parameters by their gradients.
type Optimizer interface {
	// Grads returns the gradients, a slice for each parameter, in live storage: what is
	// written into them is what Step uses. A parameter without a gradient has nil.
	Grads() [][]float64

	// Step changes the parameters, with the learning rate given.
	Step(rate float64)
}

// Schedule says how the learning rate goes up and down again. Steps are steps of the
// optimizer, and the first is step 0.
type Schedule struct {
	Peak   float64 // the highest rate, above 0
	Floor  float64 // the rate in the end, from 0 to Peak
	Warmup int     // so many steps, the rate rises; may be 0
	Total  int     // from this step on, the rate is Floor; at least 1 and at least Warmup
}

// SchedulerState is all that a Scheduler has seen.
type SchedulerState struct {
	Steps int // how many steps the optimizer has taken
}

// ScalerConfig says how the scale changes. A field of 0 stands for the default.
type ScalerConfig struct {
	Init     float64 // the first scale; 65,536
	Growth   float64 // the factor after Interval clean updates, above 1; 2
	Backoff  float64 // the factor after an update that is not clean, between 0 and 1; 0.5
	Interval int     // clean updates in a row before the scale grows; 2,000
}

// ScalerState is all that a Scaler keeps from one Update to the next.
type ScalerState struct {
	Scale float64
	Clean int // clean updates in a row
}

// Report tells what a Step of a Stepper did.
type Report struct {
	Rate    float64   // the learning rate of the step
	Norms   []float64 // of each optimizer's gradients, unscaled and not yet clipped
	Stepped []bool    // for each optimizer, whether it stepped
}

func Clip(grads [][]float64, limit, p float64) (norm float64, err error) {
	if !(limit >= 0) || !(p == 2 || p > math.MaxFloat64) {
		return 0, fmt.Errorf("amp: cannot clip to %v with p %v", limit, p)
	}
	n := walk{one: p == 2}
	for _, g := range grads {
		for _, x := range g {
			n.add(math.Abs(x))
		}
	}
	switch norm = n.norm(); {
	case n.nan:
		return math.NaN(), ErrNonFinite
	case norm > math.MaxFloat64:
		return norm, ErrNonFinite
	}
	shrink(grads, min(1, limit/(norm+1e-6)))
	return norm, nil
}

// walk is a norm in one pass: the sum is of squares of x / unit, and unit is a power of 2
// that is not far below the largest number.
type walk struct {
	one, nan  bool
	top, edge float64 // largest so far; where unit is too small
	unit, sum float64
}

func (n *walk) add(x float64) {
	if x > n.top {
		n.top = x
		if n.one && x > n.edge {
			n.grow(x)
		}
	}
	if x != x {
		n.nan = true
	}
	if n.one {
		x *= n.unit
		n.sum += x * x
	}
}

// grow takes a new unit, 2^-e about 1 / x.
func (n *walk) grow(x float64) {
	if x > math.MaxFloat64 {
		return
	}
	_, e := math.Frexp(x)
	unit := math.Ldexp(1, -e)
	if n.unit != 0 {
		n.sum *= unit / n.unit * (unit / n.unit)
	}
	n.unit, n.edge = unit, math.Ldexp(1, min(1023, e+200))
}

func (n *walk) norm() float64 {
	if !n.one || n.top > math.MaxFloat64 || n.top == 0 {
		return n.top
	}
	return math.Sqrt(n.sum) / n.unit
}

func shrink(grads [][]float64, factor float64) {
	if factor == 1 {
		return
	}
	for i := range grads {
		g := grads[i]
		for j := range g {
			g[j] = g[j] * factor
		}
	}
}

type Scheduler struct {
	step atomic.Int64
	at   func(k int64) float64
}

func NewScheduler(c Schedule) (*Scheduler, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	w, n := int64(c.Warmup), int64(c.Total)
	angle := math.Pi / 2 / float64(max(1, n-w))
	return &Scheduler{at: func(k int64) float64 {
		if k >= n {
			return c.Floor
		}
		if k < w {
			return c.Peak * (float64(k+1) / float64(w))
		}
		cosine := math.Cos(angle * float64(k-w))
		return c.Floor + (c.Peak-c.Floor)*cosine*cosine // (1 + cos 2a) / 2 = cos² a
	}}, nil
}

func (c Schedule) check() error {
	for _, fine := range []bool{
		c.Peak > 0, c.Peak < math.Inf(1), c.Floor >= 0, c.Floor <= c.Peak,
		c.Total > 0, c.Warmup >= 0, c.Warmup <= c.Total,
	} {
		if !fine {
			return errors.New("amp: no such schedule")
		}
	}
	return nil
}

func (s *Scheduler) Rate() float64         { return s.at(s.step.Load()) }
func (s *Scheduler) Step()                 { s.step.Add(1) }
func (s *Scheduler) State() SchedulerState { return SchedulerState{int(s.step.Load())} }
func (s *Scheduler) SetState(st SchedulerState) error {
	if st.Steps < 0 {
		return errors.New("amp: negative steps")
	}
	s.step.Store(int64(st.Steps))
	return nil
}

// entry is what is known of one optimizer. It is kept over Updates: round says to which
// of them its marks belong.
type entry struct {
	unscaled, stepped atomic.Int64 // the last round in which it was
	found             atomic.Int64
}

type Scaler struct {
	cfg    ScalerConfig
	known  sync.Map // Optimizer to *entry
	count  atomic.Int64
	round  atomic.Int64
	used   atomic.Int64 // last round with an optimizer
	bad    atomic.Int64 // last round with a gradient that is not finite
	scale  atomic.Uint64
	clean  atomic.Int64
	latest sync.Mutex
}

func in(x, low, high float64) bool { return low <= x && x <= high }

func NewScaler(cfg ScalerConfig) (*Scaler, error) {
	cfg.Init, cfg.Growth = cmp.Or(cfg.Init, 65536), cmp.Or(cfg.Growth, 2)
	cfg.Backoff, cfg.Interval = cmp.Or(cfg.Backoff, 0.5), cmp.Or(cfg.Interval, 2000)
	if !in(cfg.Init, 0x1p-1022, math.MaxFloat64) || !in(cfg.Growth, math.Nextafter(1, 2), math.MaxFloat64) ||
		!in(cfg.Backoff, 5e-324, math.Nextafter(1, 0)) || cfg.Interval < 1 {
		return nil, errors.New("amp: no such scaler")
	}
	s := &Scaler{cfg: cfg}
	s.round.Store(1)
	s.set(cfg.Init)
	return s, nil
}

func (s *Scaler) set(scale float64)       { s.scale.Store(math.Float64bits(scale)) }
func (s *Scaler) Factor() float64         { return math.Float64frombits(s.scale.Load()) }
func (s *Scaler) Scale(x float64) float64 { return x * s.Factor() }

func (s *Scaler) entry(opt Optimizer) *entry {
	if e, ok := s.known.Load(opt); ok {
		return e.(*entry)
	}
	e, _ := s.known.LoadOrStore(opt, new(entry))
	return e.(*entry)
}

// claim says whether this call is the one that moves the mark to this round.
func claim(mark *atomic.Int64, round int64) bool {
	last := mark.Load()
	return last != round && mark.CompareAndSwap(last, round)
}

func (s *Scaler) Unscale(opt Optimizer) error {
	e, round := s.entry(opt), s.round.Load()
	if e.stepped.Load() == round {
		return ErrStepped
	}
	if !claim(&e.unscaled, round) {
		return ErrUnscaled
	}
	s.divide(opt, e, round)
	return nil
}

func (s *Scaler) divide(opt Optimizer, e *entry, round int64) {
	s.used.Store(round)
	scale, fine := s.Factor(), true
	for _, g := range opt.Grads() {
		for i := range g {
			g[i] /= scale
			fine = fine && math.Abs(g[i]) <= math.MaxFloat64
		}
	}
	if !fine {
		e.found.Store(round)
		s.bad.Store(round)
	}
}

func (s *Scaler) Step(opt Optimizer, rate float64) (bool, error) {
	e, round := s.entry(opt), s.round.Load()
	if !claim(&e.stepped, round) {
		return false, ErrStepped
	}
	if claim(&e.unscaled, round) {
		s.divide(opt, e, round)
	}
	if e.found.Load() == round {
		return false, nil
	}
	opt.Step(rate)
	return true, nil
}

func (s *Scaler) Update() error {
	s.latest.Lock()
	defer s.latest.Unlock()
	round := s.round.Load()
	if s.used.Load() != round {
		return ErrNothing
	}
	if s.bad.Load() == round {
		s.times(s.cfg.Backoff)
	} else if s.clean.Load() >= int64(s.cfg.Interval)-1 {
		s.times(s.cfg.Growth)
	} else {
		s.clean.Add(1)
	}
	s.round.Add(1)
	return nil
}

func (s *Scaler) times(factor float64) {
	s.clean.Store(0)
	if next := s.Factor() * factor; in(next, 0x1p-1022, math.MaxFloat64) {
		s.set(next)
	}
}

func (s *Scaler) State() ScalerState { return ScalerState{s.Factor(), int(s.clean.Load())} }

func (s *Scaler) SetState(st ScalerState) error {
	if !in(st.Scale, 0x1p-1022, math.MaxFloat64) || st.Clean < 0 {
		return errors.New("amp: no such state")
	}
	s.set(st.Scale)
	s.clean.Store(int64(st.Clean))
	s.round.Add(1)
	return nil
}

type Stepper struct {
	step func(opts []Optimizer) (Report, error)
}

func NewStepper(sc *Scaler, sd *Scheduler, limit, p float64) (*Stepper, error) {
	if sc == nil || sd == nil {
		return nil, errors.New("amp: a part is missing")
	}
	if _, err := Clip(nil, limit, p); err != nil {
		return nil, err
	}
	return &Stepper{func(opts []Optimizer) (r Report, err error) {
		r.Rate = sd.Rate()
		advance := func() {}
		for _, opt := range opts {
			if err := sc.Unscale(opt); errors.Is(err, ErrStepped) {
				return r, err
			}
			most := limit
			if sc.entry(opt).found.Load() == sc.round.Load() {
				most = math.Inf(1) // neither clipped nor stepped
			}
			norm, _ := Clip(opt.Grads(), most, p)
			stepped, err := sc.Step(opt, r.Rate)
			if err != nil {
				return r, err
			}
			if stepped {
				advance = sd.Step
			}
			r.Norms, r.Stepped = append(r.Norms, norm), append(r.Stepped, stepped)
		}
		advance()
		return r, sc.Update()
	}}, nil
}

func (s *Stepper) Step(opts ...Optimizer) (Report, error) {
	if len(opts) == 0 {
		return Report{}, ErrNothing
	}
	return s.step(opts)
}
