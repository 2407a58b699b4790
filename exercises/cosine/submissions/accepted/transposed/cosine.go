// Package cosine adds up multiples of the columns of b, which lie one after the other in a transposed copy.
package cosine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sort"
)

type Float interface{ ~float32 | ~float64 }

type Matrix[T Float] struct {
	Rows, Cols, Stride int
	Data               []T
}

var ErrShape = errors.New("cosine: shape mismatch")

type Block[T Float] struct {
	Row, Col int
	Sim      Matrix[T]
}

type Neighbor[T Float] struct {
	Index int
	Score T
}

// unit is rows of length 1, transposed: element (i, k) is at [k*rows+i].
type unit struct {
	rows, cols int
	data       []float64
}

func newUnit[T Float](m Matrix[T]) unit {
	u := unit{m.Rows, m.Cols, make([]float64, m.Rows*m.Cols)}
	for i := range m.Rows {
		length := length(m.row(i))
		for k, x := range m.row(i) {
			if length != 0 {
				u.data[k*m.Rows+i] = float64(x) / length
			}
		}
	}
	return u
}

// length is Euclid's, with the largest number and the root of a sum of squares that
// are at most 1.
func length[T Float](row []T) float64 {
	scale, sum := 0.0, 1.0
	for _, v := range row {
		x := math.Abs(float64(v))
		switch {
		case math.IsInf(x, 0), math.IsNaN(x):
			return math.NaN()
		case x == 0:
		case x > scale:
			sum = 1 + sum*(scale/x)*(scale/x)
			scale = x
		default:
			sum += (x / scale) * (x / scale)
		}
	}
	if scale == 0 {
		return 0
	}
	return scale * math.Sqrt(sum)
}

// similarities computes those of row i of u and rows first, first+1, ... of v.
func similarities[T Float](out []T, sums []float64, u, v unit, i, first int) {
	sums = sums[:len(out)]
	clear(sums)
	for k := range u.cols {
		x := u.data[k*u.rows+i]
		column := v.data[k*v.rows+first:][:len(sums)]
		for j := range sums {
			sums[j] += x * column[j]
		}
	}
	for j, s := range sums {
		out[j] = T(max(-1, min(1, s)))
	}
}

func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error {
	if err := valid(a, b); err != nil {
		return err
	}
	if !dst.valid() || dst.Rows != a.Rows || dst.Cols != b.Rows {
		return fmt.Errorf("%w: dst", ErrShape)
	}
	if overlap(dst.used(), a.used()) || overlap(dst.used(), b.used()) {
		return fmt.Errorf("%w: dst shares memory with its operands", ErrShape)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	u, v := newUnit(a), newUnit(b)
	sums := make([]float64, b.Rows)
	if b.Rows == 0 {
		return nil
	}
	for i := range a.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		similarities(dst.row(i), sums, u, v, i, 0)
	}
	return nil
}

func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Block[T], error] {
	fail := func(err error) iter.Seq2[Block[T], error] {
		return func(yield func(Block[T], error) bool) { yield(Block[T]{}, err) }
	}
	if err := valid(a, b); err != nil {
		return fail(err)
	}
	if maxBytes < bytes[T]() {
		return fail(errors.New("cosine: a block of nothing"))
	}
	size := maxBytes / bytes[T]()
	return func(yield func(Block[T], error) bool) {
		u, v := newUnit(a), newUnit(b)
		width := min(size, b.Rows)
		if width == 0 {
			return
		}
		height := min(size/width, a.Rows)
		out, sums := make([]T, height*width), make([]float64, width)
		for row := 0; row < a.Rows; row += height {
			for col := 0; col < b.Rows; col += width {
				sim := Matrix[T]{min(height, a.Rows-row), min(width, b.Rows-col), width, out}
				for i := range sim.Rows {
					if err := ctx.Err(); err != nil {
						yield(Block[T]{}, err)
						return
					}
					similarities(sim.row(i), sums, u, v, row+i, col)
				}
				if !yield(Block[T]{row, col, sim}, nil) {
					return
				}
			}
		}
	}
}

// TopK sorts a list whenever it has become twice as long as it has to be.
func TopK[T Float](ctx context.Context, a, b Matrix[T], k int) ([][]Neighbor[T], error) {
	if err := valid(a, b); err != nil {
		return nil, err
	}
	if k <= 0 {
		return nil, fmt.Errorf("cosine: the best %d", k)
	}
	u, v := newUnit(a), newUnit(b)
	row, sums := make([]T, b.Rows), make([]float64, b.Rows)
	k = min(k, b.Rows)
	var out [][]Neighbor[T]
	var list []Neighbor[T]
	for i := range a.Rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		similarities(row, sums, u, v, i, 0)
		list = list[:0]
		full := false
		for j, s := range row {
			if full && s <= list[k-1].Score {
				continue
			}
			list = append(list, Neighbor[T]{j, s})
			if len(list) >= 2*k {
				list = best(list, k)
				full = true
			}
		}
		out = append(out, append([]Neighbor[T](nil), best(list, k)...))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

func best[T Float](list []Neighbor[T], k int) []Neighbor[T] {
	sort.Slice(list, func(i, j int) bool {
		x, y := list[i], list[j]
		if nan := math.IsNaN(float64(x.Score)); nan != math.IsNaN(float64(y.Score)) {
			return !nan
		} else if nan || x.Score == y.Score {
			return x.Index < y.Index
		}
		return x.Score > y.Score
	})
	return list[:min(k, len(list))]
}

func (m Matrix[T]) row(i int) []T {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride:][:m.Cols]
}

func (m Matrix[T]) used() []T {
	if m.Rows == 0 || m.Cols == 0 {
		return nil
	}
	return m.Data[:(m.Rows-1)*m.Stride+m.Cols]
}

func (m Matrix[T]) valid() bool {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < m.Cols {
		return false
	}
	if m.Rows == 0 || m.Cols == 0 {
		return true
	}
	return len(m.Data) >= m.Cols && m.Rows-1 <= (len(m.Data)-m.Cols)/m.Stride
}

func valid[T Float](a, b Matrix[T]) error {
	if !a.valid() || !b.valid() || a.Cols != b.Cols {
		return fmt.Errorf("%w: operands", ErrShape)
	}
	return nil
}

// overlap looks for the address of one slice's first element in the other.
func overlap[T Float](x, y []T) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	for i := range x {
		if &x[i] == &y[0] {
			return true
		}
	}
	for i := range y {
		if &y[i] == &x[0] {
			return true
		}
	}
	return false
}

// bytes is the size of a number: 2^-30 beside 1 is lost in a float32.
func bytes[T Float]() int {
	if one := T(1); one+0x1p-30 == one {
		return 4
	}
	return 8
}
