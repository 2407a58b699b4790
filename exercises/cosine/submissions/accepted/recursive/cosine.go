// Package cosine halves what is to be computed until it is small.
package cosine

import (
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

type Block[T Float] struct {
	Row, Col int
	Sim      Matrix[T]
}

type Neighbor[T Float] struct {
	Index int
	Score T
}

var ErrShape = errors.New("cosine: shape mismatch")

// directions are rows of length 1; a row that has none is zeros or NaN.
type directions struct {
	rows, cols int
	x          []float64
}

func (d directions) of(i int) []float64 { return d.x[i*d.cols : (i+1)*d.cols : (i+1)*d.cols] }

func direct[T Float](m Matrix[T]) directions {
	d := directions{m.Rows, m.Cols, make([]float64, m.Rows*m.Cols)}
	for i := 0; i < m.Rows && m.Cols > 0; i++ {
		out, in := d.of(i), m.Data[i*m.Stride:i*m.Stride+m.Cols]
		exponent := math.Inf(-1)
		for k, v := range in {
			out[k] = float64(v)
			exponent = math.Max(exponent, math.Logb(out[k]))
		}
		switch {
		case math.IsInf(exponent, -1): // zeros only
			continue
		case math.IsInf(exponent, 1), math.IsNaN(exponent):
			for k := range out {
				out[k] = math.NaN()
			}
			continue
		}
		sum := 0.0
		for k := range out {
			out[k] = math.Ldexp(out[k], -int(exponent))
			sum += out[k] * out[k]
		}
		for k, root := 0, math.Sqrt(sum); k < len(out); k++ {
			out[k] /= root
		}
	}
	return d
}

// task is a rectangle of similarities: rows of a from i to i2, rows of b from j to j2.
type task struct {
	i, i2, j, j2 int
}

// area tells how much work a task is.
func (t task) area() int { return (t.i2 - t.i) * (t.j2 - t.j) }

// solve calls put for every pair of a task, in some order, and looks at ctx at each half.
func solve(ctx context.Context, a, b directions, t task, put func(i, j int, s float64)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch h, w := t.i2-t.i, t.j2-t.j; {
	case h > 8 && (h >= w || w <= 8):
		middle := t.i + h/2
		if err := solve(ctx, a, b, task{t.i, middle, t.j, t.j2}, put); err != nil {
			return err
		}
		return solve(ctx, a, b, task{middle, t.i2, t.j, t.j2}, put)
	case w > 64:
		middle := t.j + w/2
		if err := solve(ctx, a, b, task{t.i, t.i2, t.j, middle}, put); err != nil {
			return err
		}
		return solve(ctx, a, b, task{t.i, t.i2, middle, t.j2}, put)
	}
	for i := t.i; i < t.i2; i++ {
		for j := t.j; j < t.j2; j++ {
			put(i, j, product(a.of(i), b.of(j)))
		}
	}
	return nil
}

func product(x, y []float64) float64 {
	var p, q float64
	y = y[:len(x)]
	k := 0
	for ; k+1 < len(x); k += 2 {
		p += x[k] * y[k]
		q += x[k+1] * y[k+1]
	}
	if k < len(x) {
		p += x[k] * y[k]
	}
	return min(max(p+q, -1), 1)
}

func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error {
	if err := agree(a, b); err != nil {
		return err
	}
	if err := dst.sound(); err != nil {
		return err
	}
	if dst.Rows != a.Rows || dst.Cols != b.Rows {
		return fmt.Errorf("dst of %d and %d rows: %w", a.Rows, b.Rows, ErrShape)
	}
	if meet(dst.extent(), a.extent()) || meet(dst.extent(), b.extent()) {
		return fmt.Errorf("dst lies in an operand: %w", ErrShape)
	}
	return solve(ctx, direct(a), direct(b), task{0, a.Rows, 0, b.Rows}, func(i, j int, s float64) {
		dst.Data[i*dst.Stride+j] = T(s)
	})
}

func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Block[T], error] {
	return func(yield func(Block[T], error) bool) {
		if err := blocks(ctx, a, b, maxBytes, yield); err != nil {
			yield(Block[T]{}, err)
		}
	}
}

func blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int, yield func(Block[T], error) bool) error {
	if err := agree(a, b); err != nil {
		return err
	}
	room := maxBytes / width[T]()
	if room <= 0 {
		return fmt.Errorf("cosine: %d bytes are less than a number", maxBytes)
	}
	x, y := direct(a), direct(b)
	if x.rows*y.rows == 0 {
		return ctx.Err()
	}
	w := min(y.rows, room)
	h := min(x.rows, room/w)
	numbers := make([]T, h*w)
	for i := 0; i < x.rows; i += h {
		for j := 0; j < y.rows; j += w {
			t := task{i, min(i+h, x.rows), j, min(j+w, y.rows)}
			sim := Matrix[T]{Rows: t.i2 - i, Cols: t.j2 - j, Stride: t.j2 - j, Data: numbers[:t.area()]}
			err := solve(ctx, x, y, t, func(r, c int, s float64) { sim.Data[(r-i)*sim.Stride+c-j] = T(s) })
			if err != nil {
				return err
			}
			if !yield(Block[T]{i, j, sim}, nil) {
				return nil
			}
		}
	}
	return nil
}

func TopK[T Float](ctx context.Context, a, b Matrix[T], k int) ([][]Neighbor[T], error) {
	if err := agree(a, b); err != nil {
		return nil, err
	}
	if k <= 0 {
		return nil, fmt.Errorf("cosine: k is %d", k)
	}
	x, y := direct(a), direct(b)
	lists := make([][]Neighbor[T], x.rows)
	for i := range lists {
		list, err := best[T](ctx, x, y, i, 0, y.rows, k)
		if err != nil {
			return nil, err
		}
		lists[i] = list
	}
	return lists, ctx.Err()
}

// best finds the k best of the rows from to to: those of one half and of the other.
func best[T Float](ctx context.Context, x, y directions, i, from, to, k int) ([]Neighbor[T], error) {
	if to-from > 512 {
		middle := (from + to) / 2
		l, err := best[T](ctx, x, y, i, from, middle, k)
		if err != nil {
			return nil, err
		}
		r, err := best[T](ctx, x, y, i, middle, to, k)
		return merge(l, r, k), err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var list []Neighbor[T]
	row := x.of(i)
	for j := from; j < to; j++ {
		n := Neighbor[T]{j, T(product(row, y.of(j)))}
		if len(list) == k && !before(n, list[k-1]) {
			continue
		}
		at := len(list)
		for at > 0 && before(n, list[at-1]) {
			at--
		}
		if len(list) < k {
			list = append(list, n)
		}
		copy(list[at+1:], list[at:])
		list[at] = n
	}
	return list, nil
}

// merge takes the k best of two sorted lists; all of l have smaller indices.
func merge[T Float](l, r []Neighbor[T], k int) []Neighbor[T] {
	out := make([]Neighbor[T], 0, min(k, len(l)+len(r)))
	for len(out) < cap(out) {
		if len(l) > 0 && (len(r) == 0 || !before(r[0], l[0])) {
			out, l = append(out, l[0]), l[1:]
		} else {
			out, r = append(out, r[0]), r[1:]
		}
	}
	return slices.Clip(out)
}

// before reports whether x is the better neighbor, whatever is NaN.
func before[T Float](x, y Neighbor[T]) bool {
	switch {
	case x.Score > y.Score:
		return true
	case x.Score == y.Score, x.Score != x.Score && y.Score != y.Score:
		return x.Index < y.Index
	}
	return y.Score != y.Score && x.Score == x.Score
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
