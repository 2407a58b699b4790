// Package strided has tensors that are views of a buffer. README.md says what is wanted.
package strided

import (
	"errors"
	"math"
)

// What can be wrong with a call.
var (
	ErrShape    = errors.New("sizes do not fit")
	ErrAxis     = errors.New("no such axis, or twice")
	ErrIndex    = errors.New("no such index")
	ErrStep     = errors.New("step is 0")
	ErrLayout   = errors.New("no view without a copy")
	ErrReadOnly = errors.New("tensor is read-only")
)

// Open is a bound of Slice that is left out.
const Open = math.MinInt

// Tensor is a view of a buffer.
type Tensor struct {
	// write your solution here
}

// New returns a tensor of zeros.
func New(shape ...int) (*Tensor, error) { return nil, nil }

// FromSlice returns a tensor whose elements are those of data, which it shares.
func FromSlice(data []float64, shape ...int) (*Tensor, error) { return nil, nil }

// Shape returns the sizes of all axes.
func (t *Tensor) Shape() []int { return nil }

// Strides returns the distance in the buffer between neighbours, for each axis.
func (t *Tensor) Strides() []int { return nil }

// Len returns the number of elements.
func (t *Tensor) Len() int { return 0 }

// Values returns all elements in the order of their indices, in memory of the caller.
func (t *Tensor) Values() []float64 { return nil }

// ReadOnly says whether t refuses to be written to.
func (t *Tensor) ReadOnly() bool { return false }

// IsContiguous says whether the elements lie one behind the other in the buffer.
func (t *Tensor) IsContiguous() bool { return false }

// At returns an element.
func (t *Tensor) At(index ...int) (float64, error) { return 0, nil }

// Set changes an element, in all tensors that share it.
func (t *Tensor) Set(x float64, index ...int) error { return nil }

// Permute returns a view with the axes in another order.
func (t *Tensor) Permute(axes ...int) (*Tensor, error) { return nil, nil }

// Transpose returns a view with two axes exchanged.
func (t *Tensor) Transpose(a, b int) (*Tensor, error) { return nil, nil }

// Slice returns a view of every step-th index of an axis.
func (t *Tensor) Slice(axis, start, stop, step int) (*Tensor, error) { return nil, nil }

// Select returns a view of one index of an axis, without that axis.
func (t *Tensor) Select(axis, index int) (*Tensor, error) { return nil, nil }

// Squeeze returns a view without these axes of size 1, or without all of them.
func (t *Tensor) Squeeze(axes ...int) (*Tensor, error) { return nil, nil }

// Unsqueeze returns a view with one more axis, of size 1.
func (t *Tensor) Unsqueeze(axis int) (*Tensor, error) { return nil, nil }

// Expand returns a read-only view that repeats axes of size 1.
func (t *Tensor) Expand(shape ...int) (*Tensor, error) { return nil, nil }

// View returns a view of the same elements in the same order, with other axes.
func (t *Tensor) View(shape ...int) (*Tensor, error) { return nil, nil }

// Reshape is View where that is possible, and else a copy.
func (t *Tensor) Reshape(shape ...int) (*Tensor, error) { return nil, nil }

// Contiguous returns a contiguous tensor of the same elements, a copy only if need be.
func (t *Tensor) Contiguous() *Tensor { return nil }

// Clone returns a copy.
func (t *Tensor) Clone() *Tensor { return nil }

// Fill sets all elements.
func (t *Tensor) Fill(x float64) error { return nil }

// CopyFrom sets all elements to those of another tensor of the same shape.
func (t *Tensor) CopyFrom(from *Tensor) error { return nil }
