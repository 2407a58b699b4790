package amp

import (
	"fmt"
	"math"
)

// Schedule says how the learning rate goes up and down again. Steps are steps of the
// optimizer, and the first is step 0.
type Schedule struct {
	Peak   float64 // the highest rate, above 0
	Floor  float64 // the rate in the end, from 0 to Peak
	Warmup int     // so many steps, the rate rises; may be 0
	Total  int     // from this step on, the rate is Floor; at least 1 and at least Warmup
}

// Scheduler counts the steps of an optimizer and knows the rate of the next one.
type Scheduler struct {
	cfg   Schedule
	steps int
}

// SchedulerState is all that a Scheduler has seen.
type SchedulerState struct {
	Steps int // how many steps the optimizer has taken
}

// NewScheduler returns a Scheduler before step 0, or an error if cfg is invalid.
func NewScheduler(cfg Schedule) (*Scheduler, error) {
	if !(cfg.Peak > 0) || !finite(cfg.Peak) {
		return nil, fmt.Errorf("amp: Peak is %v, want a finite number above 0", cfg.Peak)
	}
	if !(0 <= cfg.Floor && cfg.Floor <= cfg.Peak) {
		return nil, fmt.Errorf("amp: Floor is %v, want 0 to Peak (%v)", cfg.Floor, cfg.Peak)
	}
	if cfg.Total < 1 {
		return nil, fmt.Errorf("amp: Total is %d, want 1 or more", cfg.Total)
	}
	if cfg.Warmup < 0 || cfg.Warmup > cfg.Total {
		return nil, fmt.Errorf("amp: Warmup is %d, want 0 to Total (%d)", cfg.Warmup, cfg.Total)
	}
	return &Scheduler{cfg: cfg}, nil
}

// Rate returns the learning rate of the next step.
//
// The warm-up is a straight line that ends at Peak and does not begin at 0: a first step
// with a rate of 0 would be lost. After it comes half a cosine, as in SGDR (Loshchilov and
// Hutter, 2017, equation 5) and PyTorch's CosineAnnealingLR.
func (s *Scheduler) Rate() float64 {
	c, k := s.cfg, s.steps
	switch {
	case k < c.Warmup:
		return c.Peak * ((float64(k) + 1) / float64(c.Warmup))
	case k < c.Total:
		progress := float64(k-c.Warmup) / float64(c.Total-c.Warmup)
		return c.Floor + (c.Peak-c.Floor)*((1+math.Cos(math.Pi*progress))/2)
	}
	return c.Floor
}

// Step counts a step of the optimizer.
func (s *Scheduler) Step() { s.steps++ }

// State returns what s has seen.
func (s *Scheduler) State() SchedulerState { return SchedulerState{Steps: s.steps} }

// SetState makes s go on from st, or returns an error and changes nothing.
func (s *Scheduler) SetState(st SchedulerState) error {
	if st.Steps < 0 {
		return fmt.Errorf("amp: a state after %d steps, want 0 or more", st.Steps)
	}
	s.steps = st.Steps
	return nil
}
