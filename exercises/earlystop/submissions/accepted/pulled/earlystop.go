package earlystop

import (
	"errors"
	"iter"
	"math"
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

// best is what an improvement leaves; nil before the first.
type best struct {
	metric float64
	epoch  int
}

type Stopper struct {
	Config  // own copies of the limits
	best    *best
	weights *buffer // nil without a snapshot
	bad     int
	why     Reason
}

func New(cfg Config) (*Stopper, error) {
	for _, wrong := range []bool{
		cfg.Mode != Min && cfg.Mode != Max,
		cfg.Patience < 0,
		cfg.MinDelta < 0, cfg.MinDelta != cfg.MinDelta, math.IsInf(cfg.MinDelta, 1),
		isNaN(cfg.Baseline), isNaN(cfg.StopAt), isNaN(cfg.DivergeAt),
	} {
		if wrong {
			return nil, errors.New("earlystop: invalid Config")
		}
	}
	cfg.Baseline, cfg.StopAt, cfg.DivergeAt = copied(cfg.Baseline), copied(cfg.StopAt), copied(cfg.DivergeAt)
	return &Stopper{Config: cfg}, nil
}

func isNaN(x *float64) bool { return x != nil && math.IsNaN(*x) }

func copied(x *float64) *float64 {
	if x == nil {
		return nil
	}
	y := *x
	return &y
}

// better is the formula of an improvement over a number.
func (c *Config) better(metric, than, delta float64) bool {
	if c.Mode == Min {
		return metric < than-delta
	}
	return metric > than+delta
}

func (s *Stopper) Reset() { *s = Stopper{Config: s.Config} }

func (s *Stopper) Reason() Reason { return s.why }

func (s *Stopper) Best() (metric float64, epoch int, ok bool) {
	if s.best == nil {
		return math.NaN(), -1, false
	}
	return s.best.metric, s.best.epoch, true
}

func (s *Stopper) end(why Reason) (bool, error) {
	s.why = why
	return true, nil
}

func (s *Stopper) Observe(epoch int, metric float64, m Params) (stop bool, err error) {
	if s.why != Running {
		return true, nil
	}
	if epoch < s.StartEpoch {
		return false, nil
	}
	if s.CheckFinite && (metric-metric != 0) { // NaN for NaN and infinities
		return s.end(NonFinite)
	}
	enough := s.StopAt != nil && s.better(metric, *s.StopAt, 0)
	if !enough && s.DivergeAt != nil && s.better(*s.DivergeAt, metric, 0) {
		return s.end(Diverged)
	}
	counts := true
	if s.improves(metric) {
		if err := s.keep(m); err != nil {
			return false, err
		}
		if s.best == nil {
			s.best = new(best)
		}
		*s.best = best{metric, epoch}
		counts = s.Baseline != nil && !s.better(metric, *s.Baseline, s.MinDelta)
	}
	if enough {
		return s.end(Threshold)
	}
	if !counts {
		s.bad = 0
		return false, nil
	}
	if s.bad++; s.bad >= s.Patience {
		return s.end(Patience)
	}
	return false, nil
}

func (s *Stopper) improves(metric float64) bool {
	if s.best != nil {
		return s.better(metric, s.best.metric, s.MinDelta)
	}
	worst := 1 // the sign of the infinity
	if s.Mode == Max {
		worst = -1
	}
	return !math.IsNaN(metric) && !math.IsInf(metric, worst)
}

func (s *Stopper) keep(m Params) error {
	if m == nil {
		s.weights = nil
		return nil
	}
	if s.weights != nil {
		return s.weights.exchange(m, func(kept, live []float64) { copy(kept, live) })
	}
	s.weights = new(buffer)
	for layer := range m.Params() {
		s.weights.add(layer)
	}
	return nil
}

func (s *Stopper) Restore(m Params) error {
	if s.weights == nil {
		return ErrNoBest
	}
	return s.weights.exchange(m, func(kept, live []float64) { copy(live, kept) })
}

func (s *Stopper) State() State {
	st := State{Mode: s.Mode, Wait: s.bad, Reason: s.why}
	if s.best != nil {
		st.HasBest, st.Best, st.BestEpoch = true, s.best.metric, s.best.epoch
	}
	if s.weights != nil {
		st.Saved, st.Weights = true, s.weights.split()
	}
	return st
}

func (s *Stopper) SetState(st State) error {
	if st.Mode != s.Mode || st.Wait < 0 || st.Reason < 0 || st.Reason > NonFinite ||
		st.HasBest && st.Best != st.Best || st.Saved && !st.HasBest {
		return errors.New("earlystop: invalid State")
	}
	s.Reset()
	s.bad, s.why = st.Wait, st.Reason
	if st.HasBest {
		s.best = &best{st.Best, st.BestEpoch}
	}
	if st.Saved {
		s.weights = new(buffer)
		for _, layer := range st.Weights {
			s.weights.add(layer)
		}
	}
	return nil
}
