package hidden

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// caller is an optimizer whose methods call back.
type caller struct {
	grads         [][]float64
	inGrads, then func()
	steps         int
}

func (c *caller) Grads() [][]float64 {
	if c.inGrads != nil {
		c.inGrads()
	}
	return c.grads
}

func (c *caller) Step(float64) {
	c.steps++
	if c.then != nil {
		c.then()
	}
}

// While a method of an optimizer runs, no other call of the Scaler has to wait for it: it
// may use the Scaler itself, for the same optimizer too, and wait for another optimizer (rule
// 24).
func TestNoWaiting(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		s := newScaler(t, amp.ScalerConfig{Init: power(r, 3, 9), Interval: never})
		var seen []float64
		look := func() { seen = append(seen, s.Scale(3), s.Factor(), s.State().Scale) }
		inner := with(s, 2)
		c := &caller{grads: [][]float64{{s.Factor()}}, inGrads: look, then: func() {
			look()
			s.Unscale(inner)
			s.Step(inner, 0.5)
		}}
		if !ends(o, "a call from within", func() { s.Step(c, 1) }) {
			return
		}
		o.Floats("what it saw", seen[max(0, len(seen)-3):], right)
		o.Ints("steps of the outer and of the inner", []int{c.steps, len(inner.rates)})
		if !bothMeet(o, s) || !callsAgain(o, s) {
			return
		}
		s.Update()

		// A Stepper asks as well.
		c = &caller{grads: [][]float64{{s.Factor()}}, inGrads: look, then: look}
		st := newStepper(t, s, newScheduler(t, schedule(r, 2, 9)), 1, 2)
		if !ends(o, "a Stepper", func() { st.Step(c) }) {
			return
		}
		o.Int("steps by the Stepper", c.steps)
	}
}

// bothMeet has two optimizers wait for each other, in Step and in Grads. It says whether all
// calls ended. With gradients that are not finite, both note at once what they found.
func bothMeet(o *observe.Observer, s *amp.Scaler) bool {
	meet := barrier()
	a := &caller{grads: [][]float64{{4}}, then: meet}
	b := &caller{grads: [][]float64{{8}}, then: meet}
	if !ends(o, "two steps at once", func() { s.Step(a, 1) }, func() { s.Step(b, 1) }) {
		return false
	}
	o.Ints("steps of both", []int{a.steps, b.steps})
	for _, x := range []float64{1, nan} {
		meet = barrier()
		a = &caller{grads: [][]float64{{4 * x}}, inGrads: meet}
		b = &caller{grads: [][]float64{{8 * x}}, inGrads: meet}
		if !ends(o, "two Unscales at once", func() { s.Unscale(a) }, func() { s.Unscale(b) }) {
			return false
		}
		o.Floats("gradients of both", append(flat(a.grads), flat(b.grads)...), right)
		meet = barrier()
		a = &caller{grads: [][]float64{{4 * x}}, inGrads: meet}
		b = &caller{grads: [][]float64{{8 * x}}, inGrads: meet}
		if !ends(o, "two Steps that unscale at once", func() { s.Step(a, 1) }, func() { s.Step(b, 1) }) {
			return false
		}
		o.Floats("gradients of both after Step", append(flat(a.grads), flat(b.grads)...), right)
	}
	return true
}

// callsAgain has an optimizer repeat, from within, the call that is under way. It says
// whether all calls ended. What the second one returns is for TestOnce and TestGoroutines.
func callsAgain(o *observe.Observer, s *amp.Scaler) bool {
	c := &caller{grads: [][]float64{{1}}}
	c.inGrads = once(func() { s.Unscale(c) })
	if !ends(o, "Grads that calls Unscale for the same optimizer, while Unscale runs", func() { s.Unscale(c) }) {
		return false
	}
	c.then = once(func() { s.Step(c, 1) })
	if !ends(o, "Step that calls the Scaler's Step for the same optimizer", func() { s.Step(c, 1) }) {
		return false
	}
	c = &caller{grads: [][]float64{{1}}}
	c.inGrads = once(func() { s.Step(c, 1) })
	if !ends(o, "Grads that calls Step for the same optimizer, while Step runs", func() { s.Step(c, 1) }) {
		return false
	}
	c = &caller{grads: [][]float64{{1}}, then: once(func() { s.Step(c, 1) })}
	return ends(o, "Step that calls the Scaler's Step for the same optimizer", func() { s.Step(c, 1) })
}

// barrier returns a function of which two calls wait for each other; later ones return at
// once.
func barrier() func() {
	var mu sync.Mutex
	calls, both := 0, make(chan struct{})
	return func() {
		mu.Lock()
		if calls++; calls == 2 {
			close(both)
		}
		mu.Unlock()
		<-both
	}
}

// ends records and says whether all calls return, each in a goroutine. They take
// microseconds; five seconds are for ever.
func ends(o *observe.Observer, name string, calls ...func()) (ended bool) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, call := range calls {
		wg.Go(call)
	}
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		ended = true
	case <-time.After(5 * time.Second):
	}
	o.Bool(name+": the call returns", ended)
	return ended
}
