// Package broadcast computes with tensors of different shapes. README.md says what is
// wanted.
package broadcast

import "errors"

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
	Operands [2]int // from 0, in order
	Sizes    [2]int // of these operands in this dimension
}

func (e *ShapeError) Error() string {
	return "" // write your solution here
}

// Unwrap returns ErrShape.
func (e *ShapeError) Unwrap() error {
	return nil // write your solution here
}

// Shapes returns the shape that shapes make together.
func Shapes(shapes ...[]int) ([]int, error) {
	return nil, nil // write your solution here
}

// Op is an operation on two numbers.
type Op int

// The operations.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Maximum
)

// Apply computes the operation for each element that a and b make together.
func (op Op) Apply(a, b Tensor) (Tensor, error) {
	return Tensor{}, nil // write your solution here
}

// Grad returns the gradients towards a and b, in their shapes, from the one towards the
// result of Apply.
func (op Op) Grad(a, b, grad Tensor) (da, db Tensor, err error) {
	return Tensor{}, Tensor{}, nil // write your solution here
}

// Zip calls f for each element that a and b make together, in the order of the elements.
func Zip(f func(x, y float64) float64, a, b Tensor) (Tensor, error) {
	return Tensor{}, nil // write your solution here
}

// SumTo sums t over the dimensions along which a tensor of the shape is repeated to get the
// shape of t.
func SumTo(t Tensor, shape []int) (Tensor, error) {
	return Tensor{}, nil // write your solution here
}

// MaxCells is how many cells a picture may have, those of the operands and of the result
// together.
const MaxCells = 1000

// Operand is a tensor with a name for it.
type Operand struct {
	Name   string
	Tensor Tensor
}

// SVG draws a, b and what they make together.
func (op Op) SVG(a, b Operand) (string, error) {
	return "", nil // write your solution here
}
