package earlystop

import (
	"errors"
	"fmt"
	"iter"
	"math"
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

// Stopper holds its best behind a pointer: nil is no best, and a nil copy in it no
// snapshot.
type Stopper struct {
	mode     Mode
	patience int
	start    int
	finite   bool

	better func(x, than float64) bool // strictly, without MinDelta
	gains  func(x, than float64) bool // by more than MinDelta
	base   *float64
	good   *float64
	bad    *float64

	waited int
	why    Reason
	top    *top
}

type top struct {
	metric float64
	epoch  int
	copy   *layers
}

type layers struct{ list [][]float64 }

func New(c Config) (*Stopper, error) {
	s := &Stopper{mode: c.Mode, patience: c.Patience, start: c.StartEpoch, finite: c.CheckFinite}
	d := c.MinDelta
	switch c.Mode {
	case Min:
		s.better = func(x, than float64) bool { return x < than }
		s.gains = func(x, than float64) bool { return x < than-d }
	case Max:
		s.better = func(x, than float64) bool { return x > than }
		s.gains = func(x, than float64) bool { return x > than+d }
	default:
		return nil, fmt.Errorf("earlystop: mode %d", c.Mode)
	}
	if c.Patience < 0 || d < 0 || d-d != 0 {
		return nil, fmt.Errorf("earlystop: patience %d, min delta %v", c.Patience, d)
	}
	for _, p := range []struct {
		from *float64
		to   **float64
	}{{c.Baseline, &s.base}, {c.StopAt, &s.good}, {c.DivergeAt, &s.bad}} {
		if p.from != nil {
			x := *p.from
			if x != x {
				return nil, errors.New("earlystop: a limit is not a number")
			}
			*p.to = &x
		}
	}
	return s, nil
}

func (s *Stopper) end(r Reason) (bool, error) {
	s.why = r
	return true, nil
}

func (s *Stopper) Observe(epoch int, x float64, m Params) (bool, error) {
	if s.why != Running {
		return true, nil
	}
	if epoch < s.start {
		return false, nil
	}
	if s.finite && x-x != 0 {
		return s.end(NonFinite)
	}
	reached := s.good != nil && s.better(x, *s.good)
	if !reached && s.bad != nil && s.better(*s.bad, x) {
		return s.end(Diverged)
	}
	improved := s.improves(x)
	if improved {
		if err := s.take(epoch, x, m); err != nil {
			return false, err
		}
	}
	if reached {
		return s.end(Threshold)
	}
	if improved && (s.base == nil || s.gains(x, *s.base)) {
		s.waited = 0
		return false, nil
	}
	if s.waited++; s.waited < s.patience {
		return false, nil
	}
	return s.end(Patience)
}

func (s *Stopper) improves(x float64) bool {
	if s.top != nil {
		return s.gains(x, s.top.metric)
	}
	worst := math.Inf(1)
	if s.mode == Max {
		worst = math.Inf(-1)
	}
	return s.better(x, worst)
}

// take makes x the best, or changes nothing.
func (s *Stopper) take(epoch int, x float64, m Params) error {
	next := top{metric: x, epoch: epoch}
	if m != nil {
		if s.top != nil && s.top.copy != nil {
			if !s.top.copy.pairs(m, nil) {
				return ErrShape
			}
			next.copy = s.top.copy
			next.copy.pairs(m, func(kept, live []float64) { copy(kept, live) })
		} else {
			next.copy = &layers{}
			for live := range m.Params() {
				next.copy.list = append(next.copy.list, append(make([]float64, 0, len(live)), live...))
			}
		}
	}
	if s.top == nil {
		s.top = new(top)
	}
	*s.top = next
	return nil
}

// pairs walks over the copy and a model at once, and reports whether they are alike.
func (l *layers) pairs(m Params, do func(kept, live []float64)) bool {
	rest := l.list
	for live := range m.Params() {
		if len(rest) == 0 || len(rest[0]) != len(live) {
			return false
		}
		if do != nil {
			do(rest[0], live)
		}
		rest = rest[1:]
	}
	return len(rest) == 0
}

func (s *Stopper) Restore(m Params) error {
	switch {
	case s.top == nil || s.top.copy == nil:
		return ErrNoBest
	case !s.top.copy.pairs(m, nil):
		return ErrShape
	}
	s.top.copy.pairs(m, func(kept, live []float64) { copy(live, kept) })
	return nil
}

func (s *Stopper) Best() (float64, int, bool) {
	if s.top == nil {
		return 0, 0, false
	}
	return s.top.metric, s.top.epoch, true
}

func (s *Stopper) Reason() Reason { return s.why }

func (s *Stopper) Reset() { s.waited, s.why, s.top = 0, Running, nil }

func (s *Stopper) State() State {
	st := State{Mode: s.mode, Wait: s.waited, Reason: s.why}
	if s.top == nil {
		return st
	}
	st.Best, st.BestEpoch, st.HasBest = s.Best()
	if c := s.top.copy; c != nil {
		st.Saved, st.Weights = true, clones(c.list)
	}
	return st
}

func (s *Stopper) SetState(st State) error {
	bad := st.Mode != s.mode || st.Wait < 0 || st.Reason < 0 || st.Reason > NonFinite
	bad = bad || st.HasBest && st.Best != st.Best || st.Saved && !st.HasBest
	if bad {
		return fmt.Errorf("earlystop: not a state of this stopper")
	}
	s.waited, s.why, s.top = st.Wait, st.Reason, nil
	if st.HasBest {
		s.top = &top{metric: st.Best, epoch: st.BestEpoch}
	}
	if st.Saved {
		s.top.copy = &layers{clones(st.Weights)}
	}
	return nil
}

func clones(list [][]float64) [][]float64 {
	all := make([][]float64, len(list))
	for i, l := range list {
		all[i] = append([]float64{}, l...)
	}
	return all
}
