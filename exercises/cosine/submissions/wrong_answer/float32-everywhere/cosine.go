// Package cosine multiplies normalised rows.
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
	x, y := normalised(a), normalised(b)
	for i := range x {
		if err := ctx.Err(); err != nil {
			return err
		}
		out := dst.row(i)
		for j := range y {
			out[j] = T(dot(x[i], y[j]))
		}
	}
	return nil
}

func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Block[T], error] {
	return func(yield func(Block[T], error) bool) {
		if err := valid(a, b); err != nil {
			yield(Block[T]{}, err)
			return
		}
		size := maxBytes / bytes[T]()
		if size < 1 {
			yield(Block[T]{}, errors.New("cosine: no room for a number"))
			return
		}
		if err := ctx.Err(); err != nil {
			yield(Block[T]{}, err)
			return
		}
		if a.Rows == 0 || b.Rows == 0 {
			return
		}
		cols := min(size, b.Rows)
		rows := min(size/cols, a.Rows)
		buf := make([]T, rows*cols)
		x, y := normalised(a), normalised(b)
		for r := 0; r < a.Rows; r += rows {
			for c := 0; c < b.Rows; c += cols {
				h, w := min(rows, a.Rows-r), min(cols, b.Rows-c)
				for i := range h {
					if err := ctx.Err(); err != nil {
						yield(Block[T]{}, err)
						return
					}
					for j := range w {
						buf[i*w+j] = T(dot(x[r+i], y[c+j]))
					}
				}
				if !yield(Block[T]{r, c, Matrix[T]{h, w, w, buf[:h*w]}}, nil) {
					return
				}
			}
		}
	}
}

func TopK[T Float](ctx context.Context, a, b Matrix[T], k int) ([][]Neighbor[T], error) {
	if err := valid(a, b); err != nil {
		return nil, err
	}
	if k < 1 {
		return nil, errors.New("cosine: k < 1")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k = min(k, b.Rows)
	x, y := normalised(a), normalised(b)
	lists := make([][]Neighbor[T], a.Rows)
	for i := range x {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list := make([]Neighbor[T], 0, k)
		for j := range y {
			list = insert(list, k, Neighbor[T]{j, T(dot(x[i], y[j]))})
		}
		lists[i] = list
	}
	return lists, nil
}

// insert keeps list sorted, and no longer than k.
func insert[T Float](list []Neighbor[T], k int, n Neighbor[T]) []Neighbor[T] {
	if len(list) == k {
		if better(n, list[k-1]) >= 0 {
			return list
		}
		list = list[:k-1]
	}
	at, _ := slices.BinarySearchFunc(list, n, better)
	return slices.Insert(list, at, n)
}

// better is negative if x comes before y; NaN comes last.
func better[T Float](x, y Neighbor[T]) int {
	if c := cmp.Compare(y.Score, x.Score); c != 0 {
		return c
	}
	return x.Index - y.Index
}

// dot is the product of two rows of length 1.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	sum := 0.0
	for k, v := range x {
		sum += v * y[k]
	}
	if sum > 1 {
		return 1
	}
	if sum < -1 {
		return -1
	}
	return sum
}

// normalised copies the rows of m, with length 1.
func normalised[T Float](m Matrix[T]) [][]float64 {
	rows := make([][]float64, m.Rows)
	data := make([]float64, m.Rows*m.Cols)
	for i := range rows {
		out := data[i*m.Cols:][:m.Cols]
		rows[i] = out
		largest := 0.0
		for k, x := range m.row(i) {
			out[k] = float64(float32(x))
			largest = max(largest, math.Abs(out[k]))
		}
		if largest == 0 {
			continue
		}
		sum := 0.0
		for k := range out {
			out[k] /= largest
			sum += out[k] * out[k]
		}
		norm := math.Sqrt(sum)
		for k := range out {
			out[k] /= norm
		}
	}
	return rows
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
