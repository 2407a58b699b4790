// Package earlystop stops a training that no longer improves, and restores the
// weights of its best epoch. README.md says what is wanted.
package earlystop

import (
	"errors"
	"iter"
)

// Mode says which metrics are good.
type Mode int

const (
	Min Mode = iota // small ones, as of a loss
	Max             // great ones, as of a score
)

// Config says when to stop. The zero Config stops at the first metric that is
// not less than the least before it.
type Config struct {
	Patience    int      // bad epochs in a row before it stops
	Mode        Mode     // what is good
	MinDelta    float64  // what an improvement has to exceed, absolute
	StartEpoch  int      // epochs below are ignored
	Baseline    *float64 // improvements that do not beat it count as bad epochs; nil: none
	StopAt      *float64 // better than this is good enough; nil: none
	DivergeAt   *float64 // worse than this is hopeless; nil: none
	CheckFinite bool     // stop at NaN and infinities
}

// Params is a model as a Stopper sees it: a walk over its parameters, layer by
// layer, in live storage. Order and lengths are always the same.
type Params interface {
	Params() iter.Seq[[]float64]
}

// Reason says why a Stopper stopped.
type Reason int

const (
	Running   Reason = iota // it has not stopped
	Patience                // too many bad epochs in a row
	Threshold               // better than StopAt
	Diverged                // worse than DivergeAt
	NonFinite               // NaN or infinite, under CheckFinite
)

var (
	// ErrNoBest means that there is no snapshot to restore.
	ErrNoBest = errors.New("earlystop: no snapshot of a best epoch")

	// ErrShape means that a model does not have the snapshot's layers.
	ErrShape = errors.New("earlystop: the model's layers are not those of the snapshot")
)

// State is all that a Stopper has seen, in a form that can be written down.
type State struct {
	Mode      Mode        // of the Config
	Wait      int         // bad epochs in a row
	Reason    Reason      // Running, or why it stopped
	HasBest   bool        // something has improved
	Best      float64     // 0 without a best
	BestEpoch int         // 0 without a best
	Saved     bool        // there is a snapshot
	Weights   [][]float64 // the snapshot, layer by layer; nil without one
}

// Stopper watches a training.
type Stopper struct {
	// TODO: your fields.
}

// New returns a Stopper that has seen nothing, or an error if cfg is invalid.
func New(cfg Config) (*Stopper, error) { return &Stopper{}, nil }

// Observe is told the metric of an epoch, and says whether to stop. If the
// metric improves, it keeps a copy of the weights of m, unless m is nil.
func (s *Stopper) Observe(epoch int, metric float64, m Params) (stop bool, err error) {
	return false, nil
}

// Restore copies the weights of the best epoch into m.
func (s *Stopper) Restore(m Params) error { return nil }

// Best returns the best metric and its epoch; ok is false if there is none.
func (s *Stopper) Best() (metric float64, epoch int, ok bool) { return 0, 0, false }

// Reason returns why s stopped, or Running.
func (s *Stopper) Reason() Reason { return Running }

// Reset makes s as new, with the same Config.
func (s *Stopper) Reset() {}

// State returns a copy of all that s has seen.
func (s *Stopper) State() State { return State{} }

// SetState makes s go on from st, or returns an error and changes nothing.
func (s *Stopper) SetState(st State) error { return nil }
