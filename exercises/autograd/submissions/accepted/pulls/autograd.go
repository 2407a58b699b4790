// Package autograd pulls gradients: Backward turns the graph round, so that every node
// has a list of its uses, and each takes from them what is its part.
package autograd

import "math"

type Value struct {
	number, gradient float64
	made             bool
	inputs           []*Value
	slopes           []float64
	place            int // in the list of the Backward at work, from 1 on
}

func New(x float64) *Value { return &Value{number: x} }

func (v *Value) Data() float64 { return v.number }
func (v *Value) Grad() float64 { return v.gradient }
func (v *Value) ZeroGrad()     { v.gradient = 0 }

func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.gradient = 0
	}
}

func (v *Value) SetData(x float64) {
	if v.made {
		panic("not a leaf")
	}
	v.number = x
}

func from1(y float64, a *Value, da float64) *Value {
	return &Value{number: y, made: true, inputs: []*Value{a}, slopes: []float64{da}}
}

func from2(y float64, a *Value, da float64, b *Value, db float64) *Value {
	return &Value{number: y, made: true, inputs: []*Value{a, b}, slopes: []float64{da, db}}
}

func (v *Value) Add(o *Value) *Value { return from2(v.number+o.number, v, 1, o, 1) }
func (v *Value) Sub(o *Value) *Value { return from2(v.number-o.number, v, 1, o, -1) }
func (v *Value) Mul(o *Value) *Value { return from2(v.number*o.number, v, o.number, o, v.number) }

func (v *Value) Div(o *Value) *Value {
	y := v.number / o.number
	return from2(y, v, 1/o.number, o, -y/o.number)
}

func (v *Value) AddScalar(c float64) *Value { return from1(v.number+c, v, 1) }
func (v *Value) MulScalar(c float64) *Value { return from1(v.number*c, v, c) }
func (v *Value) Neg() *Value                { return from1(-v.number, v, -1) }

func (v *Value) Pow(p float64) *Value {
	if p == 0 {
		return from1(1, v, 0)
	}
	return from1(math.Pow(v.number, p), v, p*math.Pow(v.number, p-1))
}

func (v *Value) Exp() *Value {
	y := math.Exp(v.number)
	return from1(y, v, y)
}

func (v *Value) Log() *Value { return from1(math.Log(v.number), v, 1/v.number) }

func (v *Value) Tanh() *Value {
	y := math.Tanh(v.number)
	return from1(y, v, 1-y*y)
}

func (v *Value) Sigmoid() *Value {
	if v.number < 0 {
		e := math.Exp(v.number)
		return from1(e/(1+e), v, e/(1+e)/(1+e))
	}
	e := math.Exp(-v.number)
	return from1(1/(1+e), v, e/(1+e)/(1+e))
}

func (v *Value) ReLU() *Value {
	slope := 0.0
	if v.number > 0 {
		slope = 1
	}
	return from1(math.Max(0, v.number), v, slope)
}

func Sum(vs ...*Value) *Value {
	s := &Value{made: true, inputs: append([]*Value{}, vs...)}
	for _, v := range vs {
		s.number += v.number
		s.slopes = append(s.slopes, 1)
	}
	return s
}

// use is one use of a node: the place of its user, and the slope.
type use struct {
	user  int
	slope float64
}

func (v *Value) Backward() {
	nodes := v.sorted()
	uses := turned(nodes)
	flow := make([]float64, len(nodes))
	flow[0] = 1
	for i := range nodes {
		for _, u := range uses[i] {
			flow[i] += flow[u.user] * u.slope
		}
	}
	for i, n := range nodes {
		n.gradient += flow[i]
		n.place = 0
	}
}

// turned lists the uses of each node, in one slice for all.
func turned(nodes []*Value) [][]use {
	counts := make([]int, len(nodes))
	all := 0
	for _, n := range nodes {
		for _, in := range n.inputs {
			counts[in.place-1]++
			all++
		}
	}
	space := make([]use, all)
	lists := make([][]use, len(nodes))
	for i, c := range counts {
		lists[i], space = space[:0:c], space[c:]
	}
	for user, n := range nodes {
		for k, in := range n.inputs {
			lists[in.place-1] = append(lists[in.place-1], use{user, n.slopes[k]})
		}
	}
	return lists
}

// sorted lists the nodes below v, users first, and tells each its place.
func (v *Value) sorted() []*Value {
	type step struct {
		n    *Value
		next int
	}
	var after []*Value
	v.place = 1
	for path := []step{{n: v}}; len(path) > 0; {
		top := &path[len(path)-1]
		if top.next < len(top.n.inputs) {
			in := top.n.inputs[top.next]
			top.next++
			if in.place == 0 {
				in.place = 1
				path = append(path, step{n: in})
			}
			continue
		}
		after = append(after, top.n)
		path = path[:len(path)-1]
	}
	for i, j := 0, len(after)-1; i < j; i, j = i+1, j-1 {
		after[i], after[j] = after[j], after[i]
	}
	for i, n := range after {
		n.place = i + 1
	}
	return after
}
