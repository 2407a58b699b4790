package hidden

import (
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// A node may be used any number of times, also as both operands of one operation,
// as in x·x: every use passes a gradient back (rule 2).
func TestSharedOperand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	at := draws(6, func() float64 { return away(r) })
	for _, f := range []function{
		{"x+x", func(x node) node { return x.Add(x) }, at},
		{"x-x", func(x node) node { return x.Sub(x) }, at},
		{"x·x", func(x node) node { return x.Mul(x) }, at},
		{"x/x", func(x node) node { return x.Div(x) }, at},
		{"x·x·x", func(x node) node { return x.Mul(x).Mul(x) }, at},
		{"x·x+x", func(x node) node { return x.Mul(x).Add(x) }, at},
	} {
		f.observe(o)
	}
	// More uses than 8 and 16 bits count, of a result and through it of a leaf.
	for _, uses := range []int{1<<8 + 1 + r.IntN(100), 1<<16 + 1 + r.IntN(100)} {
		leaf := autograd.New(between(r, 0.5, 1))
		used := leaf.AddScalar(between(r, 0.5, 1))
		root := used
		for range uses - 1 {
			root = root.Add(used)
		}
		root.Backward()
		o.Float("gradient of a result that is used very often", used.Grad())
		o.Float("gradient of the leaf that it was computed from", leaf.Grad())
	}
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
	o.Float("value of b+b with b = a+a", c.Data())
	o.Floats("gradients of a, b = a+a and b+b", grads([]node{a, b, c}))

	// The same node near the root and far from it, on the left and on the right.
	for _, near := range []string{"left", "right"} {
		x, y := autograd.New(away(r)), autograd.New(away(r))
		trunk := x.Mul(y)
		far := trunk.Mul(y).Add(x).Mul(y)
		root := far.Mul(trunk)
		if near == "left" {
			root = trunk.Mul(far)
		}
		root = root.Add(trunk).Add(x)
		root.Backward()
		o.Float("value over a long and a short way, short one "+near, root.Data())
		o.Floats("gradients over a long and a short way, short one "+near, grads([]node{x, y, trunk, far, root}))
	}

	// Diamonds on diamonds.
	v := autograd.New(between(r, 0.5, 1))
	nodes := []node{v}
	for range 8 {
		l, k := v.Mul(autograd.New(between(r, 0.2, 1))), v.AddScalar(between(r, 0.2, 1))
		v = l.Add(k).Add(l)
		nodes = append(nodes, l, k, v)
	}
	v.Backward()
	o.Floats("values in a tower of diamonds", data(nodes))
	o.Floats("gradients in a tower of diamonds", grads(nodes))

	for _, steps := range stepsOfGraphs(r) {
		nodes := largeGraph(r, steps)
		nodes[len(nodes)-1].Backward()
		o.Float(large+"value of the root", nodes[len(nodes)-1].Data())
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
	o.Floats("loss after each step", losses)
	o.Floats("parameters in the end", data(net.parameters))
	o.Floats("gradients of the last step", last)
}
