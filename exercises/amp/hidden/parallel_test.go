package hidden

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"grade/observe"
	"grade/reference/amp"
)

// A thousand Scalers, Schedulers and Steppers know nothing of each other.
func TestThousand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	all := make([]bench, 1000+r.IntN(100))
	for i := range all {
		all[i] = newBench(t, r, 1+r.Float64(), 2)
	}
	f := &fake{}
	refused := 0
	for _, i := range r.Perm(len(all)) { // one optimizer, which none of them has seen
		f.grads = [][]float64{{1}}
		if all[i].scaler.Unscale(f) != nil {
			refused++
		}
	}
	for _, i := range r.Perm(len(all)) {
		if _, err := all[i].stepper.Step(f); err != nil {
			refused++
		}
	}
	o.Int("calls that were refused", refused)
	for range 3 {
		for _, i := range r.Perm(len(all)) {
			f.grads = [][]float64{{all[i].scaler.Factor()}}
			switch i % 5 {
			case 0:
				f.grads[0][0] = inf
			case 1:
				all[i].scaler.Unscale(f)
			case 2:
				all[i].scheduler.Step()
			}
			all[i].stepper.Step(f)
		}
	}
	var steps, counts int
	scales := 0.0
	for i, b := range all {
		steps += (i%7 + 1) * b.scheduler.State().Steps
		counts += (i%7 + 1) * b.scaler.State().Clean
		scales += float64(i%7+1) * b.scaler.Factor()
	}
	o.Int("steps of all schedules, weighted", steps)
	o.Int("clean Updates of all Scalers, weighted", counts)
	o.Float("scales of all, weighted", scales, right)
	o.Int("steps of the optimizer", len(f.rates))
}

// What shares nothing may be used at the same time: calls of Clip, Scalers, Schedulers
// and Steppers. Where a test of one of them fails as well, that one is nearer to the cause.
func TestApart(t *testing.T) {
	o := observe.New(t)
	results := make([]alone, 8)
	var wg sync.WaitGroup
	for i := range results {
		r := rand.New(rand.NewPCG(o.Rand().Uint64(), o.Rand().Uint64()))
		b := newBench(t, r, 1+r.Float64(), []float64{2, inf}[i%2])
		wg.Go(func() { results[i] = apart(r, b) })
	}
	wg.Wait()
	for _, a := range results {
		o.Floats("norms of Clip, beside other goroutines", a.norms, rough)
		o.Floats("gradients after Clip, beside other goroutines", a.clipped, rough)
		o.Floats("norms in Reports, beside other goroutines", a.reported, rough)
		o.Floats("gradients after a Stepper, beside other goroutines", a.used, rough)
		o.Ints("steps of a schedule, beside other goroutines", a.steps)
		o.Ints("clean Updates, beside other goroutines", a.clean)
	}
}

// alone is what came of one goroutine's work.
type alone struct {
	norms, clipped, reported, used []float64
	steps, clean                   []int
}

// apart is what one goroutine does, long enough to meet the others.
func apart(r *rand.Rand, b bench) (a alone) {
	grads := make([][]float64, 30)
	for i := range 200 {
		for j := range grads {
			grads[j] = numbers(r, 30, 100)
		}
		norm, _ := amp.Clip(grads, 50, []float64{2, inf}[i%2])
		f := b.scaled(r, 20)
		report, _ := b.stepper.Step(f)
		if i%20 == 0 {
			a.norms, a.clipped = append(a.norms, norm), append(a.clipped, grads[7][3])
			a.reported, a.used = append(a.reported, report.Norms...), append(a.used, flat(f.grads)...)
			a.steps, a.clean = append(a.steps, b.scheduler.State().Steps), append(a.clean, b.scaler.State().Clean)
		}
		if i%9 == 0 {
			runtime.Gosched()
		}
	}
	return a
}

// Several goroutines may use one Scaler at once: for one optimizer exactly one of them
// unscales and one steps, and different optimizers are each their own (rule 24).
func TestGoroutines(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const workers = 8
	for round := range 60 {
		s := newScaler(t, amp.ScalerConfig{Init: power(r, 3, 9), Interval: never})
		shared := &fake{grads: [][]float64{numbers(r, 500+r.IntN(2000), 64)}}
		own := make([]*fake, workers)
		for i := range own {
			own[i] = &fake{grads: [][]float64{numbers(r, 3, 64)}}
		}
		switch round % 4 {
		case 1:
			spoil(r, own[r.IntN(workers)].grads, nan)
		case 2:
			spoil(r, shared.grads, inf)
		case 3: // several find one at the same time
			spoilAll(r, own)
		}
		unscaled, losses := count(workers, func(i int) error {
			if s.Scale(1) != s.Factor() {
				return amp.ErrNothing
			}
			s.Unscale(own[i])
			return s.Unscale(shared)
		}, amp.ErrUnscaled)
		stepped, late := count(workers, func(i int) error {
			s.Step(own[i], 0.5)
			_, err := s.Step(shared, 0.25)
			return err
		}, amp.ErrStepped)
		o.Ints("calls that did it and calls that were refused", []int{unscaled, losses, stepped, late})
		o.Floats("gradients of the one that all share", flat(shared.grads), right)
		for _, f := range append(own, shared) {
			o.Floats("rates of an optimizer's steps", f.rates, exact)
		}
		shared.grads[0] = numbers(r, 2000, 64)
		s.Update()
		o.Float("scale", s.Factor(), right)
		o.Int("count", s.State().Clean)
		if round%4 == 3 {
			spoilAll(r, own)
		}

		// A Step that unscales, by several at once.
		stepped, late = count(workers, func(i int) error {
			s.Step(own[i], 0.5)
			_, err := s.Step(shared, 0.25)
			return err
		}, amp.ErrStepped)
		o.Ints("steps without Unscale, and those that were refused", []int{stepped, late})
		o.Floats("gradients after steps without Unscale", flat(shared.grads), right)
		s.Update()
		o.Float("scale after steps without Unscale", s.Factor(), right)
	}
	atOnce(t, o)
}

// spoilAll gives each of opts a gradient that is not finite.
func spoilAll(r *rand.Rand, opts []*fake) {
	for _, f := range opts {
		spoil(r, f.grads, nan)
	}
}

// atOnce has two goroutines unscale, or step, one optimizer at the same moment, often enough
// to meet a gap between a look and a mark.
func atOnce(t *testing.T, o *observe.Observer) {
	s := newScaler(t, amp.ScalerConfig{Init: power(o.Rand(), 3, 9), Interval: never})
	var unscaled, stepped atomic.Int64
	for range 4000 {
		f := &fake{grads: [][]float64{{1}}}
		pair(func() {
			if s.Unscale(f) == nil {
				unscaled.Add(1)
			}
		})
		pair(func() {
			if _, err := s.Step(f, 0.5); err == nil {
				stepped.Add(1)
			}
		})
		s.Update()
	}
	o.Ints("calls at one moment that did it", []int{int(unscaled.Load()), int(stepped.Load())})
}

// pair calls f in two goroutines, which begin together.
func pair(f func()) {
	var ready atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for ready.Add(1); ready.Load() < 2; {
				runtime.Gosched()
			}
			f()
		})
	}
	wg.Wait()
}

// count calls f in n goroutines at once, and returns how many of the calls had no error
// and how many had this one.
func count(n int, f func(i int) error, sentinel error) (fine, refused int) {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = f(i)
		})
	}
	close(start)
	wg.Wait()
	for _, err := range errs {
		if err == nil {
			fine++
		} else if errors.Is(err, sentinel) {
			refused++
		}
	}
	return fine, refused
}
