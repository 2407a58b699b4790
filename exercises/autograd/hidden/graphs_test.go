package hidden

import (
	"math"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// A node may be used any number of times, also as both operands of one operation,
// as in x·x: every use passes a gradient back (rule 2), and x-x is NaN at infinity, as
// IEEE 754 has it (rule 10).
func TestSharedOperand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, f := range []struct {
		name string
		f    func(node) node
	}{
		{"x+x", func(x node) node { return x.Add(x) }},
		{"x-x", func(x node) node { return x.Sub(x) }},
		{"x·x", func(x node) node { return x.Mul(x) }},
		{"x/x", func(x node) node { return x.Div(x) }},
		{"x·x+x", func(x node) node { return x.Mul(x).Add(x) }},
		{"x+x·x", func(x node) node { return x.Add(x.Mul(x)) }},
	} {
		var slopes []float64
		for range 6 {
			x := autograd.New(away(r))
			f.f(x).Backward()
			slopes = append(slopes, x.Grad())
		}
		o.Floats("gradient of x in "+f.name, slopes, rough)
		function{f.name + " at 0, infinities and NaN", f.f, []float64{0, math.Inf(1), math.Inf(-1), math.NaN()}}.observeAlone(o)
	}
	// More uses than 8 bits count; TestDeepChain has more than 16 bits do.
	leaf := autograd.New(positive(r))
	used := leaf.AddScalar(positive(r))
	root := used
	for range 1<<8 + r.IntN(100) {
		root = root.Add(used)
	}
	root.Backward()
	o.Float("gradient of the leaf below a result that is used very often", leaf.Grad())
}

// A result that is used more than once passes its gradient on once, after it has
// arrived from all uses, however long the ways are by which it arrives (rule 1).
func TestDiamond(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()

	a := autograd.New(away(r))
	b := a.Add(a)
	c := b.Add(b)
	c.Backward()
	o.Floats("gradients of a, b = a+a and b+b", grads([]node{a, b, c}))

	// The same node near the root and far from it, on the left and on the right.
	for _, near := range []string{"left", "right"} {
		x, y := autograd.New(positive(r)), autograd.New(positive(r))
		trunk := x.Add(y)
		far := trunk.AddScalar(positive(r)).Add(x)
		for range 1 + r.IntN(9) {
			far = far.AddScalar(positive(r)).Add(y)
		}
		var root node
		if near == "left" {
			root = trunk.Add(far)
		} else {
			root = far.Add(trunk)
		}
		root = root.Add(trunk).Add(x)
		root.Backward()
		o.Floats("gradients over a long and a short way, short one "+near, grads([]node{x, y, trunk, far, root}))
	}

	// Diamonds on diamonds.
	v := autograd.New(positive(r))
	nodes := []node{v}
	for range 3 + r.IntN(3) {
		l, k := v.Add(autograd.New(positive(r))), v.AddScalar(positive(r))
		v = l.Add(k).Add(l)
		nodes = append(nodes, l, k, v)
	}
	v.Backward()
	o.Floats("gradients in a tower of diamonds", grads(nodes))

	for _, steps := range stepsOfGraphs(r) {
		nodes := largeGraph(r, steps)
		nodes[len(nodes)-1].Backward()
		recordLarge(o, "after a call", nodes)
	}
}

// Random graphs of all operations: value and gradient of every node, results of
// operations and nodes that the root does not depend on included.
func TestRandomGraphs(t *testing.T) {
	o := observe.New(t)
	for range 10 {
		nodes := randomGraph(o.Rand(), leaves(o.Rand(), 4), 70)
		root := autograd.Sum(nodes[len(nodes)-10:]...)
		root.Backward()
		o.Floats("values of all nodes of a random graph", data(nodes))
		o.Floats("gradients of all nodes of a random graph", grads(nodes))
	}
}

// A small neural network learns: values, gradients, SetData and ZeroGrad as one
// uses them in a training loop.
func TestTraining(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	net := newNetwork(r, 2, 6, 1)
	xs, ys := dataset(r, 10)
	var losses, last []float64
	for range 6 {
		loss := net.loss(xs, ys)
		autograd.ZeroGrad(net.parameters...)
		loss.Backward()
		last = grads(net.parameters)
		net.step(0.05)
		losses = append(losses, loss.Data())
	}
	o.Floats("loss after each step", losses, rough)
	o.Floats("parameters in the end", data(net.parameters), rough)
	o.Floats("gradients of the last step", last, rough)
}
