package broadcast

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What the reference is held against. /flat is the strongest: one loop over slices of one
// length, which is all there is to do where the shapes are equal, written for each pattern
// by hand. /index is what most write at first: an index for each element of the result, by
// divisions.

func draw(shape ...int) Tensor {
	r := rand.New(rand.NewPCG(1, 2))
	t := zeros(shape)
	for i := range t.Data {
		t.Data[i] = r.Float64()
	}
	return t
}

var sink Tensor

// byIndex adds two matrices.
func byIndex(a, b Tensor) Tensor {
	shape, _ := Shapes(a.Shape, b.Shape)
	z := zeros(shape)
	for i := range z.Data {
		at, from := i, [2]int{}
		stride := [2]int{1, 1}
		for k := len(shape) - 1; k >= 0; k-- {
			index := at % shape[k]
			at /= shape[k]
			for n, t := range [2]Tensor{a, b} {
				if own := k - len(shape) + len(t.Shape); own >= 0 {
					if t.Shape[own] > 1 {
						from[n] += index * stride[n]
					}
					stride[n] *= t.Shape[own]
				}
			}
		}
		z.Data[i] = a.Data[from[0]] + b.Data[from[1]]
	}
	return z
}

const rows, cols = 400, 400

func BenchmarkApply(b *testing.B) {
	for _, c := range []struct {
		name string
		with Tensor
		flat func(z, x, y []float64)
	}{
		{"same", draw(rows, cols), func(z, x, y []float64) {
			for i := range z {
				z[i] = x[i] + y[i]
			}
		}},
		{"row", draw(cols), func(z, x, y []float64) {
			for ; len(z) > 0; z, x = z[cols:], x[cols:] {
				for j, y := range y {
					z[j] = x[j] + y
				}
			}
		}},
		{"column", draw(rows, 1), func(z, x, y []float64) {
			for i, y := range y {
				for j := i * cols; j < (i+1)*cols; j++ {
					z[j] = x[j] + y
				}
			}
		}},
		{"scalar", draw(), func(z, x, y []float64) {
			for i := range z {
				z[i] = x[i] + y[0]
			}
		}},
	} {
		x := draw(rows, cols)
		b.Run(c.name+"/reference", func(b *testing.B) {
			for b.Loop() {
				sink, _ = Add.Apply(x, c.with)
			}
		})
		b.Run(c.name+"/flat", func(b *testing.B) {
			for b.Loop() {
				z := zeros(x.Shape)
				c.flat(z.Data, x.Data[:len(z.Data)], c.with.Data)
				sink = z
			}
		})
		b.Run(c.name+"/index", func(b *testing.B) {
			for b.Loop() {
				sink = byIndex(x, c.with)
			}
		})
	}
}

// The middle one of three dimensions, of which the last is short.
func BenchmarkMiddle(b *testing.B) {
	x, y := draw(100, 50, 32), draw(100, 1, 32)
	b.Run("reference", func(b *testing.B) {
		for b.Loop() {
			sink, _ = Mul.Apply(x, y)
		}
	})
	b.Run("flat", func(b *testing.B) {
		for b.Loop() {
			z := zeros(x.Shape)
			for i := range 100 {
				row := y.Data[32*i:][:32]
				for j := range 50 {
					at := (50*i + j) * 32
					out, in := z.Data[at:][:32], x.Data[at:][:32]
					for k, y := range row {
						out[k] = in[k] * y
					}
				}
			}
			sink = z
		}
	})
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			sink = byIndex(x, y)
		}
	})
}

// The sum of the rows, and a gradient back to a row and a column.
func BenchmarkSum(b *testing.B) {
	x := draw(rows, cols)
	b.Run("rows/reference", func(b *testing.B) {
		for b.Loop() {
			sink, _ = SumTo(x, []int{1, cols})
		}
	})
	b.Run("rows/flat", func(b *testing.B) {
		for b.Loop() {
			z := zeros([]int{1, cols})
			for row := range slices.Chunk(x.Data, cols) {
				for j, x := range row {
					z.Data[j] += x
				}
			}
			sink = z
		}
	})
	row, column := draw(cols), draw(rows, 1)
	b.Run("gradient/reference", func(b *testing.B) {
		for b.Loop() {
			sink, _, _ = Mul.Grad(column, row, x)
		}
	})
	b.Run("gradient/flat", func(b *testing.B) {
		for b.Loop() {
			da, db := zeros(column.Shape), zeros(row.Shape)
			for i, y := range column.Data {
				sum := 0.0
				for j, g := range x.Data[i*cols:][:cols] {
					sum += g * row.Data[j]
					db.Data[j] += g * y
				}
				da.Data[i] = sum
			}
			sink = da
		}
	})
}
