package earlystop

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

type Mode int

const (
	Min Mode = iota
	Max
)

type Config struct {
	Patience    int
	Mode        Mode
	MinDelta    float64
	StartEpoch  int
	Baseline    *float64
	StopAt      *float64
	DivergeAt   *float64
	CheckFinite bool
}

type Params interface {
	Params() iter.Seq[[]float64]
}

type Reason int

const (
	Running Reason = iota
	Patience
	Threshold
	Diverged
	NonFinite
)

var (
	ErrNoBest = errors.New("no best")
	ErrShape  = errors.New("other layers")
)

type State struct {
	Mode      Mode
	Wait      int
	Reason    Reason
	HasBest   bool
	Best      float64
	BestEpoch int
	Saved     bool
	Weights   [][]float64
}

// Stopper asks its rules in order; the first that has an opinion decides.
type Stopper struct {
	cfg    Config
	limits struct{ baseline, stopAt, divergeAt float64 }
	beats  func(a, b float64) bool // a is better than b, at all
	far    func(b float64) float64 // what has to be beaten to improve on b
	rules  []rule
	now    event // here, for otherwise every call would allocate one

	seen  State   // Best is worst without a best
	worst float64 // the best of nothing
}

// event is one epoch on its way through the rules.
type event struct {
	epoch   int
	metric  float64
	m       Params
	settled bool // nothing more to say
	err     error
}

type rule func(s *Stopper, e *event)

func New(cfg Config) (*Stopper, error) {
	s := &Stopper{cfg: cfg}
	switch cfg.Mode {
	case Min:
		s.worst = math.Inf(1)
		s.beats = func(a, b float64) bool { return a < b }
		s.far = func(b float64) float64 { return b - cfg.MinDelta }
	case Max:
		s.worst = math.Inf(-1)
		s.beats = func(a, b float64) bool { return a > b }
		s.far = func(b float64) float64 { return b + cfg.MinDelta }
	default:
		return nil, fmt.Errorf("mode %d", cfg.Mode)
	}
	if cfg.Patience < 0 {
		return nil, fmt.Errorf("patience %d", cfg.Patience)
	}
	if math.Signbit(cfg.MinDelta) && cfg.MinDelta != 0 || math.IsNaN(cfg.MinDelta) || math.IsInf(cfg.MinDelta, 0) {
		return nil, fmt.Errorf("delta %v", cfg.MinDelta)
	}
	s.rules = []rule{stopped, early}
	if cfg.CheckFinite {
		s.rules = append(s.rules, finite)
	}
	for _, l := range []struct {
		limit *float64
		value *float64
		rule  rule
	}{
		{cfg.Baseline, &s.limits.baseline, nil},
		{cfg.StopAt, &s.limits.stopAt, enough},
		{cfg.DivergeAt, &s.limits.divergeAt, diverged},
	} {
		if l.limit == nil {
			continue
		}
		if *l.value = *l.limit; math.IsNaN(*l.value) {
			return nil, errors.New("a limit is NaN")
		}
		if l.rule != nil {
			s.rules = append(s.rules, l.rule)
		}
	}
	s.rules = append(s.rules, improvement, patience)
	s.Reset()
	return s, nil
}

func (s *Stopper) Reset() { s.seen = State{Mode: s.cfg.Mode, Best: s.worst} }

func (s *Stopper) Observe(epoch int, metric float64, m Params) (bool, error) {
	e := &s.now
	*e = event{epoch: epoch, metric: metric, m: m}
	defer func() { e.m = nil }() // the model is the caller's
	for _, r := range s.rules {
		if r(s, e); e.settled {
			break
		}
	}
	return s.seen.Reason != Running && e.err == nil, e.err
}

func (s *Stopper) because(why Reason, e *event) { s.seen.Reason, e.settled = why, true }

func stopped(s *Stopper, e *event) { e.settled = s.seen.Reason != Running }

func early(s *Stopper, e *event) { e.settled = e.epoch < s.cfg.StartEpoch }

func finite(s *Stopper, e *event) {
	if math.IsNaN(e.metric) || math.IsInf(e.metric, 0) {
		s.because(NonFinite, e)
	}
}

func enough(s *Stopper, e *event) {
	if s.beats(e.metric, s.limits.stopAt) {
		if s.improve(e); e.err == nil {
			s.because(Threshold, e)
		}
	}
}

func diverged(s *Stopper, e *event) {
	if s.beats(s.limits.divergeAt, e.metric) {
		s.because(Diverged, e)
	}
}

func improvement(s *Stopper, e *event) {
	if s.improve(e) && (s.cfg.Baseline == nil || s.beats(e.metric, s.far(s.limits.baseline))) {
		s.seen.Wait, e.settled = 0, true
	}
}

func patience(s *Stopper, e *event) {
	if s.seen.Wait++; s.seen.Wait >= s.cfg.Patience {
		s.because(Patience, e)
	}
}

// improve makes the metric the best if it is.
func (s *Stopper) improve(e *event) bool {
	if !s.beats(e.metric, s.far(s.seen.Best)) {
		return false
	}
	if e.m == nil {
		s.seen.Saved, s.seen.Weights = false, nil
	} else if live := slices.Collect(e.m.Params()); !s.seen.Saved {
		s.seen.Saved, s.seen.Weights = true, copies(live)
	} else if e.err = s.transfer(s.seen.Weights, live); e.err != nil {
		e.settled = true
		return false
	}
	s.seen.HasBest, s.seen.Best, s.seen.BestEpoch = true, e.metric, e.epoch
	return true
}

// transfer copies layers, if they all fit.
func (s *Stopper) transfer(to, from [][]float64) error {
	if len(to) != len(from) {
		return ErrShape
	}
	for i := range to {
		if len(to[i]) != len(from[i]) {
			return ErrShape
		}
	}
	for i := range to {
		copy(to[i], from[i])
	}
	return nil
}

func (s *Stopper) Restore(m Params) error {
	if !s.seen.Saved {
		return ErrNoBest
	}
	return s.transfer(slices.Collect(m.Params()), s.seen.Weights)
}
