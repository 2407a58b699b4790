package amp

import (
	"cmp"
	"fmt"
	"sync"
)

// smallest is the least scale: the smallest number with all its digits, 2^-1022.
const smallest = 0x1p-1022

// ScalerConfig says how the scale changes. A field of 0 stands for the default, which is
// that of PyTorch's torch.amp.GradScaler.
type ScalerConfig struct {
	Init     float64 // the first scale; 65,536
	Growth   float64 // the factor after Interval clean updates, above 1; 2
	Backoff  float64 // the factor after an update that is not clean, between 0 and 1; 0.5
	Interval int     // clean updates in a row before the scale grows; 2,000
}

// Scaler multiplies losses by a scale and divides gradients by it. The scale is as large
// as it may be: it grows as long as all gradients are finite, and falls when one is not;
// the step of such an optimizer is skipped.
//
// Several goroutines may use a Scaler at once. No lock is held while a method of an
// [Optimizer] runs.
type Scaler struct {
	cfg ScalerConfig

	mu    sync.Mutex // guards all below
	scale float64
	clean int                    // clean updates in a row
	seen  map[Optimizer]progress // since the last Update
}

// progress is what has become of an optimizer since the last Update.
type progress struct {
	phase phase
	found bool // a gradient that is not finite
}

type phase int

const (
	fresh phase = iota
	unscaled
	stepped
)

// ScalerState is all that a Scaler keeps from one Update to the next.
type ScalerState struct {
	Scale float64
	Clean int // clean updates in a row
}

// NewScaler returns a Scaler, or an error if cfg is invalid.
func NewScaler(cfg ScalerConfig) (*Scaler, error) {
	cfg = ScalerConfig{
		Init:     cmp.Or(cfg.Init, 65536),
		Growth:   cmp.Or(cfg.Growth, 2),
		Backoff:  cmp.Or(cfg.Backoff, 0.5),
		Interval: cmp.Or(cfg.Interval, 2000),
	}
	switch {
	case !validScale(cfg.Init):
		return nil, fmt.Errorf("amp: Init is %v, want a finite number of 2^-1022 or more", cfg.Init)
	case !(cfg.Growth > 1) || !finite(cfg.Growth):
		return nil, fmt.Errorf("amp: Growth is %v, want a finite number above 1", cfg.Growth)
	case !(0 < cfg.Backoff && cfg.Backoff < 1):
		return nil, fmt.Errorf("amp: Backoff is %v, want a number between 0 and 1", cfg.Backoff)
	case cfg.Interval < 0:
		return nil, fmt.Errorf("amp: Interval is %d, want 1 or more", cfg.Interval)
	}
	return &Scaler{cfg: cfg, scale: cfg.Init, seen: map[Optimizer]progress{}}, nil
}

func validScale(x float64) bool { return x >= smallest && finite(x) }

// Factor returns the scale.
func (s *Scaler) Factor() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scale
}

// Scale returns loss times the scale.
func (s *Scaler) Scale(loss float64) float64 { return loss * s.Factor() }

// Unscale divides the gradients of opt by the scale, in place, and remembers whether one
// of them is then not finite. The error is [ErrUnscaled] or [ErrStepped] if that was done
// since the last Update.
func (s *Scaler) Unscale(opt Optimizer) error {
	if _, err := s.enter(opt, unscaled); err != nil {
		return err
	}
	s.divide(opt)
	return nil
}

// Step unscales the gradients of opt, unless that was done since the last Update, and has
// it step, unless one of them was not finite. It says whether opt stepped. The error is
// [ErrStepped] if Step was called for opt since the last Update.
func (s *Scaler) Step(opt Optimizer, rate float64) (bool, error) {
	was, err := s.enter(opt, stepped)
	if err != nil {
		return false, err
	}
	found := was.found
	if was.phase == fresh {
		found = s.divide(opt)
	}
	if !found {
		opt.Step(rate)
	}
	return !found, nil
}

// enter moves opt to the phase to, and returns where it was.
func (s *Scaler) enter(opt Optimizer, to phase) (progress, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.seen[opt]
	if was.phase == stepped {
		return was, ErrStepped
	}
	if was.phase == to {
		return was, ErrUnscaled
	}
	s.seen[opt] = progress{phase: to, found: was.found}
	return was, nil
}

// skips says whether Step skips opt: Unscale has seen a gradient that is not finite.
func (s *Scaler) skips(opt Optimizer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[opt].found
}

// divide divides the gradients of opt by the scale, notes whether one of them is then not
// finite, and returns that.
func (s *Scaler) divide(opt Optimizer) (found bool) {
	found = divide(opt.Grads(), s.Factor())
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.seen[opt]
	p.found = found
	s.seen[opt] = p
	return found
}

// divide divides all numbers and says whether one of them is then not finite.
func divide(grads [][]float64, scale float64) (found bool) {
	for _, g := range grads {
		for i, x := range g {
			x /= scale
			g[i] = x
			if !finite(x) {
				found = true
			}
		}
	}
	return found
}

// Update ends an iteration: it learns from what the gradients of all optimizers were like
// since the last Update, and forgets the optimizers. The error is [ErrNothing] if there
// were none.
func (s *Scaler) Update() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 {
		return ErrNothing
	}
	switch {
	case s.anyFound():
		s.become(s.scale * s.cfg.Backoff)
	case s.clean >= s.cfg.Interval-1:
		s.become(s.scale * s.cfg.Growth)
	default:
		s.clean++
	}
	clear(s.seen)
	return nil
}

func (s *Scaler) anyFound() bool {
	for _, p := range s.seen {
		if p.found {
			return true
		}
	}
	return false
}

// become sets the scale, unless it would be out of range, and begins to count anew.
func (s *Scaler) become(scale float64) {
	s.clean = 0
	if validScale(scale) {
		s.scale = scale
	}
}

// State returns what s keeps from one Update to the next.
func (s *Scaler) State() ScalerState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ScalerState{Scale: s.scale, Clean: s.clean}
}

// SetState makes s go on from st, as after an Update, or returns an error and changes
// nothing.
func (s *Scaler) SetState(st ScalerState) error {
	if !validScale(st.Scale) || st.Clean < 0 {
		return fmt.Errorf("amp: a state with scale %v after %d clean updates, want a scale of 2^-1022 or more", st.Scale, st.Clean)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scale, s.clean = st.Scale, st.Clean
	clear(s.seen)
	return nil
}
