// Package amp adds squares of large, middling and small numbers apart.
package amp

import (
	"errors"
	"math"
	"sync"
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

var errInvalid = errors.New("amp: invalid argument")

const (
	hugeBound = 0x1p+480
	tinyBound = 0x1p-480
	shrink    = 0x1p-520
	stretch   = 0x1p+520
)

// sums are sums of squares: of large numbers times shrink, of middling ones, and of small
// ones times stretch.
type sums struct{ large, middle, small float64 }

func (s *sums) addAll(g []float64) {
	for _, x := range g {
		switch a := math.Abs(x); {
		case a > hugeBound:
			s.large += (x * shrink) * (x * shrink)
		case a < tinyBound:
			s.small += (x * stretch) * (x * stretch)
		default:
			s.middle += x * x
		}
	}
}

func (s *sums) root() float64 {
	if s.large > 0 || math.IsNaN(s.large) {
		return math.Sqrt(s.large+s.middle*shrink*shrink) / shrink
	}
	if s.middle > 0 || math.IsNaN(s.middle) {
		return math.Sqrt(s.middle + s.small/stretch/stretch)
	}
	return math.Sqrt(s.small) / stretch
}

func rootOfSquares(grads [][]float64) float64 {
	var s sums
	for _, g := range grads {
		s.addAll(g)
	}
	if norm := s.root(); !math.IsNaN(norm) && !math.IsNaN(s.middle) {
		return norm
	}
	return math.NaN()
}

func maxNorm(grads [][]float64) float64 {
	m, anyNaN := 0.0, false
	for _, g := range grads {
		for _, x := range g {
			if x < 0 {
				x = -x
			}
			if x > m {
				m = x
			} else if x != x {
				anyNaN = true
			}
		}
	}
	if anyNaN {
		return math.NaN()
	}
	return m
}

// Clip clips.
func Clip(grads [][]float64, max, p float64) (float64, error) {
	if max < 0 || math.IsNaN(max) {
		return 0, errInvalid
	}
	var norm float64
	switch p {
	case 2:
		norm = rootOfSquares(grads)
	case math.Inf(1):
		norm = maxNorm(grads)
	default:
		return 0, errInvalid
	}
	if math.IsNaN(norm) || math.IsInf(norm, 0) {
		return norm, ErrNonFinite
	}
	if max >= norm+1e-6 {
		return norm, nil
	}
	coefficient := max / (norm + 1e-6)
	for _, g := range grads {
		for i, x := range g {
			g[i] = x * coefficient
		}
	}
	return norm, nil
}

// Scheduler counts steps.
type Scheduler struct {
	Schedule
	next int
}

// NewScheduler makes a Scheduler.
func NewScheduler(cfg Schedule) (*Scheduler, error) {
	ok := cfg.Peak > 0 && cfg.Peak <= math.MaxFloat64 && cfg.Floor >= 0 && cfg.Floor <= cfg.Peak &&
		cfg.Total >= 1 && cfg.Warmup >= 0 && cfg.Warmup <= cfg.Total
	if !ok {
		return nil, errInvalid
	}
	return &Scheduler{Schedule: cfg}, nil
}

// Rate is that of the next step.
func (s *Scheduler) Rate() float64 {
	if s.next >= s.Total {
		return s.Floor
	}
	if s.next < s.Warmup {
		return float64(s.next+1) / float64(s.Warmup) * s.Peak
	}
	left := float64(s.Total-s.next) / float64(s.Total-s.Warmup) // 1 to 0
	sine := math.Sin(math.Pi / 2 * left)
	return s.Floor + (s.Peak-s.Floor)*sine*sine
}

func (s *Scheduler) Step()                 { s.next++ }
func (s *Scheduler) State() SchedulerState { return SchedulerState{s.next} }

// SetState goes on from st.
func (s *Scheduler) SetState(st SchedulerState) error {
	if st.Steps < 0 {
		return errInvalid
	}
	s.next = st.Steps
	return nil
}

// Scaler has two sets: of optimizers that were unscaled, with what was found, and of those
// that were stepped.
type Scaler struct {
	cfg ScalerConfig

	lock     sync.RWMutex
	state    ScalerState
	unscaled map[Optimizer]bool
	stepped  map[Optimizer]bool
}

const leastScale = 0x1p-1022

func scaleOK(x float64) bool { return x >= leastScale && x <= math.MaxFloat64 }

// NewScaler makes a Scaler.
func NewScaler(cfg ScalerConfig) (*Scaler, error) {
	if cfg.Init == 0 {
		cfg.Init = 1 << 16
	}
	if cfg.Growth == 0 {
		cfg.Growth = 2
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = 0.5
	}
	if cfg.Interval == 0 {
		cfg.Interval = 2000
	}
	if !scaleOK(cfg.Init) || !(cfg.Growth > 1 && cfg.Growth <= math.MaxFloat64) || !(cfg.Backoff > 0 && cfg.Backoff < 1) || cfg.Interval < 0 {
		return nil, errInvalid
	}
	return &Scaler{
		cfg:      cfg,
		state:    ScalerState{Scale: cfg.Init},
		unscaled: make(map[Optimizer]bool),
		stepped:  make(map[Optimizer]bool),
	}, nil
}

// State is scale and count.
func (s *Scaler) State() ScalerState {
	s.lock.RLock()
	defer s.lock.RUnlock()
	return s.state
}

func (s *Scaler) Factor() float64            { return s.State().Scale }
func (s *Scaler) Scale(loss float64) float64 { return s.State().Scale * loss }

// claim marks opt as unscaled, if it may be, and returns the scale.
func (s *Scaler) claim(opt Optimizer) (float64, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.stepped[opt] {
		return 0, ErrStepped
	}
	if _, ok := s.unscaled[opt]; ok {
		return 0, ErrUnscaled
	}
	s.unscaled[opt] = false
	return s.state.Scale, nil
}

// Unscale divides.
func (s *Scaler) Unscale(opt Optimizer) error {
	scale, err := s.claim(opt)
	if err != nil {
		return err
	}
	if multiply(opt.Grads(), 1/scale) {
		s.lock.Lock()
		s.unscaled[opt] = true
		s.lock.Unlock()
	}
	return nil
}

// found says whether Unscale has found a gradient of opt that is not finite.
func (s *Scaler) found(opt Optimizer) bool {
	s.lock.RLock()
	defer s.lock.RUnlock()
	return s.unscaled[opt]
}

// multiply multiplies and says whether a product is not finite.
func multiply(grads [][]float64, factor float64) bool {
	zero := 0.0
	for _, g := range grads {
		for i := range g {
			g[i] *= factor
			zero += g[i] * 0
		}
	}
	return zero != 0
}

// Step steps.
func (s *Scaler) Step(opt Optimizer, rate float64) (bool, error) {
	s.lock.Lock()
	if s.stepped[opt] {
		s.lock.Unlock()
		return false, ErrStepped
	}
	s.stepped[opt] = true
	found, done := s.unscaled[opt]
	scale := s.state.Scale
	if !done {
		s.unscaled[opt] = false
	}
	s.lock.Unlock()
	if !done {
		if found = multiply(opt.Grads(), 1/scale); found {
			s.lock.Lock()
			s.unscaled[opt] = true
			s.lock.Unlock()
		}
	}
	if found {
		return false, nil
	}
	opt.Step(rate)
	return true, nil
}

// Update updates.
func (s *Scaler) Update() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.unscaled) == 0 {
		return ErrNothing
	}
	found := false
	for _, f := range s.unscaled {
		found = found || f
	}
	next := s.state.Scale
	if found {
		next *= s.cfg.Backoff
		s.state.Clean = 0
	} else if s.state.Clean >= s.cfg.Interval-1 {
		next *= s.cfg.Growth
		s.state.Clean = 0
	} else {
		s.state.Clean++
	}
	if scaleOK(next) {
		s.state.Scale = next
	}
	s.forget()
	return nil
}

func (s *Scaler) forget() {
	clear(s.unscaled)
	clear(s.stepped)
}

// SetState goes on from st.
func (s *Scaler) SetState(st ScalerState) error {
	if !scaleOK(st.Scale) || st.Clean < 0 {
		return errInvalid
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.state = st
	s.forget()
	return nil
}

// Stepper steps.
type Stepper struct {
	*Scaler
	schedule *Scheduler
	max, p   float64
}

// NewStepper makes a Stepper.
func NewStepper(sc *Scaler, sd *Scheduler, max, p float64) (*Stepper, error) {
	if _, err := Clip(nil, max, p); err != nil || sc == nil || sd == nil {
		return nil, errInvalid
	}
	return &Stepper{sc, sd, max, p}, nil
}

// Step steps.
func (s *Stepper) Step(opts ...Optimizer) (Report, error) {
	if len(opts) == 0 {
		return Report{}, ErrNothing
	}
	r := Report{s.schedule.Rate(), make([]float64, len(opts)), make([]bool, len(opts))}
	for i, opt := range opts {
		s.Unscale(opt)
		limit := s.max
		if s.found(opt) { // it will be skipped, whatever the caller has made of its gradients
			limit = math.Inf(1)
		}
		r.Norms[i], _ = Clip(opt.Grads(), limit, s.p)
	}
	taken := 0
	for i, opt := range opts {
		stepped, err := s.Scaler.Step(opt, r.Rate)
		if err != nil {
			return r, err
		}
		if r.Stepped[i] = stepped; stepped {
			taken = 1
		}
	}
	s.schedule.next += taken
	return r, s.Update()
}
