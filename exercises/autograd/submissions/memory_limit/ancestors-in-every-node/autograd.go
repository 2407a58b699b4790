package autograd

import (
	"math"
	"slices"
)

type Value struct {
	data, grad, acc float64
	a, b            *Value
	da, db          float64
	below           []*Value // operands first
}

func unary(x *Value, y, dx float64) *Value {
	return join(&Value{data: y, a: x, da: dx})
}

func binary(a, b *Value, y, da, db float64) *Value {
	return join(&Value{data: y, a: a, b: b, da: da, db: db})
}

func New(x float64) *Value { return &Value{data: x} }

func (v *Value) Data() float64 { return v.data }

func (v *Value) Grad() float64 { return v.grad }

func (v *Value) SetData(x float64) {
	if v.a != nil {
		panic("autograd: SetData on a result")
	}
	v.data = x
}

func (v *Value) ZeroGrad() { v.grad = 0 }

func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.ZeroGrad()
	}
}

func (v *Value) Add(o *Value) *Value { return binary(v, o, v.data+o.data, 1, 1) }

func (v *Value) Sub(o *Value) *Value { return binary(v, o, v.data-o.data, 1, -1) }

func (v *Value) Mul(o *Value) *Value { return binary(v, o, v.data*o.data, o.data, v.data) }

func (v *Value) Div(o *Value) *Value {
	return binary(v, o, v.data/o.data, 1/o.data, -v.data/(o.data*o.data))
}

func (v *Value) AddScalar(c float64) *Value { return unary(v, v.data+c, 1) }

func (v *Value) MulScalar(c float64) *Value { return unary(v, v.data*c, c) }

func (v *Value) Neg() *Value { return unary(v, -v.data, -1) }

func (v *Value) Pow(p float64) *Value {
	if p == 0 {
		return unary(v, 1, 0)
	}
	return unary(v, math.Pow(v.data, p), p*math.Pow(v.data, p-1))
}

func (v *Value) Exp() *Value {
	y := math.Exp(v.data)
	return unary(v, y, y)
}

func (v *Value) Log() *Value { return unary(v, math.Log(v.data), 1/v.data) }

func (v *Value) Tanh() *Value {
	y := math.Tanh(v.data)
	return unary(v, y, 1-y*y)
}

func (v *Value) Sigmoid() *Value {
	y := 1 / (1 + math.Exp(-v.data))
	return unary(v, y, y*(1-y))
}

func (v *Value) ReLU() *Value {
	if v.data <= 0 {
		return unary(v, 0, 0)
	}
	return unary(v, v.data, 1)
}

func Sum(vs ...*Value) *Value {
	if len(vs) == 0 {
		return New(0)
	}
	sum := vs[0].AddScalar(0)
	for _, v := range vs[1:] {
		sum = sum.Add(v)
	}
	return sum
}

// join merges the lists of the operands of v.
func join(v *Value) *Value {
	v.below = append(slices.Clone(v.a.below), v.a)
	if v.b == nil || v.b == v.a {
		return v
	}
	known := make(map[*Value]bool, 2)
	if len(v.b.below) > 0 {
		for _, n := range v.below {
			known[n] = true
		}
		for _, n := range v.b.below {
			if !known[n] {
				v.below = append(v.below, n)
			}
		}
	}
	if !slices.Contains(v.below, v.b) {
		v.below = append(v.below, v.b)
	}
	return v
}

func (v *Value) Backward() {
	order := append(slices.Clone(v.below), v)
	v.acc = 1
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		if n.a != nil {
			n.a.acc += n.acc * n.da
		}
		if n.b != nil {
			n.b.acc += n.acc * n.db
		}
		n.grad += n.acc
		n.acc = 0
	}
}
