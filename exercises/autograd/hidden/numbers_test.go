package hidden

import (
	"math"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// Division by 0, logarithm of 0 and of negative numbers, overflow: IEEE 754
// gives ±Inf and NaN, in values and gradients. Nothing panics, nothing is
// clamped, and no small number is added.
func TestInfinities(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, numerator := range []float64{between(r, 0.5, 2), -between(r, 0.5, 2), 0} {
		a, b := autograd.New(numerator), autograd.New(0)
		y := a.Div(b)
		y.Backward()
		o.Floats("division by 0", []float64{y.Data(), a.Grad(), b.Grad()})
	}
	function{"Log of 0", (node).Log, []float64{0}}.observeAlone(o)
	o.Float("Log of a negative number", autograd.New(-between(r, 0.5, 2)).Log().Data())
	function{"Exp", (node).Exp, []float64{between(r, 750, 2000), -between(r, 750, 2000)}}.observeAlone(o)
	function{"tiny", (node).Log, []float64{between(r, 1e-200, 9e-200)}}.observeAlone(o)
}

// Far from 0 Tanh and Sigmoid are flat: exact limits, gradient 0, no NaN from
// Inf/Inf. ReLU has gradient 0 at 0, and NaN in gives NaN out.
func TestFlat(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	far := []float64{1000, -1000, between(r, 750, 1e6), -between(r, 750, 1e6)}
	function{"Tanh", (node).Tanh, far}.observeAlone(o)
	function{"Sigmoid", (node).Sigmoid, far}.observeAlone(o)
	function{"ReLU", (node).ReLU, append(far, 0)}.observeAlone(o)
	o.Float("ReLU of NaN", autograd.New(math.NaN()).ReLU().Data())
}

// Pow at its edges: the power 0 is the constant 1 with gradient 0 at every base;
// at base 0 the formula p·x^(p-1) holds as math.Pow computes it; a negative base
// with a fraction as exponent is NaN.
func TestPowEdges(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	fraction := between(r, 0.1, 0.9)
	for _, f := range []function{
		{"power 0", func(v node) node { return v.Pow(0) }, []float64{0, away(r), math.Inf(1), math.NaN()}},
		{"power 1 at 0", func(v node) node { return v.Pow(1) }, []float64{0}},
		{"power 2 at 0", func(v node) node { return v.Pow(2) }, []float64{0}},
		{"power -1 at 0", func(v node) node { return v.Pow(-1) }, []float64{0}},
		{"fraction at 0", func(v node) node { return v.Pow(fraction) }, []float64{0}},
		{"fraction of a negative number", func(v node) node { return v.Pow(fraction) }, []float64{-between(r, 0.5, 2)}},
	} {
		f.observeAlone(o)
	}
}

// A NaN or an infinity spreads along the graph only: a leaf gets no NaN from a
// branch that does not depend on it, nor from nodes that are not part of the
// root at all.
func TestNaNStaysInItsBranch(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x, y := autograd.New(away(r)), autograd.New(away(r))
	bad := autograd.New(math.NaN())
	clean := x.Mul(y)
	root := bad.Exp().Mul(bad).Add(clean)
	root.Backward()
	o.Floats("values", data([]node{bad, clean, root}))
	o.Floats("gradients beside a NaN", grads([]node{x, y, bad, clean}))

	autograd.ZeroGrad(x, y, clean)
	x.Mul(bad).Exp()                    // not part of what follows
	y.Div(autograd.New(0)).Mul(x).Log() // nor this
	other := clean.Tanh().Add(x)
	other.Backward()
	o.Floats("gradients after a NaN elsewhere", append(grads([]node{x, y, clean, other}), other.Data()))
}
