// Package earlystop stops a training that no longer improves, and restores the
// weights of its best epoch.
//
//	s, err := earlystop.New(earlystop.Config{Patience: 2})
//	for epoch := range 100 {
//		train(model)
//		stop, err := s.Observe(epoch, validationLoss(model), model)
//		if stop {
//			break
//		}
//	}
//	err = s.Restore(model)
//
// The package knows metrics and slices of weights. It knows neither how a metric is
// computed, nor layers, nor optimisers.
//
// A Stopper is not safe for concurrent use. Two Stoppers share nothing.
package earlystop

import (
	"errors"
	"fmt"
	"iter"
	"math"
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
	Patience    int      // bad epochs in a row before it stops; 0 is as 1
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

// Stopper watches a training. Make one with [New].
//
// Inside, small is always good: in mode Max everything is multiplied by -1 on its
// way in and out, which is exact. A limit that is not set is an infinity that
// nothing is beyond. So there is one formula of each kind, and no branch on the
// mode to forget.
type Stopper struct {
	rules
	progress
	kept snapshot
}

// rules is a Config as losses.
type rules struct {
	mode        Mode
	sign        float64 // 1 in mode Min, -1 in mode Max
	patience    int
	minDelta    float64
	startEpoch  int
	baseline    float64
	stopAt      float64
	divergeAt   float64
	checkFinite bool
}

// progress holds the observations so far, except weights.
type progress struct {
	wait      int // bad epochs in a row
	reason    Reason
	improved  bool    // there is a best
	best      float64 // +Inf without one
	bestEpoch int
}

func nothingSeen() progress { return progress{best: math.Inf(1)} }

// New returns a Stopper that has seen nothing, or an error if cfg is invalid. It
// keeps none of cfg's pointers.
func New(cfg Config) (*Stopper, error) {
	if !valid(cfg.Mode) {
		return nil, fmt.Errorf("earlystop: Mode is %d, want Min or Max", cfg.Mode)
	}
	if cfg.Patience < 0 {
		return nil, fmt.Errorf("earlystop: Patience is %d, want 0 or more", cfg.Patience)
	}
	if !(cfg.MinDelta >= 0) || math.IsInf(cfg.MinDelta, 1) {
		return nil, fmt.Errorf("earlystop: MinDelta is %v, want a finite number that is not negative", cfg.MinDelta)
	}
	r := rules{
		mode:        cfg.Mode,
		sign:        sign(cfg.Mode),
		patience:    cfg.Patience,
		minDelta:    cfg.MinDelta,
		startEpoch:  cfg.StartEpoch,
		baseline:    math.Inf(1),
		stopAt:      math.Inf(-1),
		divergeAt:   math.Inf(1),
		checkFinite: cfg.CheckFinite,
	}
	for _, limit := range []struct {
		name string
		from *float64
		to   *float64
	}{
		{"Baseline", cfg.Baseline, &r.baseline},
		{"StopAt", cfg.StopAt, &r.stopAt},
		{"DivergeAt", cfg.DivergeAt, &r.divergeAt},
	} {
		if limit.from == nil {
			continue
		}
		if math.IsNaN(*limit.from) {
			return nil, fmt.Errorf("earlystop: %s is NaN", limit.name)
		}
		*limit.to = r.sign * *limit.from
	}
	return &Stopper{rules: r, progress: nothingSeen()}, nil
}

func valid(m Mode) bool { return m == Min || m == Max }

func sign(m Mode) float64 {
	if m == Max {
		return -1
	}
	return 1
}

// Observe is told the metric of an epoch, and says whether to stop. If the metric
// improves, it keeps a copy of the weights of m, unless m is nil. An improvement
// with other layers than those of the snapshot is [ErrShape], and changes nothing.
func (s *Stopper) Observe(epoch int, metric float64, m Params) (stop bool, err error) {
	if s.reason != Running {
		return true, nil
	}
	if epoch < s.startEpoch {
		return false, nil
	}
	loss := s.sign * metric
	if s.checkFinite && (math.IsNaN(loss) || math.IsInf(loss, 0)) {
		return s.stop(NonFinite), nil
	}
	enough := loss < s.stopAt
	if !enough && loss > s.divergeAt {
		return s.stop(Diverged), nil
	}
	// All comparisons with NaN are false, so it takes the way of the bad epochs.
	improves := s.better(loss, s.best)
	if improves {
		if err := s.kept.take(m); err != nil {
			return false, err
		}
		s.improved, s.best, s.bestEpoch = true, loss, epoch
	}
	switch {
	case enough:
		return s.stop(Threshold), nil
	case improves && s.better(loss, s.baseline):
		s.wait = 0
		return false, nil
	}
	s.wait++
	if s.wait >= s.patience {
		return s.stop(Patience), nil
	}
	return false, nil
}

func (r *rules) better(loss, than float64) bool { return loss < than-r.minDelta }

func (p *progress) stop(why Reason) bool {
	p.reason = why
	return true
}

// Restore copies the weights of the best epoch into the slices of m, as often as
// it is called. It changes no weight if it returns [ErrNoBest] or [ErrShape].
func (s *Stopper) Restore(m Params) error { return s.kept.restore(m) }

// Best returns the best metric and its epoch; ok is false if there is none.
func (s *Stopper) Best() (metric float64, epoch int, ok bool) {
	if !s.improved {
		return 0, 0, false
	}
	return s.sign * s.best, s.bestEpoch, true
}

// Reason returns why s stopped, or Running.
func (s *Stopper) Reason() Reason { return s.reason }

// Reset makes s as new, with the same Config. The snapshot's memory stays, for
// the next training is most often of the same model.
func (s *Stopper) Reset() {
	s.progress = nothingSeen()
	s.kept.drop()
}
