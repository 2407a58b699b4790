package hidden

import (
	"math/rand/v2"
	"testing"
)

// drawn is a view of a tensor, another one for each copy: its parts of the axes begin
// elsewhere, and some axes are gone through forwards or backwards. It has the same shape each
// time, so there is as much to copy, and nothing that was kept from the copy before is of use.
type drawn struct {
	r       *rand.Rand
	x       *tensor
	full    []int // the sizes of x, which is contiguous
	part    []int // how many indices of each axis the view has
	steps   []int // from each to the next; 0 is 1 or -1, as it comes
	order   []int // of the axes in the view
	offset  int   // where the first element is, and
	strides []int // how far it is to the next ones, by the axes of x
}

// bounds draws those of a Slice.
func (d *drawn) bounds(axis int) (start, stop, step int) {
	if step = d.steps[axis]; step == 0 {
		step = 1 - 2*d.r.IntN(2)
	}
	reach := (d.part[axis] - 1) * max(step, -step)
	low := d.r.IntN(d.full[axis] - reach)
	if step > 0 {
		return low, low + reach + 1, step
	}
	if low == 0 {
		return reach, open, step
	}
	return low + reach, low - 1, step
}

// next draws a view.
func (d *drawn) next(b *testing.B) *tensor {
	y, stride := d.x, 1
	d.offset, d.strides = 0, make([]int, len(d.full))
	for k := len(d.full) - 1; k >= 0; k-- {
		start, stop, step := d.bounds(k)
		y = get(b)(y.Slice(k, start, stop, step))
		d.offset += start * stride
		d.strides[k] = step * stride
		stride *= d.full[k]
	}
	return get(b)(y.Permute(d.order...))
}

// place is where in the buffer element i of the view is.
func (d *drawn) place(i int) int {
	at := d.offset
	for n := len(d.order) - 1; n >= 0; n-- {
		k := d.order[n]
		at += i % d.part[k] * d.strides[k]
		i /= d.part[k]
	}
	return at
}
