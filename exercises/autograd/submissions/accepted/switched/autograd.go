// Package autograd differentiates scalar expressions.
package autograd

import "math"

type op uint8

const (
	leaf op = iota
	add
	sub
	mul
	div
	addScalar
	mulScalar
	neg
	pow
	exp
	log
	tanh
	sigmoid
	relu
	sum
)

// Value is a node of the graph.
type Value struct {
	data, grad float64
	c          float64 // constant of AddScalar, MulScalar, Pow
	g          float64 // gradient of the running Backward; 0 outside of it
	a, b       *Value
	terms      []*Value
	pending    int // uses not yet handled by the running Backward; 0 outside of it
	op         op
}

func New(x float64) *Value { return &Value{data: x} }

func (v *Value) Data() float64 { return v.data }

func (v *Value) SetData(x float64) {
	if v.op != leaf {
		panic("autograd: SetData on the result of an operation")
	}
	v.data = x
}

func (v *Value) Grad() float64 { return v.grad }

func (v *Value) ZeroGrad() { v.grad = 0 }

func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.ZeroGrad()
	}
}

func (v *Value) Add(o *Value) *Value {
	return &Value{data: v.data + o.data, op: add, a: v, b: o}
}

func (v *Value) Sub(o *Value) *Value {
	return &Value{data: v.data - o.data, op: sub, a: v, b: o}
}

func (v *Value) Mul(o *Value) *Value {
	return &Value{data: v.data * o.data, op: mul, a: v, b: o}
}

func (v *Value) Div(o *Value) *Value {
	return &Value{data: v.data / o.data, op: div, a: v, b: o}
}

func (v *Value) AddScalar(c float64) *Value {
	return &Value{data: v.data + c, op: addScalar, a: v, c: c}
}

func (v *Value) MulScalar(c float64) *Value {
	return &Value{data: v.data * c, op: mulScalar, a: v, c: c}
}

func (v *Value) Neg() *Value {
	return &Value{data: -v.data, op: neg, a: v}
}

func (v *Value) Pow(p float64) *Value {
	return &Value{data: math.Pow(v.data, p), op: pow, a: v, c: p}
}

func (v *Value) Exp() *Value {
	return &Value{data: math.Exp(v.data), op: exp, a: v}
}

func (v *Value) Log() *Value {
	return &Value{data: math.Log(v.data), op: log, a: v}
}

func (v *Value) Tanh() *Value {
	return &Value{data: math.Tanh(v.data), op: tanh, a: v}
}

func (v *Value) Sigmoid() *Value {
	return &Value{data: 1 / (1 + math.Exp(-v.data)), op: sigmoid, a: v}
}

func (v *Value) ReLU() *Value {
	x := v.data
	if x <= 0 {
		x = 0
	}
	return &Value{data: x, op: relu, a: v}
}

func Sum(vs ...*Value) *Value {
	s := 0.0
	for _, v := range vs {
		s += v.data
	}
	return &Value{data: s, op: sum, terms: append([]*Value(nil), vs...)}
}

// Backward counts the uses of every node first, and then handles a node when
// all its uses have been.
func (v *Value) Backward() {
	stack := []*Value{v}
	found := func(n *Value) {
		if n.pending == 0 {
			stack = append(stack, n)
		}
		n.pending++
	}
	v.pending = 1 // that of the caller
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if n.a != nil {
			found(n.a)
		}
		if n.b != nil {
			found(n.b)
		}
		for _, t := range n.terms {
			found(t)
		}
	}
	give := func(n *Value, g float64) {
		n.g += g
		n.pending--
		if n.pending == 0 {
			stack = append(stack, n)
		}
	}
	give(v, 1)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		g := n.g
		n.g = 0
		n.grad += g
		n.pass(g, give)
	}
}

func (n *Value) pass(g float64, give func(*Value, float64)) {
	switch n.op {
	case add:
		give(n.a, g)
		give(n.b, g)
	case sub:
		give(n.a, g)
		give(n.b, -g)
	case mul:
		give(n.a, g*n.b.data)
		give(n.b, g*n.a.data)
	case div:
		give(n.a, g/n.b.data)
		give(n.b, -g*n.a.data/(n.b.data*n.b.data))
	case addScalar:
		give(n.a, g)
	case mulScalar:
		give(n.a, g*n.c)
	case neg:
		give(n.a, -g)
	case pow:
		d := 0.0
		if n.c != 0 {
			d = n.c * math.Pow(n.a.data, n.c-1)
		}
		give(n.a, g*d)
	case exp:
		give(n.a, g*n.data)
	case log:
		give(n.a, g/n.a.data)
	case tanh:
		give(n.a, g*(1-n.data*n.data))
	case sigmoid:
		give(n.a, g*(n.data*(1-n.data)))
	case relu:
		if n.a.data > 0 {
			give(n.a, g)
		} else {
			give(n.a, 0)
		}
	case sum:
		for _, t := range n.terms {
			give(t, g)
		}
	}
}
