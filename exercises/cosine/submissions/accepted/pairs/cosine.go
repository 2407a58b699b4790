// Package cosine keeps no copy of a row: numbers are scaled and both lengths computed for every pair.
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

// cosine is the similarity of x and y, which are divided by p and q first.
func cosine[T Float](x, y []T, p, q float64) T {
	y = y[:len(x)]
	var xy, xx, yy float64
	for k := range x {
		u, v := float64(x[k])*p, float64(y[k])*q
		xy += u * v
		xx += u * u
		yy += v * v
	}
	if xx == 0 && yy == yy || yy == 0 && xx == xx {
		return 0
	}
	return T(max(-1, min(1, xy/math.Sqrt(xx)/math.Sqrt(yy))))
}

// factors are powers of two that bring the largest number of each row near 1.
func factors[T Float](m Matrix[T]) []float64 {
	fs := make([]float64, m.Rows)
	for i := range fs {
		largest := 0.0
		for _, x := range m.row(i) {
			largest = math.Max(largest, math.Abs(float64(x)))
		}
		fs[i] = 1
		switch {
		case math.IsInf(largest, 0), math.IsNaN(largest):
			fs[i] = math.NaN()
		case largest > 0:
			fs[i] = math.Ldexp(1, -math.Ilogb(largest))
		}
	}
	return fs
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
	if dst.Cols == 0 {
		return nil
	}
	fa, fb := factors(a), factors(b)
	for i := range a.Rows {
		select {
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		for j, out := 0, dst.row(i); j < len(out); j++ {
			out[j] = cosine(a.row(i), b.row(j), fa[i], fb[j])
		}
	}
	return nil
}

// Blocks yields tiles that are about square.
func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Block[T], error] {
	return func(yield func(Block[T], error) bool) {
		if err := valid(a, b); err != nil {
			yield(Block[T]{}, err)
			return
		}
		size := maxBytes / bytes[T]()
		if size <= 0 {
			yield(Block[T]{}, errors.New("cosine: too few bytes"))
			return
		}
		if err := ctx.Err(); err != nil {
			yield(Block[T]{}, err)
			return
		}
		side := max(1, int(math.Sqrt(float64(min(size, 1<<40)))))
		rows := max(1, min(side, a.Rows))
		cols := max(1, min(size/rows, b.Rows))
		rows = max(1, min(size/cols, a.Rows))
		fa, fb := factors(a), factors(b)
		var data []T
		for i := 0; i < a.Rows; i += rows {
			for j := 0; j < b.Rows; j += cols {
				data = data[:0]
				for _, p := range fa[i:min(i+rows, a.Rows)] {
					if ctx.Err() != nil {
						yield(Block[T]{}, ctx.Err())
						return
					}
					x := a.row(i + len(data)/min(cols, b.Rows-j))
					for n, q := range fb[j:min(j+cols, b.Rows)] {
						data = append(data, cosine(x, b.row(j+n), p, q))
					}
				}
				width := min(cols, b.Rows-j)
				if !yield(Block[T]{Row: i, Col: j, Sim: Matrix[T]{len(data) / width, width, width, data}}, nil) {
					return
				}
			}
		}
	}
}

// TopK keeps a list and its worst place.
func TopK[T Float](ctx context.Context, a, b Matrix[T], k int) ([][]Neighbor[T], error) {
	if err := valid(a, b); err != nil {
		return nil, err
	}
	if k < 1 {
		return nil, errors.New("cosine: k < 1")
	}
	fa, fb := factors(a), factors(b)
	lists := make([][]Neighbor[T], a.Rows)
	for i := range lists {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var list []Neighbor[T]
		worst := 0
		for j := range b.Rows {
			n := Neighbor[T]{j, cosine(a.row(i), b.row(j), fa[i], fb[j])}
			switch {
			case len(list) < k:
				list = append(list, n)
			case compare(n, list[worst]) > 0:
				continue
			default:
				list[worst] = n
			}
			if len(list) == k {
				worst = 0
				for at := range list {
					if compare(list[at], list[worst]) > 0 {
						worst = at
					}
				}
			}
		}
		slices.SortFunc(list, compare)
		lists[i] = list
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return lists, nil
}

func compare[T Float](x, y Neighbor[T]) int {
	return cmp.Or(-cmp.Compare(x.Score, y.Score), cmp.Compare(x.Index, y.Index))
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
