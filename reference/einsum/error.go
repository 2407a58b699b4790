package einsum

import (
	"errors"
	"fmt"
)

// What can be wrong with a call. An [*Error] wraps one of them.
var (
	ErrSyntax   = errors.New("bad equation")
	ErrOperands = errors.New("terms and operands differ in number")
	ErrShape    = errors.New("shape does not fit")
)

// Error says what is wrong with a call of [Einsum], and where.
type Error struct {
	Err     error // ErrSyntax, ErrOperands or ErrShape
	Pos     int   // ErrSyntax, ErrShape: offset in the equation, in bytes
	Operand int   // ErrOperands, ErrShape: index of the operand
}

// Error names the place. A field that says nothing about this kind is 0.
func (e *Error) Error() string {
	return fmt.Sprintf("einsum: %v: offset %d, operand %d", e.Err, e.Pos, e.Operand)
}

// Unwrap returns the kind of the error, for [errors.Is].
func (e *Error) Unwrap() error { return e.Err }

func syntaxError(pos int) error { return &Error{Err: ErrSyntax, Pos: pos} }

func shapeError(operand, pos int) error {
	return &Error{Err: ErrShape, Operand: operand, Pos: pos}
}
