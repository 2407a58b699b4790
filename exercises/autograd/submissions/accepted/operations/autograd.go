// Package autograd keeps the operation of a node behind an interface.
package autograd

// Value is a number that may be the result of an operation.
type Value struct {
	data, grad float64
	op         operation // nil in a leaf
	visit      visit
}

// visit is the part of a Value that belongs to a Backward call while it runs.
type visit struct {
	flow    float64
	pending int
}

// operation passes the gradient g of its result y on to its operands.
type operation interface {
	operands(yield func(*Value) bool)
	backward(y, g float64)
}

// New returns a leaf.
func New(x float64) *Value { return &Value{data: x} }

// Data returns the number.
func (v *Value) Data() float64 { return v.data }

// Grad returns the gradient.
func (v *Value) Grad() float64 { return v.grad }

// ZeroGrad clears the gradient.
func (v *Value) ZeroGrad() { v.grad = 0 }

// SetData changes a leaf.
func (v *Value) SetData(x float64) {
	if v.op != nil {
		panic("autograd: only leaves can be set")
	}
	v.data = x
}

// ZeroGrad clears the gradients of vs.
func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.ZeroGrad()
	}
}

// Backward adds the gradients of v to all it depends on. A node is due when all
// its uses have passed something on.
func (v *Value) Backward() {
	v.count()
	v.visit.flow = 1
	due := []*Value{v}
	for len(due) > 0 {
		n := due[len(due)-1]
		due = due[:len(due)-1]
		g := n.visit.flow
		n.grad += g
		n.visit = visit{}
		if n.op == nil {
			continue
		}
		n.op.backward(n.data, g)
		for in := range n.op.operands {
			if in.visit.pending--; in.visit.pending == 0 {
				due = append(due, in)
			}
		}
	}
}

func (v *Value) count() {
	todo := []*Value{v}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n.op == nil {
			continue
		}
		for in := range n.op.operands {
			if in.visit.pending++; in.visit.pending == 1 {
				todo = append(todo, in)
			}
		}
	}
}
