// Package cosine computes the cosine similarities between all rows of two matrices,
// as one product of normalised rows. A call runs on its caller's goroutine and
// starts no other.
//
// The product takes the steps of every fast matrix product. It scales rows to length
// 1 and lays them out in panels (panels.go), so that the inner loop reads memory in
// order; it computes tiles of 4×2 similarities in registers (kernel.go); and it
// orders the tiles so that rows are still in the cache when they are read again
// (product.go). Similarity, Blocks and TopK differ in where they put the tiles.
package cosine

import (
	"context"
	"errors"
	"fmt"
)

// Float is the numbers that matrices are made of.
type Float interface{ ~float32 | ~float64 }

// Matrix is a view of Rows × Cols numbers: element (i, j) is Data[i*Stride+j].
type Matrix[T Float] struct {
	Rows, Cols, Stride int
	Data               []T
}

// ErrShape reports a matrix of the wrong shape; errors that wrap it name the matrix.
var ErrShape = errors.New("cosine: shape mismatch")

// Similarity sets element (i, j) of dst to the cosine of the angle between row i
// of a and row j of b. a and b may share memory, dst may not with either.
func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error {
	if err := checkOperands(a, b); err != nil {
		return err
	}
	if err := dst.check("dst"); err != nil {
		return err
	}
	if dst.Rows != a.Rows || dst.Cols != b.Rows {
		return fmt.Errorf("%w: dst is %d×%d, want %d×%d", ErrShape, dst.Rows, dst.Cols, a.Rows, b.Rows)
	}
	if overlap(dst.used(), a.used()) || overlap(dst.used(), b.used()) {
		return fmt.Errorf("%w: dst shares memory with a or b", ErrShape)
	}
	return newProduct(a, b).fill(ctx, dst, 0, 0)
}

// row is the numbers of row i. A matrix without columns need not have any Data.
func (m Matrix[T]) row(i int) []T {
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride:][:m.Cols]
}

// used is the numbers from the first element to the last.
func (m Matrix[T]) used() []T {
	if m.Rows == 0 || m.Cols == 0 {
		return nil
	}
	return m.Data[:(m.Rows-1)*m.Stride+m.Cols]
}

// checkOperands says what is wrong with a and b.
func checkOperands[T Float](a, b Matrix[T]) error {
	if err := a.check("a"); err != nil {
		return err
	}
	if err := b.check("b"); err != nil {
		return err
	}
	if a.Cols != b.Cols {
		return fmt.Errorf("%w: a has %d columns and b has %d", ErrShape, a.Cols, b.Cols)
	}
	return nil
}

// check says what is wrong with m by itself. The length is compared by division:
// a product of numbers that a caller got wrong may overflow.
func (m Matrix[T]) check(name string) error {
	switch {
	case m.Rows < 0 || m.Cols < 0:
		return fmt.Errorf("%w: %s is %d×%d", ErrShape, name, m.Rows, m.Cols)
	case m.Stride < m.Cols:
		return fmt.Errorf("%w: %s has stride %d and %d columns", ErrShape, name, m.Stride, m.Cols)
	case m.Rows == 0 || m.Cols == 0:
		return nil
	case len(m.Data) < m.Cols || (len(m.Data)-m.Cols)/m.Stride < m.Rows-1:
		return fmt.Errorf("%w: %s is %d×%d with stride %d, and has %d numbers", ErrShape, name, m.Rows, m.Cols, m.Stride, len(m.Data))
	}
	return nil
}

// overlap reports whether x and y share an element: then one of them begins
// inside the other. Comparing the capacities' last elements, as math/big does,
// is cheaper and misses slices whose capacity was cut.
func overlap[T Float](x, y []T) bool {
	return len(x) > 0 && len(y) > 0 && (contains(x, &y[0]) || contains(y, &x[0]))
}

func contains[T Float](x []T, p *T) bool {
	for i := range x {
		if &x[i] == p {
			return true
		}
	}
	return false
}
