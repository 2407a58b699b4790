package hidden

import (
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// A node may be both operands of one operation, as in x·x: both uses pass a
// gradient back.
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
}

// A result that is used more than once passes its gradient on once, after it has
// arrived from all uses, however long the ways are by which it arrives.
func TestDiamond(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()

	a := autograd.New(away(r))
	b := a.Add(a)
	c := b.Add(b)
	c.Backward()
	o.Float("a+a twice", c.Data())
	o.Floats("gradients", grads([]node{a, b, c}))

	// The same node near the root and far from it, on the left and on the right.
	for _, near := range []string{"left", "right"} {
		x, y := autograd.New(away(r)), autograd.New(away(r))
		trunk := x.Mul(y)
		far := trunk.Tanh().AddScalar(away(r)).Mul(y).Sigmoid()
		root := far.Mul(trunk)
		if near == "left" {
			root = trunk.Mul(far)
		}
		root = root.Add(trunk).Sub(x)
		root.Backward()
		o.Float("long and short way, short one "+near, root.Data())
		o.Floats("gradients, short one "+near, grads([]node{x, y, trunk, far, root}))
	}

	// Diamonds on diamonds.
	v := autograd.New(between(r, 0.5, 1))
	nodes := []node{v}
	for range 8 {
		l, k := v.MulScalar(away(r)), v.Sigmoid()
		v = l.Mul(k).Add(l)
		nodes = append(nodes, l, k, v)
	}
	v.Backward()
	o.Floats("tower of diamonds", data(nodes))
	o.Floats("gradients in the tower", grads(nodes))
}

// Random graphs of all operations: value and gradient of every node, results of
// operations and nodes that the root does not depend on included.
func TestRandomGraphs(t *testing.T) {
	o := observe.New(t)
	for range 10 {
		nodes := randomGraph(o.Rand(), leaves(o.Rand(), 4), 70)
		root := autograd.Sum(nodes[len(nodes)-10:]...)
		root.Backward()
		o.Floats("values", data(nodes))
		o.Floats("gradients", grads(nodes))
	}
}

// A small neural network learns: values, gradients, SetData and ZeroGrad as one
// uses them in a training loop.
func TestTraining(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	net := newNetwork(r, 2, 6, 1)
	xs, ys := dataset(r, 10)
	var losses []float64
	for range 6 {
		loss := net.loss(xs, ys)
		autograd.ZeroGrad(net.parameters...)
		loss.Backward()
		net.step(0.05)
		losses = append(losses, loss.Data())
	}
	o.Floats("loss", losses)
	o.Floats("parameters", data(net.parameters))
	o.Floats("gradients", grads(net.parameters))
}
