package autograd

import "math"

type pair struct{ a, b *Value }

func (p pair) operands(yield func(*Value) bool) { _ = yield(p.a) && yield(p.b) }

type single struct{ x *Value }

func (s single) operands(yield func(*Value) bool) { yield(s.x) }

func (v *Value) receive(g float64) { v.visit.flow += g }

type (
	addition       struct{ pair }
	subtraction    struct{ pair }
	multiplication struct{ pair }
	division       struct{ pair }
	scaling        struct {
		single
		c float64
	}
	power struct {
		single
		p float64
	}
	exponential struct{ single }
	logarithm   struct{ single }
	hyperbolic  struct{ single }
	logistic    struct{ single }
	rectifier   struct{ single }
	total       []*Value
)

func (v *Value) Add(o *Value) *Value {
	return &Value{data: v.data + o.data, op: addition{pair{v, o}}}
}

func (op addition) backward(_, g float64) {
	op.a.receive(g)
	op.b.receive(g)
}

func (v *Value) Sub(o *Value) *Value {
	return &Value{data: v.data - o.data, op: subtraction{pair{v, o}}}
}

func (op subtraction) backward(_, g float64) {
	op.a.receive(g)
	op.b.receive(-g)
}

func (v *Value) Mul(o *Value) *Value {
	return &Value{data: v.data * o.data, op: multiplication{pair{v, o}}}
}

func (op multiplication) backward(_, g float64) {
	op.a.receive(g * op.b.data)
	op.b.receive(g * op.a.data)
}

func (v *Value) Div(o *Value) *Value {
	return &Value{data: v.data / o.data, op: division{pair{v, o}}}
}

func (op division) backward(y, g float64) {
	op.a.receive(g / op.b.data)
	op.b.receive(-g * y / op.b.data)
}

func (v *Value) scaled(y, c float64) *Value {
	return &Value{data: y, op: scaling{single{v}, c}}
}

func (v *Value) AddScalar(c float64) *Value { return v.scaled(v.data+c, 1) }
func (v *Value) MulScalar(c float64) *Value { return v.scaled(v.data*c, c) }
func (v *Value) Neg() *Value                { return v.scaled(-v.data, -1) }

func (op scaling) backward(_, g float64) { op.x.receive(g * op.c) }

func (v *Value) Pow(p float64) *Value {
	return &Value{data: math.Pow(v.data, p), op: power{single{v}, p}}
}

func (op power) backward(_, g float64) {
	if op.p != 0 {
		op.x.receive(g * op.p * math.Pow(op.x.data, op.p-1))
	}
}

func (v *Value) Exp() *Value { return &Value{data: math.Exp(v.data), op: exponential{single{v}}} }

func (op exponential) backward(y, g float64) { op.x.receive(g * y) }

func (v *Value) Log() *Value { return &Value{data: math.Log(v.data), op: logarithm{single{v}}} }

func (op logarithm) backward(_, g float64) { op.x.receive(g / op.x.data) }

func (v *Value) Tanh() *Value { return &Value{data: math.Tanh(v.data), op: hyperbolic{single{v}}} }

func (op hyperbolic) backward(y, g float64) { op.x.receive(g * (1 - y*y)) }

func (v *Value) Sigmoid() *Value {
	return &Value{data: 1 / (1 + math.Exp(-v.data)), op: logistic{single{v}}}
}

func (op logistic) backward(y, g float64) { op.x.receive(g * y * (1 - y)) }

func (v *Value) ReLU() *Value {
	y := v.data
	if y <= 0 {
		y = 0
	}
	return &Value{data: y, op: rectifier{single{v}}}
}

func (op rectifier) backward(y, g float64) {
	if y > 0 {
		op.x.receive(g)
	}
}

func Sum(vs ...*Value) *Value {
	y := 0.0
	for _, v := range vs {
		y += v.data
	}
	return &Value{data: y, op: append(total(nil), vs...)}
}

func (op total) operands(yield func(*Value) bool) {
	for _, v := range op {
		if !yield(v) {
			return
		}
	}
}

func (op total) backward(_, g float64) {
	for _, v := range op {
		v.receive(g)
	}
}
