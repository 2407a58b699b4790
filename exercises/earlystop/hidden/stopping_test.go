package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

// Patience: an epoch that improves sets the count of bad epochs to 0, any other
// adds 1, and the Stopper stops when the count is Patience or more. Patience 0 and
// Patience 1 both stop at the first epoch that does not improve.
func TestPatience(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	for patience := range 6 {
		cfg := earlystop.Config{Patience: patience}
		x, step := dyadic(r, 40, 60), dyadic(r, 1, 2)
		down := func(k float64) float64 { return x - k*step }
		// Never better than the first.
		begin(t, &l, cfg).run(down(0), down(0), down(-1), down(-2), down(-1), down(0), down(-1), down(-3))
		// One bad epoch less than it takes, then an improvement, again and again.
		var metrics []float64
		for k := range 4 {
			metrics = append(metrics, down(float64(2*k)))
			for bad := range patience - 1 {
				metrics = append(metrics, down(float64(2*k-bad-1)))
			}
		}
		begin(t, &l, cfg).run(append(metrics, down(6), down(5), down(1), down(3), down(4), down(5), down(6))...)
		for range 4 {
			begin(t, &l, cfg).run(course(r, 50, 0, false)...)
		}
	}
	// Counts that 8 bits do not hold, and no number is one more than the greatest.
	for _, patience := range []int{260 + r.IntN(300), math.MaxInt} {
		s := newStopper(t, earlystop.Config{Patience: patience})
		x, epoch, m := dyadic(r, -20, 20), 0, ordinary()
		for ; epoch < 600; epoch++ {
			if stop, _ := s.Observe(epoch, x+float64(epoch%7), m); stop {
				break
			}
		}
		l.stops.Add("metrics from %v: %s after epoch %d", x, reason(s.Reason()), epoch)
	}
	o.Strings("when and why each training stops", l.stops)
}

// In mode Min small metrics are good, in mode Max great ones. The first number
// improves whatever it is: negative scores and enormous losses too. (Before the
// first improvement, best is +Inf in mode Min and -Inf in mode Max.)
func TestModes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		for _, scale := range []float64{1, 0x1p-40, 0x1p40, 0x1p1000} {
			for _, offset := range []int{-50, 0, 50} { // all below 0, of both signs, all above
				var metrics []float64
				for range 30 {
					metrics = append(metrics, scale*(float64(offset)+dyadic(r, -20, 20)))
				}
				begin(t, &l, earlystop.Config{Mode: mode, Patience: endless}).run(metrics...)
			}
		}
		for range 20 { // of any size, mixed
			var metrics []float64
			for range 12 {
				metrics = append(metrics, anySize(r))
			}
			begin(t, &l, earlystop.Config{Mode: mode, Patience: endless}).run(metrics...)
		}
		worst := -sign(mode) * math.MaxFloat64 // of the finite numbers, and better than none
		for _, first := range []float64{worst, math.Nextafter(worst, 0), worst * (1 - r.Float64()/2), -worst} {
			cfg := earlystop.Config{Mode: mode, Patience: endless}
			begin(t, &l, cfg).run(worst, worst, first, first, math.Nextafter(first, -worst), dyadic(r, -20, 20))
			begin(t, &l, cfg).run(first, first, worst, dyadic(r, -20, 20), first, -worst)
		}
	}
	o.Strings("best after each epoch", l.bests)
}

// anySize draws a number of any exponent and sign.
func anySize(r *rand.Rand) float64 {
	x := math.Ldexp(1+r.Float64(), r.IntN(2090)-1070)
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

// MinDelta: an improvement has to exceed the best by more than MinDelta, in either
// mode. Exactly MinDelta is not enough, and MinDelta is absolute and not a share of
// the best.
func TestMinDelta(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := sign(mode)
		for _, delta := range []float64{0, 0.25, 0.5, 1, 3} {
			cfg := earlystop.Config{Mode: mode, MinDelta: delta, Patience: endless}
			s := begin(t, &l, cfg)
			x, m := dyadic(r, 30, 60), ordinary()
			for i, step := range []float64{0, delta, delta, delta + 1./64, -1, delta, delta - 1./64, delta + 2} {
				s.epoch(some+i, x+sign*step, m)
				if i > 0 && step > delta {
					x += sign * step
				}
			}
			for range 2 {
				begin(t, &l, cfg).run(course(r, 40, delta, false)...)
			}
		}
	}
	o.Strings("best after each epoch", l.bests)
	o.Strings("epochs in which the best moves", l.moves)
}

// Only an improvement moves the best. Steps that are too small leave it where it
// is, so that together they exceed MinDelta some time; and a metric is compared
// with the best, not with the one before it.
func TestDrift(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := sign(mode)
		for range 6 {
			// Down slowly.
			x, step := dyadic(r, 60, 90), float64(9+2*r.IntN(12))/64 // never together exactly 1
			var metrics []float64
			for i := range 30 {
				metrics = append(metrics, x+sign*step*float64(i))
			}
			cfg := earlystop.Config{Mode: mode, MinDelta: 1, Patience: endless}
			begin(t, &l, cfg).run(metrics...)
			// Up and down again: better than the one before, not better than the best.
			cfg = earlystop.Config{Mode: mode, Patience: endless}
			begin(t, &l, cfg).run(x, x+sign*8, x-sign*4, x-sign*2, x, x+sign, x+sign*2, x+sign*3, x+sign*9)
		}
	}
	o.Strings("best after each epoch", l.bests)
}

// Best returns the best metric and its epoch as it was passed: epochs need not
// begin at 0, nor follow each other. It returns false until something improves.
func TestBest(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	for i, first := range []int{r.IntN(1000) - 500, r.IntN(1000) - 500, -1, 0, 1 << 8, 1 << 16, 1 << 31, 1 << 32, 1 << 53, -1 << 40, math.MinInt, math.MaxInt - 400} {
		s := begin(t, &l, earlystop.Config{Patience: endless, Mode: earlystop.Mode(i % 2), StartEpoch: math.MinInt})
		l.words.Add("new: %s", s.best())
		// A metric of 0 is one like any other.
		metrics := []float64{dyadic(r, 1, 9), 0, dyadic(r, 10, 20), dyadic(r, -9, -1), dyadic(r, -30, -20), dyadic(r, 30, 40)}
		if i%3 == 0 {
			metrics = slices.Concat([]float64{0}, metrics[:1], metrics[2:])
		}
		epoch, m := first, ordinary()
		for _, metric := range metrics {
			s.epoch(epoch, metric, m)
			epoch += 1 + r.IntN(9)
		}
	}
	for mode := range earlystop.Mode(2) { // an epoch may come again, with another metric, and an earlier one too
		s := begin(t, &l, earlystop.Config{Patience: endless, Mode: mode})
		m := ordinary()
		for i := range 9 { // all of them different
			s.epoch(7, dyadic(r, -30, 30)+float64(i)/1024, m)
		}
		for i, epoch := range []int{9, 8, 5, 9, 4, 7} { // each better than all before
			s.epoch(epoch, sign(mode)*(100+float64(i)), m)
		}
	}
	o.Strings("best after each epoch", l.words)
}

// Whole trainings with random Configs, metrics and weights: when they stop and why,
// what is best, and the weights that Restore brings back.
func TestRandomRuns(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	for range 200 {
		delta := dyadic(r, 0, 1)
		cfg := earlystop.Config{
			Mode: earlystop.Mode(r.IntN(2)), MinDelta: delta, Patience: r.IntN(9), StartEpoch: r.IntN(6),
			CheckFinite: r.IntN(2) == 0, Baseline: maybe(r.IntN(3), dyadic(r, -20, 20)),
			StopAt: maybe(r.IntN(3), dyadic(r, -40, 40)), DivergeAt: maybe(r.IntN(3), dyadic(r, -40, 40)),
		}
		s := begin(t, &l, cfg)
		m := newModel(r, 2, 1)
		for epoch, metric := range course(r, 40, delta, r.IntN(2) == 0) {
			m.train(r)
			if s.epoch(epoch, metric-100, m) { // of both signs
				break
			}
		}
		m.train(r)
		if _, _, ok := s.Best(); ok {
			s.restore(m)
		}
	}
	o.Strings("when and why each training stops", l.stops)
	o.Strings("best after each epoch", l.words)
	o.Strings("weights that Restore brings back", l.weights)
}

// maybe points to x, or to nothing two times out of three.
func maybe(dice int, x float64) *float64 {
	if dice > 0 {
		return nil
	}
	return &x
}
