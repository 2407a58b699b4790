// Package cosine computes how similar the rows of two matrices are, by the cosine
// of the angle between them.
package cosine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
)

// Float is the numbers that matrices are made of.
type Float interface{ ~float32 | ~float64 }

// Matrix is a view of Rows × Cols numbers: element (i, j) is Data[i*Stride+j].
type Matrix[T Float] struct {
	Rows, Cols, Stride int
	Data               []T
}

// ErrShape is what errors wrap that say which matrix does not fit.
var ErrShape = errors.New("cosine: shape mismatch")

func (m Matrix[T]) check(name string) error {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < m.Cols {
		return fmt.Errorf("%w: %s", ErrShape, name)
	}
	if m.Rows == 0 || m.Cols == 0 {
		return nil
	}
	if m.Cols > len(m.Data) || m.Rows-1 > (len(m.Data)-m.Cols)/m.Stride {
		return fmt.Errorf("%w: %s has too little data", ErrShape, name)
	}
	return nil
}

func checkTwo[T Float](a, b Matrix[T]) error {
	if err := a.check("a"); err != nil {
		return err
	}
	if err := b.check("b"); err != nil {
		return err
	}
	if a.Cols != b.Cols {
		return fmt.Errorf("%w: a and b differ in columns", ErrShape)
	}
	return nil
}

func (m Matrix[T]) span() []T {
	if m.Rows == 0 || m.Cols == 0 {
		return nil
	}
	return m.Data[:(m.Rows-1)*m.Stride+m.Cols]
}

func (m Matrix[T]) row(i int) []T {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride:][:m.Cols]
}

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

// unit sets dst to row, scaled to length 1.
func unit[T Float](dst []float64, row []T) {
	largest := 0.0
	for _, v := range row {
		f := math.Abs(float64(v))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			for j := range dst {
				dst[j] = math.NaN()
			}
			return
		}
		largest = max(largest, f)
	}
	if largest == 0 {
		clear(dst)
		return
	}
	_, e := math.Frexp(largest)
	// two steps: the scale itself must not overflow
	s1, s2 := math.Ldexp(1, -e/2), math.Ldexp(1, -e-(-e/2))
	sum := 0.0
	for j, v := range row {
		f := float64(v) * s1 * s2
		dst[j] = f
		sum += f * f
	}
	l := math.Sqrt(sum)
	for j := range dst {
		dst[j] /= l
	}
}

// units returns the rows of m, scaled to length 1, one behind the other.
func units[T Float](m Matrix[T]) []float64 {
	if m.Cols == 0 || m.Rows == 0 {
		return nil
	}
	p := make([]float64, m.Rows*m.Cols)
	for i := range m.Rows {
		unit(p[i*m.Cols:(i+1)*m.Cols], m.row(i))
	}
	return p
}

func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s0 += x[i] * y[i]
		s1 += x[i+1] * y[i+1]
		s2 += x[i+2] * y[i+2]
		s3 += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		s0 += x[i] * y[i]
	}
	return s0 + s1 + s2 + s3
}

func score[T Float](x, y []float64) T {
	return T(max(-1, min(1, dot(x, y))))
}

const band = 8

// product sets dst to the products of the rows of pa and pb from i0 and j0 on.
func product[T Float](ctx context.Context, dst Matrix[T], pa, pb []float64, d, i0, j0 int) error {
	for i := range dst.Rows {
		if i%band == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		x := pa[(i0+i)*d : (i0+i+1)*d]
		out := dst.row(i)
		for j := range out {
			out[j] = score[T](x, pb[(j0+j)*d:(j0+j+1)*d])
		}
	}
	return nil
}

// Similarity sets element (i, j) of dst to the cosine of the angle between row i
// of a and row j of b.
func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error {
	if err := checkTwo(a, b); err != nil {
		return err
	}
	if err := dst.check("dst"); err != nil {
		return err
	}
	if dst.Rows != a.Rows || dst.Cols != b.Rows {
		return fmt.Errorf("%w: dst", ErrShape)
	}
	if overlap(dst.span(), a.span()) || overlap(dst.span(), b.span()) {
		return fmt.Errorf("%w: dst shares memory", ErrShape)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if dst.Rows == 0 || dst.Cols == 0 {
		return nil
	}
	return product(ctx, dst, units(a), units(b), a.Cols, 0, 0)
}

// Block is a part of the matrix of similarities: element (i, j) of Sim belongs to
// row Row+i of a and row Col+j of b.
type Block[T Float] struct {
	Row, Col int
	Sim      Matrix[T] // valid until the next step of the iteration
}

func size[T Float]() int {
	// 1 + 2^-30 is no float32
	one := T(1)
	if one+T(math.Ldexp(1, -30)) == one {
		return 4
	}
	return 8
}

// Blocks yields the similarities of a and b in parts of at most maxBytes bytes.
func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Block[T], error] {
	return func(yield func(Block[T], error) bool) {
		if err := checkTwo(a, b); err != nil {
			yield(Block[T]{}, err)
			return
		}
		n := maxBytes / size[T]()
		if n < 1 {
			yield(Block[T]{}, errors.New("cosine: maxBytes is less than one number"))
			return
		}
		if err := ctx.Err(); err != nil {
			yield(Block[T]{}, err)
			return
		}
		if a.Rows == 0 || b.Rows == 0 {
			return
		}
		cols := min(n, b.Rows)
		rows := min(max(1, n/b.Rows), a.Rows)
		pa, pb := units(a), units(b)
		buf := make([]T, rows*cols)
		for i := 0; i < a.Rows; i += rows {
			for j := 0; j < b.Rows; j += cols {
				r, c := min(rows, a.Rows-i), min(cols, b.Rows-j)
				sim := Matrix[T]{Rows: r, Cols: c, Stride: c, Data: buf[:r*c]}
				if err := product(ctx, sim, pa, pb, a.Cols, i, j); err != nil {
					yield(Block[T]{}, err)
					return
				}
				if !yield(Block[T]{Row: i, Col: j, Sim: sim}, nil) {
					return
				}
			}
		}
	}
}

// Neighbor is a row of b and its similarity.
type Neighbor[T Float] struct {
	Index int
	Score T
}

// before says whether score x goes before score y, if the one of y came first.
func before[T Float](x, y T) bool {
	return x > y || x == x && y != y
}

// insert puts n into list, which is sorted and has at most k.
func insert[T Float](list []Neighbor[T], n Neighbor[T], k int) []Neighbor[T] {
	if len(list) == k {
		if !before(n.Score, list[k-1].Score) {
			return list
		}
		list = list[:k-1]
	}
	p := len(list)
	for p > 0 && before(n.Score, list[p-1].Score) {
		p--
	}
	list = append(list, n)
	copy(list[p+1:], list[p:])
	list[p] = n
	return list
}

// TopK finds, for each row of a, the k rows of b that are most similar, best first.
func TopK[T Float](ctx context.Context, a, b Matrix[T], k int) ([][]Neighbor[T], error) {
	if err := checkTwo(a, b); err != nil {
		return nil, err
	}
	if k < 1 {
		return nil, errors.New("cosine: k < 1")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k = min(k, b.Rows)
	lists := make([][]Neighbor[T], a.Rows)
	if k == 0 {
		return lists, nil
	}
	d := a.Cols
	pa, pb := units(a), units(b)
	for i := range lists {
		if i%band == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		x := pa[i*d : (i+1)*d]
		list := make([]Neighbor[T], 0, k)
		for j := range b.Rows {
			list = insert(list, Neighbor[T]{j, score[T](x, pb[j*d:(j+1)*d])}, k)
		}
		lists[i] = list
	}
	return lists, nil
}
