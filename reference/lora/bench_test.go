package lora

import "testing"

// What the reference is held against. /base is the layer without an adapter, which is the
// least that there is to do; /difference makes the product of B and A, as the formula
// W + B·A is written, and adds it up.

const (
	wide  = 512
	batch = 16
	rank  = 8
)

// difference adds scale·B·A, as a matrix of its own, to the weights.
func difference(base *Linear, a *Adapter) *Linear {
	sum := &Linear{In: base.In, Out: base.Out, W: make([]float64, len(base.W)), B: base.B}
	for o := range base.Out {
		for i := range base.In {
			x := 0.0
			for k := range a.Rank {
				x += a.B[o*a.Rank+k] * a.A[k*base.In+i]
			}
			sum.W[o*base.In+i] = base.W[o*base.In+i] + a.Scale()*x
		}
	}
	return sum
}

var sink []float64

func BenchmarkForward(b *testing.B) {
	base, l, a, r := trained(b, wide, wide, rank)
	x := normal(r, batch*wide)
	b.Run("reference", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink, _ = l.Forward(x)
		}
	})
	b.Run("base", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink = base.Forward(x)
		}
	})
	b.Run("difference", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink = difference(base, a).Forward(x)
		}
	})
}

func BenchmarkBackward(b *testing.B) {
	base, l, a, r := trained(b, wide, wide, rank)
	x := normal(r, batch*wide)
	dy := x
	b.Run("reference", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink, _ = l.Backward(x, dy)
		}
	})
	b.Run("base", func(b *testing.B) {
		b.ReportAllocs()
		base.GradW, base.GradB = make([]float64, len(base.W)), make([]float64, base.Out)
		for b.Loop() {
			sink = base.Backward(x, dy)
		}
	})
	b.Run("difference", func(b *testing.B) { // the gradient of the whole, and then that of its factors
		b.ReportAllocs()
		for b.Loop() {
			whole := difference(base, a)
			whole.GradW, whole.GradB = make([]float64, len(base.W)), make([]float64, base.Out)
			sink = whole.Backward(x, dy)
			for o := range wide {
				for i := range wide {
					g := a.Scale() * whole.GradW[o*wide+i]
					for k := range rank {
						a.GradB[o*rank+k] += g * a.A[k*wide+i]
						a.GradA[k*wide+i] += g * a.B[o*rank+k]
					}
				}
			}
		}
	})
}
