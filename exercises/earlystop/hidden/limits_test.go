package hidden

import (
	"math"
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
	var bests, stops log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		for patience := range 4 {
			x := dyadic(r, -20, 20)
			better := x + 3
			if mode == earlystop.Min {
				better = x - 3
			}
			for i, metrics := range [][]float64{
				{nan, x, better, nan, nan, x, nan, better},
				{nan, nan, nan, nan, x},
				{x, nan, better, nan, nan, nan},
				{x, x, nan, better, x, nan, x, nan},
			} {
				cfg := earlystop.Config{Mode: mode, Patience: patience, MinDelta: 1}
				begin(t, &stops, cfg).run(metrics...)
				cfg.Patience = endless
				begin(t, &bests, cfg).run(metrics...)
				// NaN is neither beyond a limit nor does it beat a baseline.
				cfg.StopAt, cfg.DivergeAt = new(better), new(x+x-better)
				if i%2 == 0 {
					cfg.Baseline = new(x)
				}
				begin(t, &bests, cfg).run(metrics...)
			}
		}
	}
	o.Strings("best after each epoch", bests.bests)
	o.Strings("when and why trainings with endless patience stop", bests.stops)
	o.Strings("when and why each training stops", stops.stops)
}

// Without CheckFinite infinities obey the formulas: the best infinity improves
// once, the worst never does.
func TestInfinities(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var bests, stops log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		for range 3 {
			x := dyadic(r, -20, 20)
			for _, metrics := range [][]float64{
				{inf, x, -inf, x, inf, -inf},
				{-inf, x, inf, -inf, x},
				{x, inf, inf, inf},
				{x, -inf, -inf, -inf},
				{inf, inf, inf}, {-inf, -inf, -inf},
			} {
				cfg := earlystop.Config{Mode: mode, Patience: endless, MinDelta: dyadic(r, 0, 1)}
				begin(t, &bests, cfg).run(metrics...)
				cfg.Patience = 2 + r.IntN(2)
				begin(t, &stops, cfg).run(metrics...)
			}
		}
	}
	o.Strings("best after each epoch", bests.bests)
	o.Strings("when and why each training stops", stops.stops)
}

// CheckFinite: NaN, +Inf and -Inf stop at once, for the reason NonFinite, and do not
// become best. Without it they do not stop by themselves.
func TestCheckFinite(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	for _, check := range []bool{true, false} {
		for _, bad := range []float64{nan, inf, -inf} {
			for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
				x := dyadic(r, -20, 20)
				cfg := earlystop.Config{Mode: mode, Patience: endless, CheckFinite: check}
				begin(t, &l, cfg).train(r, newModel(r, 2), x, x+1, x-1, bad, x+2, x-2)
				begin(t, &l, cfg).run(bad, x, x)
			}
		}
	}
	o.Strings("when and why each training stops", l.stops)
	o.Strings("best after each epoch", l.bests)
	o.Strings("weights that Restore brings back", l.weights)
}

// StopAt stops as soon as a metric is better than it (equal is not), for the reason
// Threshold, however much patience there is. A metric that improves becomes best
// before, and its weights are those that Restore brings back.
func TestStopAt(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := -1.0
		if mode == earlystop.Max {
			sign = 1
		}
		for _, delta := range []float64{0, 0.5} {
			for _, x := range []float64{dyadic(r, -20, 20), 0} {
				for _, metrics := range [][]float64{
					{x - sign*3, x - sign*4, x, x - sign, x + sign*0.25, x + sign*5},
					{x - sign*3, x - sign*2, x, x + sign*2, x + sign*5},
					{x + sign*3, x + sign*4},
					{x, x, x - sign, x + sign},
				} {
					cfg := earlystop.Config{Mode: mode, Patience: endless, MinDelta: delta, StopAt: &x}
					begin(t, &l, cfg).train(r, newModel(r, 1, 2), metrics...)
				}
			}
		}
	}
	infinite(t, &l, r, func(cfg *earlystop.Config, limit *float64) { cfg.StopAt = limit })
	o.Strings("when and why each training stops", l.stops)
	o.Strings("best after each epoch", l.bests)
	o.Strings("weights that Restore brings back", l.weights)
}

// DivergeAt stops as soon as a metric is worse than it (equal is not), for the
// reason Diverged. Such a metric is never best, not even as the first.
func TestDivergeAt(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := -1.0
		if mode == earlystop.Max {
			sign = 1
		}
		for _, x := range []float64{dyadic(r, -20, 20), dyadic(r, -20, 20), 0} {
			for _, metrics := range [][]float64{
				{x + sign*3, x + sign*5, x, x + sign, x - sign/64, x + sign*9},
				{x - sign*2, x + sign*4},
				{x, x + sign, x + sign*2, x - sign*2},
			} {
				begin(t, &l, earlystop.Config{Mode: mode, Patience: endless, DivergeAt: &x}).train(r, newModel(r, 3), metrics...)
			}
		}
	}
	infinite(t, &l, r, func(cfg *earlystop.Config, limit *float64) { cfg.DivergeAt = limit })
	o.Strings("when and why each training stops", l.stops)
	o.Strings("best after each epoch", l.bests)
	o.Strings("weights that Restore brings back", l.weights)
}

// The order is CheckFinite, StopAt, DivergeAt, improvement, patience: the first of
// them that stops gives the reason.
func TestOrder(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := -1.0
		if mode == earlystop.Max {
			sign = 1
		}
		for range 3 {
			x := dyadic(r, -20, 20)
			stopAt, divergeAt := x-sign*4, x+sign*4 // what is between is both
			both := earlystop.Config{Mode: mode, Patience: 1, StopAt: &stopAt, DivergeAt: &divergeAt, CheckFinite: true}
			begin(t, &l, both).run(x)
			begin(t, &l, both).run(x-sign*6, x) // too bad alone
			begin(t, &l, both).run(x+sign*6, x) // good enough alone
			begin(t, &l, both).run(sign * inf)  // good enough, and not finite
			begin(t, &l, both).run(-sign * inf) // too bad, and not finite
			both.CheckFinite = false
			begin(t, &l, both).run(sign * inf)
			begin(t, &l, both).run(-sign * inf)
			// Out of patience, and at the same time something else.
			bad := earlystop.Config{Mode: mode, Patience: 1, DivergeAt: new(x - sign)}
			begin(t, &l, bad).run(x, x-sign*2)
			bad = earlystop.Config{Mode: mode, Patience: 1, StopAt: new(x - sign)}
			begin(t, &l, bad).run(x-sign*2, x-sign*2)
			bad = earlystop.Config{Mode: mode, Patience: 1, MinDelta: 8, StopAt: new(x)}
			begin(t, &l, bad).run(x-sign*2, x+sign*2)
			bad = earlystop.Config{Mode: mode, Patience: 1, CheckFinite: true}
			begin(t, &l, bad).run(x, nan)
		}
	}
	o.Strings("when and why each training stops", l.stops)
	o.Strings("best after each epoch", l.bests)
}
