// Package cosine gives rows to goroutines. They cost nothing, and gain nothing where all CPU time counts.
package cosine

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"
	"sync/atomic"
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

// rows are normalised, one slice.
type rows struct {
	n, d int
	data []float64
}

func (r rows) at(i int) []float64 { return r.data[i*r.d : (i+1)*r.d] }

// unit divides by a power of two first, which is exact.
func unit[T Float](m Matrix[T]) rows {
	r := rows{m.Rows, m.Cols, make([]float64, m.Rows*m.Cols)}
	for i := range r.n {
		out := r.at(i)
		exponent := math.MinInt
		for k, x := range m.row(i) {
			out[k] = float64(x)
			if x != 0 {
				_, e := math.Frexp(out[k])
				exponent = max(exponent, e)
			}
		}
		if exponent == math.MinInt {
			continue
		}
		sum := 0.0
		for k := range out {
			out[k] = math.Ldexp(out[k], -exponent)
			sum += out[k] * out[k]
		}
		for k := range out {
			out[k] /= math.Sqrt(sum)
			if math.IsInf(sum, 0) || math.IsNaN(sum) {
				out[k] = math.NaN()
			}
		}
	}
	return r
}

func product(x, y []float64) float64 {
	var s, t float64
	n := len(x) &^ 1
	for k := 0; k < n; k += 2 {
		s += x[k] * y[k]
		t += x[k+1] * y[k+1]
	}
	if n < len(x) {
		s += x[n] * y[n]
	}
	return math.Max(-1, math.Min(1, s+t))
}

// each calls f for 0 to n-1 from a few goroutines, until ctx ends.
func each(ctx context.Context, n int, f func(i int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(4, n) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				f(i)
			}
		}()
	}
	wg.Wait()
	return ctx.Err()
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
	if b.Rows == 0 {
		return nil
	}
	x, y := unit(a), unit(b)
	return each(ctx, x.n, func(i int) {
		out := dst.row(i)
		for j := range out {
			out[j] = T(product(x.at(i), y.at(j)))
		}
	})
}

// Blocks makes a new block for each step.
func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Block[T], error] {
	return func(yield func(Block[T], error) bool) {
		err := valid(a, b)
		if err == nil && maxBytes < bytes[T]() {
			err = errors.New("cosine: maxBytes")
		}
		if err != nil {
			yield(Block[T]{}, err)
			return
		}
		x, y := unit(a), unit(b)
		width := min(y.n, maxBytes/bytes[T]())
		for row := 0; row < x.n && width > 0; {
			height := min(x.n-row, max(1, maxBytes/bytes[T]()/width))
			for col := 0; col < y.n; col += width {
				sim := Matrix[T]{height, min(width, y.n-col), width, make([]T, height*width)}
				err := each(ctx, height, func(i int) {
					out := sim.row(i)
					for j := range out {
						out[j] = T(product(x.at(row+i), y.at(col+j)))
					}
				})
				if err != nil {
					yield(Block[T]{}, fmt.Errorf("cosine: %w", err))
					return
				}
				if !yield(Block[T]{row, col, sim}, nil) {
					return
				}
			}
			row += height
		}
	}
}

// queue is a heap with the worst on top.
type queue[T Float] []Neighbor[T]

func (q queue[T]) Len() int           { return len(q) }
func (q queue[T]) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q queue[T]) Less(i, j int) bool { return worse(q[i], q[j]) }
func (q *queue[T]) Push(x any)        { *q = append(*q, x.(Neighbor[T])) }
func (q *queue[T]) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

func worse[T Float](x, y Neighbor[T]) bool {
	switch {
	case x.Score < y.Score:
		return true
	case x.Score > y.Score:
		return false
	case x.Score == y.Score:
		return x.Index > y.Index
	}
	xNaN, yNaN := x.Score != x.Score, y.Score != y.Score
	if xNaN && yNaN {
		return x.Index > y.Index
	}
	return xNaN
}

func TopK[T Float](ctx context.Context, a, b Matrix[T], k int) ([][]Neighbor[T], error) {
	if err := valid(a, b); err != nil {
		return nil, err
	}
	if k < 1 {
		return nil, errors.New("cosine: k must be positive")
	}
	x, y := unit(a), unit(b)
	lists := make([][]Neighbor[T], x.n)
	err := each(ctx, x.n, func(i int) {
		q := make(queue[T], 0, min(k, y.n))
		for j := range y.n {
			n := Neighbor[T]{j, T(product(x.at(i), y.at(j)))}
			if len(q) < k {
				heap.Push(&q, n)
			} else if worse(q[0], n) {
				q[0] = n
				heap.Fix(&q, 0)
			}
		}
		lists[i] = make([]Neighbor[T], len(q))
		for at := len(q) - 1; at >= 0; at-- {
			lists[i][at] = heap.Pop(&q).(Neighbor[T])
		}
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
