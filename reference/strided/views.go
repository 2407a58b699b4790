package strided

import (
	"fmt"
	"slices"
)

// Permute returns a view whose axis k is axis axes[k] of t.
func (t *Tensor) Permute(axes ...int) (*Tensor, error) {
	if len(axes) != len(t.shape) {
		return nil, fmt.Errorf("%w: %d axes of %d", ErrAxis, len(axes), len(t.shape))
	}
	v := t.with(len(axes))
	taken := make([]bool, len(axes))
	for k, axis := range axes {
		axis, err := fromEnd(axis, len(axes), ErrAxis)
		if err != nil {
			return nil, err
		}
		if taken[axis] {
			return nil, fmt.Errorf("%w: %d is there twice", ErrAxis, axis)
		}
		taken[axis] = true
		v.shape[k], v.strides[k] = t.shape[axis], t.strides[axis]
	}
	return v, nil
}

// Transpose returns a view with two axes exchanged.
func (t *Tensor) Transpose(a, b int) (*Tensor, error) {
	a, err := fromEnd(a, len(t.shape), ErrAxis)
	if err != nil {
		return nil, err
	}
	b, err = fromEnd(b, len(t.shape), ErrAxis)
	if err != nil {
		return nil, err
	}
	v := t.clone()
	v.shape[a], v.shape[b] = v.shape[b], v.shape[a]
	v.strides[a], v.strides[b] = v.strides[b], v.strides[a]
	return v, nil
}

// Slice returns a view of every step-th index of an axis, from start to before stop, by
// the rules of Python (https://docs.python.org/3/library/stdtypes.html, notes 3 to 5 of
// common sequence operations).
func (t *Tensor) Slice(axis, start, stop, step int) (*Tensor, error) {
	axis, err := fromEnd(axis, len(t.shape), ErrAxis)
	if err != nil {
		return nil, err
	}
	if step == 0 {
		return nil, ErrStep
	}
	start, n := indices(t.shape[axis], start, stop, step)
	v := t.clone()
	v.shape[axis] = n
	if n > 0 {
		v.offset += start * t.strides[axis]
	}
	if n > 1 { // else the product may be too large
		v.strides[axis] *= step
	}
	v.size, err = sizeOf(v.shape)
	return v, err
}

// indices returns the first index that a slice of an axis of size n has, and their number.
func indices(n, start, stop, step int) (first, count int) {
	low, high := 0, n // what start and stop are clamped to
	if step < 0 {
		low, high = -1, n-1
	}
	clamp := func(i, open int) int {
		if i == Open {
			return open
		}
		if i < 0 {
			i += n
		}
		return min(max(i, low), high)
	}
	if step > 0 {
		start, stop = clamp(start, low), clamp(stop, high)
		if start < stop {
			count = (stop-start-1)/step + 1
		}
		return start, count
	}
	start, stop = clamp(start, high), clamp(stop, low)
	if stop < start {
		count = (stop-start+1)/step + 1 // of two negative numbers: -step may overflow
	}
	return start, count
}

// Select returns a view of one index of an axis, without that axis.
func (t *Tensor) Select(axis, index int) (*Tensor, error) {
	axis, err := fromEnd(axis, len(t.shape), ErrAxis)
	if err != nil {
		return nil, err
	}
	index, err = fromEnd(index, t.shape[axis], ErrIndex)
	if err != nil {
		return nil, err
	}
	v := t.without(func(k int) bool { return k == axis })
	if v.size > 0 {
		v.offset += index * t.strides[axis]
	}
	return v, nil
}

// without is a view that has no axes of which leave is true. It is for those of which
// index 0 is wanted.
func (t *Tensor) without(leave func(axis int) bool) *Tensor {
	v := t.with(len(t.shape))
	n := 0
	for k := range t.shape {
		if !leave(k) {
			v.shape[n], v.strides[n] = t.shape[k], t.strides[k]
			n++
		}
	}
	v.shape, v.strides = v.shape[:n], v.strides[:n]
	v.size, _ = sizeOf(v.shape)
	return v
}

// Squeeze returns a view without these axes, which have to be of size 1; without any given,
// without all that are.
func (t *Tensor) Squeeze(axes ...int) (*Tensor, error) {
	if len(axes) == 0 {
		return t.without(func(k int) bool { return t.shape[k] == 1 }), nil
	}
	leave := make([]bool, len(t.shape))
	for _, axis := range axes {
		axis, err := fromEnd(axis, len(t.shape), ErrAxis)
		switch {
		case err != nil:
			return nil, err
		case leave[axis]:
			return nil, fmt.Errorf("%w: %d is there twice", ErrAxis, axis)
		case t.shape[axis] != 1:
			return nil, fmt.Errorf("%w: axis %d has size %d, not 1", ErrShape, axis, t.shape[axis])
		}
		leave[axis] = true
	}
	return t.without(func(k int) bool { return leave[k] }), nil
}

// Unsqueeze returns a view with one more axis, of size 1, which is its axis-th.
func (t *Tensor) Unsqueeze(axis int) (*Tensor, error) {
	axis, err := fromEnd(axis, len(t.shape)+1, ErrAxis)
	if err != nil {
		return nil, err
	}
	v := t.with(len(t.shape) + 1)
	copy(v.shape, t.shape[:axis])
	copy(v.strides, t.strides[:axis])
	v.shape[axis], v.strides[axis] = 1, 1
	copy(v.shape[axis+1:], t.shape[axis:])
	copy(v.strides[axis+1:], t.strides[axis:])
	return v, nil
}

// Expand returns a read-only view of another shape, in which axes of size 1 are repeated
// by a stride of 0. Shapes are aligned at the last axis; -1 keeps a size.
func (t *Tensor) Expand(shape ...int) (*Tensor, error) {
	front := len(shape) - len(t.shape)
	if front < 0 {
		return nil, fmt.Errorf("%w: %v has fewer axes than %v", ErrShape, shape, t.shape)
	}
	v := t.with(len(shape))
	for k, n := range shape {
		if k < front {
			v.shape[k] = n
			continue
		}
		old := t.shape[k-front]
		switch {
		case n == -1 || n == old:
			v.shape[k], v.strides[k] = old, t.strides[k-front]
		case old == 1:
			v.shape[k] = n
		default:
			return nil, fmt.Errorf("%w: size %d cannot become %d", ErrShape, old, n)
		}
	}
	size, err := sizeOf(v.shape) // which finds what is below 0, also a -1 in front
	if err != nil {
		return nil, err
	}
	v.size, v.readOnly = size, true
	return v, nil
}

// View returns a view of the same elements in the same order, with other axes. One size may
// be -1: it is what the others leave. Where no strides do that it is ErrLayout.
func (t *Tensor) View(shape ...int) (*Tensor, error) {
	shape, err := t.inferred(shape)
	if err != nil {
		return nil, err
	}
	if v, ok := t.view(shape); ok {
		return v, nil
	}
	return nil, fmt.Errorf("%w: shape %v, strides %v as %v", ErrLayout, t.shape, t.strides, shape)
}

// Reshape is View where that is possible, and else a copy with these axes.
func (t *Tensor) Reshape(shape ...int) (*Tensor, error) {
	shape, err := t.inferred(shape)
	if err != nil {
		return nil, err
	}
	if v, ok := t.view(shape); ok {
		return v, nil
	}
	return rowMajor(t.Values(), shape), nil
}

// inferred is a shape of as many elements as t has, without -1.
func (t *Tensor) inferred(shape []int) ([]int, error) {
	free := slices.Index(shape, -1)
	if free >= 0 {
		shape = slices.Clone(shape)
		shape[free] = 1
	}
	size, err := sizeOf(shape) // which refuses a second -1
	if err != nil {
		return nil, err
	}
	if free >= 0 {
		if size == 0 || t.size%size != 0 {
			return nil, fmt.Errorf("%w: %d elements do not say what the -1 is", ErrShape, t.size)
		}
		shape[free] = t.size / size
		size = t.size
	}
	if size != t.size {
		return nil, fmt.Errorf("%w: %d elements as %v", ErrShape, t.size, shape)
	}
	return shape, nil
}

// view returns a view of all elements with this shape, if there are strides for it.
//
// Axes of which the first goes on where the second ends are one run, as long as both
// together. A new axis has to lie within a run: if it went across two, it would have two
// strides. (PyTorch's computeStride goes the same way; aten/src/ATen/TensorUtils.cpp.)
func (t *Tensor) view(shape []int) (*Tensor, bool) {
	v := t.with(len(shape))
	copy(v.shape, shape)
	if t.size == 0 {
		return v, true // strides of nothing
	}
	old := len(t.shape)
	run, stride := 1, 1 // what is left of a run, and the stride of the next axis in it
	for k := len(shape) - 1; k >= 0; k-- {
		if shape[k] == 1 {
			continue
		}
		if run == 1 { // take the next, with all axes that go on with it
			for old > 0 && t.shape[old-1] == 1 {
				old--
			}
			stride = t.strides[old-1]
			for next := stride; old > 0 && (t.shape[old-1] == 1 || t.strides[old-1] == next); old-- {
				if t.shape[old-1] > 1 {
					run *= t.shape[old-1]
					next *= t.shape[old-1]
				}
			}
		}
		if run%shape[k] != 0 {
			return nil, false
		}
		v.strides[k] = stride
		stride *= shape[k]
		run /= shape[k]
	}
	return v, true
}
