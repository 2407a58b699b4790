package cosine

import (
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The benchmarks compare with what one would write first and with the strongest
// thing there is to take: gonum's product, whose inner loops are assembly.

// alone runs one contender on one thread. gonum takes as many as there are, and
// package testing sets their number anew for each b.Run.
func alone(b *testing.B, name string, f func(b *testing.B)) {
	b.Run(name, func(b *testing.B) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		f(b)
	})
}

// naiveSimilarity is three loops, with both norms for every pair.
func naiveSimilarity[T Float](dst, a, b Matrix[T]) {
	for i := range a.Rows {
		for j := range b.Rows {
			var dot, xx, yy float64
			y := b.row(j)
			for k, x := range a.row(i) {
				p, q := float64(x), float64(y[k])
				dot += p * q
				xx += p * p
				yy += q * q
			}
			dst.Data[i*dst.Stride+j] = T(max(-1, min(1, dot/(math.Sqrt(xx)*math.Sqrt(yy)))))
		}
	}
}

// normalised copies m, with rows of length 1.
func normalised(m Matrix[float64]) *mat.Dense {
	out := make([]float64, m.Rows*m.Cols)
	for i := range m.Rows {
		normalise(out[i*m.Cols:][:m.Cols], m.row(i))
	}
	return mat.NewDense(m.Rows, m.Cols, out)
}

func gonumSimilarity(dst, a, b Matrix[float64]) {
	mat.NewDense(dst.Rows, dst.Cols, dst.Data).Mul(normalised(a), normalised(b).T())
	for i, x := range dst.Data {
		dst.Data[i] = max(-1, min(1, x))
	}
}

func benchmarkSimilarity[T Float](b *testing.B, n, d int, gonum func(dst, x, y Matrix[T])) {
	x, y, dst := random[T](n, d, d), random[T](n, d, d), random[T](n, n, n)
	alone(b, "reference", func(b *testing.B) {
		for b.Loop() {
			if err := Similarity(background, dst, x, y); err != nil {
				b.Fatal(err)
			}
		}
	})
	alone(b, "naive", func(b *testing.B) {
		for b.Loop() {
			naiveSimilarity(dst, x, y)
		}
	})
	if gonum != nil {
		alone(b, "gonum", func(b *testing.B) {
			for b.Loop() {
				gonum(dst, x, y)
			}
		})
	}
}

func Benchmark2048x2048x256(b *testing.B)        { benchmarkSimilarity(b, 2048, 256, gonumSimilarity) }
func Benchmark512x512x768(b *testing.B)          { benchmarkSimilarity(b, 512, 768, gonumSimilarity) }
func Benchmark512x512x768Float32(b *testing.B)   { benchmarkSimilarity[float32](b, 512, 768, nil) }
func Benchmark2048x2048x256Float32(b *testing.B) { benchmarkSimilarity[float32](b, 2048, 256, nil) }

// The best 10 of 20,000 for each of 20,000 rows: the matrix of similarities would
// take 3.2 GB. gonum holds a band of it.
func BenchmarkTopK20000x20000x64(b *testing.B) {
	const n, d, k, band = 20_000, 64, 10, 100
	x, y := random[float64](n, d, d), random[float64](n, d, d)
	alone(b, "reference", func(b *testing.B) {
		stop := peak()
		for b.Loop() {
			if _, err := TopK(background, x, y, k); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(stop(), "peak-MiB")
	})
	alone(b, "gonum", func(b *testing.B) {
		for b.Loop() {
			sim := random[float64](band, n, n)
			for i := 0; i < n; i += band {
				gonumSimilarity(sim, Matrix[float64]{band, d, d, x.Data[i*d:]}, y)
				for j := range band {
					best(sim.row(j), k)
				}
			}
		}
	})
}

// best keeps the k best scores sorted, and moves a new one up from the end.
func best(scores []float64, k int) []Neighbor[float64] {
	list := make([]Neighbor[float64], 0, k+1)
	for j, s := range scores {
		if len(list) == k && s <= list[k-1].Score {
			continue
		}
		list = append(list, Neighbor[float64]{j, s})
		for i := len(list) - 1; i > 0 && order(list[i], list[i-1]) < 0; i-- {
			list[i], list[i-1] = list[i-1], list[i]
		}
		list = list[:min(k, len(list))]
	}
	return list
}

// peak starts to watch the memory that this process has from the system, and
// returns a function that says by how many MiB it has grown.
func peak() func() float64 {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	return func() float64 {
		runtime.ReadMemStats(&after)
		return float64(after.HeapSys-before.HeapInuse) / (1 << 20)
	}
}
