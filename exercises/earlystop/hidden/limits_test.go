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
	var lines observe.Transcript
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		for patience := range 4 {
			x := dyadic(r, -20, 20)
			better := x + 3
			if mode == earlystop.Min {
				better = x - 3
			}
			for _, metrics := range [][]float64{
				{nan, x, better, nan, nan, x, nan, better},
				{nan, nan, nan, nan, x},
				{x, nan, better, nan, nan, nan},
				{x, x, nan, better, x, nan, x, nan},
			} {
				cfg := earlystop.Config{Mode: mode, Patience: patience, Baseline: maybe(r.IntN(3), x), MinDelta: 1,
					StopAt: maybe(r.IntN(3), better), DivergeAt: maybe(r.IntN(3), x+x-better)}
				s := begin(t, &lines, cfg)
				s.run(metrics...)
			}
		}
	}
	o.Transcript("epochs", &lines)
}

// Without CheckFinite infinities obey the formulas: the best infinity improves
// once, the worst never does.
func TestInfinities(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		for range 3 {
			x := dyadic(r, -20, 20)
			cfg := earlystop.Config{Mode: mode, Patience: 2 + r.IntN(2), MinDelta: dyadic(r, 0, 1)}
			for _, metrics := range [][]float64{
				{inf, x, -inf, x, inf, -inf},
				{-inf, x, inf, -inf, x},
				{x, inf, inf, inf},
				{x, -inf, -inf, -inf},
				{inf, inf, inf}, {-inf, -inf, -inf},
			} {
				begin(t, &lines, cfg).run(metrics...)
			}
		}
	}
	o.Transcript("epochs", &lines)
}

// CheckFinite: NaN, +Inf and -Inf stop at once, for the reason NonFinite, and do not
// become best. Without it they do not stop by themselves.
func TestCheckFinite(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for _, check := range []bool{true, false} {
		for _, bad := range []float64{nan, inf, -inf} {
			for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
				x := dyadic(r, -20, 20)
				cfg := earlystop.Config{Mode: mode, Patience: 3, CheckFinite: check}
				m := newModel(r, 2)
				s := begin(t, &lines, cfg)
				for epoch, metric := range []float64{x, x + 1, x - 1, bad, x + 2, x - 2} {
					m.train(r)
					if s.epoch(epoch, metric, m) {
						break
					}
				}
				s.restore(m)
				begin(t, &lines, cfg).run(bad, x, x)
			}
		}
	}
	o.Transcript("epochs", &lines)
}

// StopAt stops as soon as a metric is better than it (equal is not), for the reason
// Threshold, however much patience there is. A metric that improves becomes best
// before, and its weights are those that Restore brings back.
func TestStopAt(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := -1.0
		if mode == earlystop.Max {
			sign = 1
		}
		for _, delta := range []float64{0, 0.5} {
			x := dyadic(r, -20, 20)
			for _, metrics := range [][]float64{
				{x - sign*3, x - sign*4, x, x - sign, x + sign*0.25, x + sign*5},
				{x - sign*3, x - sign*2, x, x + sign*2, x + sign*5},
				{x + sign*3, x + sign*4},
				{x, x, x - sign, x + sign},
			} {
				s := begin(t, &lines, earlystop.Config{Mode: mode, Patience: 50, MinDelta: delta, StopAt: &x})
				m := newModel(r, 1, 2)
				for epoch, metric := range metrics {
					m.train(r)
					if s.epoch(epoch, metric, m) {
						break
					}
				}
				m.train(r)
				s.restore(m)
			}
		}
	}
	o.Transcript("epochs", &lines)
}

// DivergeAt stops as soon as a metric is worse than it (equal is not), for the
// reason Diverged. Such a metric is never best, not even as the first.
func TestDivergeAt(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := -1.0
		if mode == earlystop.Max {
			sign = 1
		}
		for range 3 {
			x := dyadic(r, -20, 20)
			for _, metrics := range [][]float64{
				{x + sign*3, x + sign*5, x, x + sign, x - sign/64, x + sign*9},
				{x - sign*2, x + sign*4},
				{x, x + sign, x + sign*2, x - sign*2},
			} {
				s := begin(t, &lines, earlystop.Config{Mode: mode, Patience: 50, DivergeAt: &x})
				m := newModel(r, 3)
				for epoch, metric := range metrics {
					m.train(r)
					if s.epoch(epoch, metric, m) {
						break
					}
				}
				m.train(r)
				s.restore(m)
			}
		}
	}
	o.Transcript("epochs", &lines)
}

// The order is CheckFinite, StopAt, DivergeAt, improvement, patience: the first of
// them that stops gives the reason.
func TestOrder(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := -1.0
		if mode == earlystop.Max {
			sign = 1
		}
		for range 3 {
			x := dyadic(r, -20, 20)
			stopAt, divergeAt := x-sign*4, x+sign*4 // what is between is both
			both := earlystop.Config{Mode: mode, Patience: 1, StopAt: &stopAt, DivergeAt: &divergeAt, CheckFinite: true}
			begin(t, &lines, both).run(x)
			begin(t, &lines, both).run(x-sign*6, x) // too bad alone
			begin(t, &lines, both).run(x+sign*6, x) // good enough alone
			begin(t, &lines, both).run(sign * inf)  // good enough, and not finite
			begin(t, &lines, both).run(-sign * inf) // too bad, and not finite
			both.CheckFinite = false
			begin(t, &lines, both).run(sign * inf)
			begin(t, &lines, both).run(-sign * inf)
			// Out of patience, and at the same time something else.
			bad := earlystop.Config{Mode: mode, Patience: 1, DivergeAt: new(x - sign)}
			begin(t, &lines, bad).run(x, x-sign*2)
			bad = earlystop.Config{Mode: mode, Patience: 1, StopAt: new(x - sign)}
			begin(t, &lines, bad).run(x-sign*2, x-sign*2)
			bad = earlystop.Config{Mode: mode, Patience: 1, MinDelta: 8, StopAt: new(x)}
			begin(t, &lines, bad).run(x-sign*2, x+sign*2)
			bad = earlystop.Config{Mode: mode, Patience: 1, CheckFinite: true}
			begin(t, &lines, bad).run(x, nan)
		}
	}
	o.Transcript("epochs", &lines)
}
