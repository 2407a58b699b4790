package earlystop

import (
	"errors"
	"math"
	"slices"
)

func (s *Stopper) Best() (float64, int, bool) { return s.seen.Best, s.seen.BestEpoch, s.seen.HasBest }

func (s *Stopper) Reason() Reason { return s.seen.Reason }

func (s *Stopper) State() State {
	st := s.seen
	if !st.HasBest {
		st.Best = 0
	}
	if st.Weights != nil {
		st.Weights = copies(st.Weights)
	}
	return st
}

func (s *Stopper) SetState(st State) error {
	known := []Reason{Running, Patience, Threshold, Diverged, NonFinite}
	if st.Mode != s.cfg.Mode || st.Wait < 0 || !slices.Contains(known, st.Reason) ||
		st.HasBest && math.IsNaN(st.Best) || st.Saved && !st.HasBest {
		return errors.New("a state of nobody")
	}
	st.Weights = copies(st.Weights)
	if !st.HasBest {
		st.Best = s.worst
	}
	s.seen = st
	return nil
}

// copies makes one piece of memory for all layers.
func copies(layers [][]float64) [][]float64 {
	rest := slices.Concat(layers...)
	out := make([][]float64, len(layers))
	for i, layer := range layers {
		n := len(layer)
		out[i], rest = rest[:n:n], rest[n:]
	}
	return out
}
