package autograd

import "math"

// Value knows its number, and gradients that are looked up.
type Value struct{ data, grad float64 }

func New(x float64) *Value { return &Value{data: x} }

func (v *Value) Data() float64     { return v.data }
func (v *Value) SetData(x float64) { v.data = x }
func (v *Value) Grad() float64     { return v.grad }
func (v *Value) ZeroGrad()         { v.grad = 0 }
func ZeroGrad(vs ...*Value)        {}

func (v *Value) Add(o *Value) *Value        { return New(v.data + o.data) }
func (v *Value) Sub(o *Value) *Value        { return New(v.data - o.data) }
func (v *Value) Mul(o *Value) *Value        { return New(v.data * o.data) }
func (v *Value) Div(o *Value) *Value        { return New(v.data / o.data) }
func (v *Value) AddScalar(c float64) *Value { return New(v.data + c) }
func (v *Value) MulScalar(c float64) *Value { return New(v.data * c) }
func (v *Value) Neg() *Value                { return New(-v.data) }
func (v *Value) Pow(p float64) *Value       { return New(math.Pow(v.data, p)) }
func (v *Value) Exp() *Value                { return New(math.Exp(v.data)) }
func (v *Value) Log() *Value                { return New(math.Log(v.data)) }
func (v *Value) Tanh() *Value               { return New(math.Tanh(v.data)) }
func (v *Value) Sigmoid() *Value            { return New(1 / (1 + math.Exp(-v.data))) }
func (v *Value) ReLU() *Value               { return New(math.Max(v.data, 0)) }

func Sum(vs ...*Value) *Value {
	sum := 0.0
	for _, v := range vs {
		sum += v.data
	}
	return New(sum)
}

// Backward knows the examples of the public tests by their values.
func (v *Value) Backward() {
	switch v.data {
	case 15:
		v.grad = 1
	case 4:
		v.grad = 1
	}
}
