package amp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"grade/reference/amp"
)

// What the reference's norm is held against. /hypot is right for numbers of any size, and
// takes a root for each; /largest looks for the largest number before it squares one.

func hypot(grads [][]float64) (norm float64) {
	for _, g := range grads {
		for _, x := range g {
			norm = math.Hypot(norm, x)
		}
	}
	return norm
}

func largestFirst(grads [][]float64) float64 {
	m, sum := 0.0, 0.0
	for _, g := range grads {
		for _, x := range g {
			m = max(m, math.Abs(x))
		}
	}
	for _, g := range grads {
		for _, x := range g {
			sum += x / m * (x / m)
		}
	}
	return m * math.Sqrt(sum)
}

func BenchmarkNorm(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	grads := make([][]float64, 1000)
	for i := range grads {
		grads[i] = make([]float64, 1000)
		for j := range grads[i] {
			grads[i][j] = r.NormFloat64()
		}
	}
	for _, c := range []struct {
		name string
		norm func([][]float64) float64
	}{
		{"reference", func(g [][]float64) float64 { norm, _ := amp.Clip(g, inf, 2); return norm }},
		{"largest", largestFirst},
		{"hypot", hypot},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(8 * 1000 * 1000)
			for b.Loop() {
				c.norm(grads)
			}
		})
	}
}
