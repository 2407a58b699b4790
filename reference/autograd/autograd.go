// Package autograd differentiates scalar expressions. Every operation computes
// its result at once and records its operands. The nodes form an acyclic graph,
// which [Value.Backward] walks from a result to all of its inputs, by the chain
// rule (reverse-mode differentiation).
//
//	x, y := autograd.New(3), autograd.New(4)
//	z := x.Mul(y).Add(x) // 15
//	z.Backward()
//	x.Grad()             // dz/dx = y + 1 = 5
//
// The package knows numbers, not tensors, layers or optimisers. It keeps no list
// of nodes, so a graph is garbage as soon as the caller drops the nodes that lead
// to it.
//
// # Concurrency
//
// An operation only reads its operands, so any number of goroutines may build on
// the same nodes. Backward, ZeroGrad and SetData write to the nodes they reach:
// calls on graphs that share no node may run at the same time; for others the
// caller needs a lock.
package autograd

// Value is a node of an expression graph: a number, its gradient, and the
// operands it was computed from. Make one with [New] or by an operation on
// others; the zero Value is a leaf that holds 0. A Value must not be copied.
//
// The graph of a long computation is held in memory as a whole, which makes the
// size of a node matter: the fields fill 64 bytes, a size class of the
// allocator. Partial derivatives are stored instead of the kind of operation.
// That leaves one rule for all operations in Backward, and makes gradients those
// of the values that were computed, whatever happens to a leaf afterwards.
type Value struct {
	data float64
	grad float64 // sum over all Backward calls since the last ZeroGrad

	a, b   *Value // operands; b is nil with one operand, both are in a leaf
	da, db float64

	// Scratch of the Backward call that is running, 0 at any other time.
	acc  float64 // gradient of this call's root, as far as it has arrived
	uses uint32  // uses of this node from which nothing has arrived yet
}

// New returns a leaf that holds x.
func New(x float64) *Value { return &Value{data: x} }

// Data returns the number that v holds.
func (v *Value) Data() float64 { return v.data }

// SetData makes the leaf v hold x. Nodes computed from v before keep their
// numbers. It panics if v is the result of an operation.
func (v *Value) SetData(x float64) {
	if v.a != nil {
		panic("autograd: SetData on the result of an operation")
	}
	v.data = x
}

// Grad returns the gradient that Backward has added up in v.
func (v *Value) Grad() float64 { return v.grad }

// ZeroGrad sets the gradient of v, and of no other node, to 0.
func (v *Value) ZeroGrad() { v.grad = 0 }

// ZeroGrad sets the gradients of vs, and of no other nodes, to 0.
func ZeroGrad(vs ...*Value) {
	for _, v := range vs {
		v.ZeroGrad()
	}
}
