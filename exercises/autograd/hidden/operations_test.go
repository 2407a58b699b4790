package hidden

import (
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// Add, Sub, Mul and Div: check the value, and the partial derivative for each of
// the two operands, multiplied by the gradient that arrives at the result. Mind
// the sign and the order of the operands of Sub and Div, and compute in float64 (the
// table under Operations).
func TestArithmetic(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, op := range operations(r)[:4] {
		recordPairs(o, op, "", draws(4, func() float64 { return away(r) }))
		recordPairs(o, op, " at 1 and -1", []float64{1, -1, away(r)})
		a, b := autograd.New(away(r)), autograd.New(away(r))
		byQuotient.of(op.f(a, b), away(r)).Backward()
		o.Float(byQuotient.name+"gradient of a in "+op.name, a.Grad(), rough)
		o.Float(byQuotient.name+"gradient of b in "+op.name, b.Grad(), rough)
	}
	for _, op := range operations(r)[:3] {
		recordPairs(o, op, " at 0", []float64{0, away(r)})
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
		{"MulScalar(0)", func(v node) node { return v.MulScalar(0) }, nil},
		{"Neg", (node).Neg, nil},
	} {
		f.at = draws(8, r.NormFloat64)
		f.observe(o, byConstant)
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
		f.observe(o, byQuotient)
	}
}

// Exp and Log: the derivatives are e^x and 1/x, times the gradient that arrives;
// no small number is added anywhere.
func TestExpLog(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	// Some slopes are small, and no reason to stop at them.
	exps := append(draws(10, func() float64 { return between(r, -5, 5) }), -between(r, 7, 9), 0)
	function{"Exp", (node).Exp, exps}.observe(o, byConstant)
	function{"Log", (node).Log, append(draws(10, func() float64 { return between(r, 0.01, 20) }), 1)}.observe(o, byConstant)
}

// Tanh and Sigmoid: the derivatives are 1-t² and s·(1-s), where t and s are the
// results and not the operands, times the gradient that arrives.
func TestTanhSigmoid(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	// Both are nearly flat already at the last ones, but not by 9 digits.
	tanhs := append(draws(10, func() float64 { return between(r, -4, 4) }), between(r, 4, 5), -between(r, 4, 5),
		between(r, 5, 8), -between(r, 5, 8), between(r, 8, 9.5), -between(r, 8, 9.5), between(r, 10.6, 11), -between(r, 10.6, 11), 0)
	function{"Tanh", (node).Tanh, tanhs}.observe(o, byConstant)
	sigmoids := append(draws(10, func() float64 { return between(r, -6, 6) }), between(r, 6, 8), -between(r, 6, 8),
		between(r, 8, 14), -between(r, 8, 14), between(r, 14, 17), -between(r, 14, 17), between(r, 17, 18), -between(r, 17, 18),
		between(r, 20.2, 20.6), -between(r, 20.2, 20.6), 0)
	function{"Sigmoid", (node).Sigmoid, sigmoids}.observe(o, byConstant)
}

// ReLU: above 0 it passes the arriving gradient on as it is, below 0 it passes
// on nothing.
func TestReLU(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	xs := append(draws(8, func() float64 { return away(r) }), between(r, 0.5, 2), -between(r, 0.5, 2))
	function{"ReLU", (node).ReLU, xs}.observe(o, byProduct)
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
	s.Backward()
	o.Float("sum of nodes of which some are listed often", s.Data())
	o.Floats("gradients of nodes of which some are listed often", grads(append(vs, twin)))

	many := leaves(r, 300)
	s = autograd.Sum(many...)
	byQuotient.of(s, away(r)).Backward()
	o.Float("long sum", s.Data())
	o.Floats(byQuotient.name+"gradients of the terms of a long sum", grads(many), rough)
}
