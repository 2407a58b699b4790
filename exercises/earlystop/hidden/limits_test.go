package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

var nan, inf = math.NaN(), math.Inf(1)

// NaN is never an improvement. It counts as a bad epoch, also as the first metric,
// and does not become the best that later metrics are compared with.
func TestNaN(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l, limited log
	counted := true
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		for patience := range 4 {
			x := dyadic(r, 30, 60)
			better := x + 3*sign(mode)
			for i, metrics := range [][]float64{
				{nan, x, better, nan, nan, x, nan, better},
				{nan, nan, nan, nan, x},
				{x, nan, better, nan, nan, nan},
				{x, x, nan, better, x, nan, x, nan},
			} {
				cfg := earlystop.Config{Mode: mode, Patience: patience}
				counted = counted && alike(t, cfg, math.IsNaN, metrics...)
				cfg.Patience = endless
				begin(t, &l, cfg).run(metrics...)
				// NaN is neither beyond a limit nor does it beat a baseline.
				cfg.StopAt, cfg.DivergeAt = new(x+9*sign(mode)), new(x-9*sign(mode))
				if i%2 == 0 {
					cfg.Baseline = new(x)
				}
				begin(t, &limited, cfg).run(metrics...)
			}
		}
	}
	o.Strings("best after each epoch", l.bests)
	o.Strings("when and why trainings with endless patience stop", append(l.stops, limited.stops...))
	o.Bool("NaN counts as a bad epoch", counted)
	noBest(t, o, func(earlystop.Mode) float64 { return nan })
}

// noBest records whether there is a best after first metrics of which none improves.
func noBest(t *testing.T, o *observe.Observer, bad func(mode earlystop.Mode) float64) {
	t.Helper()
	var found notes
	for mode := range earlystop.Mode(2) {
		s, m := newStopper(t, earlystop.Config{Mode: mode, Patience: endless}), ordinary()
		for i := range 3 {
			s.Observe(some+i, bad(mode), m)
			_, _, ok := s.Best()
			found.Add("mode %d, bad epochs %d: best %v", int(mode), i, ok)
		}
	}
	o.Strings("whether there is a best after bad epochs", found)
}

// Without CheckFinite infinities obey the formulas: the best infinity improves
// once, the worst never does.
func TestInfinities(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	counted := true
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		for range 3 {
			x := dyadic(r, 30, 60)
			for _, metrics := range [][]float64{
				{inf, x, -inf, x, inf, -inf},
				{-inf, x, inf, -inf, x},
				{x, inf, inf, inf},
				{x, -inf, -inf, -inf},
				{inf, inf, inf}, {-inf, -inf, -inf},
			} {
				cfg := earlystop.Config{Mode: mode, Patience: endless, MinDelta: dyadic(r, 0, 1)}
				begin(t, &l, cfg).run(append(metrics, x)...)
				cfg.Patience = 2 + r.IntN(2)
				counted = counted && alike(t, cfg, func(x float64) bool { return x == -sign(mode)*inf }, metrics...)
			}
		}
	}
	o.Strings("best after each epoch", l.bests)
	o.Bool("infinities count as other numbers do", counted)
	noBest(t, o, func(mode earlystop.Mode) float64 { return -sign(mode) * inf })
}

// CheckFinite: NaN, +Inf and -Inf stop at once, for the reason NonFinite, and do not
// become best, nor are their weights kept. Without it they do not stop by themselves.
func TestCheckFinite(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l, unchecked, first log
	stay := true
	for _, bad := range []float64{nan, inf, -inf} {
		for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
			x := dyadic(r, 30, 60)
			cfg := earlystop.Config{Mode: mode, Patience: endless, CheckFinite: true}
			begin(t, &l, cfg).run(x, x+1, x-1, bad, x+2, x-2)
			begin(t, &first, cfg).run(bad, x, x)
			stay = keepsNothing(t, r, cfg, bad) && stay
			stay = keepsNothing(t, r, cfg, bad, x) && stay
			cfg.CheckFinite = false
			begin(t, &unchecked, cfg).run(x, x+1, x-1, bad, x+2, x-2)
			begin(t, &unchecked, cfg).run(bad, x, x)
		}
	}
	o.Strings("when and why each training stops", slices.Concat(l.stops, first.stops, unchecked.stops))
	o.Strings("best after each epoch", l.bests)
	o.Strings("whether there is a best after a first metric", first.words)
	o.Bool("weights that Restore brings back stay where a metric is not finite", stay)
}

// keepsNothing reports whether a metric that stops a Stopper of cfg leaves the snapshot alone, or
// leaves none where there is no best: Restore does what it does for a twin that has not seen it.
// The bests come from a Stopper without limits, so that the metric may improve and stop.
func keepsNothing(t *testing.T, r *rand.Rand, cfg earlystop.Config, metric float64, bests ...float64) bool {
	t.Helper()
	unlimited := newStopper(t, earlystop.Config{Mode: cfg.Mode, Patience: endless})
	s, twin := newStopper(t, cfg), newStopper(t, cfg)
	for i, best := range bests {
		unlimited.Observe(i, best, newModel(r, 2, 1))
		s.SetState(unlimited.State())
		twin.SetState(unlimited.State())
	}
	seen := newModel(r, 2, 1)
	if len(bests) > 0 {
		seen = newModel(r, 3) // of other layers, which nothing looks at
	}
	_, err := s.Observe(some, metric, seen)
	m, ofTwin := ordinary(), ordinary() // two of the same weights
	same := kind(s.Restore(m)) == kind(twin.Restore(ofTwin)) && slices.Equal(m.weights(), ofTwin.weights())
	return same && err == nil && seen.walks == 0 && s.State().Saved == twin.State().Saved
}

// StopAt stops as soon as a metric is better than it (equal is not), for the reason
// Threshold, however much patience there is. A metric that improves becomes best
// before, and its weights are those that Restore brings back. At one that does not improve
// the model is not looked at.
func TestStopAt(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l, zero log
	stay := true
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := sign(mode)
		limit := dyadic(r, 30, 60)
		wide := earlystop.Config{Mode: mode, Patience: endless, MinDelta: 8, StopAt: &limit}
		stay = keepsNothing(t, r, wide, limit+sign*2, limit-sign*2) && stay
		for _, delta := range []float64{0, 0.5} {
			for _, x := range []float64{dyadic(r, 30, 60), 0} {
				kept := &l
				if x == 0 {
					kept = &zero
				}
				for _, metrics := range [][]float64{
					{x - sign*3, x - sign*4, x, x - sign, x + sign*0.25, x + sign*5},
					{x - sign*3, x - sign*2, x, x + sign*2, x + sign*5},
					{x + sign*3, x + sign*4},
					{x, x, x - sign, x + sign},
				} {
					cfg := earlystop.Config{Mode: mode, Patience: endless, MinDelta: delta, StopAt: &x}
					begin(t, kept, cfg).run(metrics...)
				}
			}
		}
	}
	infinite(t, &zero, r, func(cfg *earlystop.Config, limit *float64) { cfg.StopAt = limit })
	o.Strings("when and why each training stops", append(l.stops, zero.stops...))
	o.Strings("best after each epoch", l.bests)
	o.Bool("weights that Restore brings back stay where a metric is good enough and does not improve", stay)
}

// DivergeAt stops as soon as a metric is worse than it (equal is not), for the
// reason Diverged. Such a metric is never best, not even as the first, and its
// weights are not kept.
func TestDivergeAt(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l, zero, first log
	stay := true
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := sign(mode)
		for _, x := range []float64{dyadic(r, 30, 60), dyadic(r, 30, 60), 0} {
			kept := &l
			if x == 0 {
				kept = &zero
			}
			cfg := earlystop.Config{Mode: mode, Patience: endless, DivergeAt: &x}
			for _, metrics := range [][]float64{
				{x + sign*3, x + sign*5, x, x + sign, x - sign/64, x + sign*9},
				{x, x + sign, x + sign*2, x - sign*2},
			} {
				begin(t, kept, cfg).run(metrics...)
			}
			begin(t, &first, cfg).run(x-sign*2, x+sign*4)
			stay = keepsNothing(t, r, cfg, x-sign*2) && stay
			stay = keepsNothing(t, r, cfg, x-sign*2, x-sign*4) && stay
		}
	}
	infinite(t, &zero, r, func(cfg *earlystop.Config, limit *float64) { cfg.DivergeAt = limit })
	o.Strings("when and why each training stops", slices.Concat(l.stops, zero.stops, first.stops))
	o.Strings("best after each epoch", l.bests)
	o.Strings("whether there is a best after a first metric", first.words)
	o.Bool("weights that Restore brings back stay where a metric diverges", stay)
}

// The order is CheckFinite, StopAt, DivergeAt, improvement, patience: the first of
// them that stops gives the reason.
func TestOrder(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l, unseen log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := sign(mode)
		for range 3 {
			x := dyadic(r, 30, 60)
			stopAt, divergeAt := x-sign*4, x+sign*4 // what is between is both
			both := earlystop.Config{Mode: mode, Patience: 1, StopAt: &stopAt, DivergeAt: &divergeAt, CheckFinite: true}
			begin(t, &l, both).run(x)
			begin(t, &unseen, both).run(x-sign*6, x) // too bad alone
			begin(t, &l, both).run(x+sign*6, x)      // good enough alone
			begin(t, &l, both).run(sign * inf)       // good enough, and not finite
			begin(t, &l, both).run(-sign * inf)      // too bad, and not finite
			both.CheckFinite = false
			begin(t, &l, both).run(sign * inf)
			begin(t, &l, both).run(-sign * inf)
			// Out of patience, and at the same time something else.
			bad := earlystop.Config{Mode: mode, Patience: 1, DivergeAt: new(x - sign)}
			begin(t, &unseen, bad).run(x, x-sign*2)
			bad = earlystop.Config{Mode: mode, Patience: 1, MinDelta: 8, StopAt: new(x)}
			begin(t, &unseen, bad).run(x-sign*2, x+sign*2)
			bad = earlystop.Config{Mode: mode, Patience: 1, CheckFinite: true}
			begin(t, &unseen, bad).run(x, nan)
		}
	}
	o.Strings("when and why each training stops", append(l.stops, unseen.stops...))
	o.Strings("best after each epoch", l.bests)
}
