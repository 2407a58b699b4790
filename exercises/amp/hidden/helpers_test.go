// Package hidden holds what students do not see. The tests record what the package
// answers, and compare nothing: grade compares it with what the reference answered.
//
// Each test rests on as little as it can of what others are about: gradients are compared
// to 4 digits where a test is not about the formula of Clip, scales are powers of 2 where
// one is not about division, and the rate that an optimizer is given is recorded by what
// it differs from the Scheduler's.
package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/amp"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()

	zero = math.Copysign(0, -1) // -0, which is 0

	exact = observe.Exact()

	// right is what "right" means in README.md.
	right = observe.Within(0, 1e-9)

	// rough is for gradients where the 1e-6 in the formula of Clip does not count: norms
	// are 1 and more then.
	rough = observe.Within(0, 1e-4)
)

// draw makes gradients of the size of scale: some slices, among them one that is nil and
// one that is empty, and none of whose numbers is 0.
func draw(r *rand.Rand, scale float64) [][]float64 {
	grads := make([][]float64, 4+r.IntN(4))
	for i := range grads {
		grads[i] = numbers(r, 1+r.IntN(9), scale)
	}
	grads[0], grads[1] = nil, []float64{}
	r.Shuffle(len(grads), func(i, j int) { grads[i], grads[j] = grads[j], grads[i] })
	return grads
}

// numbers makes n numbers from scale/2 to scale, above and below 0.
func numbers(r *rand.Rand, n int, scale float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = scale * (0.5 + r.Float64()/2)
		if r.IntN(2) == 0 {
			xs[i] = -xs[i]
		}
	}
	return xs
}

// flat is all numbers, one after the other, in a new slice.
func flat(grads [][]float64) []float64 { return slices.Concat(grads...) }

// spoil sets one of the numbers, anywhere, to bad.
func spoil(r *rand.Rand, grads [][]float64, bad float64) {
	for {
		if g := grads[r.IntN(len(grads))]; len(g) > 0 {
			g[r.IntN(len(g))] = bad
			return
		}
	}
}

// norm2 is about the norm of gradients of ordinary size.
func norm2(grads [][]float64) float64 {
	sum := 0.0
	for _, x := range flat(grads) {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// fake is an optimizer that writes down what it is asked.
type fake struct {
	grads [][]float64
	rates []float64   // of its steps
	used  [][]float64 // the gradients that each step saw
	asked func()      // called by Grads, if it is not nil
	inner func()      // called by Step, if it is not nil
}

func (f *fake) Grads() [][]float64 {
	if f.asked != nil {
		f.asked()
	}
	return f.grads
}

func (f *fake) Step(rate float64) {
	f.rates = append(f.rates, rate)
	f.used = append(f.used, flat(f.grads))
	if f.inner != nil {
		f.inner()
	}
}

// with returns an optimizer with the gradient x, scaled as it comes from a backward pass.
func with(s *amp.Scaler, x float64) *fake {
	return &fake{grads: [][]float64{{x * s.Factor()}}}
}

// newScaler returns a Scaler. That the package refuses cfg fails the test.
func newScaler(t testing.TB, cfg amp.ScalerConfig) *amp.Scaler {
	t.Helper()
	s, err := amp.NewScaler(cfg)
	if err != nil || s == nil {
		t.Fatal("NewScaler refuses a valid ScalerConfig")
	}
	return s
}

func newScheduler(t testing.TB, cfg amp.Schedule) *amp.Scheduler {
	t.Helper()
	s, err := amp.NewScheduler(cfg)
	if err != nil || s == nil {
		t.Fatal("NewScheduler refuses a valid Schedule")
	}
	return s
}

func newStepper(t testing.TB, sc *amp.Scaler, sd *amp.Scheduler, max, p float64) *amp.Stepper {
	t.Helper()
	s, err := amp.NewStepper(sc, sd, max, p)
	if err != nil || s == nil {
		t.Fatal("NewStepper refuses what is valid")
	}
	return s
}

// sentinels records which error it is.
func sentinels(o *observe.Observer, name string, err error) {
	o.Error(name, err, amp.ErrNonFinite, amp.ErrUnscaled, amp.ErrStepped, amp.ErrNothing)
}

// power draws a power of 2.
func power(r *rand.Rand, from, to int) float64 {
	return math.Ldexp(1, from+r.IntN(to-from+1))
}
