// Package hidden holds the hidden tests of the autograd exercise. They feed
// fresh random inputs and record what comes back; package observe says how it is
// judged. The doc comment of a test is what a student is told when it fails, so
// it names the rule and never the input.
package hidden

import (
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

// function is an operation on one node, to be tried at the numbers at.
type function struct {
	name string
	f    func(node) node
	at   []float64
}

// observe records the values and slopes of f. The gradient that arrives at the
// result is random and not 1, for a rule that forgets to multiply by it.
func (f function) observe(o *observe.Observer) {
	var ys, slopes, arriving []float64
	for _, x := range f.at {
		v, w := autograd.New(x), autograd.New(away(o.Rand()))
		y := f.f(v)
		y.Mul(w).Backward()
		ys = append(ys, y.Data())
		slopes = append(slopes, v.Grad())
		arriving = append(arriving, y.Grad())
	}
	o.Floats(f.name, ys)
	o.Floats(f.name+": gradient of the operand", slopes)
	o.Floats(f.name+": gradient of the result", arriving)
}

// observeAlone records the values and slopes of f where the gradient that arrives
// at the result is 1, so that Inf and NaN are those of f alone.
func (f function) observeAlone(o *observe.Observer) {
	var ys, slopes []float64
	for _, x := range f.at {
		v := autograd.New(x)
		y := f.f(v)
		y.Backward()
		ys = append(ys, y.Data())
		slopes = append(slopes, v.Grad())
	}
	o.Floats(f.name, ys)
	o.Floats(f.name+": gradient", slopes)
}

func draws(n int, draw func() float64) []float64 {
	xs := make([]float64, n)
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
		return a.Div(b.Mul(b).AddScalar(0.5)), 2 * ba
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
