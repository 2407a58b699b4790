package cosine

import (
	"context"
	"fmt"
	"iter"
)

// Block is a part of the matrix of similarities: element (i, j) of Sim belongs to
// row Row+i of a and row Col+j of b. Sim is overwritten by the next step.
type Block[T Float] struct {
	Row, Col int
	Sim      Matrix[T]
}

// Blocks yields the similarities of a and b in parts of at most maxBytes bytes,
// from left to right and from top to bottom: bands of whole rows where one fits,
// else pieces of a row. An error comes last, with an empty block.
func Blocks[T Float](ctx context.Context, a, b Matrix[T], maxBytes int) iter.Seq2[Block[T], error] {
	return func(yield func(Block[T], error) bool) {
		size, err := blockSize(a, b, maxBytes)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(Block[T]{}, err)
			return
		}
		if a.Rows == 0 || b.Rows == 0 {
			return
		}
		cols := min(size, b.Rows)
		rows := min(size/cols, a.Rows)
		buffer := make([]T, rows*cols)
		p := newProduct(a, b)
		for row := 0; row < a.Rows; row += rows {
			for col := 0; col < b.Rows; col += cols {
				sim := Matrix[T]{min(rows, a.Rows-row), min(cols, b.Rows-col), cols, buffer}
				if err := p.fill(ctx, sim, row, col); err != nil {
					yield(Block[T]{}, err)
					return
				}
				if !yield(Block[T]{row, col, sim}, nil) {
					return
				}
			}
		}
	}
}

// blockSize returns the largest number of elements of a block.
func blockSize[T Float](a, b Matrix[T], maxBytes int) (int, error) {
	if err := checkOperands(a, b); err != nil {
		return 0, err
	}
	size := maxBytes / bytesOf[T]()
	if size < 1 {
		return 0, fmt.Errorf("cosine: %d bytes hold no number", maxBytes)
	}
	return size, nil
}

// bytesOf is the size of a T. A type switch would not know named types; but only
// a float64 can tell 1 from what comes after it in 2^-30.
func bytesOf[T Float]() int {
	one, tiny := T(1), T(0x1p-30)
	if one+tiny == one {
		return 4
	}
	return 8
}
