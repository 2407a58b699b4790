package autograd

import "math"

type Value struct {
	data, grad, acc float64
	a, b            *Value
	da, db          float64
	depth           int
	queued          bool
}

func unary(x *Value, y, dx float64) *Value {
	return &Value{data: y, a: x, da: dx, depth: x.depth + 1}
}

func binary(a, b *Value, y, da, db float64) *Value {
	return &Value{data: y, a: a, b: b, da: da, db: db, depth: max(a.depth, b.depth) + 1}
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
	if len(vs) == 1 {
		return vs[0].AddScalar(0)
	}
	if len(vs) == 2 {
		return vs[0].Add(vs[1])
	}
	half := len(vs) / 2
	return Sum(vs[:half]...).Add(Sum(vs[half:]...))
}

func (v *Value) Backward() {
	v.acc = 1
	for waiting := []*Value{v}; len(waiting) > 0; {
		at := 0
		for i, n := range waiting {
			if n.depth > waiting[at].depth {
				at = i
			}
		}
		n := waiting[at]
		waiting[at] = waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		for i, in := range []*Value{n.a, n.b} {
			if in == nil {
				continue
			}
			in.acc += n.acc * []float64{n.da, n.db}[i]
			if !in.queued {
				in.queued = true
				waiting = append(waiting, in)
			}
		}
		n.grad += n.acc
		n.acc, n.queued = 0, false
	}
}
