// Package einsum computes sums of products of tensors, written as equations such as
// "ij,jk->ik". README.md says what is wanted.
package einsum

import "errors"

// Tensor is numbers in len(Shape) axes, the last of which is contiguous: element (i, j)
// of a matrix is Data[i*Shape[1]+j]. A scalar has no axes and one number.
type Tensor struct {
	Shape []int
	Data  []float64
}

// What can be wrong with a call. An *Error wraps one of them.
var (
	ErrSyntax   = errors.New("bad equation")
	ErrOperands = errors.New("terms and operands differ in number")
	ErrShape    = errors.New("shape does not fit")
)

// Error says what is wrong with a call of Einsum, and where.
type Error struct {
	Err     error // ErrSyntax, ErrOperands or ErrShape
	Pos     int   // ErrSyntax, ErrShape: offset in the equation, in bytes
	Operand int   // ErrOperands, ErrShape: index of the operand
}

// Error names the place.
func (e *Error) Error() string {
	return "einsum: " + e.Err.Error() // write your solution here
}

// Unwrap returns the kind of the error, for errors.Is.
func (e *Error) Unwrap() error { return e.Err }

// Einsum returns the sum of products of the operands that the equation describes.
func Einsum(equation string, operands ...Tensor) (Tensor, error) {
	return Tensor{}, nil // write your solution here
}

// Equations for what is known under a name. README.md has the operands and results.
const (
	Dot              = ""
	Outer            = ""
	MatMul           = ""
	Trace            = ""
	Diagonal         = ""
	RowSums          = ""
	SwapLast         = ""
	BatchMatMul      = ""
	SquaredNorms     = ""
	Bilinear         = ""
	AttentionScores  = ""
	AttentionOutputs = ""
)
