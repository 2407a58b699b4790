package earlystop

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// State is all that a [Stopper] has seen, in a form that can be written down, with
// encoding/json for one. The Config is not part of it.
type State struct {
	Mode      Mode        // of the Config
	Wait      int         // bad epochs in a row
	Reason    Reason      // Running, or why it stopped
	HasBest   bool        // something has improved
	Best      float64     // 0 without a best, as JSON has no infinities
	BestEpoch int         // 0 without a best
	Saved     bool        // there is a snapshot
	Weights   [][]float64 // the snapshot, layer by layer; nil without one
}

// State returns a copy of all that s has seen.
func (s *Stopper) State() State {
	st := State{Mode: s.mode, Wait: s.wait, Reason: s.reason, Saved: s.kept.saved}
	st.Best, st.BestEpoch, st.HasBest = s.Best()
	if st.Saved {
		st.Weights = s.kept.layers()
	}
	return st
}

// SetState makes s go on from a copy of st, or returns an error and changes
// nothing. The Config stays that of s.
func (s *Stopper) SetState(st State) error {
	if err := s.refuse(st); err != nil {
		return fmt.Errorf("earlystop: State: %w", err)
	}
	s.progress = nothingSeen()
	s.wait, s.reason = st.Wait, st.Reason
	if st.HasBest {
		s.improved, s.best, s.bestEpoch = true, s.sign*st.Best, st.BestEpoch
	}
	s.kept.drop()
	if st.Saved {
		return s.kept.take(layers(st.Weights))
	}
	return nil
}

// refuse says what no Stopper of this mode can have seen.
func (s *Stopper) refuse(st State) error {
	switch {
	case st.Mode != s.mode:
		return fmt.Errorf("the Mode is %d, want the Stopper's %d", st.Mode, s.mode)
	case st.Wait < 0:
		return fmt.Errorf("the Wait is %d, want 0 or more", st.Wait)
	case st.Reason < Running || st.Reason > NonFinite:
		return fmt.Errorf("the Reason is %d, which there is not", st.Reason)
	case st.HasBest && math.IsNaN(st.Best):
		return errors.New("the Best is NaN")
	case st.Saved && !st.HasBest:
		return errors.New("a snapshot of no best")
	}
	return nil
}

// layers is the snapshot in a State, as a model to copy from.
type layers [][]float64

func (l layers) Params() iter.Seq[[]float64] { return slices.Values(l) }
