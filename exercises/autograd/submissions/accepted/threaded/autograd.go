// Package autograd threads a list through the nodes that a Backward reaches, so that
// every result stands before its operands, and unthreads it as it walks along.
package autograd

import "math"

// Value is a number, and an operation on up to two nodes or on a list of terms.
type Value struct {
	x, grad   float64
	op        *operation
	c         float64
	left      *Value
	right     *Value
	terms     []*Value
	following *Value // in the list of the Backward at work
	inflow    float64
	state     int // of the search: 0 is new, n is at operand n-1
}

// operation is how a result comes about, and what its operands receive for g.
type operation struct {
	f func(a, b, c float64) float64
	// back returns what a and b receive, where y is the result.
	back func(g, a, b, c, y float64) (float64, float64)
}

var (
	plus = &operation{
		func(a, b, _ float64) float64 { return a + b },
		func(g, _, _, _, _ float64) (float64, float64) { return g, g },
	}
	minus = &operation{
		func(a, b, _ float64) float64 { return a - b },
		func(g, _, _, _, _ float64) (float64, float64) { return g, -g },
	}
	times = &operation{
		func(a, b, _ float64) float64 { return a * b },
		func(g, a, b, _, _ float64) (float64, float64) { return g * b, g * a },
	}
	over = &operation{
		func(a, b, _ float64) float64 { return a / b },
		func(g, a, b, _, _ float64) (float64, float64) { return g / b, -g * a / (b * b) },
	}
	shift = &operation{
		func(a, _, c float64) float64 { return a + c },
		func(g, _, _, _, _ float64) (float64, float64) { return g, 0 },
	}
	scale = &operation{
		func(a, _, c float64) float64 { return a * c },
		func(g, _, _, c, _ float64) (float64, float64) { return g * c, 0 },
	}
	power = &operation{
		func(a, _, c float64) float64 { return math.Pow(a, c) },
		func(g, a, _, c, _ float64) (float64, float64) {
			if c == 0 {
				return 0, 0
			}
			return g * (c * math.Pow(a, c-1)), 0
		},
	}
	exponential = &operation{
		func(a, _, _ float64) float64 { return math.Exp(a) },
		func(g, _, _, _, y float64) (float64, float64) { return g * y, 0 },
	}
	logarithm = &operation{
		func(a, _, _ float64) float64 { return math.Log(a) },
		func(g, a, _, _, _ float64) (float64, float64) { return g / a, 0 },
	}
	tangent = &operation{
		func(a, _, _ float64) float64 { return math.Tanh(a) },
		func(g, _, _, _, y float64) (float64, float64) { return g * (1 - y) * (1 + y), 0 },
	}
	logistic = &operation{
		func(a, _, _ float64) float64 { return 1 / (1 + math.Exp(-a)) },
		func(g, _, _, _, y float64) (float64, float64) { return g * y * (1 - y), 0 },
	}
	rectified = &operation{
		func(a, _, _ float64) float64 { return max(a, 0) },
		func(g, a, _, _, _ float64) (float64, float64) {
			if a > 0 {
				return g, 0
			}
			return 0, 0
		},
	}
	total = &operation{}
)

func New(x float64) *Value { return &Value{x: x} }

func (v *Value) Data() float64 { return v.x }
func (v *Value) Grad() float64 { return v.grad }
func (v *Value) ZeroGrad()     { v.grad = 0 }

func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.ZeroGrad()
	}
}

func (v *Value) SetData(x float64) {
	if v.op != nil {
		panic("autograd: a result has its number from its operands")
	}
	v.x = x
}

func (v *Value) with(op *operation, o *Value) *Value {
	return &Value{x: op.f(v.x, o.x, 0), op: op, left: v, right: o}
}

func (v *Value) by(op *operation, c float64) *Value {
	return &Value{x: op.f(v.x, 0, c), op: op, left: v, c: c}
}

func (v *Value) Add(o *Value) *Value { return v.with(plus, o) }
func (v *Value) Sub(o *Value) *Value { return v.with(minus, o) }
func (v *Value) Mul(o *Value) *Value { return v.with(times, o) }
func (v *Value) Div(o *Value) *Value { return v.with(over, o) }

func (v *Value) AddScalar(c float64) *Value { return v.by(shift, c) }
func (v *Value) MulScalar(c float64) *Value { return v.by(scale, c) }
func (v *Value) Neg() *Value                { return v.by(scale, -1) }
func (v *Value) Pow(p float64) *Value       { return v.by(power, p) }
func (v *Value) Exp() *Value                { return v.by(exponential, 0) }
func (v *Value) Log() *Value                { return v.by(logarithm, 0) }
func (v *Value) Tanh() *Value               { return v.by(tangent, 0) }
func (v *Value) Sigmoid() *Value            { return v.by(logistic, 0) }
func (v *Value) ReLU() *Value               { return v.by(rectified, 0) }

func Sum(vs ...*Value) *Value {
	s := &Value{op: total, terms: make([]*Value, len(vs))}
	copy(s.terms, vs)
	for _, v := range vs {
		s.x += v.x
	}
	return s
}

// operand is the n-th operand, nil behind the last.
func (v *Value) operand(n int) *Value {
	switch {
	case v.op == total:
		if n < len(v.terms) {
			return v.terms[n]
		}
		return nil
	case n == 0:
		return v.left
	case n == 1:
		return v.right
	}
	return nil
}

func (v *Value) Backward() {
	var head *Value
	path := []*Value{v}
	v.state = 1
	for len(path) > 0 {
		n := path[len(path)-1]
		next := n.operand(n.state - 1)
		switch {
		case next == nil:
			path = path[:len(path)-1]
			n.following, head = head, n
		case next.state == 0:
			next.state = 1
			path = append(path, next)
			fallthrough
		default:
			n.state++
		}
	}
	v.inflow = 1
	for n := head; n != nil; {
		n.give()
		n.grad += n.inflow
		n.inflow, n.state = 0, 0
		n, n.following = n.following, nil
	}
}

// give passes on what has flowed in.
func (v *Value) give() {
	switch {
	case v.op == total:
		for _, term := range v.terms {
			term.inflow += v.inflow
		}
	case v.right != nil:
		l, r := v.op.back(v.inflow, v.left.x, v.right.x, v.c, v.x)
		v.left.inflow += l
		v.right.inflow += r
	case v.left != nil:
		l, _ := v.op.back(v.inflow, v.left.x, 0, v.c, v.x)
		v.left.inflow += l
	}
}
