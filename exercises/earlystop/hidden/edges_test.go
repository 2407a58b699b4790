package hidden

import (
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
	var lines observe.Transcript
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		sign := -1.0
		if mode == earlystop.Max {
			sign = 1
		}
		for patience := range 5 {
			base := dyadic(r, -20, 20)
			for _, metrics := range [][]float64{
				{base - sign*9, base - sign*8, base - sign*7, base - sign*5, base - sign*3, base - sign},             // never
				{base - sign*9, base - sign*3, base - sign, base + sign*2, base - sign*2, base + sign*4, base, base}, // in the end
				{base - sign*2, base + sign*0.5, base + sign*1.5, base, base, base, base + sign*3},                   // on the boundary
				{base + sign, base + sign*2, base + sign*3, base, base + sign*4, base, base, base, base},
			} {
				cfg := earlystop.Config{Mode: mode, Patience: patience, Baseline: &base, MinDelta: 0.5}
				s := begin(t, &lines, cfg)
				m := newModel(r, 2)
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

// Epochs below StartEpoch are ignored: they are not best, do not count, are not
// kept, and nothing in them stops the training. StartEpoch itself is the first
// that counts.
func TestStartEpoch(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for _, start := range []int{-3, 0, 1, 4, 7} {
		for _, finite := range []bool{false, true} {
			x := dyadic(r, -20, 20)
			cfg := earlystop.Config{Patience: 3, StartEpoch: start, CheckFinite: finite}
			if r.IntN(2) == 0 {
				cfg.StopAt, cfg.DivergeAt = new(x-100), new(x+100)
			}
			s := begin(t, &lines, cfg)
			m := newModel(r, 2)
			early := []float64{x - 50, x - 200, nan, x - 60, x + 200, inf, x - 70}
			for epoch := -8; epoch < 20; epoch++ {
				m.train(r)
				metric := x + dyadic(r, -8, 8)
				if epoch == start && !finite {
					metric = nan // the first one that counts, as a bad one
				}
				if epoch < start {
					metric = early[(epoch+8)%len(early)]
				}
				if s.epoch(epoch, metric, m) {
					break
				}
				if epoch == start-1 {
					s.restore(newModel(r, 2))
				}
			}
			s.restore(m)
		}
	}
	o.Transcript("epochs", &lines)
}

// After a stop nothing changes any more: Observe returns true and no error, and
// best, snapshot and Reason stay, whatever the metric.
func TestAfterStop(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	x := dyadic(r, 0, 20)
	for _, first := range [][]float64{
		{x, x + 1, x + 1},   // out of patience
		{x, x - 30},         // good enough
		{x, x + 1, x + 100}, // diverged
		{x, nan},            // not finite
	} {
		s := begin(t, &lines, earlystop.Config{
			Patience: 2, StopAt: new(x - 20), DivergeAt: new(x + 50), CheckFinite: true, StartEpoch: -5,
		})
		m := newModel(r, 2, 3)
		epoch := 0
		for _, metric := range first {
			m.train(r)
			s.epoch(epoch, metric, m)
			epoch++
		}
		for _, metric := range []float64{x - 1, x - 90, x + 90, nan, -inf, x} {
			m.train(r)
			s.epoch(epoch, metric, m)
			epoch++
		}
		s.epoch(-9, x-100, m)                 // also below StartEpoch
		s.epoch(epoch, x-100, newModel(r, 4)) // also with other layers
		s.epoch(epoch+1, x-100, nil)
		s.restore(m)
	}
	o.Transcript("epochs", &lines)
}

// Metrics are float64 and nothing less: numbers that differ in the last digits
// differ, and numbers beyond the range of float32 are numbers.
func TestPrecision(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	var lines observe.Transcript
	for _, mode := range []earlystop.Mode{earlystop.Min, earlystop.Max} {
		for _, scale := range []float64{0x1p-1000, 0x1p-45, 0x1p130, 0x1p1010} {
			var metrics []float64
			for range 30 {
				x := dyadic(r, -20, 20) * scale
				if scale == 0x1p-45 {
					x += 1 // they differ in the last digits only
				}
				metrics = append(metrics, x)
			}
			begin(t, &lines, earlystop.Config{Mode: mode, Patience: 4}).run(metrics...)
			begin(t, &lines, earlystop.Config{Mode: mode, Patience: 4, MinDelta: scale}).run(metrics...)
		}
	}
	o.Transcript("epochs", &lines)
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
		{Baseline: &nan}, {StopAt: &nan}, {DivergeAt: &nan},
		{Mode: earlystop.Max, MinDelta: nan}, {Mode: earlystop.Max, StopAt: &nan},
		{}, {Mode: earlystop.Max}, {Patience: 1}, {MinDelta: x}, {StartEpoch: -5, Patience: 2},
		{Baseline: new(x + 1)}, {StopAt: new(x - 1), Patience: 3}, {DivergeAt: new(x - 1)},
		{Baseline: new(inf), Patience: 2}, {StopAt: new(-inf)}, {DivergeAt: new(inf), Patience: 1},
		{Baseline: new(-inf), StopAt: new(inf)}, {CheckFinite: true},
	}
	var lines observe.Transcript
	// In random order: the answers are no table.
	for _, i := range r.Perm(len(configs)) {
		s, err := earlystop.New(configs[i])
		lines.Add("Config %d: valid %v", i, err == nil)
		if err == nil {
			session{s, &lines}.run(x, x+0.5, x-dyadic(r, 1, 2))
		}
	}

	baseline, stopAt, divergeAt := x, x-10, x+10
	s := begin(t, &lines, earlystop.Config{Patience: 3, Baseline: &baseline, StopAt: &stopAt, DivergeAt: &divergeAt})
	baseline, stopAt, divergeAt = -100, x+1, x-1
	s.run(x-1, x-2, x-2, x+9, x-3, x+1, x-1, x-2, x-4)
	o.Transcript("configs", &lines)
}
