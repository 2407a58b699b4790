package autograd

import "math"

// unary returns the result y of an operation on x whose derivative there is dx.
func unary(x *Value, y, dx float64) *Value {
	return &Value{data: y, a: x, da: dx}
}

// binary returns the result y of an operation on a and b with the partial
// derivatives da and db.
func binary(a, b *Value, y, da, db float64) *Value {
	return &Value{data: y, a: a, b: b, da: da, db: db}
}

// Add returns v + o. Here and below o may be v, and must not be nil.
func (v *Value) Add(o *Value) *Value { return binary(v, o, v.data+o.data, 1, 1) }

// Sub returns v - o.
func (v *Value) Sub(o *Value) *Value { return binary(v, o, v.data-o.data, 1, -1) }

// Mul returns v · o.
func (v *Value) Mul(o *Value) *Value { return binary(v, o, v.data*o.data, o.data, v.data) }

// Div returns v / o, by the rules of IEEE 754 where o is 0.
func (v *Value) Div(o *Value) *Value {
	q := v.data / o.data
	return binary(v, o, q, 1/o.data, -q/o.data)
}

// AddScalar returns v + c.
func (v *Value) AddScalar(c float64) *Value { return unary(v, v.data+c, 1) }

// MulScalar returns c · v.
func (v *Value) MulScalar(c float64) *Value { return unary(v, v.data*c, c) }

// Neg returns -v.
func (v *Value) Neg() *Value { return unary(v, -v.data, -1) }

// Pow returns v to the power p, as [math.Pow] does. The exponent is a constant:
// no gradient goes to it.
func (v *Value) Pow(p float64) *Value {
	if p == 0 {
		// The formula below gives 0·Inf = NaN at 0; a constant has slope 0.
		return unary(v, 1, 0)
	}
	return unary(v, math.Pow(v.data, p), p*math.Pow(v.data, p-1))
}

// Exp returns e to the power v; above about 709.78 that is +Inf.
func (v *Value) Exp() *Value {
	e := math.Exp(v.data)
	return unary(v, e, e)
}

// Log returns the natural logarithm of v: -Inf of 0, NaN below.
func (v *Value) Log() *Value { return unary(v, math.Log(v.data), 1/v.data) }

// Tanh returns the hyperbolic tangent of v.
func (v *Value) Tanh() *Value {
	t := math.Tanh(v.data)
	return unary(v, t, 1-t*t)
}

// Sigmoid returns 1 / (1 + e^-v).
func (v *Value) Sigmoid() *Value {
	// Where e^-v overflows the quotient is 0, which is right to the last bit.
	s := 1 / (1 + math.Exp(-v.data))
	return unary(v, s, s*(1-s))
}

// ReLU returns v where v is positive and 0 elsewhere; NaN stays NaN. The
// derivative at 0 is 0.
func (v *Value) ReLU() *Value {
	if v.data <= 0 {
		return unary(v, 0, 0)
	}
	return unary(v, v.data, 1)
}

// Sum returns the sum of vs, 0 if there are none. It does not keep vs.
//
// It is a chain of additions: a node with many operands would need another field
// in every node, or a second type of node.
func Sum(vs ...*Value) *Value {
	if len(vs) == 0 {
		return New(0)
	}
	sum := vs[0].AddScalar(0) // a node of its own, also if vs[0] is all there is
	for _, v := range vs[1:] {
		sum = sum.Add(v)
	}
	return sum
}
