package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// Examples of README.md. The hidden tests check all of it, with numbers that are new each
// time.

// near says whether got is right to 9 digits.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*math.Abs(want) }

// fake is an optimizer that writes down the rates of its steps.
type fake struct {
	grads [][]float64
	rates []float64
}

func (f *fake) Grads() [][]float64 { return f.grads }
func (f *fake) Step(rate float64)  { f.rates = append(f.rates, rate) }

// Rules 1 and 2: the norm is 5, and the factor 2.5 / 5.000001.
func TestClip(t *testing.T) {
	grads := [][]float64{{3}, nil, {0, -4}}
	norm, err := Clip(grads, 2.5, 2)
	if err != nil || !near(norm, 5) || !near(grads[0][0], 1.4999997) || !near(grads[2][1], -1.9999996) {
		t.Errorf("norm %v, error %v, gradients %v; want 5, nil, {1.4999997}, {}, {0, -1.9999996}", norm, err, grads)
	}
}

// Rule 5.
func TestClipNotFinite(t *testing.T) {
	grads := [][]float64{{3, math.Inf(1)}}
	if norm, err := Clip(grads, 1, 2); !math.IsInf(norm, 1) || !errors.Is(err, ErrNonFinite) || grads[0][0] != 3 {
		t.Errorf("norm %v, error %v, gradients %v; want +Inf, ErrNonFinite, {3, +Inf}", norm, err, grads)
	}
}

// Rules 8 and 9.
func TestSchedule(t *testing.T) {
	s, err := NewScheduler(Schedule{Peak: 8, Floor: 2, Warmup: 4, Total: 8})
	if err != nil {
		t.Fatal(err)
	}
	half := 3 / math.Sqrt2
	for step, want := range []float64{2, 4, 6, 8, 8, 5 + half, 5, 5 - half, 2, 2} {
		if got := s.Rate(); !near(got, want) {
			t.Errorf("rate of step %d is %v, want %v", step, got, want)
		}
		s.Step()
	}
}

// Rules 16 to 20: a step that is skipped, and two clean ones after which the scale grows.
func TestScaler(t *testing.T) {
	s, err := NewScaler(ScalerConfig{Init: 1024, Interval: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Scale(0.5); got != 512 {
		t.Errorf("Scale(0.5) = %v, want 512", got)
	}
	for i, c := range []struct {
		gradient float64 // as it comes from the backward pass
		stepped  bool
		scale    float64 // after the Update
	}{
		{math.Inf(1), false, 512},
		{512, true, 512},
		{512, true, 1024},
	} {
		f := &fake{grads: [][]float64{{c.gradient}}}
		stepped, err := s.Step(f, 0.1)
		if stepped != c.stepped || len(f.rates) == 1 != c.stepped || err != nil {
			t.Errorf("%d: Step returns %v, %v after %d steps, want %v, nil", i, stepped, err, len(f.rates), c.stepped)
		}
		if c.stepped && f.grads[0][0] != 1 {
			t.Errorf("%d: the gradient is %v, want 1", i, f.grads[0][0])
		}
		if err := s.Update(); err != nil || s.Factor() != c.scale {
			t.Errorf("%d: scale %v (%v), want %v", i, s.Factor(), err, c.scale)
		}
	}
}

// Rule 25: gradients are 6 and 8 after the scale is taken out, and then clipped to 5.
func TestStepper(t *testing.T) {
	sc, _ := NewScaler(ScalerConfig{Init: 1024})
	sd, _ := NewScheduler(Schedule{Peak: 1, Warmup: 4, Total: 8})
	st, err := NewStepper(sc, sd, 5, 2)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{grads: [][]float64{{6 * 1024}, {8 * 1024}}}
	report, err := st.Step(f)
	if err != nil || report.Rate != 0.25 || !slices.Equal(report.Stepped, []bool{true}) || len(report.Norms) != 1 || !near(report.Norms[0], 10) {
		t.Errorf("Step returns %+v, %v, want rate 0.25, norm 10, stepped", report, err)
	}
	if math.Abs(f.grads[0][0]-3) > 1e-5 || math.Abs(f.grads[1][0]-4) > 1e-5 || !slices.Equal(f.rates, []float64{0.25}) {
		t.Errorf("gradients %v and rates %v, want about 3 and 4, and 0.25", f.grads, f.rates)
	}
}
