// Package hidden holds the hidden tests of the autograd exercise. They feed
// fresh random inputs and record what comes back; package observe says how it is
// judged. The doc comment of a test is what a student is told when it fails, so
// it names the rule and never the input.
package hidden

import (
	"math"
	"math/rand/v2"

	"grade/observe"
	"grade/reference/autograd"
)

// node is short for what these tests are full of.
type node = *autograd.Value

func data(nodes []node) []float64 {
	xs := make([]float64, len(nodes))
	for i, n := range nodes {
		xs[i] = n.Data()
	}
	return xs
}

func grads(nodes []node) []float64 {
	xs := make([]float64, len(nodes))
	for i, n := range nodes {
		xs[i] = n.Grad()
	}
	return xs
}

// leaves makes n leaves with standard normal values.
func leaves(r *rand.Rand, n int) []node {
	vs := make([]node, n)
	for i := range vs {
		vs[i] = autograd.New(r.NormFloat64())
	}
	return vs
}

// between draws from [lo, hi).
func between(r *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }

// away draws a number of either sign that is at least 0.2 away from 0.
func away(r *rand.Rand) float64 {
	x := between(r, 0.2, 3)
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

// positive draws a number that is neither small nor large, for tests that are not about
// signs.
func positive(r *rand.Rand) float64 { return between(r, 0.5, 2) }

// leavesOf makes n leaves that hold positive numbers.
func leavesOf(r *rand.Rand, n int) []node {
	return draws(n, func() node { return autograd.New(positive(r)) })
}

// rough is how exact numbers have to be where a rule is about the graph and not about
// digits, which the tests of single operations look at.
var rough = observe.Within(1e-4, 1e-4)

// function is an operation on one node, to be tried at the numbers at.
type function struct {
	name string
	f    func(node) node
	at   []float64
}

// observe records the values and slopes of f where the gradient that arrives at the
// result is 1, and where another arrives from up: for a rule that forgets to multiply
// by it.
func (f function) observe(o *observe.Observer, up upstream) {
	f.observeAlone(o)
	var slopes []float64
	for _, x := range f.at {
		v := autograd.New(x)
		up.of(f.f(v), away(o.Rand())).Backward()
		slopes = append(slopes, v.Grad())
	}
	o.Floats(up.name+"gradient of x in "+f.name, slopes, rough)
}

// upstream is an operation that passes another gradient than 1 to y. What is observed
// below it begins with its name and rests on that operation too, so tests take
// different ones: where one is wrong, the tests of the others are not (exercise.yaml).
type upstream struct {
	name string
	of   func(y node, c float64) node
}

var (
	byProduct  = upstream{"below a product: ", func(y node, c float64) node { return y.Mul(autograd.New(c)) }}
	byQuotient = upstream{"below a quotient: ", func(y node, c float64) node { return y.Div(autograd.New(c)) }}
	byConstant = upstream{"below MulScalar: ", func(y node, c float64) node { return y.MulScalar(c) }}
)

// observeAlone records the values and slopes of f where the gradient that arrives
// at the result is 1, so that Inf and NaN are those of f alone.
func (f function) observeAlone(o *observe.Observer, how ...observe.Comparison) {
	var ys, slopes []float64
	for _, x := range f.at {
		v := autograd.New(x)
		y := f.f(v)
		y.Backward()
		ys = append(ys, y.Data())
		slopes = append(slopes, v.Grad())
	}
	o.Floats("value of "+f.name, ys, how...)
	o.Floats("gradient of x in "+f.name, slopes, how...)
}

// operation is an operation, with its constant if it has one, and numbers to try it
// on. An operation on one node does not look at b.
type operation struct {
	name   string
	f      func(a, b node) node
	atA, b float64
}

// one makes an operation on one node of f.
func one(f func(a node) node) func(a, b node) node { return func(a, _ node) node { return f(a) } }

// withItself lists the operations on one node twice, which have a test of their own and
// are a hazard elsewhere.
func withItself(r *rand.Rand) []operation {
	x := between(r, 0.5, 2)
	return []operation{
		{name: "a+a", f: one(func(a node) node { return a.Add(a) }), atA: x},
		{name: "a-a", f: one(func(a node) node { return a.Sub(a) }), atA: x},
		{name: "a·a", f: one(func(a node) node { return a.Mul(a) }), atA: x},
		{name: "a/a", f: one(func(a node) node { return a.Div(a) }), atA: x},
	}
}

// farOut lists operations on numbers so far from 0 that the result is flat there, or infinite.
func farOut() []operation {
	return []operation{
		{name: "Tanh of 1000", f: one((node).Tanh), atA: 1000},
		{name: "Tanh of -1000", f: one((node).Tanh), atA: -1000},
		{name: "Sigmoid of 1000", f: one((node).Sigmoid), atA: 1000},
		{name: "Sigmoid of -1000", f: one((node).Sigmoid), atA: -1000},
		{name: "Exp of 1000", f: one((node).Exp), atA: 1000},
		{name: "Exp of -1000", f: one((node).Exp), atA: -1000},
	}
}

// constants lists operations on numbers where the gradient of the operand is 0, or is not
// graded: a new leaf would have the right value and gradients, but is not a result.
func constants() []operation {
	inf := math.Inf(1)
	return []operation{
		{name: "Log of a negative number", f: one((node).Log), atA: -2},
		{name: "Exp of -Inf", f: one((node).Exp), atA: -inf},
		{name: "Tanh of +Inf", f: one((node).Tanh), atA: inf},
		{name: "Tanh of -Inf", f: one((node).Tanh), atA: -inf},
		{name: "Sigmoid of +Inf", f: one((node).Sigmoid), atA: inf},
		{name: "Sigmoid of -Inf", f: one((node).Sigmoid), atA: -inf},
		{name: "ReLU of -Inf", f: one((node).ReLU), atA: -inf},
		{name: "Pow(2) of 0", f: one(func(a node) node { return a.Pow(2) })},
		{name: "Pow(-1) of +Inf", f: one(func(a node) node { return a.Pow(-1) }), atA: inf},
		{name: "a/b, b infinite", f: (node).Div, atA: 2, b: inf},
	}
}

// operations lists every operation, with constants that invite a shortcut, and ReLU on
// all sides of 0. What holds for all operations is tried on all of them.
func operations(r *rand.Rand) []operation {
	c, p := away(r), between(r, 1.2, 2.8)
	ops := []operation{
		{name: "a+b", f: (node).Add},
		{name: "a-b", f: (node).Sub},
		{name: "a·b", f: (node).Mul},
		{name: "a/b", f: (node).Div},
		{name: "AddScalar", f: one(func(a node) node { return a.AddScalar(c) })},
		{name: "AddScalar(0)", f: one(func(a node) node { return a.AddScalar(0) })},
		{name: "MulScalar", f: one(func(a node) node { return a.MulScalar(c) })},
		{name: "MulScalar(0)", f: one(func(a node) node { return a.MulScalar(0) })},
		{name: "MulScalar(1)", f: one(func(a node) node { return a.MulScalar(1) })},
		{name: "Neg", f: one((node).Neg)},
		{name: "Pow", f: one(func(a node) node { return a.Pow(p) })},
		{name: "Pow(0)", f: one(func(a node) node { return a.Pow(0) })},
		{name: "Pow(1)", f: one(func(a node) node { return a.Pow(1) })},
		{name: "Pow(2)", f: one(func(a node) node { return a.Pow(2) })},
		{name: "Exp", f: one((node).Exp)},
		{name: "Log", f: one((node).Log)},
		{name: "Tanh", f: one((node).Tanh)},
		{name: "Sigmoid", f: one((node).Sigmoid)},
		{name: "ReLU above 0", f: one((node).ReLU)},
		{name: "ReLU below 0", f: one((node).ReLU), atA: -between(r, 0.5, 2)},
		{name: "Sum(a)", f: one(func(a node) node { return autograd.Sum(a) })},
		{name: "Sum(a, b)", f: func(a, b node) node { return autograd.Sum(a, b) }},
		{name: "Sum(a, b, a)", f: func(a, b node) node { return autograd.Sum(a, b, a) }},
	}
	for i := range ops {
		if ops[i].atA == 0 {
			ops[i].atA = between(r, 0.5, 2)
		}
		ops[i].b = between(r, 0.5, 2)
	}
	return append(ops, operation{name: "ReLU at 0", f: one((node).ReLU), b: 1})
}

// operands makes the two nodes that op is tried on.
func (op operation) operands() (a, b node) { return autograd.New(op.atA), autograd.New(op.b) }

func draws[T any](n int, draw func() T) []T {
	xs := make([]T, n)
	for i := range xs {
		xs[i] = draw()
	}
	return xs
}

// randomGraph grows a graph of the given size over the leaves with every
// operation there is, and returns all its nodes, leaves first. Each result is
// bounded from its structure alone, so that neither rounding nor a wrong
// operation changes which graph is built.
func randomGraph(r *rand.Rand, leaves []node, size int) []node {
	nodes := append([]node(nil), leaves...)
	bounds := make([]float64, len(nodes))
	for i := range bounds {
		bounds[i] = 4
	}
	for len(nodes) < size {
		i, j := r.IntN(len(nodes)), r.IntN(len(nodes))
		v, bound := randomOperation(r, nodes[i], nodes[j], bounds[i], bounds[j])
		nodes, bounds = append(nodes, v), append(bounds, bound)
		if bound > 6 {
			nodes, bounds = append(nodes, v.Tanh()), append(bounds, 1)
		}
	}
	return nodes
}

// randomOperation applies some operation to a and b, which lie within ±ba and
// ±bb, and returns the bound of the result. Kinks and poles are kept away from.
func randomOperation(r *rand.Rand, a, b node, ba, bb float64) (v node, bound float64) {
	c := away(r)
	switch r.IntN(14) {
	case 0:
		return a.Add(b), ba + bb
	case 1:
		return a.Sub(b), ba + bb
	case 2, 3:
		return a.Mul(b), ba * bb
	case 4:
		// Not of a itself, which ReLU may have made 0: that edge has a test of its own.
		return a.AddScalar(c).Div(b.Mul(b).AddScalar(0.5)), 2 * (ba + 3)
	case 5:
		return a.AddScalar(c), ba + 3
	case 6:
		return a.MulScalar(c), 3 * ba
	case 7:
		return a.Neg(), ba
	case 8:
		return a.Sigmoid().AddScalar(0.5).Pow(c), 8
	case 9:
		return a.Tanh().Exp(), 3
	case 10:
		return a.Mul(a).AddScalar(0.5).Log(), 4
	case 11:
		return a.Tanh(), 1
	case 12:
		return a.AddScalar(c).ReLU(), ba + 3
	default:
		return autograd.Sum(a, b, a, b.Sigmoid()), 2*ba + bb + 1
	}
}

// largeGraph makes a graph of 6 nodes or so for each step, and returns all its nodes, the
// root last. It is made of small diamonds, which are added up: each gradient is a number
// of ways, and rests on no operation but Add. It is large but not deep.
func largeGraph(r *rand.Rand, steps int) []node { return addedUp(r, nil, steps) }

// addedUp makes so many diamonds and adds them up, in at most 20 parts that are added up
// alike. Those of a hundred steps or so have the leaf x in common. The last node is the
// sum.
func addedUp(r *rand.Rand, x node, steps int) (nodes []node) {
	if steps == 1 {
		return diamond(r, x)
	}
	if x == nil && steps <= 100 {
		x = autograd.New(positive(r))
		return append([]node{x}, addedUp(r, x, steps)...)
	}
	parts := min(steps, 20)
	for i := range parts {
		part := addedUp(r, x, steps*(i+1)/parts-steps*i/parts)
		if i == 0 {
			nodes = part
			continue
		}
		moved := nodes[len(nodes)-1].AddScalar(positive(r))
		sum := moved.Add(part[len(part)-1])
		nodes = append(append(nodes, part...), moved, sum)
	}
	return nodes
}

// diamond uses a result of x two or three times.
func diamond(r *rand.Rand, x node) []node {
	w := autograd.New(positive(r))
	shared := x.AddScalar(positive(r))
	other := shared.Add(w)
	top := shared.Add(other)
	nodes := []node{w, shared, other, top}
	if r.IntN(2) == 0 {
		nodes = append(nodes, top.Add(shared))
	}
	return nodes
}

// stepsOfGraphs are how many steps large graphs have, the largest last.
func stepsOfGraphs(r *rand.Rand) []int {
	return []int{20 + r.IntN(20), 200 + r.IntN(100), 1500 + r.IntN(500), 7000 + r.IntN(1000)}
}

// large begins the names of what is observed of large graphs. Where the first call on
// them goes wrong already, it does not count again (exercise.yaml).
const large = "large graph: "

// weighed is one number for many, in which each has a weight of its own.
func weighed(weights, xs []float64) (sum float64) {
	for i, x := range xs {
		sum += weights[i] * x
	}
	return sum
}

// recordLarge records the gradients of all nodes of a large graph in one number, and
// some of them as they are.
func recordLarge(o *observe.Observer, name string, nodes []node) {
	weights := draws(len(nodes), func() float64 { return away(o.Rand()) })
	o.Float(large+"gradients "+name+", weighted and added up", weighed(weights, grads(nodes)))
	o.Floats(large+"gradients "+name+", of the first nodes", grads(nodes[:20]))
	o.Floats(large+"gradients "+name+", of the last nodes", grads(nodes[len(nodes)-20:]))
}

// recordPairs tries op on all pairs of the numbers at, of which where tells in words.
func recordPairs(o *observe.Observer, op operation, where string, at []float64) {
	var ys, das, dbs []float64
	for _, x := range at {
		for _, z := range at {
			a, b := autograd.New(x), autograd.New(z)
			y := op.f(a, b)
			y.Backward()
			ys, das, dbs = append(ys, y.Data()), append(das, a.Grad()), append(dbs, b.Grad())
		}
	}
	o.Floats("value of "+op.name+where, ys)
	o.Floats("gradient of a in "+op.name+where, das)
	o.Floats("gradient of b in "+op.name+where, dbs)
}
