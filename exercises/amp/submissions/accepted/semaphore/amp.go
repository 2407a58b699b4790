// Package amp finds the largest number before it squares one, and guards a Scaler by a channel.
package amp

import (
	"errors"
	"math"
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

func newError(text string) error { return errors.New("amp: " + text) }

func greatest(grads [][]float64) (m float64, fine bool) {
	bad := 0.0
	for _, g := range grads {
		for _, x := range g {
			bad += x - x
			if a := math.Abs(x); a > m {
				m = a
			}
		}
	}
	return m, bad == 0
}

func anyNaN(grads [][]float64) bool {
	for _, g := range grads {
		for _, x := range g {
			if math.IsNaN(x) {
				return true
			}
		}
	}
	return false
}

// squares has four sums, so that additions need not wait for each other.
func squares(g []float64, unit float64) float64 {
	var a, b, c, d float64
	for len(g) >= 4 {
		w, x, y, z := g[0]*unit, g[1]*unit, g[2]*unit, g[3]*unit
		a, b, c, d = a+w*w, b+x*x, c+y*y, d+z*z
		g = g[4:]
	}
	for _, x := range g {
		a += x * unit * (x * unit)
	}
	return a + b + (c + d)
}

func Clip(grads [][]float64, max, p float64) (norm float64, err error) {
	switch {
	case math.IsNaN(max), max < 0:
		return 0, newError("a max below 0")
	case p != 2 && p != math.Inf(1):
		return 0, newError("no such p")
	}
	norm, fine := greatest(grads)
	if !fine && anyNaN(grads) {
		return math.NaN(), ErrNonFinite
	}
	if !fine {
		return math.Inf(1), ErrNonFinite
	}
	if p == 2 && norm > 0 {
		unit := math.Ldexp(1, -math.Ilogb(norm))
		sum := 0.0
		for _, g := range grads {
			sum += squares(g, unit)
		}
		norm = math.Sqrt(sum) / unit
	}
	if f := max / (norm + 1e-6); f < 1 {
		for _, g := range grads {
			for i := range g {
				g[i] *= f
			}
		}
	}
	return norm, nil
}

// piece is a part of a schedule: up to a step, and what its rate is.
type piece struct {
	end  int
	rate func(k int) float64
}

type Scheduler struct {
	k      int
	pieces []piece
	last   float64
}

func NewScheduler(c Schedule) (*Scheduler, error) {
	if math.IsInf(c.Peak, 0) || !(c.Peak > 0) || !(c.Floor >= 0) || !(c.Floor <= c.Peak) {
		return nil, newError("rates make no sense")
	}
	if c.Total < 1 || c.Warmup < 0 || c.Total < c.Warmup {
		return nil, newError("steps make no sense")
	}
	middle, half := c.Floor+(c.Peak-c.Floor)/2, (c.Peak-c.Floor)/2
	return &Scheduler{last: c.Floor, pieces: []piece{
		{c.Warmup, func(k int) float64 { return c.Peak * (float64(k+1) / float64(c.Warmup)) }},
		{c.Total, func(k int) float64 {
			return middle + half*math.Cos(math.Pi*(float64(k-c.Warmup)/float64(c.Total-c.Warmup)))
		}},
	}}, nil
}

func (s *Scheduler) Rate() float64 {
	for _, p := range s.pieces {
		if s.k < p.end {
			return p.rate(s.k)
		}
	}
	return s.last
}

func (s *Scheduler) Step()                 { s.k++ }
func (s *Scheduler) State() SchedulerState { return SchedulerState{Steps: s.k} }
func (s *Scheduler) SetState(st SchedulerState) error {
	if st.Steps < 0 {
		return newError("no such state")
	}
	s.k = st.Steps
	return nil
}

type mark struct {
	opt              Optimizer
	divided, stepped bool
	finite           bool
}

type Scaler struct {
	turn chan struct{} // holds a token while the fields below are free
	cfg  ScalerConfig
	st   ScalerState
	list []mark
}

func NewScaler(c ScalerConfig) (*Scaler, error) {
	for _, f := range []struct {
		field *float64
		value float64
	}{{&c.Init, 65536}, {&c.Growth, 2}, {&c.Backoff, 0.5}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	if c.Interval == 0 {
		c.Interval = 2000
	}
	if !possible(c.Init) || !(1 < c.Growth) || math.IsInf(c.Growth, 1) || !(0 < c.Backoff) || !(c.Backoff < 1) || c.Interval < 0 {
		return nil, newError("no such scaler")
	}
	s := &Scaler{turn: make(chan struct{}, 1), cfg: c, st: ScalerState{Scale: c.Init}}
	s.turn <- struct{}{}
	return s, nil
}

func possible(scale float64) bool { return scale >= 0x1p-1022 && !math.IsInf(scale, 1) }

// locked runs f while no other call does.
func (s *Scaler) locked(f func()) {
	<-s.turn
	defer func() { s.turn <- struct{}{} }()
	f()
}

func (s *Scaler) State() (st ScalerState) {
	s.locked(func() { st = s.st })
	return st
}

func (s *Scaler) Factor() float64            { return s.State().Scale }
func (s *Scaler) Scale(loss float64) float64 { return loss * s.Factor() }

// find returns the place of opt in the list, to which it is added if it is new.
func (s *Scaler) find(opt Optimizer) *mark {
	for i := range s.list {
		if s.list[i].opt == opt {
			return &s.list[i]
		}
	}
	s.list = append(s.list, mark{opt: opt, finite: true})
	return &s.list[len(s.list)-1]
}

func (s *Scaler) Unscale(opt Optimizer) (err error) {
	s.locked(func() {
		switch m := s.find(opt); {
		case m.stepped:
			err = ErrStepped
		case m.divided:
			err = ErrUnscaled
		default:
			m.divided = true
		}
	})
	if err == nil {
		s.divide(opt)
	}
	return err
}

func (s *Scaler) divide(opt Optimizer) (finite bool) {
	scale := s.Factor()
	bad := 0.0
	for _, g := range opt.Grads() {
		for i, x := range g {
			x /= scale
			bad += x - x
			g[i] = x
		}
	}
	finite = bad == 0
	s.locked(func() { s.find(opt).finite = finite })
	return finite
}

func (s *Scaler) Step(opt Optimizer, rate float64) (ok bool, err error) {
	var was mark
	s.locked(func() {
		m := s.find(opt)
		was = *m
		m.divided, m.stepped = true, true
	})
	if was.stepped {
		return false, ErrStepped
	}
	if ok = was.finite; !was.divided {
		ok = s.divide(opt)
	}
	if ok {
		opt.Step(rate)
	}
	return ok, nil
}

func (s *Scaler) Update() (err error) {
	s.locked(func() {
		if len(s.list) == 0 {
			err = ErrNothing
			return
		}
		s.st = s.next()
		s.empty()
	})
	return err
}

// empty keeps the room, and no optimizer.
func (s *Scaler) empty() {
	clear(s.list)
	s.list = s.list[:0]
}

func (s *Scaler) next() ScalerState {
	factor := s.cfg.Growth
	if s.st.Clean < s.cfg.Interval-1 {
		factor = 1
	}
	for _, m := range s.list {
		if !m.finite {
			factor = s.cfg.Backoff
		}
	}
	switch scale := s.st.Scale * factor; {
	case factor == 1:
		return ScalerState{s.st.Scale, s.st.Clean + 1}
	case possible(scale):
		return ScalerState{Scale: scale}
	}
	return ScalerState{Scale: s.st.Scale}
}

func (s *Scaler) SetState(st ScalerState) error {
	if st.Clean < 0 || !possible(st.Scale) {
		return newError("no such state")
	}
	s.locked(func() {
		s.st = st
		s.empty()
	})
	return nil
}

type Stepper struct {
	sc     *Scaler
	sd     *Scheduler
	max, p float64
}

func NewStepper(sc *Scaler, sd *Scheduler, max, p float64) (*Stepper, error) {
	if sc == nil || sd == nil || !(max >= 0) || p != 2 && p != math.Inf(1) {
		return nil, newError("no such stepper")
	}
	return &Stepper{sc, sd, max, p}, nil
}

func (s *Stepper) Step(opts ...Optimizer) (Report, error) {
	if len(opts) == 0 {
		return Report{}, ErrNothing
	}
	report := Report{Rate: s.sd.Rate(), Norms: make([]float64, 0, len(opts)), Stepped: make([]bool, 0, len(opts))}
	for _, opt := range opts {
		s.sc.Unscale(opt)
	}
	for _, opt := range opts {
		limit, finite := s.max, false
		s.sc.locked(func() { finite = s.sc.find(opt).finite })
		if !finite {
			limit = math.Inf(1)
		}
		norm, _ := Clip(opt.Grads(), limit, s.p)
		report.Norms = append(report.Norms, norm)
	}
	moved := false
	for i := len(opts) - 1; i >= 0; i-- { // in any order
		stepped, err := s.sc.Step(opts[i], report.Rate)
		if err != nil {
			return report, err
		}
		moved = moved || stepped
		report.Stepped = append(report.Stepped, stepped)
	}
	for i, j := 0, len(opts)-1; i < j; i, j = i+1, j-1 {
		report.Stepped[i], report.Stepped[j] = report.Stepped[j], report.Stepped[i]
	}
	if moved {
		s.sd.Step()
	}
	return report, s.sc.Update()
}
