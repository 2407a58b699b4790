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

type Stopper struct {
	cfg       Config
	best      float64
	bestEpoch int
	hasBest   bool
	wait      int
	reason    Reason
	saved     bool
	weights   [][]float64
}

func New(cfg Config) (*Stopper, error) {
	if cfg.Mode != Min && cfg.Mode != Max {
		return nil, errors.New("unknown mode")
	}
	if cfg.Patience < 0 {
		return nil, errors.New("negative patience")
	}
	if math.IsNaN(cfg.MinDelta) || math.IsInf(cfg.MinDelta, 0) || cfg.MinDelta < 0 {
		return nil, errors.New("bad MinDelta")
	}
	for _, limit := range []**float64{&cfg.Baseline, &cfg.StopAt, &cfg.DivergeAt} {
		if *limit == nil {
			continue
		}
		x := **limit
		if math.IsNaN(x) {
			return nil, errors.New("a limit is NaN")
		}
		*limit = &x
	}
	s := &Stopper{cfg: cfg}
	s.Reset()
	return s, nil
}

func (s *Stopper) Reset() {
	s.best = math.Inf(1)
	if s.cfg.Mode == Max {
		s.best = math.Inf(-1)
	}
	s.bestEpoch = 0
	s.hasBest = false
	s.wait = 0
	s.reason = Running
	s.saved = false
	s.weights = nil
}

// improves reports whether metric is better than reference by more than MinDelta.
func (s *Stopper) improves(metric, reference float64) bool {
	if s.cfg.Mode == Max {
		return metric > reference+s.cfg.MinDelta
	}
	return metric < reference-s.cfg.MinDelta
}

// beyond reports whether metric is better than limit.
func (s *Stopper) beyond(metric, limit float64) bool {
	if s.cfg.Mode == Max {
		return metric > limit
	}
	return metric < limit
}

// worse reports whether metric is worse than limit.
func (s *Stopper) worse(metric, limit float64) bool {
	if s.cfg.Mode == Max {
		return metric < limit
	}
	return metric > limit
}

func (s *Stopper) Observe(epoch int, metric float64, m Params) (bool, error) {
	if s.reason != Running {
		return true, nil
	}
	if epoch < s.cfg.StartEpoch {
		return false, nil
	}
	if s.cfg.CheckFinite && (math.IsNaN(metric) || math.IsInf(metric, 0)) {
		s.reason = NonFinite
		return true, nil
	}
	enough := s.cfg.StopAt != nil && s.beyond(metric, *s.cfg.StopAt)
	if !enough && s.cfg.DivergeAt != nil && s.worse(metric, *s.cfg.DivergeAt) {
		s.reason = Diverged
		return true, nil
	}
	improved := s.improves(metric, s.best)
	if improved {
		if err := s.save(m); err != nil {
			return false, err
		}
		s.best, s.bestEpoch, s.hasBest = metric, epoch, true
	}
	if enough {
		s.reason = Threshold
		return true, nil
	}
	if improved && (s.cfg.Baseline == nil || s.improves(metric, *s.cfg.Baseline)) {
		s.wait = 0
		return false, nil
	}
	s.wait++
	if s.wait >= s.cfg.Patience {
		s.reason = Patience
	}
	return s.reason != Running, nil
}

// save copies the weights of m, into the memory of the last copy if there is one.
func (s *Stopper) save(m Params) error {
	if m == nil {
		s.saved = false
		s.weights = nil
		return nil
	}
	if !s.saved {
		for layer := range m.Params() {
			s.weights = append(s.weights, append([]float64(nil), layer...))
		}
		s.saved = true
		return nil
	}
	if !s.fits(m) {
		return ErrShape
	}
	i := 0
	for layer := range m.Params() {
		copy(s.weights[i], layer)
		i++
	}
	return nil
}

func (s *Stopper) fits(m Params) bool {
	i := 0
	for layer := range m.Params() {
		if i >= len(s.weights) || len(layer) != len(s.weights[i]) {
			return false
		}
		i++
	}
	return i == len(s.weights)
}

func (s *Stopper) Restore(m Params) error {
	if !s.saved {
		return ErrNoBest
	}
	if !s.fits(m) {
		return ErrShape
	}
	i := 0
	for layer := range m.Params() {
		copy(layer, s.weights[i])
		i++
	}
	return nil
}

func (s *Stopper) Best() (float64, int, bool) {
	return s.best, s.bestEpoch, s.hasBest
}

func (s *Stopper) Reason() Reason { return s.reason }

func (s *Stopper) State() State {
	st := State{Mode: s.cfg.Mode, Wait: s.wait, Reason: s.reason, HasBest: s.hasBest, Saved: s.saved}
	if s.hasBest {
		st.Best, st.BestEpoch = s.best, s.bestEpoch
	}
	if s.saved {
		st.Weights = s.weights
	}
	return st
}

func (s *Stopper) SetState(st State) error {
	if st.Mode != s.cfg.Mode {
		return errors.New("the state is of another mode")
	}
	if st.Wait < 0 || st.Reason < Running || st.Reason > NonFinite {
		return errors.New("no such state")
	}
	if st.HasBest && math.IsNaN(st.Best) || st.Saved && !st.HasBest {
		return errors.New("no such best")
	}
	s.Reset()
	s.wait, s.reason = st.Wait, st.Reason
	if st.HasBest {
		s.best, s.bestEpoch, s.hasBest = st.Best, st.BestEpoch, true
	}
	if st.Saved {
		s.saved = true
		s.weights = clone(st.Weights)
	}
	return nil
}

func clone(layers [][]float64) [][]float64 {
	all := make([][]float64, 0, len(layers))
	for _, layer := range layers {
		all = append(all, append([]float64(nil), layer...))
	}
	return all
}
