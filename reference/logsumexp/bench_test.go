package logsumexp_test

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/reference/logsumexp"
)

// What the reference is held against. /naive is the formula as it stands, which
// overflows; /twopass the textbook's way, for slices only; /pairwise adds two
// logarithms at a time, which is right and takes a logarithm for each number; /sorted
// and /list are the mistakes that the limits are there for.

func naive(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += math.Exp(x)
	}
	return math.Log(sum)
}

func twopass(xs []float64) float64 {
	if len(xs) == 0 {
		return math.Inf(-1)
	}
	largest := slices.Max(xs)
	if math.IsInf(largest, 0) {
		return largest
	}
	sum := 0.0
	for _, x := range xs {
		sum += math.Exp(x - largest)
	}
	return largest + math.Log(sum)
}

func pairwise(xs []float64) float64 {
	value := math.Inf(-1)
	for _, x := range xs {
		if x > value {
			x, value = value, x
		}
		value += math.Log1p(math.Exp(x - value))
	}
	return value
}

func sorted(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	sum := 0.0
	for _, x := range xs {
		sum += math.Exp(x - xs[len(xs)-1])
	}
	return xs[len(xs)-1] + math.Log(sum)
}

var sink float64

func numbers(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = 20 * r.Float64()
	}
	return xs
}

func BenchmarkSlice(b *testing.B) {
	xs := numbers(1_000_000)
	for _, f := range []struct {
		name string
		call func([]float64) float64
	}{
		{"reference", logsumexp.LogSumExp},
		{"naive", naive},
		{"twopass", twopass},
		{"pairwise", pairwise},
		{"sorted", sorted},
	} {
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = f.call(xs)
			}
		})
	}
}

func BenchmarkSequence(b *testing.B) {
	xs := numbers(1_000_000)
	for _, f := range []struct {
		name string
		call func(iter.Seq[float64]) float64
	}{
		{"reference", logsumexp.Of},
		{"list", func(seq iter.Seq[float64]) float64 { return twopass(slices.Collect(seq)) }},
	} {
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = f.call(slices.Values(xs))
			}
		})
	}
}

func BenchmarkRunning(b *testing.B) {
	xs := numbers(300)
	b.Run("reference", func(b *testing.B) {
		for b.Loop() {
			var a logsumexp.Acc
			for _, x := range xs {
				a.Add(x)
				sink = a.Value()
			}
		}
	})
	b.Run("pairwise", func(b *testing.B) {
		for b.Loop() {
			value := math.Inf(-1)
			for _, x := range xs {
				value = pairwise([]float64{value, x})
			}
			sink = value
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			var list []float64
			for _, x := range xs {
				list = append(list, x)
				sink = twopass(list)
			}
		}
	})
}
