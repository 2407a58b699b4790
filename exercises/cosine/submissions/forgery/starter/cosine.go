// Package cosine computes how similar the rows of two matrices are, by the cosine
// of the angle between them. README.md says what is wanted.
package cosine

import (
	"context"
	"errors"
	"iter"
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

// Similarity sets element (i, j) of dst to the cosine of the angle between row i
// of a and row j of b.
func Similarity[T Float](ctx context.Context, dst, a, b Matrix[T]) error {
	return nil // TODO
}

// Block is a part of the matrix of similarities: element (i, j) of Sim belongs to
// row Row+i of a and row Col+j of b.
type Block[T Float] struct {
	Row, Col int
	Sim      Matrix[T] // valid until the next step of the iteration
}

// Blocks yields the similarities of a and b in parts of at most maxBytes bytes.
func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Block[T], error] {
	return func(yield func(Block[T], error) bool) {} // TODO
}

// Neighbor is a row of b and its similarity.
type Neighbor[T Float] struct {
	Index int
	Score T
}

// TopK finds, for each row of a, the k rows of b that are most similar, best first.
func TopK[T Float](ctx context.Context, a, b Matrix[T], k int) ([][]Neighbor[T], error) {
	return nil, nil // TODO
}
