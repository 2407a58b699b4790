package hidden

import (
	"runtime"
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
	var x, y node
	for o.Loop() {
		x = autograd.New(start)
		y = x
		for range 500_000 {
			y = y.Add(x)
		}
		y.Backward()
	}
	o.Float("value of the root of the chain", y.Data(), coarse)
	o.Float("gradient of the leaf of the chain", x.Grad(), coarse)
}

// One leaf with 300,000 uses and one Sum of as many terms, of which half are listed
// from the youngest to the oldest: neither many uses nor many operands may make a step
// more expensive, in whatever order they stand.
func BenchmarkFanIn(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	start := r.NormFloat64()
	coefficients := draws(300_000, r.NormFloat64)
	var x, root node
	for o.Loop() {
		x = autograd.New(start)
		terms := make([]node, len(coefficients))
		for i, c := range coefficients {
			place := i
			if half := len(terms) / 2; i >= half {
				place = len(terms) - 1 - (i - half)
			}
			terms[place] = x.MulScalar(c)
		}
		root = autograd.Sum(terms...)
		root.Backward()
	}
	o.Float("value of the root of the Sum", root.Data(), coarse)
	o.Float("gradient of the leaf with many uses", x.Grad(), coarse)
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
	c := -between(o.Rand(), 0.999, 1) // near 1: denormal numbers take their time
	var last float64
	for o.Loop() {
		for i := range 600 {
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
