package hidden

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/amp"
)

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
// may use the Scaler itself, for the same optimizer too, and wait for another optimizer. That
// holds in a Stepper as well, be the optimizer stepped or skipped. Unscale in its own Grads and
// Step in its own Step are refused, and of two Steps one, also while the gradients are being
// fetched: nothing steps before it is unscaled (rule 24).
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
	for _, x := range []float64{1, inf, nan} {
		if !stepsMeanwhile(t, o, x) {
			return
		}
	}
	for _, p := range []float64{2, inf} {
		for _, max := range []float64{1, inf} {
			for _, x := range []float64{1, nan, inf} {
				if !asksInAll(t, o, p, max, x) {
					return
				}
			}
		}
	}
}

// asksInAll has an optimizer with the gradient x ask the Scaler in each of its methods, while a
// Stepper takes it, alone or beside others, or a Step after an Unscale. It says whether all calls
// ended.
func asksInAll(t *testing.T, o *observe.Observer, p, max, x float64) bool {
	r := o.Rand()
	for _, before := range []string{"fresh", "unscaled", "unscaled and mended"} {
		for _, beside := range []string{"alone", "after one that steps", "after one that is skipped", "before another", "in the Scaler's Step"} {
			s := newScaler(t, amp.ScalerConfig{Init: power(r, 3, 9), Interval: never})
			st := newStepper(t, s, newScheduler(t, schedule(r, 2, 9)), max, p)
			look := func() { s.Scale(s.Factor() + s.State().Scale) }
			c := &caller{grads: [][]float64{{x}}, inGrads: look, then: look}
			call := map[string]func(){
				"alone":                     func() { st.Step(c) },
				"after one that steps":      func() { st.Step(with(s, 1), c) },
				"after one that is skipped": func() { st.Step(with(s, nan), c) },
				"before another":            func() { st.Step(c, with(s, 1)) },
				"in the Scaler's Step":      func() { s.Step(c, 1) },
			}[beside]
			if !ends(o, "an optimizer that asks, "+before+", "+beside, func() {
				if before != "fresh" {
					s.Unscale(c)
				}
				if before == "unscaled and mended" {
					c.grads[0][0] = 1
				}
				call()
			}) {
				return false
			}
		}
	}
	return true
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
// whether all calls ended. The one from within is refused, as the outer one has set its mark
// before it calls the optimizer. Where Grads calls Step, it is left open what that returns.
func callsAgain(o *observe.Observer, s *amp.Scaler) bool {
	var inner, outer error
	c := &caller{grads: [][]float64{{1}}}
	c.inGrads = once(func() { inner = s.Unscale(c) })
	if !ends(o, "Grads that calls Unscale for the same optimizer, while Unscale runs", func() { outer = s.Unscale(c) }) {
		return false
	}
	sentinels(o, "from within: Unscale in Grads", inner)
	sentinels(o, "from within: the Unscale around it", outer)
	o.Floats("from within: gradients", flat(c.grads), right)
	if !stepsAgain(o, s, c) {
		return false
	}
	c = &caller{grads: [][]float64{{1}}}
	c.inGrads = once(func() { s.Step(c, 1) })
	if !ends(o, "Grads that calls Step for the same optimizer, while Step runs", func() { s.Step(c, 1) }) {
		return false
	}
	return stepsAgain(o, s, &caller{grads: [][]float64{{1}}})
}

// stepsAgain has c call the Scaler's Step in its own, and says whether all calls ended.
func stepsAgain(o *observe.Observer, s *amp.Scaler, c *caller) bool {
	var inner, outer error
	c.then = once(func() { _, inner = s.Step(c, 1) })
	if !ends(o, "Step that calls the Scaler's Step for the same optimizer", func() { _, outer = s.Step(c, 1) }) {
		return false
	}
	sentinels(o, "from within: Step in Step", inner)
	sentinels(o, "from within: the Step around it", outer)
	o.Int("from within: steps", c.steps)
	o.Floats("from within: gradients", flat(c.grads), right)
	return true
}

// stepsMeanwhile has another goroutine call Step for an optimizer with the gradient x, while a Step
// fetches its gradients, and says whether both calls ended. Which of them is refused is left open; the
// optimizer steps with what was divided, or not at all.
func stepsMeanwhile(t *testing.T, o *observe.Observer, x float64) bool {
	s := newScaler(t, amp.ScalerConfig{Init: power(o.Rand(), 3, 9), Interval: never})
	f := with(s, x)
	var first, second error
	f.asked = once(func() {
		var other sync.WaitGroup
		other.Go(func() { _, second = s.Step(f, 0.5) })
		other.Wait()
	})
	if !ends(o, "a Step while another one is in Grads of the same optimizer", func() { _, first = s.Step(f, 0.5) }) {
		return false
	}
	o.Bool("from within: one of two Steps is ErrStepped", errors.Is(first, amp.ErrStepped) != errors.Is(second, amp.ErrStepped))
	o.Bool("from within: one of two Steps is no error", (first == nil) != (second == nil))
	o.Int("from within: steps of two", len(f.rates))
	o.Floats("from within: gradients that they saw", slices.Concat(f.used...), right)
	o.Floats("from within: gradients after two Steps", flat(f.grads), right)
	s.Update()
	o.Float("from within: scale after two Steps", s.Factor(), right)
	return true
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
