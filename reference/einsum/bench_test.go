package einsum

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// What the reference is held against. /loops is the definition by three loops; /gonum is
// the product of gonum, blocked and hand-written for the processor: the strongest that is
// to be had in Go, for this equation alone. /from-the-left contracts a chain in the order
// in which it is written.

func draw(shape ...int) Tensor {
	r := rand.New(rand.NewPCG(1, 2))
	n := 1
	for _, size := range shape {
		n *= size
	}
	t := Tensor{Shape: shape, Data: make([]float64, n)}
	for i := range t.Data {
		t.Data[i] = r.NormFloat64()
	}
	return t
}

var sink Tensor

// loops multiplies n×m by m×p.
func loops(out, a, b []float64, n, m, p int) {
	for i := range n {
		for k := range p {
			sum := 0.0
			for j := range m {
				sum += a[i*m+j] * b[j*p+k]
			}
			out[i*p+k] = sum
		}
	}
}

// A product of two matrices.
func BenchmarkMatMul(b *testing.B) {
	const n = 256
	x, y := draw(n, n), draw(n, n)
	b.Run("reference", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink, _ = Einsum(MatMul, x, y)
		}
	})
	b.Run("loops", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out := make([]float64, n*n)
			loops(out, x.Data, y.Data, n, n, n)
			sink.Data = out
		}
	})
	b.Run("gonum", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var out mat.Dense
			out.Mul(mat.NewDense(n, n, x.Data), mat.NewDense(n, n, y.Data))
			sink.Data = out.RawMatrix().Data
		}
	})
}

// Sixty-four products of small matrices.
func BenchmarkBatchMatMul(b *testing.B) {
	const batch, n = 64, 48
	x, y := draw(batch, n, n), draw(batch, n, n)
	b.Run("reference", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink, _ = Einsum(BatchMatMul, x, y)
		}
	})
	b.Run("loops", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out := make([]float64, batch*n*n)
			for i := 0; i < len(out); i += n * n {
				loops(out[i:i+n*n], x.Data[i:], y.Data[i:], n, n, n)
			}
			sink.Data = out
		}
	})
	b.Run("gonum", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out := make([]float64, batch*n*n)
			for i := 0; i < len(out); i += n * n {
				mat.NewDense(n, n, out[i:i+n*n]).Mul(mat.NewDense(n, n, x.Data[i:i+n*n]), mat.NewDense(n, n, y.Data[i:i+n*n]))
			}
			sink.Data = out
		}
	})
}

// A chain whose last product is by a vector: from the right it costs 500 times less.
func BenchmarkChain(b *testing.B) {
	const n = 256
	x, y, z := draw(n, n), draw(n, n), draw(n, 1)
	b.Run("reference", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink, _ = Einsum("ij,jk,kl->il", x, y, z)
		}
	})
	b.Run("from-the-left", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			xy, _ := Einsum(MatMul, x, y)
			sink, _ = Einsum(MatMul, xy, z)
		}
	})
}
