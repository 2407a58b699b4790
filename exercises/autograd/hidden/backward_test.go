package hidden

import (
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// Backward adds to the gradients that are there: after k calls without ZeroGrad
// every node has k times its gradient, results of operations too. What one call
// passes down must not start from what earlier calls left in Grad.
func TestBackwardAgain(t *testing.T) {
	o := observe.New(t)
	x, y := autograd.New(away(o.Rand())), autograd.New(away(o.Rand()))
	a := x.Mul(y)
	b := a.Add(x).Mul(a)
	root := b.Tanh().Add(b)
	nodes := []node{x, y, a, b, root}
	for range 4 {
		root.Backward()
		o.Floats("gradients", grads(nodes))
	}
	o.Floats("values", data(nodes))
}

// Backward may be called on several nodes of one graph, one after the other. It
// reaches what its own root was computed from and nothing else: neither results
// computed from the root nor branches that other roots have in common with it.
func TestSeveralRoots(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x, y, z := autograd.New(away(r)), autograd.New(away(r)), autograd.New(away(r))
	trunk := x.Mul(y)
	first := trunk.Sigmoid().Add(x)
	second := trunk.Mul(first).Sub(y)
	unused := trunk.Mul(z).Add(second).Exp()
	nodes := []node{x, y, z, trunk, first, second, unused}
	for _, root := range []node{first, second, trunk, x, second} {
		root.Backward()
		o.Floats("gradients", grads(nodes))
	}
}

// The root of a Backward is a node like any other: it gets 1 added to its
// gradient, whatever is in there, also if it is a leaf.
func TestRootGetsOne(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	leaf := autograd.New(away(r))
	leaf.Backward()
	o.Float("leaf", leaf.Grad())
	leaf.Backward()
	o.Float("leaf again", leaf.Grad())

	x := autograd.New(away(r))
	y := x.MulScalar(away(r))
	z := y.MulScalar(away(r))
	for _, root := range []node{z, y, x, y, z} {
		root.Backward()
		o.Floats("gradients in the chain", grads([]node{x, y, z}))
	}
}

// A graph may grow after Backward: a root becomes an operand, leaves get new
// uses. Gradients from before stay and the new ones are added.
func TestGrowth(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x := autograd.New(between(r, 0.2, 0.9))
	root := x
	nodes := []node{x}
	for range 4 {
		w := autograd.New(away(r))
		root = root.Mul(w).Add(x.Sigmoid()).Add(root)
		nodes = append(nodes, w, root)
		root.Backward()
		o.Floats("gradients", grads(nodes))
	}
	bigger := root.Mul(root).Sub(nodes[2])
	bigger.Backward()
	o.Float("value", bigger.Data())
	o.Floats("gradients in the end", grads(nodes))
}

// ZeroGrad, as a method, clears one node; as a function it clears those that it
// is given. No other gradient changes, no value changes, and a Backward after it
// starts from 0 in the cleared nodes only.
func TestZeroGrad(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x, y := autograd.New(away(r)), autograd.New(away(r))
	a := x.Mul(y)
	b := a.Tanh().Add(x)
	root := b.Mul(a)
	nodes := []node{x, y, a, b, root}
	steps := []func(){
		root.Backward,
		b.ZeroGrad,
		root.Backward,
		root.ZeroGrad,
		func() { autograd.ZeroGrad(x, a) },
		root.Backward,
		func() { autograd.ZeroGrad() },
		func() { autograd.ZeroGrad(nodes...) },
		root.Backward,
	}
	for _, step := range steps {
		step()
		o.Floats("gradients", grads(nodes))
	}
	o.Floats("values", data(nodes))
}

// SetData changes a leaf. What was computed from it before keeps its value, what
// is computed afterwards sees the new one. On the result of an operation it
// panics and changes nothing.
func TestSetData(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x, y := autograd.New(away(r)), autograd.New(away(r))
	before := x.Mul(y).Add(x)
	x.SetData(away(r))
	after := x.Mul(y).Add(x)
	o.Floats("leaf, before, after", data([]node{x, before, after}))
	after.Backward()
	o.Floats("gradients", grads([]node{x, y, after}))
	x.SetData(x.Data() - 0.125*x.Grad())
	o.Floats("after a step", data([]node{x, before, after, x.Mul(y)}))

	for _, result := range []node{before, after, x.Neg(), y.Tanh(), x.Div(y), autograd.Sum(x, y)} {
		v := away(r)
		o.SelfReported().Panics("SetData on a result", func() { result.SetData(v) })
		o.Float("its value", result.Data())
	}
}

// Every operation makes a node of its own, also where the result equals an
// operand (adding 0, multiplying by 1, power 1, a sum of one term) or the same
// was computed before.
func TestOwnNode(t *testing.T) {
	o := observe.New(t)
	x := autograd.New(between(o.Rand(), 0.5, 2))
	ops := []struct {
		name string
		f    func() node
	}{
		{"AddScalar(0)", func() node { return x.AddScalar(0) }},
		{"MulScalar(1)", func() node { return x.MulScalar(1) }},
		{"Pow(1)", func() node { return x.Pow(1) }},
		{"ReLU", x.ReLU},
		{"Sum", func() node { return autograd.Sum(x) }},
		{"Mul", func() node { return x.Mul(x) }},
	}
	for _, op := range ops {
		first, second := op.f(), op.f()
		first.Backward()
		x.ZeroGrad()
		second.Backward()
		second.Backward()
		o.Floats(op.name, grads([]node{x, first, second}))
	}
	o.Float("value", x.Data())
}

// Sum neither changes nor keeps the slice it is given: what the caller does with
// it later changes nothing. A sum of nothing is 0.
func TestSumCopies(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	vs, others := leaves(r, 5), leaves(r, 5)
	terms := append([]node(nil), vs...)
	s := autograd.Sum(terms...)
	o.SelfReported().Bool("slice as before", slices.Equal(terms, vs))
	copy(terms, others)
	root := s.MulScalar(away(r))
	root.Backward()
	o.Float("sum", s.Data())
	o.Floats("gradients of the terms", grads(vs))
	o.Floats("gradients of what came into the slice later", grads(others))

	none := autograd.Sum()
	product := none.Add(vs[0])
	product.Backward()
	o.Floats("sum of nothing", data([]node{none, product}))
	o.Floats("its gradient", grads([]node{none, product}))
}
