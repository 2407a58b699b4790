package autograd

import "math"

type Node struct {
	data, grad, acc float64
	a, b            *Node
	da, db          float64
	uses            uint32
}

func unary(x *Node, y, dx float64) *Node {
	return &Node{data: y, a: x, da: dx}
}

func binary(a, b *Node, y, da, db float64) *Node {
	return &Node{data: y, a: a, b: b, da: da, db: db}
}

func New(x float64) *Node { return &Node{data: x} }

func (v *Node) Data() float64 { return v.data }

func (v *Node) Grad() float64 { return v.grad }

func (v *Node) SetData(x float64) {
	if v.a != nil {
		panic("autograd: SetData on a result")
	}
	v.data = x
}

func (v *Node) ZeroGrad() { v.grad = 0 }

func ZeroGrad(vs ...*Node) {
	for _, v := range vs {
		v.ZeroGrad()
	}
}

func (v *Node) Add(o *Node) *Node { return binary(v, o, v.data+o.data, 1, 1) }

func (v *Node) Sub(o *Node) *Node { return binary(v, o, v.data-o.data, 1, -1) }

func (v *Node) Mul(o *Node) *Node { return binary(v, o, v.data*o.data, o.data, v.data) }

func (v *Node) Div(o *Node) *Node {
	return binary(v, o, v.data/o.data, 1/o.data, -v.data/(o.data*o.data))
}

func (v *Node) AddScalar(c float64) *Node { return unary(v, v.data+c, 1) }

func (v *Node) MulScalar(c float64) *Node { return unary(v, v.data*c, c) }

func (v *Node) Neg() *Node { return unary(v, -v.data, -1) }

func (v *Node) Pow(p float64) *Node {
	if p == 0 {
		return unary(v, 1, 0)
	}
	return unary(v, math.Pow(v.data, p), p*math.Pow(v.data, p-1))
}

func (v *Node) Exp() *Node {
	y := math.Exp(v.data)
	return unary(v, y, y)
}

func (v *Node) Log() *Node { return unary(v, math.Log(v.data), 1/v.data) }

func (v *Node) Tanh() *Node {
	y := math.Tanh(v.data)
	return unary(v, y, 1-y*y)
}

func (v *Node) Sigmoid() *Node {
	y := 1 / (1 + math.Exp(-v.data))
	return unary(v, y, y*(1-y))
}

func (v *Node) ReLU() *Node {
	if v.data <= 0 {
		return unary(v, 0, 0)
	}
	return unary(v, v.data, 1)
}

func Sum(vs ...*Node) *Node {
	if len(vs) == 0 {
		return New(0)
	}
	sum := vs[0].AddScalar(0)
	for _, v := range vs[1:] {
		sum = sum.Add(v)
	}
	return sum
}

func (v *Node) Backward() {
	v.countUses()
	v.acc = 1
	for ready := []*Node{v}; len(ready) > 0; {
		n := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if n.a != nil && n.a.receive(n.acc*n.da) {
			ready = append(ready, n.a)
		}
		if n.b != nil && n.b.receive(n.acc*n.db) {
			ready = append(ready, n.b)
		}
		n.grad += n.acc
		n.acc = 0
	}
}

func (v *Node) countUses() {
	for stack := []*Node{v}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, in := range []*Node{n.a, n.b} {
			if in == nil {
				continue
			}
			in.uses++
			if in.uses == 1 {
				stack = append(stack, in)
			}
		}
	}
}

func (v *Node) receive(g float64) (last bool) {
	v.acc += g
	v.uses--
	return v.uses == 0
}
