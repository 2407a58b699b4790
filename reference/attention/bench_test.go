package attention

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// What the reference is held against. /naive is the formula by three loops, with a matrix
// of all queries times all keys; /gonum makes the same matrix by gonum's products, which
// are blocked and hand-written for the processor: the strongest that is to be had in Go,
// and without masks, heads or care for large logits.

func naive(q, k, v Matrix) Matrix {
	weights := make([]float64, q.Rows*k.Rows)
	out := Matrix{q.Rows, v.Cols, make([]float64, q.Rows*v.Cols)}
	for i := range q.Rows {
		row, sum := weights[i*k.Rows:(i+1)*k.Rows], 0.0
		for j := range row {
			dot := 0.0
			for c := range q.Cols {
				dot += q.Data[i*q.Cols+c] * k.Data[j*k.Cols+c]
			}
			row[j] = math.Exp(dot / math.Sqrt(float64(q.Cols)))
			sum += row[j]
		}
		for j, w := range row {
			for c := range v.Cols {
				out.Data[i*v.Cols+c] += w / sum * v.Data[j*v.Cols+c]
			}
		}
	}
	return out
}

func byGonum(q, k, v Matrix) Matrix {
	dense := func(m Matrix) *mat.Dense { return mat.NewDense(m.Rows, m.Cols, m.Data) }
	var weights, out mat.Dense
	weights.Mul(dense(q), dense(k).T())
	for i := range q.Rows {
		row, sum := weights.RawRowView(i), 0.0
		for j, x := range row {
			row[j] = math.Exp(x / math.Sqrt(float64(q.Cols)))
			sum += row[j]
		}
		for j := range row {
			row[j] /= sum
		}
	}
	out.Mul(&weights, dense(v))
	return Matrix{q.Rows, v.Cols, out.RawMatrix().Data}
}

var sink Matrix

func benchmarkAttend(b *testing.B, rows int) {
	q, k, v := draw(rows, 64), draw(rows, 64), draw(rows, 64)
	for _, c := range []struct {
		name string
		call func(q, k, v Matrix) Matrix
	}{
		{"reference", func(q, k, v Matrix) Matrix { out, _ := Attend(q, k, v, Options{}); return out }},
		{"naive", naive},
		{"gonum", byGonum},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = c.call(q, k, v)
			}
		})
	}
}

// A head of 64 numbers over 256 tokens, and over 2,048.
func BenchmarkShort(b *testing.B) { benchmarkAttend(b, 256) }
func BenchmarkLong(b *testing.B)  { benchmarkAttend(b, 2048) }

// 256 tokens, one after the other: /whole attends to all of them again for each.
func BenchmarkTokens(b *testing.B) {
	const tokens = 256
	q, k, v := draw(tokens, 64), draw(tokens, 64), draw(tokens, 64)
	row := func(m Matrix, i int) Matrix { return Matrix{1, m.Cols, m.Data[i*m.Cols : (i+1)*m.Cols]} }
	first := func(m Matrix, n int) Matrix { return Matrix{n, m.Cols, m.Data[:n*m.Cols]} }
	b.Run("reference", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c, _ := NewCache(CacheConfig{Heads: Heads{1, 1}, KeyDim: 64, ValueDim: 64})
			for i := range tokens {
				sink, _ = c.Step(row(q, i), row(k, i), row(v, i))
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i := range tokens {
				sink, _ = Attend(first(q, i+1), first(k, i+1), first(v, i+1), Options{Causal: true})
			}
		}
	})
}
