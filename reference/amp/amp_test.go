package amp_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"grade/reference/amp"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

// sgd is a parameter vector with its gradients.
type sgd struct {
	w, g  []float64
	steps int
}

func (s *sgd) Grads() [][]float64 { return [][]float64{s.g, nil} }

func (s *sgd) Step(rate float64) {
	s.steps++
	for i := range s.w {
		s.w[i] -= rate * s.g[i]
	}
}

func near(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// exactNorm is the root of the sum of squares with 200 binary digits and any exponent.
func exactNorm(xs []float64) float64 {
	sum := new(big.Float).SetPrec(200)
	for _, x := range xs {
		y := new(big.Float).SetPrec(200).SetFloat64(x)
		sum.Add(sum, y.Mul(y, y))
	}
	norm, _ := sum.Sqrt(sum).Float64()
	return norm
}

func TestNormOfAnySize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for exponent := -300.0; exponent <= 299; exponent += 7.3 {
		for _, spread := range []float64{0, 30} {
			xs := make([]float64, 1+r.IntN(50))
			for i := range xs {
				e := min(299, max(-300, exponent+spread*r.NormFloat64()))
				xs[i] = r.NormFloat64() * math.Pow(10, e)
			}
			norm, err := amp.Clip([][]float64{xs[:len(xs)/2], nil, xs[len(xs)/2:]}, inf, 2)
			if want := exactNorm(xs); err != nil || !near(norm, want) {
				t.Errorf("norm of %v is %v (%v), want %v", xs, norm, err, want)
			}
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		xs           []float64
		max, p, norm float64
		want         []float64
		err          error
	}{
		{[]float64{3, 4}, 10, 2, 5, []float64{3, 4}, nil},
		{[]float64{3, 4}, 2.5, 2, 5, []float64{3 * 2.5 / 5.000001, 4 * 2.5 / 5.000001}, nil},
		{[]float64{3, -4}, 2, inf, 4, []float64{3 * 2 / 4.000001, -4 * 2 / 4.000001}, nil},
		{[]float64{1e-6, 0}, 1e-6, 2, 1e-6, []float64{5e-7, 0}, nil},
		{[]float64{3, -4}, 0, 2, 5, []float64{0, 0}, nil},
		{[]float64{3, -inf}, 1, 2, inf, []float64{3, -inf}, amp.ErrNonFinite},
		{[]float64{3, inf}, inf, inf, inf, []float64{3, inf}, amp.ErrNonFinite},
		{nil, 1, 2, 0, nil, nil},
	} {
		got := slices.Clone(c.xs)
		norm, err := amp.Clip([][]float64{got}, c.max, c.p)
		if !near(norm, c.norm) || !errors.Is(err, c.err) || !slices.EqualFunc(got, c.want, near) {
			t.Errorf("Clip(%v, %v, %v) = %v, %v and leaves %v, want %v, %v and %v", c.xs, c.max, c.p, norm, err, got, c.norm, c.err, c.want)
		}
	}
	for _, p := range []float64{2, inf} {
		if norm, err := amp.Clip([][]float64{{inf, nan}}, 1, p); !math.IsNaN(norm) || !errors.Is(err, amp.ErrNonFinite) {
			t.Errorf("p %v: norm of Inf and NaN is %v (%v), want NaN", p, norm, err)
		}
	}
	for _, c := range [][2]float64{{-1, 2}, {nan, 2}, {1, 1}, {1, -inf}, {1, nan}} {
		if _, err := amp.Clip(nil, c[0], c[1]); err == nil || errors.Is(err, amp.ErrNonFinite) {
			t.Errorf("Clip with max %v and p %v: %v, want an error of its own", c[0], c[1], err)
		}
	}
}

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		warmup, total int
		want          []float64 // with Peak 8 and Floor 2
	}{
		{4, 8, []float64{2, 4, 6, 8, 8, 5 + 3/math.Sqrt2, 5, 5 - 3/math.Sqrt2, 2, 2}},
		{0, 2, []float64{8, 5, 2, 2}},
		{1, 3, []float64{8, 8, 5, 2}},
		{2, 2, []float64{4, 8, 2}},
		{1, 1, []float64{8, 2, 2}},
	} {
		s := must(amp.NewScheduler(amp.Schedule{Peak: 8, Floor: 2, Warmup: c.warmup, Total: c.total}))
		for k, want := range c.want {
			if got := s.Rate(); !near(got, want) {
				t.Errorf("%d of %d: rate of step %d is %v, want %v", c.warmup, c.total, k, got, want)
			}
			other := must(amp.NewScheduler(amp.Schedule{Peak: 8, Floor: 2, Warmup: c.warmup, Total: c.total}))
			if err := other.SetState(s.State()); err != nil || other.Rate() != s.Rate() {
				t.Errorf("a resumed schedule has rate %v (%v), want %v", other.Rate(), err, s.Rate())
			}
			s.Step()
		}
	}
	for _, c := range []amp.Schedule{
		{Total: 1}, {Peak: nan, Total: 1}, {Peak: inf, Total: 1}, {Peak: 1, Floor: 1.1, Total: 1}, {Peak: 1, Floor: nan, Total: 1},
		{Peak: 1, Floor: -1, Total: 1}, {Peak: 1}, {Peak: 1, Total: 3, Warmup: 4}, {Peak: 1, Total: 3, Warmup: -1},
	} {
		if _, err := amp.NewScheduler(c); err == nil {
			t.Errorf("NewScheduler(%+v) returns no error", c)
		}
	}
}

func TestScaleGoesUpAndDown(t *testing.T) {
	s := must(amp.NewScaler(amp.ScalerConfig{Init: 8, Interval: 2}))
	for i, c := range []struct{ gradient, scale float64 }{
		{1, 8}, {1, 16}, {1, 16}, {inf, 8}, {1, 8}, {1, 16}, {nan, 8}, {nan, 4}, {1, 4}, {1, 8},
	} {
		opt := &sgd{w: []float64{0}, g: []float64{c.gradient}}
		stepped, err := s.Step(opt, 1)
		if err != nil || stepped != (c.gradient == 1) || (opt.steps == 1) != stepped {
			t.Errorf("%d: Step returns %v, %v", i, stepped, err)
		}
		if err := s.Update(); err != nil || s.Factor() != c.scale {
			t.Errorf("%d: scale %v (%v), want %v", i, s.Factor(), err, c.scale)
		}
	}
	if err := s.Update(); !errors.Is(err, amp.ErrNothing) {
		t.Errorf("Update of nothing: %v, want ErrNothing", err)
	}
}

func TestScaleStaysInRange(t *testing.T) {
	for _, c := range []struct{ init, gradient float64 }{{0x1p1023, 1}, {0x1p-1022, inf}} {
		s := must(amp.NewScaler(amp.ScalerConfig{Init: c.init, Interval: 1}))
		s.Step(&sgd{w: []float64{0}, g: []float64{c.gradient}}, 1)
		if err := s.Update(); err != nil || s.Factor() != c.init || s.State().Clean != 0 {
			t.Errorf("scale %v becomes %v (%v), want it to stay", c.init, s.Factor(), err)
		}
	}
}

func TestOnce(t *testing.T) {
	s := must(amp.NewScaler(amp.ScalerConfig{Init: 4}))
	opt := &sgd{w: []float64{0}, g: []float64{8}}
	_, first := s.Step(opt, 1)
	_, second := s.Step(opt, 1)
	third := s.Unscale(opt)
	if first != nil || !errors.Is(second, amp.ErrStepped) || !errors.Is(third, amp.ErrStepped) || opt.g[0] != 2 || opt.steps != 1 {
		t.Errorf("%v, %v, %v; gradient %v after %d steps", first, second, third, opt.g, opt.steps)
	}
	s.Update()
	if s.Unscale(opt) != nil || !errors.Is(s.Unscale(opt), amp.ErrUnscaled) || opt.g[0] != 0.5 {
		t.Errorf("the gradient is %v, want it divided once more", opt.g)
	}
}

func TestManyGoroutines(t *testing.T) {
	s := must(amp.NewScaler(amp.ScalerConfig{Init: 4}))
	opt := &sgd{w: []float64{0}, g: []float64{8}}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			s.Step(opt, s.Scale(1))
			s.Step(&sgd{g: []float64{1}}, 1)
		})
	}
	wg.Wait()
	if opt.steps != 1 || opt.g[0] != 2 {
		t.Errorf("%d steps with gradient %v, want one with 2", opt.steps, opt.g)
	}
}

// A training that is interrupted anywhere and resumed ends where the other one does.
func TestResumed(t *testing.T) {
	run := func(interrupt int) []float64 {
		start := func() (*amp.Scaler, *amp.Scheduler, *amp.Stepper) {
			sc := must(amp.NewScaler(amp.ScalerConfig{Init: 1 << 10, Interval: 3}))
			sd := must(amp.NewScheduler(amp.Schedule{Peak: 0.3, Warmup: 5, Total: 40}))
			return sc, sd, must(amp.NewStepper(sc, sd, 1, 2))
		}
		sc, sd, st := start()
		opt := &sgd{w: []float64{5, -3}, g: make([]float64, 2)}
		for k := range 50 {
			if k == interrupt {
				scaler, schedule := sc.State(), sd.State()
				sc, sd, st = start()
				if err := errors.Join(sc.SetState(scaler), sd.SetState(schedule)); err != nil {
					t.Fatal(err)
				}
			}
			for i, w := range opt.w {
				opt.g[i] = sc.Scale(2 * w)
			}
			if k%7 == 6 {
				opt.g[0] = inf
			}
			must(st.Step(opt))
		}
		return append(opt.w, sc.Factor(), sd.Rate())
	}
	want := run(-1)
	for k := range 50 {
		if got := run(k); !slices.Equal(got, want) {
			t.Errorf("interrupted before %d: %v, want %v", k, got, want)
		}
	}
	if math.Abs(want[0]) > 0.5 || math.Abs(want[1]) > 0.5 {
		t.Errorf("the training ends at %v, want it near 0", want[:2])
	}
}

// A Stepper takes the scale out, clips to 5 and steps with the first rate.
func ExampleStepper() {
	sc, _ := amp.NewScaler(amp.ScalerConfig{Init: 1024})
	sd, _ := amp.NewScheduler(amp.Schedule{Peak: 1, Warmup: 4, Total: 8})
	st, _ := amp.NewStepper(sc, sd, 5, 2)
	opt := &sgd{w: []float64{10, 10}, g: []float64{6 * 1024, 8 * 1024}}
	report, err := st.Step(opt)
	fmt.Printf("norm %.3f, rate %.2f, gradients %.3f, error %v\n", report.Norms[0], report.Rate, opt.g, err)
	// Output: norm 10.000, rate 0.25, gradients [3.000 4.000], error <nil>
}
