package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

// Baseline: an improvement sets the count of bad epochs to 0 only if it beats the
// baseline too, by more than MinDelta. One that does not is best all the same, its
// weights are kept, and its epoch counts as a bad one.
func TestBaseline(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l log
	counted, infinite := true, true
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := sign(mode)
		for patience := range 5 {
			base := dyadic(r, 30, 60)
			if patience == 3 {
				base = 0 // which is a baseline like any other
			}
			for _, metrics := range [][]float64{
				{base - sign*9, base - sign*8, base - sign*7, base - sign*5, base - sign*3, base - sign},             // never
				{base - sign*9, base - sign*3, base - sign, base + sign*2, base - sign*2, base + sign*4, base, base}, // in the end
				{base - sign*2, base + sign*0.5, base + sign*1.5, base, base, base, base + sign*3},                   // on the boundary
				{base + sign, base + sign*2, base + sign*3, base, base + sign*4, base, base, base, base},
			} {
				cfg := earlystop.Config{Mode: mode, Patience: patience, Baseline: &base, MinDelta: 0.5}
				counted = counted && alike(t, cfg, unbeaten(cfg), metrics...)
				if cfg.Patience = endless; base != 0 {
					begin(t, &l, cfg).run(metrics...)
				}
			}
			for _, limit := range []float64{inf, -inf} {
				for _, metrics := range [][]float64{{dyadic(r, -9, 9), 30, -30, 40, -40, 50, -50}, {-1e5, 1e5, 0}} {
					cfg := earlystop.Config{Mode: mode, Patience: patience, Baseline: &limit}
					infinite = infinite && alike(t, cfg, unbeaten(cfg), metrics...)
				}
			}
		}
	}
	o.Strings("best after each epoch", l.bests)
	o.Bool("what does not beat the baseline counts as a bad epoch", counted)
	o.Bool("an infinite baseline is one", infinite)
}

// unbeaten tells which metrics do not beat the Baseline of cfg.
func unbeaten(cfg earlystop.Config) func(float64) bool {
	sign := sign(cfg.Mode)
	return func(x float64) bool { return sign*x <= sign**cfg.Baseline+cfg.MinDelta }
}

// Epochs below StartEpoch are ignored: they are not best, do not count, are not
// kept, and nothing in them stops the training, also where they come after epochs
// that count. StartEpoch itself is the first that counts.
func TestStartEpoch(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l, counted, ofTwin log
	var found, bests notes
	ignored := true
	for _, start := range []int{-3, 1, 2, 4, 7, 1 << 40, math.MaxInt} {
		for _, finite := range []bool{false, true} {
			x := dyadic(r, 130, 160)
			cfg := earlystop.Config{Patience: 3, StartEpoch: start, CheckFinite: finite, StopAt: new(x - 100)}
			metrics := []float64{inf, x} // of epochs that count, a bad one first
			if finite {
				cfg.DivergeAt, metrics = new(x+100), metrics[1:]
			}
			s := begin(t, &l, cfg)
			early := []float64{x - 50, x - 200, nan, x - 60, x + 200, inf, x - 70}
			for epoch := -8; epoch < min(start, 20); epoch++ {
				s.epoch(epoch, early[(epoch+8)%len(early)], newModel(r, 2))
			}
			_, _, ok := s.Best()
			found.Add("metrics around %v are ignored: best %v", x, ok)
			// Goes on as one that has seen nothing, also with other layers.
			s = session{s.Stopper, &counted, new(bool)}
			m := newModel(r, 3)
			for range 20 {
				metrics = append(metrics, x+dyadic(r, -8, 8))
			}
			metrics = metrics[:min(len(metrics), math.MaxInt-max(0, start-1))]
			for i, metric := range metrics {
				s.epoch(start+i, metric, m)
				if best, _, ok := s.Best(); metric == x {
					bests.Add("epoch %d, first metric %v: %s", start+i, x, number(best, ok))
				}
				ignored = s.ignores(start-1-r.IntN(9), early[r.IntN(len(early))], newModel(r, 2+r.IntN(2))) && ignored
			}
			cfg.StartEpoch = math.MinInt
			twin := begin(t, &ofTwin, cfg)
			for i, metric := range metrics {
				twin.epoch(start+i, metric, m)
			}
		}
	}
	o.Strings("stops in epochs that are ignored", l.stops)
	o.Strings("errors in epochs that are ignored", l.errors)
	o.Strings("whether there is a best after epochs that are ignored", found)
	o.Strings("best after the first that counts", bests)
	o.Bool("the others count as for one that has ignored nothing", slices.Equal(counted.stops, ofTwin.stops))
	o.Strings("errors in the others", counted.errors)
	o.Bool("those that come after epochs that count change nothing", ignored)
}

// ignores reports whether an epoch below StartEpoch leaves a Stopper as it is, which has not
// stopped: what comes after a stop is the matter of another test.
func (s session) ignores(epoch int, metric float64, m *model) bool {
	if s.Reason() != earlystop.Running {
		return true
	}
	before := s.best()
	stop, err := s.Observe(epoch, metric, m)
	return !stop && err == nil && s.Reason() == earlystop.Running && s.best() == before
}

// After a stop nothing changes any more: Observe returns true and no error, and
// best, snapshot and Reason stay, whatever the metric.
func TestAfterStop(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x := dyadic(r, 30, 60)
	for _, c := range []struct {
		name    string
		metrics []float64
	}{
		{"out of patience", []float64{x, x + 1, x + 1, x + 1, x + 1}},
		{"good enough", []float64{x, x - 30}},
		{"diverged", []float64{x, x + 100}},
		{"not finite", []float64{x, nan}},
	} {
		var l log
		s := begin(t, &l, earlystop.Config{
			Patience: 2, StopAt: new(x - 20), DivergeAt: new(x + 50), CheckFinite: true, StartEpoch: -5,
		})
		m := newModel(r, 2, 3)
		epoch := 0
		for _, metric := range c.metrics {
			s.Observe(epoch, metric, m)
			epoch++
		}
		best := s.best()
		s.Restore(m)
		weights := m.weights()
		for _, metric := range []float64{x - 1, x - 90, x + 90, nan, -inf, x} {
			s.epoch(epoch, metric, newModel(r, 2, 3))
			epoch++
		}
		s.epoch(-9, x-100, newModel(r, 2, 3)) // also below StartEpoch
		s.epoch(epoch, x-100, newModel(r, 4)) // also with other layers
		s.epoch(epoch+1, x-100, nil)
		o.Strings(c.name+": what Observe returns afterwards", l.stops)
		o.Strings(c.name+": errors afterwards", l.errors)
		o.Bool(c.name+": the best stays", s.best() == best)
		s.Restore(m)
		o.Bool(c.name+": the weights that Restore brings back stay", slices.Equal(weights, m.weights()))
	}
}

// Metrics are float64 and nothing less: numbers that differ in the last digit
// differ, and numbers beyond the range of float32 are numbers.
func TestPrecision(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var l, ofLimits log
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		better := -inf
		if mode == earlystop.Max {
			better = inf
		}
		for _, scale := range []float64{0x1p-1060, 0x1p-1000, 0x1p-130, 1, 0x1p130, 0x1p1010} {
			x := (1 + r.Float64()) * scale
			var metrics []float64
			for range 20 { // the same, the next better number, one that is worse
				metrics = append(metrics, x, math.Nextafter(x, -better))
				x = math.Nextafter(x, better)
			}
			begin(t, &l, earlystop.Config{Mode: mode, Patience: endless}).run(metrics...)
			limits(t, &ofLimits, mode, better, x)
		}
	}
	o.Strings("best after each epoch", l.bests)
	o.Strings("stops by limits that differ in the last digit", ofLimits.stops)
}

// limits observes x itself, where x is a limit, and the numbers beside it.
func limits(t *testing.T, l *log, mode earlystop.Mode, better, x float64) {
	up, down := math.Nextafter(x, better), math.Nextafter(x, -better)
	begin(t, l, earlystop.Config{Mode: mode, Patience: endless, StopAt: &x}).run(down, x, up)
	begin(t, l, earlystop.Config{Mode: mode, Patience: endless, DivergeAt: &x}).run(up, x, down)
	begin(t, l, earlystop.Config{Mode: mode, Patience: 2, Baseline: &x}).run(down, x)
	begin(t, l, earlystop.Config{Mode: mode, Patience: 2, Baseline: &x}).run(down, up, down, down)
}

// New returns an error for a Config that makes no sense, and takes all others. It
// reads the limits that a Config points to at once, and only then.
func TestConfig(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x := dyadic(r, 1, 20)
	configs := []earlystop.Config{
		{Mode: 2, Patience: 1}, {Mode: -1, Patience: 1}, {Patience: -1}, {Patience: -1 - r.IntN(100)},
		{MinDelta: -x}, {MinDelta: -1. / 64}, {MinDelta: nan}, {MinDelta: inf}, {MinDelta: -inf},
		{Baseline: &nan}, {StopAt: &nan}, {DivergeAt: &nan}, {Mode: math.MaxInt}, {Mode: math.MinInt}, {Patience: math.MinInt},
		{MinDelta: -math.SmallestNonzeroFloat64}, {MinDelta: math.Copysign(0, -1)}, {MinDelta: math.MaxFloat64}, {MinDelta: math.SmallestNonzeroFloat64},
		{Patience: math.MaxInt}, {StartEpoch: math.MaxInt}, {StartEpoch: math.MinInt}, {Baseline: new(0.0), StopAt: new(0.0), DivergeAt: new(0.0)},
		{Mode: earlystop.Max, MinDelta: nan}, {Mode: earlystop.Max, StopAt: &nan},
		{}, {Mode: earlystop.Max}, {Patience: 1}, {MinDelta: x}, {StartEpoch: -5, Patience: 2},
		{Baseline: new(x + 1)}, {StopAt: new(x - 1), Patience: 3}, {DivergeAt: new(x - 1)},
		{Baseline: new(inf), Patience: 2}, {StopAt: new(-inf)}, {DivergeAt: new(inf), Patience: 1},
		{Baseline: new(-inf), StopAt: new(inf)}, {CheckFinite: true},
	}
	var l log
	var valid notes
	// In random order: the answers are no table.
	for _, i := range r.Perm(len(configs)) {
		_, err := earlystop.New(configs[i])
		valid.Add("Config %d: valid %v", i, err == nil)
	}
	o.Strings("which Configs New takes", valid)

	baseline, stopAt, divergeAt := x, x-10, x+10
	s := begin(t, &l, earlystop.Config{Patience: 3, Baseline: &baseline, StopAt: &stopAt, DivergeAt: &divergeAt})
	baseline, stopAt, divergeAt = -100, x+1, x-100
	m := ordinary()
	for epoch, metric := range []float64{x - 1, x - 2, x - 3, x - 4, x - 5} {
		s.epoch(epoch, metric, m)
	}
	s.Reset() // to the Config as it was in New
	s.run(x+9, x-1, x+8, x-2, x-3, x-11)
	o.Strings("stops by limits that were changed after New", l.stops)
}

// infinite sets a limit to an infinity, which is a limit like any other, and has
// metrics of all sizes observed.
func infinite(t *testing.T, l *log, r *rand.Rand, set func(*earlystop.Config, *float64)) {
	t.Helper()
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		for _, limit := range []float64{inf, -inf} {
			for _, metrics := range [][]float64{{dyadic(r, -9, 9), 30, -30, 40, -40}, {-1e300, 1e300}, {inf, 1, -inf}, {-inf, 1, inf}} {
				cfg := earlystop.Config{Mode: mode, Patience: endless}
				set(&cfg, &limit)
				begin(t, l, cfg).run(metrics...)
			}
		}
	}
}
