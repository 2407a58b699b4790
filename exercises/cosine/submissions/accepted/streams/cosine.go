// Package cosine makes one stream of rows of similarities, and looks at it in three ways.
package cosine

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
)

type Float interface{ ~float32 | ~float64 }

type Matrix[T Float] struct {
	Rows, Cols, Stride int
	Data               []T
}

type Block[T Float] struct {
	Row, Col int
	Sim      Matrix[T]
}

type Neighbor[T Float] struct {
	Index int
	Score T
}

var ErrShape = errors.New("cosine: shape mismatch")

// unit writes row i of m, scaled to length 1, into out.
func unit[T Float](out []float64, m Matrix[T], i int) {
	if m.Cols == 0 {
		return
	}
	largest := 0.0
	for k, v := range m.Data[i*m.Stride:][:m.Cols] {
		out[k] = float64(v)
		largest = math.Max(largest, math.Abs(out[k]))
	}
	if largest == 0 {
		return
	}
	sum := 0.0
	for k := range out {
		out[k] /= largest // Inf/Inf is NaN
		sum += out[k] * out[k]
	}
	length := math.Sqrt(sum)
	for k := range out {
		out[k] /= length
	}
}

// stream yields the similarities of each row of a, in a slice that it uses again; and
// the error of ctx, if that ends.
func stream[T Float](ctx context.Context, a, b Matrix[T]) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		columns := make([]float64, b.Rows*b.Cols)
		for j := range b.Rows {
			unit(columns[j*b.Cols:][:b.Cols], b, j)
		}
		x := make([]float64, a.Cols)
		row := make([]T, b.Rows)
		for i := range a.Rows {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			unit(x, a, i)
			for j := range row {
				sum := 0.0
				for k, v := range columns[j*b.Cols:][:len(x)] {
					sum += v * x[k]
				}
				row[j] = T(max(-1, min(1, sum)))
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error {
	if err := agree(a, b); err != nil {
		return err
	}
	if err := dst.sound(); err != nil || dst.Rows != a.Rows || dst.Cols != b.Rows {
		return fmt.Errorf("dst: %w", ErrShape)
	}
	if meet(dst.extent(), a.extent()) || meet(dst.extent(), b.extent()) {
		return fmt.Errorf("dst lies in an operand: %w", ErrShape)
	}
	if dst.Cols == 0 {
		return nil
	}
	i := 0
	for row, err := range stream(ctx, a, b) {
		if err != nil {
			return fmt.Errorf("similarity: %w", err)
		}
		copy(dst.Data[i*dst.Stride:], row)
		i++
	}
	return nil
}

// Blocks copies rows into a band until it is full, and where a row does not fit, cuts it.
func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Block[T], error] {
	return func(yield func(Block[T], error) bool) {
		err := agree(a, b)
		size := maxBytes / width[T]()
		if err == nil && size < 1 {
			err = errors.New("cosine: a block has at least one number")
		}
		if err != nil {
			yield(Block[T]{}, err)
			return
		}
		if b.Rows == 0 {
			return
		}
		wide := min(b.Rows, size)
		high := max(1, min(size/wide, a.Rows))
		band := make([]T, 0, wide*high)
		i := 0
		for row, err := range stream(ctx, a, b) {
			if err != nil {
				yield(Block[T]{}, err)
				return
			}
			i++
			for j := 0; j < len(row); j += wide {
				part := row[j:min(j+wide, len(row))]
				band = append(band, part...)
				if rows := len(band) / len(part); rows == high || i == a.Rows {
					if err := ctx.Err(); err != nil {
						yield(Block[T]{}, err)
						return
					}
					if !yield(Block[T]{i - rows, j, Matrix[T]{rows, len(part), len(part), band}}, nil) {
						return
					}
					band = band[:0]
				}
			}
		}
	}
}

// worst is a heap of neighbors with the worst on top.
type worst[T Float] []Neighbor[T]

func (w worst[T]) Len() int           { return len(w) }
func (w worst[T]) Less(i, j int) bool { return better(w[j], w[i]) }
func (w worst[T]) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *worst[T]) Push(n any)        { *w = append(*w, n.(Neighbor[T])) }

func (w *worst[T]) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

// better reports whether x stands before y.
func better[T Float](x, y Neighbor[T]) bool {
	xNaN, yNaN := math.IsNaN(float64(x.Score)), math.IsNaN(float64(y.Score))
	if xNaN != yNaN {
		return yNaN
	}
	if !xNaN && x.Score != y.Score {
		return x.Score > y.Score
	}
	return x.Index < y.Index
}

func TopK[T Float](ctx context.Context, a, b Matrix[T], k int) ([][]Neighbor[T], error) {
	if err := agree(a, b); err != nil {
		return nil, err
	}
	if k < 1 {
		return nil, fmt.Errorf("cosine: the best %d", k)
	}
	k = min(k, b.Rows)
	var lists [][]Neighbor[T]
	for row, err := range stream(ctx, a, b) {
		if err != nil {
			return nil, err
		}
		kept := make(worst[T], 0, k)
		for j, s := range row {
			n := Neighbor[T]{j, s}
			if len(kept) < k {
				heap.Push(&kept, n)
			} else if better(n, kept[0]) {
				kept[0] = n
				heap.Fix(&kept, 0)
			}
		}
		list := make([]Neighbor[T], len(kept))
		for at := len(list) - 1; at >= 0; at-- {
			list[at] = heap.Pop(&kept).(Neighbor[T])
		}
		lists = append(lists, list)
	}
	return lists, nil
}

func agree[T Float](a, b Matrix[T]) error {
	if err := errors.Join(a.sound(), b.sound()); err != nil {
		return err
	}
	if a.Cols != b.Cols {
		return fmt.Errorf("rows of %d and %d numbers: %w", a.Cols, b.Cols, ErrShape)
	}
	return nil
}

func (m Matrix[T]) sound() error {
	ok := m.Rows >= 0 && m.Cols >= 0 && m.Stride >= m.Cols
	if ok && m.Rows > 0 && m.Cols > 0 {
		left := len(m.Data) - m.Cols
		ok = left >= 0 && left/m.Stride >= m.Rows-1
	}
	if !ok {
		return fmt.Errorf("a matrix of %d rows and %d columns: %w", m.Rows, m.Cols, ErrShape)
	}
	return nil
}

func (m Matrix[T]) extent() []T {
	if m.Rows == 0 || m.Cols == 0 {
		return nil
	}
	return m.Data[:m.Cols+(m.Rows-1)*m.Stride]
}

// meet reports whether an element of x is one of y.
func meet[T Float](x, y []T) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	for i := range max(len(x), len(y)) {
		if i < len(x) && &x[i] == &y[0] || i < len(y) && &y[i] == &x[0] {
			return true
		}
	}
	return false
}

// width is 4 or 8: a third of 1 has as many digits as its type.
func width[T Float]() int {
	third := T(1)
	third /= 3
	if float64(third) == 1.0/3 {
		return 8
	}
	return 4
}
