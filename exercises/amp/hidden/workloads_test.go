package hidden

import (
	"math"
	"math/rand/v2"
	"testing"

	"grade/observe"
	"grade/reference/amp"
)

// many makes about two million numbers in about 2,000 slices.
func many(r *rand.Rand) [][]float64 {
	grads := make([][]float64, 1980+r.IntN(41))
	for i := range grads {
		grads[i] = above1(r, 950+r.IntN(101))
	}
	return grads
}

// above1 makes n numbers from 1 to 2.
func above1(r *rand.Rand, n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = 1 + r.Float64()
	}
	return xs
}

// somewhere draws one of the numbers.
func somewhere(r *rand.Rand, grads [][]float64) *float64 {
	g := grads[r.IntN(len(grads))]
	return &g[r.IntN(len(g))]
}

// change gives some numbers, anywhere, new values, from low to three times as much.
func change(r *rand.Rand, grads [][]float64, low float64) {
	for range 16 {
		*somewhere(r, grads) = low * (1 + 2*r.Float64())
	}
}

// renew gives a quarter of each slice, anywhere in it, other numbers out of a pool. So neither a
// norm nor a part of one is good for the next call, and to look for what has changed is more work
// than to add up.
func renew(r *rand.Rand, grads [][]float64, pool []float64) {
	for _, g := range grads {
		n := len(g) / 4
		copy(g[r.IntN(len(g)-n):][:n], pool[r.IntN(len(pool)-n):])
	}
}

// look appends what some numbers are, anywhere.
func look(r *rand.Rand, grads [][]float64, seen []float64) []float64 {
	for range 32 {
		seen = append(seen, *somewhere(r, grads))
	}
	return seen
}

// weighed is one number for each slice, in which each number has a weight of its own.
func weighed(grads [][]float64) []float64 {
	sums := make([]float64, len(grads))
	for i, g := range grads {
		for j, x := range g {
			sums[i] += x * (1 + float64(j*7919%1009)/1009)
		}
	}
	return sums
}

// Clip of two million numbers. Time: each is read once for the norm and once to scale it.
// Memory: none.
func BenchmarkClip(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	grads, pool := many(r), above1(r, 4000)
	norms := make([]float64, 12)
	seen := make([]float64, 0, 32*len(norms))
	largest := somewhere(r, grads)
	for o.Loop() {
		for i := range norms {
			// Many numbers change, and the largest by far is another one, so that each time
			// there is something to scale.
			*largest = 1 + r.Float64()
			renew(r, grads, pool)
			change(r, grads, 50)
			largest = somewhere(r, grads)
			*largest = 5000 + 100*r.Float64()
			norms[i], _ = amp.Clip(grads, 4750, []float64{2, 2, 2, inf}[i%4])
			seen = look(r, grads, seen)
		}
	}
	o.Floats("norms", norms)
	o.Floats("some gradients after each call", seen, near)
	o.Floats("gradients of each slice, weighted and added up", weighed(grads), near)
}

// Unscale, Step and Update of an optimizer with two million numbers. Time: each gradient is
// read and written once. Memory: none.
func BenchmarkScaler(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	opt := &caller{grads: many(r)} // whose steps keep no copy
	s := newScaler(b, amp.ScalerConfig{Init: 2, Growth: 4, Backoff: 0.25, Interval: 1})
	scales := make([]float64, 12)
	steps := make([]int, len(scales))
	seen := make([]float64, 0, 32*len(scales))
	order := r.Perm(len(scales))
	for o.Loop() {
		for i := range scales {
			change(r, opt.grads, 1)
			bad := somewhere(r, opt.grads)
			was := *bad
			if order[i]%2 == 0 { // found wherever it is, so that the scale goes down again
				*bad = inf
			}
			if r.IntN(3) == 0 {
				s.Unscale(opt)
			}
			s.Step(opt, 0.1)
			s.Update()
			*bad = was
			seen = look(r, opt.grads, seen)
			scales[i], steps[i] = s.Factor(), opt.steps
		}
	}
	o.Floats("scales", scales)
	o.Ints("steps of the optimizer, after each time", steps)
	o.Floats("some gradients after each time", seen, right)
	o.Floats("gradients of each slice, weighted and added up", weighed(opt.grads), right)
}

// Rates at places all over schedules of ten million steps. Time: a rate takes no longer
// for a later step. Memory: no table of rates.
func BenchmarkSchedule(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	const total = 10_000_000
	places := make([]int, 19_900+r.IntN(201))
	for i := range places {
		places[i] = r.IntN(total)
	}
	cfgs := make([]amp.Schedule, 50)
	for i := range cfgs {
		cfgs[i] = amp.Schedule{Peak: 1 + r.Float64(), Floor: r.Float64(), Warmup: 1 + r.IntN(total/2), Total: total}
	}
	sums, changes := make([]float64, len(cfgs)), make([]float64, len(cfgs))
	some := make([]float64, 0, 8*len(cfgs))
	for o.Loop() {
		for i, cfg := range cfgs {
			s := newScheduler(b, cfg)
			sum, change := 0.0, 0.0
			for _, k := range places {
				s.SetState(amp.SchedulerState{Steps: k})
				rate := s.Rate()
				s.Step()
				next := s.Rate()
				sum += rate
				change += math.Abs(next - rate)
			}
			sums[i], changes[i] = sum/float64(len(places)), change/float64(len(places))
			for range 8 {
				s.SetState(amp.SchedulerState{Steps: r.IntN(total)})
				some = append(some, s.Rate()/cfg.Peak)
			}
		}
	}
	o.Floats("means of rates", sums, observe.Within(1e-8, 1e-8))
	o.Floats("means of what a step changes", changes, observe.Within(1e-8, 0))
	o.Floats("some rates of each schedule, as parts of the Peak", some, ofPeak)
}

// Nothing allocates: neither Clip nor the schedule, nor a Scaler with an optimizer that it
// has seen before. What they computed is compared, too, so that they do their work.
func TestAllocations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	grads := draw(r, 100)
	huge := draw(r, 1e200)
	s, sd := newScaler(t, amp.ScalerConfig{Init: 4, Interval: 500}), newScheduler(t, schedule(r, 5, 1000))
	opt := &caller{grads: draw(r, 100)}
	iteration := func() {
		s.Unscale(opt)
		s.Step(opt, 0.1)
		s.Update()
	}
	iteration()
	norms, sum := 0.0, 0.0
	const calls = 2000 // a list that grows allocates at some of them
	o.SelfReported().Float("allocations of Clip", testing.AllocsPerRun(100, func() {
		norm, _ := amp.Clip(grads, 5, 2)
		largest, _ := amp.Clip(grads, 4, inf)
		big, _ := amp.Clip(huge, inf, 2)
		norms = norm + largest + big
	}), observe.AtMost(1, 0))
	o.SelfReported().Int("allocations of a schedule", observe.Allocations(calls, func() {
		sum += sd.Rate()
		sd.Step()
	}), observe.AtMost(1, 2))
	o.SelfReported().Int("allocations of a Scaler", observe.Allocations(calls, iteration), observe.AtMost(1, 2))
	o.Float("sum of three norms, after all calls", norms, rough)
	o.Bool("rates are above 0", sum > 0)
	o.Int("steps of the schedule, after all calls", sd.State().Steps)
	o.Int("steps of the optimizer, after all calls", opt.steps)
}
