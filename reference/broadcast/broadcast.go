// Package broadcast computes with tensors of different shapes, by the rules of NumPy's
// broadcasting (https://numpy.org/doc/stable/user/basics.broadcasting.html), sums gradients
// back to the shapes that they came from, and draws a picture of how it goes. It knows no
// graph of operations: a gradient is handed in.
//
//	z, err := broadcast.Add.Apply(x, y)         // (3, 1) and (1, 4) make (3, 4)
//	dx, dy, err := broadcast.Add.Grad(x, y, dz) // in the shapes of x and y
//
// Nothing is expanded: an operand that is repeated along a dimension is read with a step
// of 0 there.
package broadcast

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// Tensor is an array of numbers, the last dimension contiguous. A scalar has no dimensions
// and one number.
type Tensor struct {
	Shape []int
	Data  []float64
}

// What errors are, to be found by errors.Is.
var (
	ErrShape   = errors.New("shapes do not fit together") // always with a *ShapeError
	ErrTensor  = errors.New("a size below 0, or another number of numbers than the shape says")
	ErrGrad    = errors.New("the gradient has another shape than the result")
	ErrOp      = errors.New("no such operation")
	ErrPicture = errors.New("too much for a picture")
)

// ShapeError says where two shapes do not fit together.
type ShapeError struct {
	Dim      int    // counted from the end: -1 is the last dimension
	Operands [2]int // from 0, in order: the first one there that is not repeated, and the one that does not fit
	Sizes    [2]int // of these operands in this dimension
}

func (e *ShapeError) Error() string {
	return fmt.Sprintf("broadcast: %v: dimension %d, size %d of operand %d and %d of operand %d",
		ErrShape, e.Dim, e.Sizes[0], e.Operands[0], e.Sizes[1], e.Operands[1])
}

// Unwrap returns ErrShape.
func (e *ShapeError) Unwrap() error { return ErrShape }

// Shapes returns the shape that shapes make together, which is () of none. An error is
// ErrTensor, if a size is below 0, or a *ShapeError.
func Shapes(shapes ...[]int) ([]int, error) {
	rank := 0
	for k, shape := range shapes {
		if slices.ContainsFunc(shape, func(n int) bool { return n < 0 }) {
			return nil, fmt.Errorf("broadcast: operand %d of shape %v: %w", k, shape, ErrTensor)
		}
		rank = max(rank, len(shape))
	}
	result := make([]int, rank)
	for dim := -1; dim >= -rank; dim-- {
		n, err := common(dim, shapes)
		if err != nil {
			return nil, err
		}
		result[rank+dim] = n
	}
	return result, nil
}

// common is the size that all shapes have in one dimension, but for those that have 1.
func common(dim int, shapes [][]int) (int, error) {
	first := -1
	for k, shape := range shapes {
		switch n := size(shape, dim); {
		case n == 1:
		case first < 0:
			first = k
		case n != size(shapes[first], dim):
			return 0, &ShapeError{dim, [2]int{first, k}, [2]int{size(shapes[first], dim), n}}
		}
	}
	if first < 0 {
		return 1, nil
	}
	return size(shapes[first], dim), nil
}

// size is that of one dimension, which is 1 if the shape has no such dimension.
func size(shape []int, dim int) int {
	if -dim > len(shape) {
		return 1
	}
	return shape[len(shape)+dim]
}

// count is the number of elements of a shape; false if a size is below 0 or the number is
// no int. A size of 0 makes it 0, whatever the others are.
func count(shape []int) (int, bool) {
	if slices.Contains(shape, 0) {
		return 0, slices.Min(shape) == 0
	}
	n := uint(1)
	for _, size := range shape {
		high, low := bits.Mul(n, uint(size))
		if size < 0 || high > 0 || int(low) < 0 {
			return 0, false
		}
		n = low
	}
	return int(n), true
}

// check returns ErrTensor if one of the operands is no tensor.
func check(operands ...Tensor) error {
	for k, t := range operands {
		if n, ok := count(t.Shape); !ok || n != len(t.Data) {
			return fmt.Errorf("broadcast: operand %d of shape %v has %d numbers: %w", k, t.Shape, len(t.Data), ErrTensor)
		}
	}
	return nil
}

// result makes the tensor that a and b make together, of zeros.
func result(a, b Tensor) (Tensor, error) {
	if err := check(a, b); err != nil {
		return Tensor{}, err
	}
	shape, err := Shapes(a.Shape, b.Shape)
	if err != nil {
		return Tensor{}, err
	}
	return zeros(shape), nil
}

// zeros makes a tensor. The shape becomes its own.
func zeros(shape []int) Tensor {
	n, _ := count(shape)
	return Tensor{shape, make([]float64, n)}
}
