package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/amp"
)

// bench is a Stepper with what it is made of.
type bench struct {
	scaler    *amp.Scaler
	scheduler *amp.Scheduler
	stepper   *amp.Stepper
}

// newBench makes a Stepper whose scale does not grow, and whose schedule ends in no test:
// what is counted after its end is for TestSchedulerState.
func newBench(t testing.TB, r *rand.Rand, max, p float64) bench {
	b := bench{
		scaler:    newScaler(t, amp.ScalerConfig{Init: power(r, 8, 16), Interval: never}),
		scheduler: newScheduler(t, schedule(r, 3+r.IntN(3), 1000+r.IntN(20))),
	}
	b.stepper = newStepper(t, b.scaler, b.scheduler, max, p)
	return b
}

// scaled makes an optimizer with gradients about as large as size, as they come from the
// backward pass, the largest of which is size.
func (b bench) scaled(r *rand.Rand, size float64) *fake {
	f := &fake{grads: draw(r, size/2)}
	spoil(r, f.grads, -size)
	for _, g := range f.grads {
		for i := range g {
			g[i] *= b.scaler.Factor()
		}
	}
	return f
}

// step calls Step and records what comes of it.
func (b bench) step(o *observe.Observer, opts ...*fake) {
	rate := b.scheduler.Rate()
	report, err := b.stepper.Step(interfaces(opts)...)
	sentinels(o, "error of the Stepper", err)
	o.Float("the Report's rate less the Scheduler's", report.Rate-rate, exact)
	o.Floats("norms in the Report", report.Norms, right)
	o.Int("entries of Stepped in the Report", len(report.Stepped))
	for _, stepped := range report.Stepped {
		o.Bool("stepped, by the Report", stepped)
	}
	for _, f := range opts {
		o.Int("steps of an optimizer", len(f.rates))
		for _, used := range f.rates {
			o.Float("the step's rate less the Scheduler's", used-rate, exact)
		}
		o.Floats("gradients that the step saw", flat(f.used), rough)
		o.Floats("gradients afterwards", flat(f.grads), rough)
	}
}

func interfaces(opts []*fake) (all []amp.Optimizer) {
	for _, f := range opts {
		all = append(all, f)
	}
	return all
}

// Step unscales the gradients of an optimizer, then clips them, then has it step with the
// rate of the schedule; then the Scaler has its Update (rules 25 and 27).
func TestStepper(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, p := range []float64{2, inf} {
		for _, max := range []float64{1 + r.Float64(), 1e3, inf, 0} {
			b := newBench(t, r, max, p)
			for range 15 {
				f := b.scaled(r, 8+100*r.Float64())
				if r.IntN(3) == 0 {
					sentinels(o, "Unscale by the caller", b.scaler.Unscale(f))
				}
				b.step(o, f)
				o.Int("clean Updates", b.scaler.State().Clean)
				o.Int("steps of the schedule", b.scheduler.State().Steps)
			}
		}
	}
}

// A step that is skipped is none of the schedule's, the gradients are left unscaled and
// not clipped, and the scale falls, unless it would fall too far (rules 5, 20 and 25 to 27).
func TestSkippedSteps(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, exponent := range []int{-1022, -1021 + r.IntN(3), 10, 1018 + r.IntN(2), 1020 + r.IntN(3)} {
		for _, interval := range []int{1, 2, never} {
			for bad := range 4 {
				scaleTellsNothing(t, o, exponent, interval, bad)
			}
		}
	}
	for i, p := range []float64{2, inf, 2, inf} {
		b := newBench(t, r, 1+r.Float64(), p)
		for k, bad := range []float64{1, inf, nan, 1, -inf, 1, 1, nan} {
			f := b.scaled(r, 20)
			if bad != 1 {
				spoil(r, f.grads, bad)
				if k%2 == 1 { // a NaN beside infinities, behind one or before
					f.grads = append(f.grads, []float64{inf, nan}, []float64{-inf})
				}
			}
			if i >= 2 && k%2 == 0 {
				sentinels(o, "Unscale by the caller", b.scaler.Unscale(f))
			}
			b.step(o, f)
			o.Int("steps of the schedule", b.scheduler.State().Steps)
			o.Float("scale", b.scaler.Factor(), right)
		}
	}
}

// scaleTellsNothing steps two optimizers, of which those in the set bad are skipped, where the
// Scaler may not take a scale that has fallen or grown (rule 20), and its count may be 0 before and
// after: neither says whether there was a step.
func scaleTellsNothing(t *testing.T, o *observe.Observer, exponent, interval, bad int) {
	r := o.Rand()
	b := newBench(t, r, 1+r.Float64(), 2)
	b.scaler = newScaler(t, amp.ScalerConfig{Init: math.Ldexp(1, exponent), Growth: 4, Backoff: 0.25, Interval: interval})
	b.scaler.SetState(amp.ScalerState{Scale: b.scaler.Factor(), Clean: r.IntN(2)})
	b.stepper = newStepper(t, b.scaler, b.scheduler, 1+r.Float64(), 2)
	opts := make([]*fake, 2)
	for i := range opts {
		opts[i] = with(b.scaler, 1+float64(r.IntN(8))/8) // whatever the scale, the product is right
		if bad>>i&1 == 1 {
			opts[i] = with(b.scaler, []float64{nan, inf, -inf}[r.IntN(3)])
		}
	}
	b.step(o, opts...)
	o.Int("steps of the schedule", b.scheduler.State().Steps)
}

// Each of several optimizers is clipped and judged by itself; the schedule goes on if one
// of them stepped, and the Scaler has one Update. Those whose gradients Unscale has seen as
// not finite are not clipped, also if they have been mended since; of others the norm is that at
// the Stepper's Step (rules 25 to 27).
func TestSteppedTogether(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for n := 2; n <= 4; n++ {
		b := newBench(t, r, 1+r.Float64(), 2)
		var kept []amp.Report
		for bad := range 1 << n { // each set of optimizers that are skipped
			opts := make([]*fake, n)
			for i := range opts {
				opts[i] = b.scaled(r, 5+100*r.Float64())
				if bad>>i&1 == 1 {
					spoil(r, opts[i].grads, []float64{nan, inf, -inf}[r.IntN(3)])
				}
			}
			if bad%3 == 1 {
				b.scaler.Unscale(opts[r.IntN(n)])
			}
			if bad%2 == 1 {
				opts[r.IntN(n)].grads = nil
			}
			b.step(o, opts...)
			o.Int("steps of the schedule", b.scheduler.State().Steps)
			o.Float("scale", b.scaler.Factor(), right)
			o.Int("clean Updates", b.scaler.State().Clean)

			none := &fake{grads: [][]float64{nil, {}}} // no gradient, and it steps
			b.step(o, none)
			o.Int("steps of the schedule", b.scheduler.State().Steps)
			both := []*fake{with(b.scaler, 5+r.Float64()), with(b.scaler, 50+r.Float64())}
			report, _ := b.stepper.Step(interfaces(both)...)
			kept = append(kept, report)
			last := with(b.scaler, 5+r.Float64())
			report, _ = b.stepper.Step(last)
			kept = append(kept, report)
			last.grads[0][0] = inf
			report, _ = b.stepper.Step(last)
			kept = append(kept, report)
		}
		for _, report := range kept {
			o.Floats("norms in Reports that were kept", report.Norms, right)
			for _, stepped := range report.Stepped {
				o.Bool("steps in Reports that were kept", stepped)
			}
		}
		for first := range n {
			b.rateOfTheCall(o, n, func(opts []*fake, set func()) { opts[first].inner = set })
			b.rateOfTheCall(o, n, func(opts []*fake, set func()) { opts[first].asked = once(set) })
		}
	}
	for _, p := range []float64{2, inf} {
		newBench(t, r, 1+r.Float64(), p).mended(o)
		newBench(t, r, 1+r.Float64(), p).changed(o)
		newBench(t, r, 1+r.Float64(), p).outside(o)
		for kind := range 3 * 8 {
			size, max := anySize(r, kind%3)
			newBench(t, r, max, p).ofSize(o, size)
		}
	}
	for _, x := range []float64{1, nan} {
		newBench(t, r, 1+r.Float64(), 2).exactly(o, 256, x)
		newBench(t, r, 1+r.Float64(), 2).exactly(o, 1024, x)
	}
}

// mended has the caller write over gradients that Unscale has seen as not finite, before the
// Stepper comes: there is a norm again, and nothing is clipped. The slices stay the same until
// the step, as Optimizer promises: who has kept them has the gradients.
func (b bench) mended(o *observe.Observer) {
	for _, bad := range []float64{nan, inf, -inf} {
		f, k := &fake{grads: [][]float64{{bad}, nil, {1}}}, 1+9*o.Rand().Float64()
		b.scaler.Unscale(f)
		f.grads[0][0], f.grads[2][0] = 3*k, -4*k
		report, _ := b.stepper.Step(f, with(b.scaler, 1))
		o.Floats("norms, the first of gradients that were mended after Unscale", report.Norms, right)
		o.Floats("gradients that were mended after Unscale", flat(f.grads), exact)
		o.Ints("steps of one mended after Unscale, and of the schedule", []int{len(f.rates), b.scheduler.State().Steps})
	}
	for kind := range 3 {
		f := &fake{grads: [][]float64{{nan}, nil, {1}}}
		b.scaler.Unscale(f)
		size, _ := anySize(o.Rand(), kind)
		f.grads[0][0], f.grads[2][0] = 3*size, -4*size
		report, _ := b.stepper.Step(f, with(b.scaler, 1))
		o.Floats("norms, of any size, the first of gradients that were mended after Unscale", report.Norms, right)
	}
}

// changed has the caller write over finite gradients after Unscale, before the Stepper comes: the
// norm is that of the gradients as they are then, and so is what is clipped.
func (b bench) changed(o *observe.Observer) {
	for _, times := range []float64{0.5, 3, 100} {
		f := b.scaled(o.Rand(), 20)
		b.scaler.Unscale(f)
		for _, g := range f.grads {
			for i := range g {
				g[i] *= times
			}
		}
		report, _ := b.stepper.Step(f)
		o.Floats("norms, the first of gradients that were changed after Unscale", report.Norms, right)
		o.Floats("gradients, of any size, that were changed after Unscale", flat(f.used), rough)
	}
}

// anySize draws the size of gradients for which a plain formula is wrong, and a max: squares
// are too large (kind 0), squares vanish (1), or the 1e-6 counts (2).
func anySize(r *rand.Rand, kind int) (size, max float64) {
	switch kind {
	case 0:
		size = math.Pow(10, 155+120*r.Float64())
	case 1: // a factor below 1e-200 is not graded
		return math.Pow(10, -165-110*r.Float64()), 1e-8 * (1 + r.Float64())
	default:
		size = math.Pow(10, -8+5*r.Float64())
	}
	return size, size * (0.1 + r.Float64()/4)
}

// ofSize has the Stepper clip gradients of this size, which it does as Clip does: where Clip
// itself is wrong, that is for its own tests.
func (b bench) ofSize(o *observe.Observer, size float64) {
	f := b.scaled(o.Rand(), size)
	if o.Rand().IntN(2) == 0 {
		b.scaler.Unscale(f)
	}
	report, _ := b.stepper.Step(f)
	o.Floats("norms, of any size, in the Report", report.Norms, right)
	o.Floats("gradients, of any size, that the step saw", flat(f.used), right)
}

// outside has one optimizer unscaled or stepped that the Stepper is not given. The Update
// is about it, too, and the schedule is not.
func (b bench) outside(o *observe.Observer) {
	for _, x := range []float64{nan, 1} {
		for _, other := range []float64{1, nan} {
			b.scaler.Unscale(with(b.scaler, x))
			b.stepper.Step(with(b.scaler, other))
			o.Int("steps of the schedule, with one unscaled that the Stepper is not given", b.scheduler.State().Steps)
			b.scaler.Step(with(b.scaler, x), 0.5)
			b.stepper.Step(with(b.scaler, other))
			o.Int("steps of the schedule, with one stepped that the Stepper is not given", b.scheduler.State().Steps)
			o.Float("scale, with one that the Stepper is not given", b.scaler.Factor(), right)
		}
	}
}

// exactly steps n optimizers, of which a counter of a few bits counts none.
func (b bench) exactly(o *observe.Observer, n int, x float64) {
	opts, stepped := make([]*fake, n), 0
	for i := range opts {
		opts[i] = with(b.scaler, x)
	}
	report, err := b.stepper.Step(interfaces(opts)...)
	for _, did := range report.Stepped {
		if did {
			stepped++
		}
	}
	sentinels(o, "256 or 1,024 optimizers: error of the Stepper", err)
	o.Int("256 or 1,024 optimizers: those that stepped", stepped)
	o.Int("256 or 1,024 optimizers: steps of the schedule", b.scheduler.State().Steps)
}

// once returns a function that calls f when it is called first, and does nothing later.
func once(f func()) func() {
	called := false
	return func() {
		if !called {
			called = true
			f()
		}
	}
}

// rateOfTheCall steps n optimizers, one of which sets the Scheduler on.
func (b bench) rateOfTheCall(o *observe.Observer, n int, hook func(opts []*fake, set func())) {
	b.scheduler.SetState(amp.SchedulerState{Steps: 1})
	rate := b.scheduler.Rate()
	opts := make([]*fake, n)
	for i := range opts {
		opts[i] = with(b.scaler, 1)
	}
	hook(opts, func() { b.scheduler.SetState(amp.SchedulerState{Steps: 7}) })
	report, _ := b.stepper.Step(interfaces(opts)...)
	o.Float("the Report's rate less that of the call", report.Rate-rate, exact)
	for _, f := range opts {
		for _, used := range f.rates {
			o.Float("a step's rate less that of the call", used-rate, exact)
		}
	}
	o.Int("steps of the schedule, which went on from where it was set", b.scheduler.State().Steps)
}

// NewStepper and Step refuse what makes no sense, and change nothing (rule 28).
func TestStepperRefuses(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	sc, sd := newScaler(t, amp.ScalerConfig{Init: 64, Interval: 1}), newScheduler(t, schedule(r, 2, 9))
	try := func(name string, sc *amp.Scaler, sd *amp.Scheduler, max, p float64) {
		_, err := amp.NewStepper(sc, sd, max, p)
		sentinels(o, name, err)
	}
	try("no Scaler", nil, sd, 1, 2)
	try("no Scheduler", sc, nil, 1, 2)
	try("neither", nil, nil, 1, inf)
	for _, max := range []float64{-1 - r.Float64(), nan, -inf, -1e-300, 0, zero, inf, r.Float64()} {
		try("max", sc, sd, max, []float64{2, inf}[r.IntN(2)])
	}
	for _, p := range []float64{0, 1, -2, 3, nan, -inf, 2, inf} {
		try("p", sc, sd, r.Float64(), p)
	}
	st := newStepper(t, sc, sd, 1, 2)
	for range 2 {
		_, err := st.Step()
		sentinels(o, "Step of nothing", err)
		o.Float("scale", sc.Factor(), right)
		o.Int("steps of the schedule", sd.State().Steps)
		f := with(sc, 1)
		sc.Unscale(f)
		_, err = st.Step()
		sentinels(o, "Step of nothing, with one unscaled", err)
		o.Float("scale", sc.Factor(), right)
		o.Int("steps of the schedule", sd.State().Steps)
		sentinels(o, "Unscale again", sc.Unscale(f))
		_, err = st.Step(f)
		sentinels(o, "Step of something", err)
		o.Int("steps", len(f.rates))
		o.Floats("gradients", slices.Concat(f.grads...), rough)
	}
}

// The Scaler and the Scheduler stay the caller's: a State that is set shows in the next
// Step, and two Steppers may share them (rule 29).
func TestShared(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	b := newBench(t, r, 1+r.Float64(), 2)
	b2 := bench{b.scaler, b.scheduler, newStepper(t, b.scaler, b.scheduler, 3+r.Float64(), inf)}
	for i := range 12 {
		b.step(o, b.scaled(r, 20))
		b2.step(o, b.scaled(r, 20))
		o.Int("steps of the schedule", b.scheduler.State().Steps)
		if i%4 == 3 {
			b.scheduler.SetState(amp.SchedulerState{Steps: 20 * r.IntN(2)})
			b.scaler.SetState(amp.ScalerState{Scale: power(r, 3, 9)})
			o.Float("scale", b2.scaler.Factor(), right)
		}
		if i%5 == 4 {
			b.scheduler.Step()
		}
	}
}
