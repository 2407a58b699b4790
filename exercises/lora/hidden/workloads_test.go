package hidden

import (
	"fmt"
	"testing"

	"grade/observe"
	"grade/reference/lora"
)

// large is a base of a million weights with an adapter of rank 16.
func large(b testing.TB, o *observe.Observer, in, out int) (*lora.Linear, *lora.Layer, *lora.Adapter) {
	base := newBase(o.Rand(), in, out, true)
	l := newLayer(b, base)
	return base, l, active(b, o.Rand(), l, base, "a", plain(16))
}

// Forward of four rows through a layer of 1,500 × 1,400 with an adapter of rank 16, which
// changes between calls. Time: that of the base and a little more. Memory: the outputs.
func BenchmarkForward(b *testing.B) {
	o := observe.New(b)
	base, l, a := large(b, o, 1500, 1400)
	x := numbers(o.Rand(), 4*base.In)
	outputs := make([]float64, 0, 100)
	for o.Loop() {
		outputs = outputs[:0]
		for i := range 6 {
			a.A[i], a.B[i], x[i] = float64(i%3), float64(i%5), float64(i%7)
			y := forward(b, l, x)
			outputs = append(outputs, product(y), y[i])
		}
	}
	o.Floats("outputs", outputs)
}

// Backward of four rows through the same. Time: that of the gradient of x of the base and a
// little more. Memory: the gradient of x.
func BenchmarkBackward(b *testing.B) {
	o := observe.New(b)
	base, l, a := large(b, o, 1500, 1400)
	base.GradW, base.GradB = nil, nil
	x, dy := numbers(o.Rand(), 4*base.In), numbers(o.Rand(), 4*base.Out)
	outputs := make([]float64, 0, 100)
	for o.Loop() {
		outputs = outputs[:0]
		for i := range 6 {
			l.ZeroGrad()
			a.A[i], a.B[i], x[i] = float64(i%3), float64(i%5), float64(i%7)
			dx := backward(b, l, x, dy)
			outputs = append(outputs, product(dx), dx[i], product(a.GradA), product(a.GradB))
		}
	}
	o.Floats("gradients", outputs)
}

// Merge and Unmerge of an adapter of rank 16 in a layer of 2,100 × 2,000. Time: each weight
// is changed once for each number of the rank. Memory: none, neither for scale·B·A nor for a
// copy of the weights.
func BenchmarkMerge(b *testing.B) {
	o := observe.New(b)
	base, l, a := large(b, o, 2100, 2000)
	sums := make([]float64, 1)
	for o.Loop() {
		for i := range sums {
			a.A[i] = 0.25 + float64(i)
			merge(b, l)
			sums[i] = product(base.W[:50_000]) + base.W[len(base.W)-1]
			unmerge(b, l)
		}
	}
	o.Floats("weights while merged", sums)
	o.Float("weights afterwards", product(base.W))
}

// Use of each of fifty adapters of a layer of 1,000 × 1,000, and a Forward of one row.
// Time: a switch takes no longer than a look-up.
func BenchmarkSwitch(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	base := newBase(r, 1000, 1000, false)
	l := newLayer(b, base)
	names := make([]string, 50)
	for i := range names {
		names[i] = fmt.Sprint("adapter ", i)
		add(b, r, l, base, names[i], plain(1+i%3))
	}
	x := numbers(r, base.In)
	outputs := make([]float64, len(names))
	for o.Loop() {
		for i, name := range names {
			use(b, l, name)
			outputs[i] = product(forward(b, l, x))
		}
	}
	o.Floats("outputs", outputs)
}
