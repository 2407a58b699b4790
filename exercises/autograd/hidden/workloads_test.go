package hidden

import (
	"runtime"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// coarse is how exact the sums of hundreds of thousands of terms have to be.
var coarse = observe.Within(1e-6, 1e-6)

// Build and differentiate a chain of half a million additions. Time: each node
// and each use once, without a search among the nodes seen so far. Memory: the
// README says how many bytes a node may take, all that Backward needs included.
func BenchmarkChain(b *testing.B) {
	o := observe.New(b)
	start := o.Rand().NormFloat64()
	places := somePlaces(o, 500_000)
	var x, y node
	var some []node
	for o.Loop() {
		x = autograd.New(start)
		y, some = x, nil
		left := places
		for i := range 500_000 {
			if y = y.Add(x); i == left[0] {
				some, left = append(some, y), left[1:]
			}
		}
		y.Backward()
	}
	o.Float("value of the root of the chain", y.Data(), coarse)
	o.Float("gradient of the leaf of the chain", x.Grad(), coarse)
	o.Floats("values of some nodes of the chain", data(some), coarse)
	o.Floats("gradients of some nodes of the chain", grads(some), coarse)
}

// somePlaces draws some of n places, in order, and one behind the last: what is looked at
// there cannot be known by a program that leaves out a part of its work.
func somePlaces(o *observe.Observer, n int) []int {
	places := []int{n}
	for range 16 {
		places = append(places, o.Rand().IntN(n))
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// One Sum of 250,000 terms, of which half are listed from the youngest to the oldest. A
// third of them are uses of one leaf, each of the others has a leaf of its own: neither many
// uses nor many operands nor many leaves may make a step more expensive, in whatever order
// they stand.
func BenchmarkFanIn(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	start := r.NormFloat64()
	coefficients := draws(250_000, r.NormFloat64)
	var x, root node
	var own, terms []node
	for o.Loop() {
		x = autograd.New(start)
		own, terms = make([]node, 0, len(coefficients)), make([]node, len(coefficients))
		for i, c := range coefficients {
			place := i
			if half := len(terms) / 2; i >= half {
				place = len(terms) - 1 - (i - half)
			}
			leaf := x
			if i%3 > 0 {
				leaf = autograd.New(start + c)
				own = append(own, leaf)
			}
			terms[place] = leaf.MulScalar(c)
		}
		root = autograd.Sum(terms...)
		root.Backward()
	}
	o.Float("value of the root of the Sum", root.Data(), coarse)
	some := someOf(o, terms)
	o.Floats("values of some terms of the Sum", data(some), coarse)
	o.Floats("gradients of some terms of the Sum", grads(some), coarse)
	o.Float("gradient of the leaf with many uses", x.Grad(), coarse)
	o.Floats("gradients of some leaves of many", grads(someOf(o, own)), coarse)
}

// someOf are those of nodes that stand at some places.
func someOf(o *observe.Observer, nodes []node) (some []node) {
	for _, at := range somePlaces(o, len(nodes)) {
		if at < len(nodes) {
			some = append(some, nodes[at])
		}
	}
	return some
}

// Train a small neural network: some hundred thousand nodes in a few steps, most
// of them additions and products.
func BenchmarkTraining(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	net := newNetwork(r, 2, 16, 16, 1)
	xs, ys := dataset(r, 100)
	var last float64
	for o.Loop() {
		for range 8 {
			loss := net.loss(xs, ys)
			autograd.ZeroGrad(net.parameters...)
			loss.Backward()
			net.step(0.01)
			last = loss.Data()
		}
	}
	o.Float("loss in the last step", last, coarse)
	o.Floats("gradients of the parameters in the last step", grads(net.parameters), coarse)
}

// A graph that is not needed any more is garbage, although the leaves it was
// built on live on: neither a list of all nodes nor the operands may hold it.
func BenchmarkDropped(b *testing.B) {
	o := observe.New(b)
	x := autograd.New(between(o.Rand(), 0.5, 1))
	cs := draws(600, func() float64 { return -between(o.Rand(), 0.999, 1) }) // near 1: denormal numbers take their time
	var last float64
	for o.Loop() {
		for i, c := range cs {
			y := x.Neg()
			for range 1000 {
				y = y.Add(x).MulScalar(c)
			}
			y.Backward()
			last = y.Data()
			if i%20 == 0 {
				// On one CPU a collection that runs beside the program may
				// come late by a time slice, and many graphs be piled up by then.
				runtime.GC()
			}
		}
	}
	o.Float("value of the root of the last graph", last, coarse)
	o.Float("gradient of the leaf of all graphs, added up", x.Grad(), coarse)
}
