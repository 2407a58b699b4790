// Package autograd numbers nodes as they are made. An operand is older than any
// result of it, so Backward takes the youngest node first.
package autograd

import (
	"math"
	"slices"
	"sync/atomic"
)

type Value struct {
	data, grad, sum float64
	birth           int64
	from            [2]*Value
	by              [2]float64
	more            []*Value
	seen            bool
}

var born atomic.Int64

func node(y float64) *Value { return &Value{data: y, birth: born.Add(1)} }

func (v *Value) of(x *Value, by float64) *Value {
	i := 0
	if v.from[0] != nil {
		i = 1
	}
	v.from[i], v.by[i] = x, by
	return v
}

func New(x float64) *Value { return node(x) }

func (v *Value) Data() float64 { return v.data }
func (v *Value) Grad() float64 { return v.grad }
func (v *Value) ZeroGrad()     { v.grad = 0 }

func (v *Value) SetData(x float64) {
	if v.from[0] != nil || len(v.more) > 0 {
		panic("not a leaf")
	}
	v.data = x
}

func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.grad = 0
	}
}

func (v *Value) Add(o *Value) *Value { return node(v.data+o.data).of(v, 1).of(o, 1) }
func (v *Value) Sub(o *Value) *Value { return node(v.data-o.data).of(v, 1).of(o, -1) }
func (v *Value) Mul(o *Value) *Value { return node(v.data*o.data).of(v, o.data).of(o, v.data) }

func (v *Value) Div(o *Value) *Value {
	inverse := 1 / o.data
	return node(v.data/o.data).of(v, inverse).of(o, -v.data*inverse*inverse)
}

func (v *Value) AddScalar(c float64) *Value { return node(v.data+c).of(v, 1) }
func (v *Value) MulScalar(c float64) *Value { return node(v.data*c).of(v, c) }
func (v *Value) Neg() *Value                { return node(-v.data).of(v, -1) }

func (v *Value) Pow(p float64) *Value {
	by := p
	if p != 0 {
		by *= math.Pow(v.data, p-1)
	}
	return node(math.Pow(v.data, p)).of(v, by)
}

func (v *Value) Exp() *Value {
	y := math.Exp(v.data)
	return node(y).of(v, y)
}

func (v *Value) Log() *Value { return node(math.Log(v.data)).of(v, 1/v.data) }

func (v *Value) Tanh() *Value {
	y := math.Tanh(v.data)
	return node(y).of(v, 1-y*y)
}

func (v *Value) Sigmoid() *Value {
	y := 1 / (1 + math.Exp(-v.data))
	return node(y).of(v, y*(1-y))
}

func (v *Value) ReLU() *Value {
	if v.data > 0 {
		return node(v.data).of(v, 1)
	}
	return node(math.Max(0, v.data)).of(v, 0) // Max of NaN is NaN
}

func Sum(vs ...*Value) *Value {
	y := 0.0
	for _, v := range vs {
		y += v.data
	}
	s := node(y)
	s.more = slices.Clone(vs)
	return s
}

func (v *Value) Backward() {
	nodes := v.collect()
	slices.SortFunc(nodes, func(a, b *Value) int { return int(b.birth - a.birth) })
	v.sum = 1
	for _, n := range nodes {
		for i, in := range n.from {
			if in != nil {
				in.sum += n.by[i] * n.sum
			}
		}
		for _, in := range n.more {
			in.sum += n.sum
		}
		n.grad += n.sum
		n.sum, n.seen = 0, false
	}
}

func (v *Value) collect() []*Value {
	v.seen = true
	nodes := []*Value{v}
	for next := 0; next < len(nodes); next++ {
		n := nodes[next]
		for _, in := range append(n.from[:len(n.from):len(n.from)], n.more...) {
			if in != nil && !in.seen {
				in.seen = true
				nodes = append(nodes, in)
			}
		}
	}
	return nodes
}
