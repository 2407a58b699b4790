// Package cosine computes 2×2 similarities together, and everything by one function for a rectangle.
package cosine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
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

type units struct {
	n, d int
	data []float64
}

// row of an index that is too large is one of zeros, so that pairs need no edges.
func (u units) row(i int) []float64 {
	if i >= u.n {
		return u.data[u.n*u.d:]
	}
	return u.data[i*u.d:][:u.d]
}

func unitsOf[T Float](m Matrix[T]) units {
	u := units{m.Rows, m.Cols, make([]float64, (m.Rows+1)*m.Cols)}
	for i := range m.Rows {
		length := 0.0
		for _, x := range m.row(i) {
			length = math.Hypot(length, float64(x))
		}
		if length == 0 {
			continue
		}
		if math.IsInf(length, 0) {
			length = math.NaN() // an infinite element: all similarities are NaN
		}
		out := u.row(i)
		for k, x := range m.row(i) {
			out[k] = float64(x) / length
		}
	}
	return u
}

// rectangle computes similarities from (row, col) on, for all of dst.
func rectangle[T Float](ctx context.Context, dst Matrix[T], x, y units, row, col int) error {
	for i := 0; i < dst.Rows; i += 2 {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, q := x.row(row+i), x.row(row+i+1)
		q = q[:len(p)]
		for j := 0; j < dst.Cols; j += 2 {
			r, s := y.row(col + j)[:len(p)], y.row(col + j + 1)[:len(p)]
			var pr, ps, qr, qs float64
			for k := range p {
				pr += p[k] * r[k]
				ps += p[k] * s[k]
				qr += q[k] * r[k]
				qs += q[k] * s[k]
			}
			dst.set(i, j, pr)
			dst.set(i, j+1, ps)
			dst.set(i+1, j, qr)
			dst.set(i+1, j+1, qs)
		}
	}
	return ctx.Err()
}

// set sets an element, if there is one.
func (m Matrix[T]) set(i, j int, x float64) {
	if i < m.Rows && j < m.Cols {
		m.Data[i*m.Stride+j] = T(min(max(x, -1), 1))
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
	return rectangle(ctx, dst, unitsOf(a), unitsOf(b), 0, 0)
}

func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Block[T], error] {
	return func(yield func(Block[T], error) bool) {
		if err := valid(a, b); err != nil {
			yield(Block[T]{}, err)
		} else if size := maxBytes / bytes[T](); size < 1 {
			yield(Block[T]{}, errors.New("cosine: maxBytes is too small"))
		} else if err := blocks(ctx, unitsOf(a), unitsOf(b), size, yield); err != nil {
			yield(Block[T]{}, err)
		}
	}
}

// blocks yields blocks until one is not wanted, or ctx ends.
func blocks[T Float](ctx context.Context, x, y units, size int, yield func(Block[T], error) bool) error {
	if x.n == 0 || y.n == 0 {
		return ctx.Err()
	}
	var data []T
	width := min(y.n, size)
	height := min(x.n, size/width)
	for row := 0; row < x.n; row += height {
		for col := 0; col < y.n; col += width {
			sim := Matrix[T]{Rows: min(height, x.n-row), Cols: min(width, y.n-col)}
			sim.Stride = sim.Cols
			if data == nil {
				data = make([]T, sim.Rows*sim.Cols)
			}
			sim.Data = data
			if err := rectangle(ctx, sim, x, y, row, col); err != nil {
				return err
			}
			if !yield(Block[T]{row, col, sim}, nil) {
				return nil
			}
		}
	}
	return nil
}

// TopK takes blocks of a few rows, and the best of them and of those before.
func TopK[T Float](ctx context.Context, a, b Matrix[T], k int) ([][]Neighbor[T], error) {
	if k < 1 {
		return nil, errors.New("cosine: k is too small")
	}
	if err := valid(a, b); err != nil {
		return nil, err
	}
	lists := make([][]Neighbor[T], a.Rows)
	x, y := unitsOf(a), unitsOf(b)
	err := blocks(ctx, x, y, 1<<16, func(block Block[T], err error) bool {
		for i := range block.Sim.Rows {
			list := lists[block.Row+i]
			for j, s := range block.Sim.row(i) {
				if len(list) >= k && s <= list[len(list)-1].Score {
					continue
				}
				n := Neighbor[T]{block.Col + j, s}
				at, _ := slices.BinarySearchFunc(list, n, func(x, y Neighbor[T]) int {
					return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Index, y.Index))
				})
				if at < k {
					list = slices.Insert(list[:min(len(list), k-1)], at, n)
				}
			}
			lists[block.Row+i] = list
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return lists, nil
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
