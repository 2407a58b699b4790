// Package amp holds what keeps a training in range: clipping of gradients, a schedule of
// the learning rate, and a scale for the loss. README.md says what is wanted.
package amp

import "errors"

var (
	// ErrNonFinite means that a gradient is NaN or infinite, so that there is nothing to
	// clip.
	ErrNonFinite = errors.New("amp: a gradient is NaN or infinite")

	// ErrUnscaled means that the gradients of an optimizer have been divided by the scale
	// already, since the last Update.
	ErrUnscaled = errors.New("amp: the optimizer has been unscaled since the last Update")

	// ErrStepped means that an optimizer has had its step since the last Update.
	ErrStepped = errors.New("amp: the optimizer has been stepped since the last Update")

	// ErrNothing means that there was no optimizer to learn from.
	ErrNothing = errors.New("amp: no optimizer since the last Update")
)

// Optimizer changes parameters by their gradients.
type Optimizer interface {
	// Grads returns the gradients, a slice for each parameter, in live storage: what is
	// written into them is what Step uses. A parameter without a gradient has nil.
	Grads() [][]float64

	// Step changes the parameters, with the learning rate given.
	Step(rate float64)
}

// Clip scales all gradients by one factor, in place, so that their norm is at most max,
// and returns the norm that they had before. p is 2 or +Inf.
func Clip(grads [][]float64, max, p float64) (norm float64, err error) {
	return 0, nil // write your solution here
}

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
	// write your solution here
}

// SchedulerState is all that a Scheduler has seen.
type SchedulerState struct {
	Steps int // how many steps the optimizer has taken
}

// NewScheduler returns a Scheduler before step 0, or an error if cfg is invalid.
func NewScheduler(cfg Schedule) (*Scheduler, error) { return &Scheduler{}, nil }

// Rate returns the learning rate of the next step.
func (s *Scheduler) Rate() float64 { return 0 }

// Step counts a step of the optimizer.
func (s *Scheduler) Step() {}

// State returns what s has seen.
func (s *Scheduler) State() SchedulerState { return SchedulerState{} }

// SetState makes s go on from st, or returns an error and changes nothing.
func (s *Scheduler) SetState(st SchedulerState) error { return nil }

// ScalerConfig says how the scale changes. A field of 0 stands for the default.
type ScalerConfig struct {
	Init     float64 // the first scale; 65,536
	Growth   float64 // the factor after Interval clean updates, above 1; 2
	Backoff  float64 // the factor after an update that is not clean, between 0 and 1; 0.5
	Interval int     // clean updates in a row before the scale grows; 2,000
}

// Scaler multiplies losses by a scale and divides gradients by it. Several goroutines may
// use it at once.
type Scaler struct {
	// write your solution here
}

// ScalerState is all that a Scaler keeps from one Update to the next.
type ScalerState struct {
	Scale float64
	Clean int // clean updates in a row
}

// NewScaler returns a Scaler, or an error if cfg is invalid.
func NewScaler(cfg ScalerConfig) (*Scaler, error) { return &Scaler{}, nil }

// Factor returns the scale.
func (s *Scaler) Factor() float64 { return 0 }

// Scale returns loss times the scale.
func (s *Scaler) Scale(loss float64) float64 { return 0 }

// Unscale divides the gradients of opt by the scale, in place, once between two Updates.
func (s *Scaler) Unscale(opt Optimizer) error { return nil }

// Step unscales the gradients of opt, unless that was done since the last Update, and has
// it step, unless one of them was not finite. It says whether opt stepped.
func (s *Scaler) Step(opt Optimizer, rate float64) (bool, error) { return false, nil }

// Update ends an iteration: the scale grows, falls or stays.
func (s *Scaler) Update() error { return nil }

// State returns what s keeps from one Update to the next.
func (s *Scaler) State() ScalerState { return ScalerState{} }

// SetState makes s go on from st, or returns an error and changes nothing.
func (s *Scaler) SetState(st ScalerState) error { return nil }

// Stepper does what stands between the backward pass and the next batch.
type Stepper struct {
	// write your solution here
}

// Report tells what a Step of a Stepper did.
type Report struct {
	Rate    float64   // the learning rate of the step
	Norms   []float64 // of each optimizer's gradients, unscaled and not yet clipped
	Stepped []bool    // for each optimizer, whether it stepped
}

// NewStepper returns a Stepper that clips the gradients of each optimizer to a norm of
// max, or an error if sc or sd is nil or Clip does not take max or p.
func NewStepper(sc *Scaler, sd *Scheduler, max, p float64) (*Stepper, error) {
	return &Stepper{}, nil
}

// Step has each of opts step once, if its gradients are finite, and updates the Scaler and
// the Scheduler.
func (s *Stepper) Step(opts ...Optimizer) (Report, error) { return Report{}, nil }
