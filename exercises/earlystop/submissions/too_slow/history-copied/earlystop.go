package earlystop

import (
	"cmp"
	"errors"
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

// Stopper is its own State, so that there is nothing to forget in it.
type Stopper struct {
	cfg     Config
	st      State
	history []float64 // for plots
}

func New(cfg Config) (*Stopper, error) {
	switch {
	case cfg.Mode < Min || cfg.Mode > Max:
		return nil, errors.New("earlystop: no such mode")
	case cfg.Patience < 0:
		return nil, errors.New("earlystop: patience below 0")
	case !(cfg.MinDelta >= 0 && cfg.MinDelta < math.Inf(1)):
		return nil, errors.New("earlystop: MinDelta out of range")
	}
	var err error
	own := func(limit *float64) *float64 {
		if limit == nil {
			return nil
		}
		if math.IsNaN(*limit) {
			err = errors.New("earlystop: a limit is NaN")
		}
		return new(*limit)
	}
	cfg.Baseline, cfg.StopAt, cfg.DivergeAt = own(cfg.Baseline), own(cfg.StopAt), own(cfg.DivergeAt)
	if err != nil {
		return nil, err
	}
	return &Stopper{cfg: cfg, st: State{Mode: cfg.Mode}}, nil
}

func (s *Stopper) Reset() { s.st = State{Mode: s.cfg.Mode} }

// gain says by how much the metric is better than other: positive is better.
func (s *Stopper) gain(metric, other float64) float64 {
	if s.cfg.Mode == Min {
		return other - metric
	}
	return metric - other
}

// sign says which of two metrics is better, also of infinities; 0 with NaN.
func (s *Stopper) sign(metric, other float64) int {
	if math.IsNaN(metric) {
		return 0
	}
	if s.cfg.Mode == Min {
		return cmp.Compare(other, metric)
	}
	return cmp.Compare(metric, other)
}

func (s *Stopper) improves(metric float64) bool {
	if !s.st.HasBest {
		worst := math.Inf(1)
		if s.cfg.Mode == Max {
			worst = math.Inf(-1)
		}
		return s.sign(metric, worst) > 0
	}
	return s.gain(metric, s.st.Best) > s.cfg.MinDelta // NaN where both are the same infinity
}

func (s *Stopper) Observe(epoch int, metric float64, m Params) (stop bool, err error) {
	st := &s.st
	if st.Reason != Running || epoch < s.cfg.StartEpoch {
		return st.Reason != Running, nil
	}
	s.history = slices.Concat(s.history, []float64{metric})
	enough := s.cfg.StopAt != nil && s.sign(metric, *s.cfg.StopAt) > 0
	switch {
	case s.cfg.CheckFinite && (math.IsNaN(metric) || math.IsInf(metric, 0)):
		st.Reason = NonFinite
		return true, nil
	case enough:
	case s.cfg.DivergeAt != nil && s.sign(metric, *s.cfg.DivergeAt) < 0:
		st.Reason = Diverged
		return true, nil
	}
	good := s.improves(metric)
	if good {
		if err := s.keep(m); err != nil {
			return false, err
		}
		st.HasBest, st.Best, st.BestEpoch = true, metric, epoch
		good = s.cfg.Baseline == nil || s.gain(metric, *s.cfg.Baseline) > s.cfg.MinDelta
	}
	if enough {
		st.Reason = Threshold
	} else if good {
		st.Wait = 0
	} else if st.Wait++; st.Wait >= s.cfg.Patience {
		st.Reason = Patience
	}
	return st.Reason != Running, nil
}

func (s *Stopper) keep(m Params) error {
	switch {
	case m == nil:
		s.st.Saved, s.st.Weights = false, nil
	case !s.st.Saved:
		s.st.Saved, s.st.Weights = true, deep(slices.Collect(m.Params()))
	default:
		return each(s.st.Weights, m, func(kept, live []float64) { copy(kept, live) })
	}
	return nil
}

// each calls f with every layer kept and its live one, if they fit.
func each(kept [][]float64, m Params, f func(kept, live []float64)) error {
	live := slices.Collect(m.Params())
	if !slices.EqualFunc(kept, live, func(a, b []float64) bool { return len(a) == len(b) }) {
		return ErrShape
	}
	for i := range live {
		f(kept[i], live[i])
	}
	return nil
}

func (s *Stopper) Restore(m Params) error {
	if !s.st.Saved {
		return ErrNoBest
	}
	return each(s.st.Weights, m, func(kept, live []float64) { copy(live, kept) })
}

func (s *Stopper) Best() (metric float64, epoch int, ok bool) {
	return s.st.Best, s.st.BestEpoch, s.st.HasBest
}

func (s *Stopper) Reason() Reason { return s.st.Reason }

func (s *Stopper) State() State {
	st := s.st
	st.Weights = deep(st.Weights)
	return st
}

func (s *Stopper) SetState(st State) error {
	switch {
	case st.Mode != s.cfg.Mode, st.Wait < 0, st.Reason < Running, st.Reason > NonFinite,
		st.HasBest && math.IsNaN(st.Best), st.Saved && !st.HasBest:
		return errors.New("earlystop: a State that cannot be")
	}
	st.Weights = deep(st.Weights)
	s.st = st
	return nil
}

func deep(layers [][]float64) [][]float64 {
	if layers == nil {
		return nil
	}
	out := make([][]float64, len(layers))
	for i, layer := range layers {
		out[i] = slices.Clone(layer)
	}
	return out
}
