// Package autograd is a port of micrograd: each result holds a closure that
// knows how to pass the gradient on.
package autograd

import "math"

type Value struct {
	data, grad float64
	flow       float64 // gradient of the Backward call at work
	prev       []*Value
	back       func()
}

func New(x float64) *Value { return &Value{data: x} }

func (v *Value) Data() float64 { return v.data }
func (v *Value) Grad() float64 { return v.grad }
func (v *Value) ZeroGrad()     { v.grad = 0 }

func (v *Value) SetData(x float64) {
	if v.back != nil {
		panic("SetData needs a leaf")
	}
	v.data = x
}

func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.grad = 0
	}
}

func (v *Value) Add(o *Value) *Value {
	out := &Value{data: v.data + o.data, prev: []*Value{v, o}}
	out.back = func() {
		v.flow += out.flow
		o.flow += out.flow
	}
	return out
}

func (v *Value) Sub(o *Value) *Value {
	out := &Value{data: v.data - o.data, prev: []*Value{v, o}}
	out.back = func() {
		v.flow += out.flow
		o.flow -= out.flow
	}
	return out
}

func (v *Value) Mul(o *Value) *Value {
	out := &Value{data: v.data * o.data, prev: []*Value{v, o}}
	out.back = func() {
		v.flow += out.flow * o.data
		o.flow += out.flow * v.data
	}
	return out
}

func (v *Value) Div(o *Value) *Value {
	out := &Value{data: v.data / o.data, prev: []*Value{v, o}}
	out.back = func() {
		v.flow += out.flow / o.data
		o.flow -= out.flow * v.data / (o.data * o.data)
	}
	return out
}

// one makes the result of an operation on v; slope is called in Backward.
func (v *Value) one(y float64, slope func() float64) *Value {
	out := &Value{data: y, prev: []*Value{v}}
	out.back = func() { v.flow += out.flow * slope() }
	return out
}

func (v *Value) AddScalar(c float64) *Value {
	return v.one(v.data+c, func() float64 { return 1 })
}

func (v *Value) MulScalar(c float64) *Value {
	return v.one(v.data*c, func() float64 { return c })
}

func (v *Value) Neg() *Value {
	return v.one(-v.data, func() float64 { return -1 })
}

func (v *Value) Pow(p float64) *Value {
	return v.one(math.Pow(v.data, p), func() float64 {
		if p == 0 {
			return 0
		}
		return p * math.Pow(v.data, p-1)
	})
}

func (v *Value) Exp() *Value {
	e := math.Exp(v.data)
	return v.one(e, func() float64 { return e })
}

func (v *Value) Log() *Value {
	return v.one(math.Log(v.data), func() float64 { return 1 / v.data })
}

func (v *Value) Tanh() *Value {
	t := math.Tanh(v.data)
	return v.one(t, func() float64 { return 1 - t*t })
}

func (v *Value) Sigmoid() *Value {
	s := 1 / (1 + math.Exp(-v.data))
	return v.one(s, func() float64 { return s * (1 - s) })
}

func (v *Value) ReLU() *Value {
	y := v.data
	if y < 0 {
		y = 0
	}
	return v.one(y, func() float64 {
		if y > 0 {
			return 1
		}
		return 0
	})
}

func Sum(vs ...*Value) *Value {
	out := &Value{prev: append([]*Value(nil), vs...)}
	for _, v := range vs {
		out.data += v.data
	}
	out.back = func() {
		for _, v := range out.prev {
			v.flow += out.flow
		}
	}
	return out
}

func (v *Value) Backward() {
	order := v.topological()
	for _, n := range order {
		n.flow = 0
	}
	v.flow = 1
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		n.grad += n.flow
		if n.back != nil {
			n.back()
		}
	}
}

// topological lists operands before results: depth first, without recursion.
func (v *Value) topological() []*Value {
	type frame struct {
		node *Value
		next int
	}
	var order []*Value
	visited := map[*Value]bool{v: true}
	stack := []frame{{node: v}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == len(top.node.prev) {
			order = append(order, top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		child := top.node.prev[top.next]
		top.next++
		if !visited[child] {
			visited[child] = true
			stack = append(stack, frame{node: child})
		}
	}
	return order
}
