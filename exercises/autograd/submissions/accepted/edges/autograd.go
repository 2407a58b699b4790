// Package autograd keeps a list of edges in each node. Backward owns all that it
// needs in maps and slices, so that nodes hold nothing but the result.
package autograd

import "math"

type edge struct {
	to    *Value
	slope float64
}

type Value struct {
	data  float64
	grad  float64
	edges []edge
}

func New(x float64) *Value { return &Value{data: x} }

func (v *Value) Data() float64 { return v.data }

func (v *Value) Grad() float64 { return v.grad }

func (v *Value) SetData(x float64) {
	if v.edges != nil {
		panic("autograd: SetData on an interior node")
	}
	v.data = x
}

func (v *Value) ZeroGrad() { v.grad = 0 }

func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.ZeroGrad()
	}
}

func interior(data float64, edges ...edge) *Value { return &Value{data: data, edges: edges} }

func (v *Value) Add(o *Value) *Value { return interior(v.data+o.data, edge{v, 1}, edge{o, 1}) }
func (v *Value) Sub(o *Value) *Value { return interior(v.data-o.data, edge{v, 1}, edge{o, -1}) }
func (v *Value) Mul(o *Value) *Value {
	return interior(v.data*o.data, edge{v, o.data}, edge{o, v.data})
}
func (v *Value) Div(o *Value) *Value {
	return interior(v.data/o.data, edge{v, 1 / o.data}, edge{o, -v.data / (o.data * o.data)})
}
func (v *Value) AddScalar(c float64) *Value { return interior(v.data+c, edge{v, 1}) }
func (v *Value) MulScalar(c float64) *Value { return interior(v.data*c, edge{v, c}) }
func (v *Value) Neg() *Value                { return interior(-v.data, edge{v, -1}) }
func (v *Value) Exp() *Value                { return interior(math.Exp(v.data), edge{v, math.Exp(v.data)}) }
func (v *Value) Log() *Value                { return interior(math.Log(v.data), edge{v, 1 / v.data}) }

func (v *Value) Pow(p float64) *Value {
	if p == 0 {
		return interior(1, edge{v, 0})
	}
	return interior(math.Pow(v.data, p), edge{v, p * math.Pow(v.data, p-1)})
}

func (v *Value) Tanh() *Value {
	t := math.Tanh(v.data)
	return interior(t, edge{v, 1 - t*t})
}

func (v *Value) Sigmoid() *Value {
	s := 1 / (1 + math.Exp(-v.data))
	return interior(s, edge{v, s * (1 - s)})
}

func (v *Value) ReLU() *Value {
	if v.data <= 0 {
		return interior(0, edge{v, 0})
	}
	return interior(v.data, edge{v, 1})
}

func Sum(vs ...*Value) *Value {
	total, edges := 0.0, make([]edge, 0, len(vs)+1)
	for _, v := range vs {
		total += v.data
		edges = append(edges, edge{v, 1})
	}
	return interior(total, edges...)
}

func (v *Value) Backward() {
	order := v.order()
	place := make(map[*Value]int, len(order))
	for i, n := range order {
		place[n] = i
	}
	flow := make([]float64, len(order))
	flow[len(flow)-1] = 1
	for i := len(order) - 1; i >= 0; i-- {
		for _, e := range order[i].edges {
			flow[place[e.to]] += flow[i] * e.slope
		}
	}
	for i, n := range order {
		n.grad += flow[i]
	}
}

// order lists all nodes below v, operands first.
func (v *Value) order() (order []*Value) {
	type visit struct {
		n    *Value
		edge int
	}
	known := map[*Value]struct{}{v: {}}
	path := []visit{{n: v}}
	for len(path) > 0 {
		at := &path[len(path)-1]
		if at.edge == len(at.n.edges) {
			order = append(order, at.n)
			path = path[:len(path)-1]
			continue
		}
		next := at.n.edges[at.edge].to
		at.edge++
		if _, ok := known[next]; !ok {
			known[next] = struct{}{}
			path = append(path, visit{n: next})
		}
	}
	return order
}
