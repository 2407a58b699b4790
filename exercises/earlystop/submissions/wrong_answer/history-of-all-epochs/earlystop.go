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

// epoch is a line of the history.
type epoch struct {
	number int
	metric float64
}

// Stopper keeps the whole history, for plots, and an index of the best in it.
type Stopper struct {
	cfg      Config
	baseline float64
	stopAt   float64
	diverge  float64

	history  []epoch
	best     int // index, -1 without one
	waiting  int
	reason   Reason
	snapshot []layer // nil without one
}

// layer is a copy of one layer's weights. The type keeps live ones apart.
type layer struct{ weights []float64 }

func New(cfg Config) (*Stopper, error) {
	if cfg.Mode != Min && cfg.Mode != Max {
		return nil, errors.New("Mode")
	}
	if cfg.Patience < 0 {
		return nil, errors.New("Patience")
	}
	if math.IsNaN(cfg.MinDelta) || cfg.MinDelta < 0 || cfg.MinDelta > math.MaxFloat64 {
		return nil, errors.New("MinDelta")
	}
	s := &Stopper{cfg: cfg, best: -1}
	// Limits that never apply, unless they are given.
	never, always := math.Inf(-1), math.Inf(1)
	if cfg.Mode == Max {
		never, always = always, never
	}
	s.baseline, s.stopAt, s.diverge = always, never, always
	set := func(to *float64, from *float64) bool {
		if from != nil {
			*to = *from
		}
		return !math.IsNaN(*to)
	}
	if !set(&s.baseline, cfg.Baseline) || !set(&s.stopAt, cfg.StopAt) || !set(&s.diverge, cfg.DivergeAt) {
		return nil, errors.New("a limit is NaN")
	}
	return s, nil
}

func (s *Stopper) Reset() {
	s.history = s.history[:0]
	s.best = -1
	s.waiting = 0
	s.reason = Running
	s.snapshot = nil
}

// beats says whether x is better than y by more than delta.
func (s *Stopper) beats(x, y, delta float64) bool {
	switch s.cfg.Mode {
	case Max:
		return x > y+delta
	default:
		return x < y-delta
	}
}

func (s *Stopper) isBest(metric float64) bool {
	if s.best >= 0 {
		return s.beats(metric, s.history[s.best].metric, s.cfg.MinDelta)
	}
	if s.cfg.Mode == Max {
		return metric > math.Inf(-1)
	}
	return metric < math.Inf(1)
}

func (s *Stopper) Observe(number int, metric float64, m Params) (stop bool, err error) {
	if s.reason != Running {
		return true, nil
	}
	if number < s.cfg.StartEpoch {
		return false, nil
	}
	isBest := s.isBest(metric)
	s.reason = s.judge(metric)
	if s.reason == NonFinite || s.reason == Diverged {
		return true, nil
	}
	if isBest {
		if err := s.take(m); err != nil {
			s.reason = Running
			return false, err
		}
		s.best = len(s.history)
	}
	s.history = append(s.history, epoch{number, metric})
	if s.reason == Threshold {
		return true, nil
	}
	if isBest && s.beats(metric, s.baseline, s.cfg.MinDelta) {
		s.waiting = 0
	} else {
		s.waiting++
		if s.waiting >= max(1, s.cfg.Patience) {
			s.reason = Patience
		}
	}
	return s.reason == Patience, nil
}

// judge looks at the metric alone.
func (s *Stopper) judge(metric float64) Reason {
	switch {
	case s.cfg.CheckFinite && !(math.Abs(metric) <= math.MaxFloat64):
		return NonFinite
	case s.beats(metric, s.stopAt, 0):
		return Threshold
	case s.beats(s.diverge, metric, 0):
		return Diverged
	}
	return Running
}

func (s *Stopper) take(m Params) error {
	if m == nil {
		s.snapshot = nil
		return nil
	}
	if s.snapshot == nil {
		s.snapshot = []layer{}
		for live := range m.Params() {
			kept := make([]float64, len(live))
			copy(kept, live)
			s.snapshot = append(s.snapshot, layer{kept})
		}
		return nil
	}
	if !s.matches(m) {
		return ErrShape
	}
	i := 0
	m.Params()(func(live []float64) bool {
		copy(s.snapshot[i].weights, live)
		i++
		return true
	})
	return nil
}

func (s *Stopper) matches(m Params) bool {
	count, same := 0, true
	m.Params()(func(live []float64) bool {
		same = count < len(s.snapshot) && len(s.snapshot[count].weights) == len(live)
		count++
		return same
	})
	return same && count == len(s.snapshot)
}

func (s *Stopper) Restore(m Params) error {
	switch {
	case s.snapshot == nil:
		return ErrNoBest
	case !s.matches(m):
		return ErrShape
	}
	rest := s.snapshot
	for live := range m.Params() {
		copy(live, rest[0].weights)
		rest = rest[1:]
	}
	return nil
}

func (s *Stopper) Best() (metric float64, number int, ok bool) {
	if s.best < 0 {
		return
	}
	return s.history[s.best].metric, s.history[s.best].number, true
}

func (s *Stopper) Reason() Reason { return s.reason }
