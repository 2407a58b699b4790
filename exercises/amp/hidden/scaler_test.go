package hidden

import (
	"math"
	"testing"

	"grade/observe"
	"grade/reference/amp"
)

// never is an Interval after which the scale grows in no test.
const never = 1 << 40

// Factor is the scale, and Scale multiplies by it, whatever the loss is (rule 15).
func TestScale(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		init := math.Pow(10, -3+9*r.Float64())
		s := newScaler(t, amp.ScalerConfig{Init: init})
		o.Float("factor", s.Factor(), right)
		for _, loss := range []float64{r.NormFloat64(), 1e-300, -1e300, 0, nan, inf, -inf} {
			o.Float("scaled loss", s.Scale(loss), right)
		}
		o.Float("factor afterwards", s.Factor(), right)
	}
}

// Unscale divides every gradient by the scale, in place, also those after one that is not
// finite, and finding one is no error (rule 16).
func TestUnscale(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	unscale := func(init float64, grads [][]float64) {
		s := newScaler(t, amp.ScalerConfig{Init: init})
		f := &fake{grads: grads}
		sentinels(o, "error of Unscale", s.Unscale(f))
		o.Floats("gradients after Unscale", flat(f.grads), right)
		o.Int("steps of the optimizer", len(f.rates))
		o.Float("Factor after Unscale", s.Factor(), right)
	}
	for range 5 {
		unscale(math.Pow(10, -3+9*r.Float64()), draw(r, math.Pow(10, -6+9*r.Float64())))
		unscale(power(r, -20, 20), draw(r, 1))
		for _, bad := range []float64{nan, inf, -inf} {
			grads := draw(r, 1000)
			spoil(r, grads, bad)
			unscale(power(r, 1, 20), append([][]float64{{bad, 3}}, append(grads, numbers(r, 3, 9))...))
		}
	}
	for _, n := range lengths(r) {
		unscale(1+1000*r.Float64(), [][]float64{numbers(r, n, 1000)})
	}
	for _, init := range []float64{0x1p-1022, 0x1p-1000, 0x1p1000, 0x1p1023} {
		unscale(init, [][]float64{{init * (1 + r.Float64()), -init}, {init / 2 * (2 + r.Float64())}})
	}
}

// Step unscales the gradients and has the optimizer step once with the rate, if all of
// them are finite; otherwise it skips the step (rule 17).
func TestStep(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	init, rate := 0.0, r.Float64
	step := func(grads [][]float64, before bool) {
		s := newScaler(t, amp.ScalerConfig{Init: init, Interval: never})
		f := &fake{grads: grads}
		if before {
			sentinels(o, "error of Unscale", s.Unscale(f))
		}
		stepped, err := s.Step(f, rate())
		o.Bool("stepped", stepped)
		sentinels(o, "error of Step", err)
		o.Floats("rates of the optimizer's steps", f.rates, exact)
		o.Floats("gradients that the step saw", flat(f.used), right)
		o.Floats("gradients afterwards", flat(f.grads), right)
	}
	for i := range 6 {
		for _, before := range []bool{false, true} {
			init = []float64{power(r, 2, 20), 1}[i%2]
			step(draw(r, 1000), before)
			for _, bad := range []float64{nan, inf, -inf} {
				grads := draw(r, 1000)
				spoil(r, grads, bad)
				step(grads, before)
				step([][]float64{numbers(r, 3, 1), {inf, 1, -inf}, numbers(r, 3, 1)}, before)
				long := numbers(r, 60+r.IntN(40), 1) // the first, the last
				long[0] = bad
				step([][]float64{long}, before)
				long = numbers(r, 60+r.IntN(40), 1)
				long[len(long)-1] = bad
				step([][]float64{nil, long, nil}, before)
				step([][]float64{{bad}, numbers(r, 9, 1)}, before)
				step([][]float64{numbers(r, 9, 1), {}, {bad}}, before)
			}
			step([][]float64{{1e308, 1e308}, {-1e308, -1e308, 1e308}}, before) // large and finite, all of them
			step([][]float64{{0, 0}, {zero}}, before)
		}
	}
	for _, at := range []int{1<<16 - 1, 1 << 16, 1<<16 + r.IntN(40)} { // far back in a long slice
		for _, bad := range []float64{0, nan, inf} {
			s := newScaler(t, amp.ScalerConfig{Interval: never})
			f := &fake{grads: [][]float64{clean(1<<16 + 41)}}
			f.grads[0][at] = bad
			stepped, err := s.Step(f, 0.5)
			o.Bool("stepped, with a long slice", stepped)
			sentinels(o, "error, with a long slice", err)
		}
	}
	for _, x := range []float64{0, zero, -r.Float64(), 5e-324, inf, nan} { // a rate is passed on
		rate = func() float64 { return x }
		step([][]float64{{1 + r.Float64()}}, true)
	}
}

// iterate unscales, steps and updates as a training does, and records the scale after
// each. A gradient of bad is found.
func iterate(o *observe.Observer, s *amp.Scaler, name string, gradients ...float64) {
	for _, x := range gradients {
		f := &fake{grads: [][]float64{{1, x}}}
		s.Step(f, 0.1)
		sentinels(o, name+": error of Update", s.Update())
		o.Float(name, s.Factor(), right)
	}
}

// clean is n gradients that are finite.
func clean(n int) []float64 { return make([]float64, n) }

// The scale grows after Interval Updates without a gradient that is not finite, and again
// after as many more (rule 19).
func TestGrowth(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for interval := 1; interval <= 4; interval++ {
		for _, growth := range []float64{2, 1.25, 3 + r.Float64()} {
			s := newScaler(t, amp.ScalerConfig{Init: power(r, -3, 16), Growth: growth, Interval: interval})
			iterate(o, s, "scale", clean(4*interval+1)...)
		}
	}
	interval := 30 + r.IntN(100)
	iterate(o, newScaler(t, amp.ScalerConfig{Init: 8, Growth: 4, Interval: interval}), "scale", clean(2*interval+2)...)
}

// The scale falls after an Update with a gradient that is not finite, and the count of
// clean Updates begins anew (rule 19).
func TestBackoff(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, bad := range []float64{nan, inf, -inf} {
		for _, backoff := range []float64{0.5, 0.25, 0.1 + 0.8*r.Float64()} {
			s := newScaler(t, amp.ScalerConfig{Init: power(r, 8, 16), Backoff: backoff, Interval: never})
			iterate(o, s, "scale", bad, 0, bad, bad, 0, 0, bad)
		}
		for interval := 2; interval <= 4; interval++ {
			s := newScaler(t, amp.ScalerConfig{Init: power(r, 8, 16), Growth: 8, Interval: interval})
			for range 3 {
				iterate(o, s, "scale, with growth", append(clean(interval-1), bad)...)
			}
			iterate(o, s, "scale, with growth", clean(interval+r.IntN(2))...)
			iterate(o, s, "scale, with growth", bad)
			iterate(o, s, "scale, with growth", clean(interval)...)
		}
		s := newScaler(t, amp.ScalerConfig{Init: power(r, 8, 16), Growth: 8, Interval: 1})
		iterate(o, s, "scale, with growth each time", bad, 0, 0, bad, bad, 0)
	}
}

// A field of 0 stands for its default, and the others for what they are (rule 14).
func TestDefaults(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	o.Float("scale", newScaler(t, amp.ScalerConfig{}).Factor(), right)
	s := newScaler(t, amp.ScalerConfig{Init: power(r, 3, 9)})
	for range 2 { // growth after 2,000, and again
		for range 1999 {
			s.Step(with(s, 1), 0.1)
			s.Update()
		}
		o.Float("scale after 1,999 clean Updates", s.Factor(), right)
		iterate(o, s, "scale with defaults", 0)
	}
	iterate(o, s, "scale with defaults", inf, nan)
	s = newScaler(t, amp.ScalerConfig{Interval: 1 + r.IntN(3)})
	iterate(o, s, "scale with an Interval", 0, 0, 0, inf)
	s = newScaler(t, amp.ScalerConfig{Backoff: 0.25, Interval: 2})
	iterate(o, s, "scale with a Backoff", 0, 0, inf)
	s = newScaler(t, amp.ScalerConfig{Growth: 16, Interval: 2})
	iterate(o, s, "scale with a Growth", 0, 0, inf)
}

// NewScaler refuses a ScalerConfig that makes no sense, and no other (rule 14).
func TestScalerConfig(t *testing.T) {
	o := observe.New(t)
	try := func(name string, cfg amp.ScalerConfig) {
		s, err := amp.NewScaler(cfg)
		sentinels(o, name, err)
		o.Bool(name+": there is one", err != nil || s != nil)
	}
	r := o.Rand()
	for _, x := range []float64{zero, -1 - r.Float64(), nan, inf, -inf, 0x1p-1023, 0x1p-1022, math.MaxFloat64, r.Float64(), 1} {
		try("Init", amp.ScalerConfig{Init: x})
	}
	for _, x := range []float64{zero, -2, nan, inf, -inf, 1, r.Float64(), 1 + 1e-9, math.MaxFloat64} {
		try("Growth", amp.ScalerConfig{Growth: x})
	}
	for _, x := range []float64{zero, -r.Float64() - 1e-9, nan, inf, -inf, 1, 1 + r.Float64(), 1 - 1e-9, 1e-300} {
		try("Backoff", amp.ScalerConfig{Backoff: x})
	}
	for _, n := range []int{-1, -1 - r.IntN(99), math.MinInt, 1, 1 + r.IntN(99), math.MaxInt} {
		try("Interval", amp.ScalerConfig{Interval: n})
	}
}

// What counts is what Unscale has seen: between Unscale and Step gradients may change,
// and Step leaves them and does not look again (rule 18).
func TestSeenAtUnscale(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, bad := range []float64{nan, inf, -inf} {
		for _, was := range []float64{1, bad} {
			s := newScaler(t, amp.ScalerConfig{Init: power(r, 3, 9), Interval: never})
			f := &fake{grads: draw(r, 1)}
			spoil(r, f.grads, was)
			s.Unscale(f)
			for _, g := range f.grads {
				for i := range g {
					g[i] = 1 + r.Float64()
				}
			}
			if was == 1 {
				spoil(r, f.grads, bad)
			}
			stepped, err := s.Step(f, r.Float64())
			o.Bool("stepped", stepped)
			sentinels(o, "error of Step", err)
			o.Int("steps of the optimizer", len(f.rates))
			o.Floats("gradients after Step", flat(f.grads), exact)
			s.Update()
			o.Float("scale", s.Factor(), right)
		}
	}
}

// A gradient that becomes infinite by the division counts as not finite (rule 16).
func TestUnscaleOverflow(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, x := range []float64{1e308, -1e308, 1e303} {
		s := newScaler(t, amp.ScalerConfig{Init: power(r, -30, -20), Interval: never})
		f := &fake{grads: [][]float64{numbers(r, 2, 1), {x}, numbers(r, 2, 1)}}
		stepped, _ := s.Step(f, 1)
		o.Bool("stepped", stepped)
		o.Int("steps of the optimizer", len(f.rates))
		o.Floats("gradients after Step", flat(f.grads), right)
		s.Update()
		o.Float("scale", s.Factor(), right)
		f = &fake{grads: [][]float64{{x / 1e20}}}
		stepped, _ = s.Step(f, 1)
		o.Bool("stepped with less", stepped)
	}
}

// A scale that would be infinite or below 2^-1022 is not taken, and the count begins anew
// all the same (rule 20).
func TestScaleRange(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	s := newScaler(t, amp.ScalerConfig{Init: 0x1p1021, Interval: 2})
	iterate(o, s, "scale at the top", clean(7+r.IntN(3))...)
	iterate(o, s, "scale at the top", inf, 0, 0, 0, inf, inf)
	o.Int("count", s.State().Clean)
	s = newScaler(t, amp.ScalerConfig{Init: 0x1p-1020, Growth: 4, Interval: 3})
	iterate(o, s, "scale at the bottom", 0, inf, nan, nan, inf, 0, 0, nan, 0, 0, 0)
	o.Int("count", s.State().Clean)
	s = newScaler(t, amp.ScalerConfig{Init: 0x1p-1000 * (1 + r.Float64()), Backoff: 0x1p-22, Interval: 3})
	iterate(o, s, "scale at the bottom", inf, nan)
	s = newScaler(t, amp.ScalerConfig{Init: 1e300 * (1 + r.Float64()), Growth: 1e7, Interval: 2})
	iterate(o, s, "scale at the top", clean(3+r.IntN(6))...)
	iterate(o, s, "scale at the top", inf, 0, 0)
	for interval := 1; interval <= 3; interval++ {
		s = newScaler(t, amp.ScalerConfig{Init: 1e308, Interval: interval})
		for range 3 * interval {
			iterate(o, s, "scale at the top", 0)
			o.Int("count where the scale cannot grow", s.State().Clean)
		}
	}
}

// Between two Updates an optimizer is unscaled once and stepped once; what is refused
// changes nothing (rule 21).
func TestOnce(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, x := range []float64{1, nan} {
		s := newScaler(t, amp.ScalerConfig{Init: power(r, 3, 9), Interval: never})
		f := &fake{}
		unscale := func() {
			sentinels(o, "Unscale", s.Unscale(f))
			o.Floats("gradients", flat(f.grads), right)
		}
		step := func() {
			stepped, err := s.Step(f, r.Float64())
			o.Bool("stepped", stepped)
			sentinels(o, "Step", err)
			o.Floats("rates", f.rates, exact)
			o.Floats("gradients", flat(f.grads), right)
		}
		for _, calls := range [][]func(){
			{unscale, unscale, step, unscale, step},
			{step, step, unscale},
			{unscale, step, unscale, step, unscale},
			{step, unscale, unscale, step},
			{unscale, unscale, unscale},
			{unscale, step},
		} {
			f.grads = [][]float64{numbers(r, 2, 9), {x}, numbers(r, 2, 9)}
			for _, call := range calls {
				call()
			}
			sentinels(o, "Update", s.Update())
			o.Float("scale after calls that were refused", s.Factor(), right)
		}
	}
}

// Update of nothing is ErrNothing, changes nothing and is no clean Update (rule 21).
func TestUpdateNothing(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	s := newScaler(t, amp.ScalerConfig{Init: power(r, 3, 9), Interval: never})
	nothing := func() {
		for range 1 + r.IntN(3) {
			sentinels(o, "Update of nothing", s.Update())
			o.Float("scale after it", s.Factor(), right)
			o.Int("count after it", s.State().Clean)
		}
	}
	nothing()
	for _, x := range []float64{0, 0, inf, 0, inf, 0, 0} {
		f := &fake{grads: [][]float64{{x}}}
		s.Unscale(f)
		o.Bool("Update of something is no error", s.Update() == nil)
		nothing()
	}
}

// A State makes another Scaler go on, in the middle of an Interval, and forgets what was
// unscaled since; what is no State is refused (rule 23).
func TestScalerState(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	cfg := amp.ScalerConfig{Init: power(r, 6, 9), Interval: 3}
	first := newScaler(t, cfg)
	for range 12 {
		st := first.State()
		o.Float("scale in the State", st.Scale, right)
		o.Int("count in the State", st.Clean)
		other := newScaler(t, amp.ScalerConfig{Init: 2, Growth: 8, Backoff: 0.25, Interval: 3 + r.IntN(2)})
		iterate(o, other, "before", clean(r.IntN(3))...)
		sentinels(o, "SetState", other.SetState(st))
		iterate(o, other, "afterwards", clean(r.IntN(4))...)
		iterate(o, other, "afterwards", nan, 0, 0)
		iterate(o, first, "the first", []float64{0, 0, 0, 0, inf}[r.IntN(5)])
	}
	for _, count := range []int{1<<8 - 1, 1<<15 - 1, 1<<16 - 1, 1<<31 - 1, 1<<32 - 1, 1<<53 - 1} { // far below Interval
		s := newScaler(t, amp.ScalerConfig{Interval: math.MaxInt})
		sentinels(o, "SetState of a count that no small number holds", s.SetState(amp.ScalerState{Scale: 32, Clean: count}))
		iterate(o, s, "after it", clean(1)...)
		o.Int("one more", s.State().Clean)
	}
	for _, count := range []int{2, 3, 4, 1000 + r.IntN(1000), math.MaxInt} { // Interval and more
		s := newScaler(t, cfg)
		sentinels(o, "SetState of a large count", s.SetState(amp.ScalerState{Scale: 32, Clean: count}))
		o.Int("a large count", s.State().Clean)
		iterate(o, s, "with a large count", clean(4)...)
		s.SetState(amp.ScalerState{Scale: 32, Clean: count})
		iterate(o, s, "with a large count", inf, 0, 0, 0)
	}
	for _, st := range []amp.ScalerState{
		{Scale: 0, Clean: 1}, {Scale: zero}, {Scale: -1}, {Scale: nan}, {Scale: inf}, {Scale: -inf}, {Scale: 0x1p-1023}, {Scale: 8, Clean: -1},
		{Scale: 8, Clean: math.MinInt}, {}, {Scale: 0x1p-1022}, {Scale: math.MaxFloat64}, {Scale: 8},
	} {
		for _, x := range []float64{1, nan} {
			s := newScaler(t, cfg)
			f, g := with(s, x), with(s, 1)
			s.Unscale(f)
			s.Step(g, 1)
			err := s.SetState(st)
			sentinels(o, "SetState of what may be none", err)
			o.Float("scale afterwards", s.Factor(), right)
			o.Int("count afterwards", s.State().Clean)
			sentinels(o, "Unscale afterwards", s.Unscale(f))
			_, err = s.Step(g, 1)
			sentinels(o, "Step afterwards", err)
			sentinels(o, "Update afterwards", s.Update())
			o.Float("scale after that Update", s.Factor(), right)
			o.Int("count after that Update", s.State().Clean)
			sentinels(o, "SetState after an Update", s.SetState(amp.ScalerState{Scale: 4, Clean: 1}))
			sentinels(o, "Update of nothing", s.Update())
		}
	}
	for _, x := range []float64{1, nan, inf} {
		for _, only := range []bool{true, false} {
			forgotten(t, o, x, only)
		}
	}
	for _, bad := range []float64{nan, inf, -inf} {
		unfinished(t, o, bad)
	}
}

// unfinished takes States in the middle of an iteration with a gradient of bad: they are as the last
// Update has left them.
func unfinished(t testing.TB, o *observe.Observer, bad float64) {
	s := newScaler(t, amp.ScalerConfig{Init: 64, Interval: never})
	iterate(o, s, "scale before one that is not finite", clean(3)...)
	state := func(when string) {
		o.Int("count in a State "+when, s.State().Clean)
		o.Float("scale in a State "+when, s.State().Scale, right)
	}
	f := with(s, bad)
	s.Unscale(f)
	state("between Unscale and Update")
	s.Step(f, 0.5)
	state("between Step and Update")
	s.Update()
	state("after that Update")
}

// forgotten sets a State in the middle of an iteration with the gradient x: nothing is left
// of it, neither that there was an optimizer nor what its gradients were like.
func forgotten(t testing.TB, o *observe.Observer, x float64, only bool) {
	for _, nothing := range []bool{true, false} {
		s := newScaler(t, amp.ScalerConfig{Init: 64, Interval: never})
		if f := with(s, x); only {
			s.Unscale(f)
		} else {
			s.Step(f, 0.5)
		}
		s.SetState(amp.ScalerState{Scale: 8, Clean: 1})
		if nothing {
			sentinels(o, "Update of nothing, as SetState forgets what was", s.Update())
			o.Float("scale after SetState and no optimizer", s.Factor(), right)
			continue
		}
		iterate(o, s, "scale after SetState and a clean Update", 0)
		o.Int("count after SetState and a clean Update", s.State().Clean)
	}
}
