package autograd

import (
	"math"
	"testing"
)

// These tests show the idea, by examples of README.md. The hidden ones check all
// of it, with inputs that are new each time.

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestForward(t *testing.T) {
	x, y := New(3), New(-2)
	near(t, "x+y", x.Add(y).Data(), 1)
	near(t, "x-y", x.Sub(y).Data(), 5)
	near(t, "x·y", x.Mul(y).Data(), -6)
	near(t, "x/y", x.Div(y).Data(), -1.5)
	near(t, "x³", x.Pow(3).Data(), 27)
	near(t, "relu(y)", y.ReLU().Add(x).Data(), 3)
	near(t, "x+y+x", Sum(x, y, x).Data(), 4)
}

func TestBackward(t *testing.T) {
	x, y := New(3), New(4)
	z := x.Mul(y).Add(x)
	z.Backward()
	near(t, "z", z.Data(), 15)
	near(t, "dz/dx", x.Grad(), 5)
	near(t, "dz/dy", y.Grad(), 3)
	near(t, "dz/dz", z.Grad(), 1)
}

// The example that catches most first attempts: b is used twice.
func TestReusedResult(t *testing.T) {
	a := New(1)
	b := a.Add(a)
	c := b.Add(b)
	c.Backward()
	near(t, "dc/db", b.Grad(), 2)
	near(t, "dc/da", a.Grad(), 4)
}

// The other one: gradients add up over calls, in results of operations as well.
func TestBackwardTwice(t *testing.T) {
	x := New(2)
	y := x.Mul(x)
	z := y.MulScalar(3)
	z.Backward()
	z.Backward()
	near(t, "2·dz/dy", y.Grad(), 6)
	near(t, "2·dz/dx", x.Grad(), 24)
	ZeroGrad(x, y, z)
	z.Backward()
	near(t, "dz/dx", x.Grad(), 12)
}

// Derivatives against central differences: a way to check an operation without
// knowing its derivative. Try it on the others.
func TestCentralDifference(t *testing.T) {
	f := func(x *Value) *Value { return x.Tanh().Mul(x).Exp().AddScalar(1).Log() }
	const x, h = 0.8, 1e-5
	v := New(x)
	f(v).Backward()
	slope := (f(New(x+h)).Data() - f(New(x-h)).Data()) / (2 * h)
	if slope == 0 || math.Abs(v.Grad()-slope) > 1e-7 {
		t.Errorf("gradient %v, central difference %v", v.Grad(), slope)
	}
}

// A neuron learns to answer 1.
func TestLearning(t *testing.T) {
	w, b := New(-0.5), New(0)
	var loss float64
	for range 200 {
		l := w.MulScalar(1.5).Add(b).Sigmoid().AddScalar(-1).Pow(2)
		ZeroGrad(w, b)
		l.Backward()
		w.SetData(w.Data() - 0.5*w.Grad())
		b.SetData(b.Data() - 0.5*b.Grad())
		loss = l.Data()
	}
	if !(loss > 0 && loss < 0.01) {
		t.Errorf("the loss is %v after 200 steps, want less than 0.01", loss)
	}
}
