package strided

import (
	"cmp"
	"fmt"
	"slices"
)

// Values returns all elements in the order of their indices, in memory of the caller.
func (t *Tensor) Values() []float64 {
	values := make([]float64, t.size)
	move(rowMajor(values, t.shape), t)
	return values
}

// Clone returns a copy that is contiguous and can be written to.
func (t *Tensor) Clone() *Tensor { return rowMajor(t.Values(), t.shape) }

// Contiguous returns t, if it is contiguous, and else a copy that is.
func (t *Tensor) Contiguous() *Tensor {
	if t.IsContiguous() {
		return t
	}
	return t.Clone()
}

// Fill sets all elements.
func (t *Tensor) Fill(x float64) error {
	if t.readOnly {
		return ErrReadOnly
	}
	one := rowMajor([]float64{x}, nil).with(len(t.shape)) // repeated by strides of 0
	copy(one.shape, t.shape)
	move(t, one)
	return nil
}

// CopyFrom sets all elements of t to those of another tensor of the same shape, as if all
// of these were read before the first one is written.
func (t *Tensor) CopyFrom(from *Tensor) error {
	switch {
	case t.readOnly:
		return ErrReadOnly
	case !slices.Equal(t.shape, from.shape):
		return fmt.Errorf("%w: %v into %v", ErrShape, from.shape, t.shape)
	case t.size == 0:
		return nil
	case t.meets(from):
		from = from.Clone()
	}
	move(t, from)
	return nil
}

// meets says whether an element of t may be one of u.
func (t *Tensor) meets(u *Tensor) bool {
	if &t.buffer[0] != &u.buffer[0] {
		return false
	}
	tLow, tHigh := t.span()
	uLow, uHigh := u.span()
	return tLow <= uHigh && uLow <= tHigh
}

// span is where in the buffer the first and the last element are. There has to be one.
func (t *Tensor) span() (low, high int) {
	low, high = t.offset, t.offset
	for k, n := range t.shape {
		if reach := (n - 1) * t.strides[k]; reach < 0 {
			low += reach
		} else {
			high += reach
		}
	}
	return low, high
}

// axis is one that two tensors have, each with a stride of its own.
type axis struct{ size, to, from int }

// tile is how many rows and columns are copied at a time where one tensor is contiguous
// along the rows and the other one along the columns. A cache line of each stays in the
// cache until all of it has been used.
const tile = 16

// move copies all elements. The tensors have the same shape, and no element in common.
func move(to, from *Tensor) {
	if to.size == 0 {
		return
	}
	axes := joined(to, from)
	rows, cols := axis{size: 1}, axis{size: 1}
	if n := len(axes); n > 0 {
		axes, cols = axes[:n-1], axes[n-1]
	}
	// The rows are along the axis that is most nearly contiguous in from, so that a tile
	// is one for both. The others are gone through in any order.
	if n := len(axes); n > 0 {
		best := n - 1
		for k, a := range axes {
			if abs(a.from) < abs(axes[best].from) {
				best = k
			}
		}
		rows = axes[best]
		axes = slices.Delete(axes, best, best+1)
	}
	counter := make([]int, len(axes))
	i, j := to.offset, from.offset
	for {
		plane(to.buffer, from.buffer, i, j, rows, cols)
		k := len(axes) - 1
		for ; k >= 0; k-- {
			a := axes[k]
			counter[k]++
			i += a.to
			j += a.from
			if counter[k] < a.size {
				break
			}
			counter[k] = 0
			i -= a.size * a.to
			j -= a.size * a.from
		}
		if k < 0 {
			return
		}
	}
}

// joined are the axes of two tensors of one shape, sorted by their strides in the first,
// without those of size 1. Two are made one where they can be, in both tensors.
func joined(to, from *Tensor) []axis {
	axes := make([]axis, 0, len(to.shape))
	for k, n := range to.shape {
		if n > 1 {
			axes = append(axes, axis{n, to.strides[k], from.strides[k]})
		}
	}
	slices.SortStableFunc(axes, func(a, b axis) int { return cmp.Compare(abs(b.to), abs(a.to)) })
	n := 0
	for _, a := range axes {
		if n > 0 && axes[n-1].to == a.to*a.size && axes[n-1].from == a.from*a.size {
			axes[n-1] = axis{axes[n-1].size * a.size, a.to, a.from}
			continue
		}
		axes[n] = a
		n++
	}
	return axes[:n]
}

// plane copies two axes, from places i and j of the buffers on.
func plane(to, from []float64, i, j int, rows, cols axis) {
	if cols.to == 1 && cols.from == 1 {
		for range rows.size {
			copy(to[i:i+cols.size], from[j:j+cols.size])
			i += rows.to
			j += rows.from
		}
		return
	}
	if abs(cols.from) <= abs(rows.from) { // nothing is gained by tiles
		for range rows.size {
			line(to, from, i, j, cols)
			i += rows.to
			j += rows.from
		}
		return
	}
	for row := 0; row < rows.size; row += tile {
		height := min(tile, rows.size-row)
		for col := 0; col < cols.size; col += tile {
			width := cols
			width.size = min(tile, cols.size-col)
			i, j := i+row*rows.to+col*cols.to, j+row*rows.from+col*cols.from
			for range height {
				line(to, from, i, j, width)
				i += rows.to
				j += rows.from
			}
		}
	}
}

// line copies one axis.
func line(to, from []float64, i, j int, a axis) {
	if a.to == 1 {
		for k := range to[i : i+a.size] {
			to[i+k] = from[j]
			j += a.from
		}
		return
	}
	for range a.size {
		to[i] = from[j]
		i += a.to
		j += a.from
	}
}

func abs(x int) int { return max(x, -x) }
