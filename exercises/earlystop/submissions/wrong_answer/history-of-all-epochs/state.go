package earlystop

import "errors"

func (s *Stopper) State() State {
	st := State{Mode: s.cfg.Mode, Wait: s.waiting, Reason: s.reason, Saved: s.snapshot != nil}
	st.Best, st.BestEpoch, st.HasBest = s.Best()
	for _, l := range s.snapshot {
		st.Weights = append(st.Weights, append([]float64{}, l.weights...))
	}
	return st
}

// SetState makes a history of one line, the best.
func (s *Stopper) SetState(st State) error {
	switch st.Reason {
	case Running, Patience, Threshold, Diverged, NonFinite:
	default:
		return errors.New("Reason")
	}
	switch {
	case st.Mode != s.cfg.Mode:
		return errors.New("Mode")
	case st.Wait < 0:
		return errors.New("Wait")
	case st.HasBest && st.Best != st.Best:
		return errors.New("Best")
	case st.Saved && !st.HasBest:
		return errors.New("Saved")
	}
	s.Reset()
	s.waiting, s.reason = st.Wait, st.Reason
	if st.HasBest {
		s.history, s.best = []epoch{{st.BestEpoch, st.Best}}, 0
	}
	if st.Saved {
		s.snapshot = []layer{}
	}
	for _, weights := range st.Weights {
		s.snapshot = append(s.snapshot, layer{append([]float64{}, weights...)})
	}
	return nil
}
