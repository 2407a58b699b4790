package amp

import "errors"

// Stepper does what stands between the backward pass and the next batch: unscale, clip,
// step, and bring scale and rate up to date.
type Stepper struct {
	scaler    *Scaler
	scheduler *Scheduler
	max, p    float64
}

// Report tells what a Step of a Stepper did.
type Report struct {
	Rate    float64   // the learning rate of the step
	Norms   []float64 // of each optimizer's gradients, unscaled and not yet clipped
	Stepped []bool    // for each optimizer, whether it stepped
}

// NewStepper returns a Stepper that clips the gradients of each optimizer to a norm of
// max, or an error if sc or sd is nil or [Clip] does not take max or p.
func NewStepper(sc *Scaler, sd *Scheduler, max, p float64) (*Stepper, error) {
	if sc == nil || sd == nil {
		return nil, errors.New("amp: a Stepper needs a Scaler and a Scheduler")
	}
	if err := validLimit(max, p); err != nil {
		return nil, err
	}
	return &Stepper{scaler: sc, scheduler: sd, max: max, p: p}, nil
}

// Step has each of opts step once, if its gradients are finite, and updates the Scaler. It
// is one step of the Scheduler if one of them stepped, and none if all were skipped. The
// error is [ErrNothing] if there are no opts.
func (s *Stepper) Step(opts ...Optimizer) (Report, error) {
	report := Report{Rate: s.scheduler.Rate()}
	if len(opts) == 0 {
		return report, ErrNothing
	}
	any := false
	for _, opt := range opts {
		norm, stepped, err := s.one(opt, report.Rate)
		if err != nil {
			return report, err
		}
		report.Norms = append(report.Norms, norm)
		report.Stepped = append(report.Stepped, stepped)
		any = any || stepped
	}
	if err := s.scaler.Update(); err != nil {
		return report, err
	}
	if any {
		s.scheduler.Step()
	}
	return report, nil
}

// one is the step of one optimizer: gradients are unscaled before they are clipped, for
// max is about what they are and not about what they were scaled to.
func (s *Stepper) one(opt Optimizer, rate float64) (norm float64, stepped bool, err error) {
	if err := s.scaler.Unscale(opt); err != nil && !errors.Is(err, ErrUnscaled) {
		return 0, false, err
	}
	if s.scaler.skips(opt) { // also where the caller has mended its gradients since
		_, err := s.scaler.Step(opt, rate)
		return normOf(opt.Grads(), s.p), false, err
	}
	norm, err = Clip(opt.Grads(), s.max, s.p)
	if err != nil && !errors.Is(err, ErrNonFinite) {
		return norm, false, err
	}
	stepped, err = s.scaler.Step(opt, rate)
	return norm, stepped, err
}
