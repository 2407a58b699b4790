// Package autograd gives every node a generation: one more than the highest of
// its operands. Backward goes down generation by generation, so every use of a
// node comes before the node.
package autograd

import "math"

type Value struct {
	data, grad float64
	slot       int32 // 1 + place in the running Backward, 0 outside
	generation int32
	inputs     []input
}

// input is an operand and the derivative with respect to it.
type input struct {
	v     *Value
	slope float64
}

func New(x float64) *Value { return &Value{data: x} }

func result(y float64, inputs ...input) *Value {
	r := &Value{data: y, inputs: inputs, generation: 1}
	for _, in := range inputs {
		r.generation = max(r.generation, in.v.generation+1)
	}
	return r
}

func (v *Value) Data() float64 { return v.data }
func (v *Value) Grad() float64 { return v.grad }
func (v *Value) ZeroGrad()     { v.grad = 0 }

func (v *Value) SetData(x float64) {
	if v.generation > 0 {
		panic("SetData of a result")
	}
	v.data = x
}

func ZeroGrad(vs ...*Value) {
	for i := range vs {
		vs[i].grad = 0
	}
}

func (v *Value) Add(o *Value) *Value { return result(v.data+o.data, input{v, 1}, input{o, 1}) }
func (v *Value) Sub(o *Value) *Value { return result(v.data-o.data, input{v, 1}, input{o, -1}) }
func (v *Value) Mul(o *Value) *Value {
	return result(v.data*o.data, input{v, o.data}, input{o, v.data})
}
func (v *Value) Div(o *Value) *Value {
	return result(v.data/o.data, input{v, 1 / o.data}, input{o, -v.data / (o.data * o.data)})
}

func (v *Value) AddScalar(c float64) *Value { return result(v.data+c, input{v, 1}) }
func (v *Value) MulScalar(c float64) *Value { return result(v.data*c, input{v, c}) }
func (v *Value) Neg() *Value                { return result(-v.data, input{v, -1}) }

func (v *Value) Pow(p float64) *Value {
	slope := 0.0
	if p != 0 {
		slope = p * math.Pow(v.data, p-1)
	}
	return result(math.Pow(v.data, p), input{v, slope})
}

func (v *Value) Exp() *Value {
	y := math.Exp(v.data)
	return result(y, input{v, y})
}

func (v *Value) Log() *Value { return result(math.Log(v.data), input{v, 1 / v.data}) }

func (v *Value) Tanh() *Value {
	y := math.Tanh(v.data)
	return result(y, input{v, (1 - y) * (1 + y)})
}

func (v *Value) Sigmoid() *Value {
	y := 0.5 * (1 + math.Tanh(v.data/2))
	return result(y, input{v, y * (1 - y)})
}

func (v *Value) ReLU() *Value {
	switch {
	case v.data > 0:
		return result(v.data, input{v, 1})
	case math.IsNaN(v.data):
		return result(v.data, input{v, v.data})
	}
	return result(0, input{v, 0})
}

func Sum(vs ...*Value) *Value {
	inputs := make([]input, len(vs))
	total := 0.0
	for i, v := range vs {
		inputs[i] = input{v, 1}
		total += v.data
	}
	return result(total, inputs...)
}

func (v *Value) Backward() {
	nodes := v.reachable()
	flow := make([]float64, len(nodes))
	flow[0] = 1
	for _, i := range byGeneration(nodes, v.generation) {
		n := nodes[i]
		n.grad += flow[i]
		for _, in := range n.inputs {
			flow[in.v.slot-1] += flow[i] * in.slope
		}
	}
	for _, n := range nodes {
		n.slot = 0
	}
}

// reachable lists the nodes that v was computed from, v first, and numbers them.
func (v *Value) reachable() []*Value {
	nodes := []*Value{v}
	v.slot = 1
	for i := 0; i < len(nodes); i++ { // breadth first: nodes is its own queue
		for _, in := range nodes[i].inputs {
			if in.v.slot == 0 {
				nodes = append(nodes, in.v)
				in.v.slot = int32(len(nodes))
			}
		}
	}
	return nodes
}

// byGeneration sorts indexes of nodes by falling generation, by counting.
func byGeneration(nodes []*Value, highest int32) []int32 {
	ends := make([]int32, highest+2)
	for _, n := range nodes {
		ends[highest-n.generation+1]++
	}
	for g := range highest + 1 {
		ends[g+1] += ends[g]
	}
	order := make([]int32, len(nodes))
	for i, n := range nodes {
		at := &ends[highest-n.generation]
		order[*at] = int32(i)
		*at++
	}
	return order
}
