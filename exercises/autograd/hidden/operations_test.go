package hidden

import (
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// Add, Sub, Mul and Div: check the value, and the partial derivative for each of
// the two operands, multiplied by the gradient that arrives at the result. Mind
// the sign and the order of the operands of Sub and Div, and compute in float64.
func TestArithmetic(t *testing.T) {
	o := observe.New(t)
	ops := []struct {
		name string
		f    func(a, b node) node
	}{
		{"Add", (node).Add}, {"Sub", (node).Sub}, {"Mul", (node).Mul}, {"Div", (node).Div},
	}
	for _, op := range ops {
		var ys, das, dbs []float64
		for range 12 {
			a, b, w := autograd.New(away(o.Rand())), autograd.New(away(o.Rand())), autograd.New(away(o.Rand()))
			y := op.f(a, b)
			y.Mul(w).Backward()
			ys, das, dbs = append(ys, y.Data()), append(das, a.Grad()), append(dbs, b.Grad())
		}
		o.Floats(op.name, ys)
		o.Floats(op.name+": gradient of the left operand", das)
		o.Floats(op.name+": gradient of the right operand", dbs)
	}
}

// AddScalar, MulScalar and Neg: the constant is no node and gets no gradient;
// the operand gets the arriving gradient times 1, c and -1.
func TestConstants(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	c, d := away(r), away(r)
	for _, f := range []function{
		{"AddScalar", func(v node) node { return v.AddScalar(c) }, nil},
		{"MulScalar", func(v node) node { return v.MulScalar(d) }, nil},
		{"Neg", (node).Neg, nil},
	} {
		f.at = draws(8, r.NormFloat64)
		f.observe(o)
	}
}

// Pow: the derivative of x^p is p·x^(p-1), times the gradient that arrives. The
// exponent may be negative or a fraction, the base negative if it is an integer.
func TestPow(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	positive := draws(8, func() float64 { return between(r, 0.3, 3) })
	either := draws(8, func() float64 { return away(r) })
	p := between(r, 1.1, 2.9)
	q := -between(r, 0.2, 1.8)
	for _, f := range []function{
		{"square", func(v node) node { return v.Pow(2) }, either},
		{"cube", func(v node) node { return v.Pow(3) }, either},
		{"inverse", func(v node) node { return v.Pow(-1) }, either},
		{"first power", func(v node) node { return v.Pow(1) }, either},
		{"root", func(v node) node { return v.Pow(0.5) }, positive},
		{"fraction", func(v node) node { return v.Pow(p) }, positive},
		{"negative fraction", func(v node) node { return v.Pow(q) }, positive},
	} {
		f.observe(o)
	}
}

// Exp and Log: the derivatives are e^x and 1/x, times the gradient that arrives;
// no small number is added anywhere.
func TestExpLog(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	function{"Exp", (node).Exp, draws(10, func() float64 { return between(r, -5, 5) })}.observe(o)
	function{"Log", (node).Log, draws(10, func() float64 { return between(r, 0.01, 20) })}.observe(o)
}

// Tanh and Sigmoid: the derivatives are 1-t² and s·(1-s), where t and s are the
// results and not the operands, times the gradient that arrives.
func TestTanhSigmoid(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	function{"Tanh", (node).Tanh, draws(10, func() float64 { return between(r, -4, 4) })}.observe(o)
	function{"Sigmoid", (node).Sigmoid, draws(10, func() float64 { return between(r, -6, 6) })}.observe(o)
}

// ReLU: above 0 it passes the arriving gradient on as it is, below 0 it passes
// on nothing.
func TestReLU(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	xs := append(draws(8, func() float64 { return away(r) }), between(r, 0.5, 2), -between(r, 0.5, 2))
	function{"ReLU", (node).ReLU, xs}.observe(o)
}

// Sum: every term gets the arriving gradient, once for each time it is listed.
// Two nodes that hold the same number are still two nodes.
func TestSum(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	vs := leaves(r, 5)
	twin := autograd.New(vs[1].Data())
	terms := []node{vs[0], vs[1], vs[0], twin, vs[2], vs[3], vs[0], vs[4]}
	s := autograd.Sum(terms...)
	s.Mul(autograd.New(away(r))).Backward()
	o.Float("sum", s.Data())
	o.Floats("gradients", grads(append(vs, twin)))

	many := leaves(r, 300)
	weighted := make([]node, len(many))
	for i, v := range many {
		weighted[i] = v.MulScalar(r.NormFloat64())
	}
	s = autograd.Sum(weighted...)
	s.Backward()
	o.Float("long sum", s.Data())
	o.Floats("gradients of its terms", grads(weighted))
	o.Floats("gradients of the leaves", grads(many))
}
