package earlystop

import (
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
	Patience                    int
	Mode                        Mode
	MinDelta                    float64
	StartEpoch                  int
	Baseline, StopAt, DivergeAt *float64
	CheckFinite                 bool
}

type Params interface{ Params() iter.Seq[[]float64] }

type Reason int

const (
	Running Reason = iota
	Patience
	Threshold
	Diverged
	NonFinite
)

var ErrNoBest, ErrShape = errors.New("earlystop: nothing to restore"), errors.New("earlystop: shapes differ")

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

// Stopper is what has been seen, and what to think of it.
type Stopper struct {
	cfg    Config
	limits [3]float64 // Baseline, StopAt, DivergeAt, as losses; the infinity that has no effect, if there is none
	seen   State      // without Weights
	shape  []int
	flat   []float64
}

func New(cfg Config) (*Stopper, error) {
	if cfg.Mode != Min && cfg.Mode != Max || cfg.Patience < 0 || !(cfg.MinDelta >= 0 && cfg.MinDelta <= math.MaxFloat64) {
		return nil, errors.New("earlystop: invalid config")
	}
	s := &Stopper{cfg: cfg, limits: [3]float64{math.Inf(1), math.Inf(-1), math.Inf(1)}}
	for i, p := range []*float64{cfg.Baseline, cfg.StopAt, cfg.DivergeAt} {
		if p != nil {
			s.limits[i] = s.loss(*p)
		}
		if math.IsNaN(s.limits[i]) {
			return nil, errors.New("earlystop: a limit is NaN")
		}
	}
	s.cfg.Baseline, s.cfg.StopAt, s.cfg.DivergeAt = nil, nil, nil
	s.Reset()
	return s, nil
}

func (s *Stopper) loss(metric float64) float64 {
	if s.cfg.Mode == Max {
		return -metric
	}
	return metric
}

// verdict is what becomes of a metric.
type verdict struct {
	ignore bool
	best   bool
	bad    bool // counts as a bad epoch
	reason Reason
}

func (s *Stopper) judge(epoch int, metric float64) (v verdict) {
	loss, best := s.loss(metric), math.Inf(1)
	if s.seen.HasBest {
		best = s.loss(s.seen.Best)
	}
	finite := !math.IsNaN(loss) && !math.IsInf(loss, 0)
	enough := loss < s.limits[1]
	v.best = loss < best-s.cfg.MinDelta
	v.bad = !v.best || !(loss < s.limits[0]-s.cfg.MinDelta)
	switch {
	case epoch < s.cfg.StartEpoch:
		return verdict{ignore: true}
	case s.cfg.CheckFinite && !finite:
		return verdict{reason: NonFinite}
	case enough:
		v.reason, v.bad = Threshold, false
	case loss > s.limits[2]:
		return verdict{reason: Diverged}
	case v.bad && s.seen.Wait >= s.cfg.Patience-1:
		v.reason = Patience
	}
	return v
}

func (s *Stopper) Observe(epoch int, metric float64, m Params) (stop bool, err error) {
	if s.seen.Reason != Running {
		return true, nil
	}
	v := s.judge(epoch, metric)
	if v.ignore {
		return false, nil
	}
	if v.best {
		if err := s.keep(m); err != nil {
			return false, err
		}
		s.seen.HasBest, s.seen.Best, s.seen.BestEpoch = true, metric, epoch
	}
	if v.bad {
		s.seen.Wait++
	} else if v.best {
		s.seen.Wait = 0
	}
	s.seen.Reason = v.reason
	return v.reason != Running, nil
}

func (s *Stopper) keep(m Params) error {
	if m == nil {
		s.seen.Saved = false
		return nil
	}
	if s.seen.Saved && !s.fits(m) {
		return ErrShape
	}
	s.shape, s.flat = s.shape[:0], s.flat[:0]
	for layer := range m.Params() {
		s.shape, s.flat = append(s.shape, len(layer)), append(s.flat, layer...)
	}
	s.seen.Saved = true
	return nil
}

func (s *Stopper) fits(m Params) bool {
	i := 0
	for layer := range m.Params() {
		if i == len(s.shape) || s.shape[i] != len(layer) {
			return false
		}
		i++
	}
	return i == len(s.shape)
}

func (s *Stopper) Restore(m Params) error {
	if !s.seen.Saved {
		return ErrNoBest
	}
	if !s.fits(m) {
		return ErrShape
	}
	at := 0
	for layer := range m.Params() {
		at += copy(layer, s.flat[at:])
	}
	return nil
}

func (s *Stopper) Best() (metric float64, epoch int, ok bool) {
	return s.seen.Best, s.seen.BestEpoch, s.seen.HasBest
}

func (s *Stopper) Reason() Reason { return s.seen.Reason }

func (s *Stopper) Reset() {
	s.seen = State{Mode: s.cfg.Mode}
	s.shape, s.flat = nil, nil
}

func (s *Stopper) State() State {
	st := s.seen
	if st.Saved {
		st.Weights = make([][]float64, 0, len(s.shape))
		rest := s.flat
		for _, n := range s.shape {
			st.Weights = append(st.Weights, slices.Clone(rest[:n]))
			rest = rest[n:]
		}
	}
	return st
}

func (s *Stopper) SetState(st State) error {
	switch {
	case st.Mode != s.cfg.Mode:
		return errors.New("earlystop: another mode")
	case st.Wait < 0:
		return errors.New("earlystop: wait below 0")
	case st.Reason < Running, st.Reason > NonFinite:
		return errors.New("earlystop: no such reason")
	case st.HasBest && math.IsNaN(st.Best), st.Saved && !st.HasBest:
		return errors.New("earlystop: no such best")
	}
	s.Reset()
	s.seen = st
	s.seen.Weights = nil
	if st.Saved {
		for _, layer := range st.Weights {
			s.shape, s.flat = append(s.shape, len(layer)), append(s.flat, layer...)
		}
	}
	return nil
}
