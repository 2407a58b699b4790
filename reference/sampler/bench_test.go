package sampler

import (
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
)

// weights draws some of all sizes.
func weights(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	w := make([]float64, n)
	for i := range w {
		w[i] = r.ExpFloat64()
	}
	return w
}

// The contender is a binary search in the sums, which most write at first.
func BenchmarkDraw(b *testing.B) {
	for name, n := range map[string]int{"30 thousand": 30_000, "million": 1_000_000} {
		w := weights(n)
		table, err := NewTable(w)
		if err != nil {
			b.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		b.Run(name+"/reference", func(b *testing.B) {
			for b.Loop() {
				table.Draw(r)
			}
		})
		sums := slices.Clone(w)
		for i := range sums[1:] {
			sums[i+1] += sums[i]
		}
		b.Run(name+"/search", func(b *testing.B) {
			for b.Loop() {
				sort.SearchFloat64s(sums, r.Float64()*sums[n-1])
			}
		})
	}
}

func BenchmarkNewTable(b *testing.B) {
	w := weights(1_000_000)
	for b.Loop() {
		if _, err := NewTable(w); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDistinct(b *testing.B) {
	w := weights(100_000)
	r := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		if _, err := Distinct(w, 1500, r); err != nil {
			b.Fatal(err)
		}
	}
}
