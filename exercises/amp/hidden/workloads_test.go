package hidden

import (
	"testing"

	"grade/observe"
	"grade/reference/amp"
)

// many makes two million numbers in 2,000 slices.
func many(o *observe.Observer) [][]float64 {
	r := o.Rand()
	grads := make([][]float64, 2000)
	for i := range grads {
		grads[i] = make([]float64, 1000)
		for j := range grads[i] {
			grads[i][j] = 1 + r.Float64()
		}
	}
	return grads
}

// Clip of two million numbers. Time: each is read once for the norm and once to scale it.
// Memory: none.
func BenchmarkClip(b *testing.B) {
	o := observe.New(b)
	grads := many(o)
	norms := make([]float64, 12)
	at := o.Rand().IntN(1000)
	for o.Loop() {
		for i := range norms {
			// The largest by far, and a new one, so that no norm is good for the next call
			// and each time there is something to scale.
			grads[at][at] = float64(5000 + i)
			norms[i], _ = amp.Clip(grads, 4750, []float64{2, 2, 2, inf}[i%4])
		}
	}
	o.Floats("norms", norms)
	o.Floats("gradients", flat(grads[:20]), near)
}

// Unscale, Step and Update of an optimizer with two million numbers. Time: each gradient is
// read and written once. Memory: none.
func BenchmarkScaler(b *testing.B) {
	o := observe.New(b)
	opt := &caller{grads: many(o)} // whose steps keep no copy
	s := newScaler(b, amp.ScalerConfig{Init: 2, Growth: 4, Backoff: 0.25, Interval: 1})
	bad := o.Rand().IntN(1000)
	scales := make([]float64, 12)
	for o.Loop() {
		for i := range scales {
			was := opt.grads[1999][bad]
			if i%2 == 0 { // found in the end, so that the scale goes down again
				opt.grads[1999][bad] = inf
			}
			if i%3 == 0 {
				s.Unscale(opt)
			}
			s.Step(opt, 0.1)
			s.Update()
			opt.grads[1999][bad] = was
			for j, g := range opt.grads[:100] { // gradients change
				g[j] = float64(1 + (i+j)%7)
			}
			scales[i] = s.Factor()
		}
	}
	o.Floats("scales", scales)
	o.Floats("gradients", flat(opt.grads[:5]), right)
	o.Bool("half of them stepped", opt.steps > 0)
}

// Rates at places all over schedules of ten million steps. Time: a rate takes no longer
// for a later step. Memory: no table of rates.
func BenchmarkSchedule(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	const total = 10_000_000
	places := make([]int, 20_000)
	for i := range places {
		places[i] = r.IntN(total)
	}
	cfgs := make([]amp.Schedule, 50)
	for i := range cfgs {
		cfgs[i] = amp.Schedule{Peak: 1 + r.Float64(), Floor: r.Float64(), Warmup: 1 + r.IntN(total/2), Total: total}
	}
	sums := make([]float64, len(cfgs))
	for o.Loop() {
		for i, cfg := range cfgs {
			s := newScheduler(b, cfg)
			sum := 0.0
			for _, k := range places {
				s.SetState(amp.SchedulerState{Steps: k})
				sum += s.Rate()
				s.Step()
				sum += s.Rate()
			}
			sums[i] = sum / float64(len(places))
		}
	}
	o.Floats("means of rates", sums, observe.Within(1e-8, 1e-8))
}

// Nothing allocates: neither Clip nor the schedule, nor a Scaler with an optimizer that it
// has seen before. What they computed is compared, too, so that they do their work.
func TestAllocations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	grads := draw(r, 100)
	huge := draw(r, 1e200)
	s, sd := newScaler(t, amp.ScalerConfig{Init: 4, Interval: 50}), newScheduler(t, schedule(r, 5, 1000))
	opt := &caller{grads: draw(r, 100)}
	iteration := func() {
		s.Unscale(opt)
		s.Step(opt, 0.1)
		s.Update()
	}
	iteration()
	norms, sum := 0.0, 0.0
	o.SelfReported().Float("allocations of Clip", testing.AllocsPerRun(100, func() {
		norm, _ := amp.Clip(grads, 5, 2)
		largest, _ := amp.Clip(grads, 4, inf)
		big, _ := amp.Clip(huge, inf, 2)
		norms = norm + largest + big
	}), observe.AtMost(1, 0))
	o.SelfReported().Float("allocations of a schedule", testing.AllocsPerRun(100, func() {
		sum += sd.Rate()
		sd.Step()
	}), observe.AtMost(1, 0))
	o.SelfReported().Float("allocations of a Scaler", testing.AllocsPerRun(100, iteration), observe.AtMost(1, 0))
	o.Float("sum of three norms, after all calls", norms, rough)
	o.Bool("rates are above 0", sum > 0)
	o.Int("steps of the schedule, after all calls", sd.State().Steps)
	o.Int("steps of the optimizer, after all calls", opt.steps)
}
