// Package strided has tensors that are views of a buffer: a tensor is an offset, and for
// each axis a size and a stride, the distance in the buffer between an element and the
// next one along that axis. To transpose, slice or expand a tensor is to compute with
// these few numbers; no element is moved (The NumPy Array: A Structure for Efficient
// Numerical Computation, van der Walt et al., 2011).
package strided

import (
	"errors"
	"fmt"
	"math"
	"slices"
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

// Tensor is a view of a buffer. All views of it share the buffer; none changes once it is
// made, but for the elements.
type Tensor struct {
	buffer   []float64
	offset   int // of the element whose indices are all 0
	size     int // how many elements there are
	shape    []int
	strides  []int // those of axes of size 0 and 1 have no meaning
	readOnly bool
}

// New returns a tensor of zeros.
func New(shape ...int) (*Tensor, error) {
	size, err := sizeOf(shape)
	if err != nil {
		return nil, err
	}
	return rowMajor(make([]float64, size), shape), nil
}

// FromSlice returns a tensor whose elements are those of data, the last axis being
// contiguous. It is a view of data.
func FromSlice(data []float64, shape ...int) (*Tensor, error) {
	size, err := sizeOf(shape)
	if err != nil {
		return nil, err
	}
	if size != len(data) {
		return nil, fmt.Errorf("%w: %d numbers for shape %v", ErrShape, len(data), shape)
	}
	return rowMajor(data, shape), nil
}

// sizeOf is the product of sizes. It is an error if one is below 0 or the product is too
// large for an int; beside a 0, sizes may have any product.
func sizeOf(shape []int) (int, error) {
	size := 1
	for _, n := range shape {
		switch {
		case n < 0:
			return 0, fmt.Errorf("%w: size %d", ErrShape, n)
		case n == 0:
			size = 0
		case size > math.MaxInt/n:
			if !slices.Contains(shape, 0) {
				return 0, fmt.Errorf("%w: shape %v has too many elements", ErrShape, shape)
			}
			size = 0
		default:
			size *= n
		}
	}
	return size, nil
}

// rowMajor is a tensor of all of a buffer.
func rowMajor(buffer []float64, shape []int) *Tensor {
	t := (&Tensor{buffer: buffer}).with(len(shape))
	copy(t.shape, shape)
	t.size = len(buffer)
	stride := 1
	for k := len(shape) - 1; k >= 0; k-- {
		t.strides[k] = stride
		stride *= max(shape[k], 1) // which may overflow where there are no elements
	}
	return t
}

// with is a view of the same buffer with n axes, which are to be filled in.
func (t *Tensor) with(n int) *Tensor {
	v := *t
	axes := make([]int, 2*n)
	v.shape, v.strides = axes[:n:n], axes[n:]
	return &v
}

// clone is a view that is equal to t.
func (t *Tensor) clone() *Tensor {
	v := t.with(len(t.shape))
	copy(v.shape, t.shape)
	copy(v.strides, t.strides)
	return v
}

// Shape returns the sizes of all axes.
func (t *Tensor) Shape() []int { return slices.Clone(t.shape) }

// Strides returns the distance in the buffer between neighbours, for each axis.
func (t *Tensor) Strides() []int { return slices.Clone(t.strides) }

// Len returns the number of elements.
func (t *Tensor) Len() int { return t.size }

// ReadOnly says whether t refuses to be written to.
func (t *Tensor) ReadOnly() bool { return t.readOnly }

// IsContiguous says whether the elements of t lie in the buffer one behind the other, in
// the order of their indices.
func (t *Tensor) IsContiguous() bool {
	if t.size == 0 {
		return true
	}
	stride := 1
	for k := len(t.shape) - 1; k >= 0; k-- {
		if t.shape[k] != 1 && t.strides[k] != stride {
			return false
		}
		stride *= t.shape[k]
	}
	return true
}

// At returns an element. An index below 0 counts from the end.
func (t *Tensor) At(index ...int) (float64, error) {
	i, err := t.place(index)
	if err != nil {
		return 0, err
	}
	return t.buffer[i], nil
}

// Set changes an element, in all tensors that share it.
func (t *Tensor) Set(x float64, index ...int) error {
	if t.readOnly {
		return ErrReadOnly
	}
	i, err := t.place(index)
	if err != nil {
		return err
	}
	t.buffer[i] = x
	return nil
}

// place is where in the buffer an element is.
func (t *Tensor) place(index []int) (int, error) {
	if len(index) != len(t.shape) {
		return 0, fmt.Errorf("%w: %d indices for %d axes", ErrIndex, len(index), len(t.shape))
	}
	place := t.offset
	for k, i := range index {
		i, err := fromEnd(i, t.shape[k], ErrIndex)
		if err != nil {
			return 0, err
		}
		place += i * t.strides[k]
	}
	return place, nil
}

// fromEnd is i, or n + i where i is below 0. It is an error if that is none of n.
func fromEnd(i, n int, kind error) (int, error) {
	if i < -n || i >= n {
		return 0, fmt.Errorf("%w: %d of %d", kind, i, n)
	}
	if i < 0 {
		i += n
	}
	return i, nil
}
