// Package autograd has as few primitives as will do; everything else is
// composed of them, and gets its gradient for nothing.
package autograd

import "math"

type Value struct {
	data, grad, delta float64
	left, right       *Value
	dleft, dright     float64
	waiting           int
}

func New(x float64) *Value { return &Value{data: x} }

func (v *Value) Data() float64 { return v.data }
func (v *Value) Grad() float64 { return v.grad }
func (v *Value) ZeroGrad()     { v.grad = 0 }

func (v *Value) SetData(x float64) {
	if v.left != nil {
		panic("SetData: interior node")
	}
	v.data = x
}

func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.ZeroGrad()
	}
}

// The primitives.

func (v *Value) Add(o *Value) *Value {
	return &Value{data: v.data + o.data, left: v, dleft: 1, right: o, dright: 1}
}

func (v *Value) Mul(o *Value) *Value {
	return &Value{data: v.data * o.data, left: v, dleft: o.data, right: o, dright: v.data}
}

func (v *Value) apply(f func(float64) float64, slope func(x, y float64) float64) *Value {
	y := f(v.data)
	return &Value{data: y, left: v, dleft: slope(v.data, y)}
}

// What follows from them.

func (v *Value) AddScalar(c float64) *Value { return v.Add(New(c)) }
func (v *Value) MulScalar(c float64) *Value { return v.Mul(New(c)) }
func (v *Value) Neg() *Value                { return v.MulScalar(-1) }
func (v *Value) Sub(o *Value) *Value        { return v.Add(o.Neg()) }
func (v *Value) Div(o *Value) *Value        { return v.Mul(o.Pow(-1)) }

func (v *Value) Pow(p float64) *Value {
	return v.apply(
		func(x float64) float64 { return math.Pow(x, p) },
		func(x, _ float64) float64 {
			if p == 0 {
				return 0
			}
			return p * math.Pow(x, p-1)
		})
}

func (v *Value) Exp() *Value {
	return v.apply(math.Exp, func(_, y float64) float64 { return y })
}

func (v *Value) Log() *Value {
	return v.apply(math.Log, func(x, _ float64) float64 { return 1 / x })
}

func (v *Value) Tanh() *Value {
	return v.apply(math.Tanh, func(_, y float64) float64 { return 1 - y*y })
}

func (v *Value) Sigmoid() *Value {
	logistic := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	return v.apply(logistic, func(_, y float64) float64 { return y * (1 - y) })
}

func (v *Value) ReLU() *Value {
	step := func(x, _ float64) float64 {
		if x > 0 {
			return 1
		}
		return 0
	}
	return v.apply(func(x float64) float64 { return max(x, 0) }, step)
}

// Sum halves its terms, for a flat tree.
func Sum(vs ...*Value) *Value {
	switch len(vs) {
	case 0:
		return New(0)
	case 1:
		return vs[0].AddScalar(0)
	case 2:
		return vs[0].Add(vs[1])
	}
	half := len(vs) / 2
	return Sum(vs[:half]...).Add(Sum(vs[half:]...))
}
