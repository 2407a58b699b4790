package hidden

import (
	"math/rand/v2"
	"testing"

	"grade/observe"
	"grade/reference/amp"
)

// Each optimizer is judged by its own gradients, and the Update by those of all, stepped
// or only unscaled; after it, each is as new (rules 19 and 22).
func TestTwoOptimizers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for n := 2; n <= 5; n++ {
		for bad := range 1 << n { // each set of optimizers that are skipped
			s := newScaler(t, amp.ScalerConfig{Init: power(r, 6, 9), Interval: never})
			opts := make([]*fake, n)
			for i := range opts {
				opts[i] = &fake{grads: [][]float64{nil, numbers(r, 2, 64)}}
				if bad>>i&1 == 1 {
					spoil(r, opts[i].grads, []float64{nan, inf, -inf}[r.IntN(3)])
				}
			}
			mixed(o, r, s, opts)
		}
	}
	s := newScaler(t, amp.ScalerConfig{Init: 64, Interval: never})
	for _, none := range [][][]float64{nil, {}, {nil}, {nil, {}}} { // no gradients at all
		f := &fake{grads: none}
		stepped, err := s.Step(f, 0.5)
		o.Bool("stepped without gradients", stepped)
		sentinels(o, "error without gradients", err)
		o.Floats("rates without gradients", f.rates, exact)
		sentinels(o, "Update without gradients", s.Update())
		o.Float("scale without gradients", s.Factor(), right)
		o.Int("count without gradients", s.State().Clean)
		sentinels(o, "Unscale without gradients", s.Unscale(f))
		sentinels(o, "Unscale again without gradients", s.Unscale(f))
		sentinels(o, "Update after an Unscale without gradients", s.Update())
		o.Int("count after an Unscale without gradients", s.State().Clean)
	}
	for _, bad := range []float64{nan, inf, -inf} { // the only one that is found is not stepped
		before := s.Factor()
		idle, other := with(s, bad), with(s, 1)
		s.Unscale(idle)
		s.Step(other, 0.5)
		s.Update()
		o.Float("part of the scale that is left", s.Factor()/before, right)
		o.Ints("steps of an idle one and of the other", []int{len(idle.rates), len(other.rates)})
	}
	a, b := &fake{}, &fake{}
	for range 2 { // two without gradients are two
		_, first := s.Step(a, 0.5)
		_, second := s.Step(b, 0.5)
		sentinels(o, "Step of the first without gradients", first)
		sentinels(o, "Step of the second without gradients", second)
		s.Update()
	}
	for range 2 {
		thousand(o, r, s)
	}
	for _, x := range []float64{1, nan} {
		exactly(t, o, 256, x)
		exactly(t, o, 1024, x)
	}
	comeBack(t, o)
}

// exactly has n optimizers in one iteration, of which a counter of a few bits counts none:
// stepped in the first, and only unscaled in the second.
func exactly(t testing.TB, o *observe.Observer, n int, x float64) {
	s := newScaler(t, amp.ScalerConfig{Init: power(o.Rand(), 6, 9), Interval: never})
	for i := range 2 {
		for range n {
			if f := with(s, x); i == 0 {
				s.Step(f, 0.5)
			} else {
				s.Unscale(f)
			}
		}
		sentinels(o, "Update after 256 or 1,024 optimizers", s.Update())
		o.Float("scale after 256 or 1,024 optimizers", s.Factor(), right)
		o.Int("count after 256 or 1,024 optimizers", s.State().Clean)
	}
}

// comeBack has optimizers that were skipped come back, each after another number of Updates,
// up to more than 16 bits count. Each is as new.
func comeBack(t testing.TB, o *observe.Observer) {
	s := newScaler(t, amp.ScalerConfig{Init: power(o.Rand(), 6, 9), Interval: never})
	const long = 1<<16 + 1
	back := map[int]*caller{} // by the number of Updates
	for n := 1; n <= long; n++ {
		if n <= 300 || n > long-4 {
			back[n] = &caller{grads: [][]float64{{nan}}}
			s.Step(back[n], 0.5)
		}
	}
	always, stepped, refused := &caller{grads: [][]float64{{0}}}, 0, 0
	for n := 1; n <= long; n++ {
		s.Update()
		s.Step(always, 0.5)
		if f := back[n]; f != nil {
			f.grads = [][]float64{{1}}
			if _, err := s.Step(f, 0.5); err != nil {
				refused++
			}
			stepped += f.steps
		}
	}
	o.Ints("optimizers that come back after many Updates: steps, and steps that were refused", []int{stepped, refused})
}

// mixed brings some optimizers to different phases, in any order, and updates.
func mixed(o *observe.Observer, r *rand.Rand, s *amp.Scaler, opts []*fake) {
	for _, i := range r.Perm(len(opts)) {
		if r.IntN(2) == 0 {
			sentinels(o, "Unscale", s.Unscale(opts[i]))
		}
	}
	idle := r.IntN(2) * r.IntN(len(opts)) // its gradients are unscaled, perhaps, and not used
	for _, i := range r.Perm(len(opts)) {
		if i != idle || idle == 0 {
			stepped, err := s.Step(opts[i], 0.5)
			o.Bool("stepped", stepped)
			sentinels(o, "Step", err)
		}
	}
	for _, f := range opts {
		o.Int("steps", len(f.rates))
		o.Floats("gradients", flat(f.grads), right)
	}
	sentinels(o, "Update", s.Update())
	o.Float("scale", s.Factor(), right)
	o.Int("count", s.State().Clean)
	for _, f := range opts { // as new
		f.grads = [][]float64{numbers(r, 1+r.IntN(3), 64)}
		stepped, err := s.Step(f, 0.25)
		o.Bool("stepped after the Update", stepped)
		sentinels(o, "Step after the Update", err)
		o.Floats("other gradients after the Update", flat(f.grads), right)
	}
}

// thousand has a thousand optimizers in one iteration, one of which is skipped.
func thousand(o *observe.Observer, r *rand.Rand, s *amp.Scaler) {
	opts := make([]*fake, 1100+r.IntN(300))
	bad := r.IntN(len(opts))
	steps, refused := 0, 0
	for i := range opts {
		opts[i] = with(s, 1)
		if i == bad {
			opts[i].grads[0][0] = inf
		}
		if i%2 == 0 {
			s.Unscale(opts[i])
		}
	}
	for range 2 {
		for _, f := range opts {
			if _, err := s.Step(f, 0.5); err != nil {
				refused++
			}
		}
	}
	for _, f := range opts {
		steps += len(f.rates)
	}
	o.Int("steps of a thousand", steps)
	o.Int("steps of a thousand that were refused", refused)
	o.Int("steps of the one", len(opts[bad].rates))
	s.Update()
	o.Float("scale after a thousand", s.Factor(), right)
}
