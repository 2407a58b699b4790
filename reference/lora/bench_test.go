package lora

import (
	"math/rand/v2"
	"testing"
)

// What the reference is held against. /base is the layer without an adapter, which is the
// least that there is to do; /difference makes the product of B and A, as the formula
// W + B·A is written, and adds it up.

const (
	wide  = 512
	batch = 16
	rank  = 8
)

func layers(b *testing.B) (*Layer, *Linear, *Adapter, []float64) {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		return x
	}
	base := &Linear{In: wide, Out: wide, W: draw(wide * wide), B: draw(wide)}
	l, err := New(base)
	if err != nil {
		b.Fatal(err)
	}
	if err := l.Add("a", Config{Rank: rank, Alpha: 16}, r); err != nil {
		b.Fatal(err)
	}
	if err := l.Use("a"); err != nil {
		b.Fatal(err)
	}
	copy(l.Adapter("a").B, draw(wide*rank))
	return l, base, l.Adapter("a"), draw(batch * wide)
}

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
	l, base, a, x := layers(b)
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
	l, base, a, x := layers(b)
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
