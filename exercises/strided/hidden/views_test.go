package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/strided"
)

// Permute puts the axes into another order, Transpose exchanges two of them; an axis below
// 0 counts from the end (rules 6 to 8).
func TestPermute(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	check := func(shape []int) {
		n := len(shape)
		x := random(t, r, shape...)
		axes := r.Perm(n)
		if r.IntN(2) == 0 {
			k := r.IntN(n)
			axes[k] -= n
		}
		y, err := x.Permute(axes...)
		record(o, "Permute", y, err)
		a, b := r.IntN(n), r.IntN(n)-n
		y, err = x.Transpose(a, b)
		record(o, "Transpose", y, err)
		record(o, "as it was", x, nil)
	}
	for n := 1; n <= 5; n++ {
		for range 4 {
			check(sizes(r, n, 1, 5))
		}
	}
	x := random(t, r, 2, 3, 4)
	y, err := x.Permute(2, 0, 1) // which is not its own inverse
	record(o, "Permute", y, err)
	y, err = x.Transpose(1, 1)
	record(o, "Transpose", y, err)
	for range 2 {
		check(large(r))
		check([]int{2, between(r, 66_000, 70_000)})
	}
}

// Slice takes every step-th index from start on, before stop (rule 9).
func TestSlice(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	check := func(shape []int) {
		x := random(t, r, shape...)
		axis := r.IntN(len(shape))
		n := shape[axis]
		start := r.IntN(n)
		stop := between(r, start+1, n)
		step := between(r, 1, 4)
		y, err := x.Slice(axis, start, stop, step)
		record(o, "Slice", y, err)
		y, err = x.Slice(axis-len(shape), start, stop, 1)
		record(o, "Slice, step 1", y, err)
		y, err = get(t)(y, err).Slice(axis, 0, (stop-start+1)/2, 2)
		record(o, "Slice of a Slice", y, err)
		y, err = x.Slice(axis, 0, n, 1)
		record(o, "Slice, all", y, err)
		record(o, "as it was", x, nil)
	}
	for n := 1; n <= 4; n++ {
		for range 5 {
			check(sizes(r, n, 1, 9))
		}
	}
	for n := 1; n <= 9; n++ { // every way to end
		x := random(t, r, n)
		for step := 1; step <= n+1; step++ {
			y, err := x.Slice(0, 0, n, step)
			record(o, "Slice", y, err)
		}
	}
	for range 2 {
		check(large(r))
		check([]int{between(r, 66_000, 70_000), 2})
	}
}

// Bounds below 0 count from the end; those that are outside then, end at the end; Open is
// a bound that is left out (rules 9 and 10).
func TestSliceBounds(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{1, 2, between(r, 3, 7), between(r, 66_000, 70_000)} {
		x := random(t, r, n)
		bounds := []int{open, open + 1, -n - 1, -n, -1, 0, 1, n - 1, n, n + 1, math.MaxInt, r.IntN(n), -r.IntN(n) - 1}
		if n > 9 {
			bounds = []int{open, -n - 5, -n + 3, -2, 3, n - 3, n + 7, math.MaxInt}
		}
		for _, start := range bounds {
			for _, stop := range bounds {
				y, err := x.Slice(0, start, stop, 1)
				record(o, "step 1", y, err)
				y, err = x.Slice(0, start, stop, 2)
				record(o, "step 2", y, err)
			}
		}
	}
}

// A step below 0 goes backwards, from the last index unless a start is given, and steps
// may be larger than the axis, up to any int (rules 9 to 11).
func TestSliceSteps(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{1, 2, between(r, 3, 7), between(r, 66_000, 70_000)} {
		x := random(t, r, n)
		bounds := []int{open, open + 1, -n - 1, -n, -1, 0, 1, n - 1, n, n + 1, math.MaxInt, r.IntN(n)}
		steps := []int{-1, -2, -3, -n, -n - 1}
		if n > 9 {
			bounds = []int{open, -n - 5, -n + 3, -2, 3, n - 3, n + 7}
			steps = []int{-1, -3}
		}
		for _, step := range steps {
			for _, start := range bounds {
				for _, stop := range bounds {
					y, err := x.Slice(0, start, stop, step)
					record(o, "backwards", y, err)
				}
			}
		}
		for _, step := range []int{n, n + 1, 1 << 40, math.MaxInt, math.MaxInt - 1, -1 << 40, -math.MaxInt, math.MinInt} {
			y, err := x.Slice(0, open, open, step)
			record(o, "a large step", y, err)
			y, err = x.Slice(0, r.IntN(n), open, step)
			record(o, "a large step", y, err)
		}
	}
	for _, n := range []int{math.MaxInt, math.MaxInt - 1, 1<<62 + r.IntN(99), 1<<62 - 1} { // an axis as long as an int, of nothing
		x, err := strided.New(0, n)
		if err != nil || x == nil {
			continue
		}
		for _, step := range []int{1, 2, 3, n - 1, n, math.MaxInt, -1, -2, -3, 1 - n, -n, -math.MaxInt, math.MinInt} {
			for _, start := range []int{open, open + 1, -n, -1, 0, 1, n - 1, n, math.MaxInt} {
				for _, stop := range []int{open, open + 1, -2, 0, n - 1, math.MaxInt} {
					y, err := x.Slice(1, start, stop, step)
					record(o, "an axis as long as an int", y, err)
				}
			}
		}
	}
	shape := sizes(r, 3, 2, 5)
	x := random(t, r, shape...)
	for k := range shape {
		x = get(t)(x.Slice(k, open, open, -1))
		record(o, "several axes backwards", x, nil)
	}
	x = get(t)(x.Slice(1, open, open, -1))
	record(o, "backwards twice", x, nil)
	y, err := get(t)(random(t, r, 2, 7).Slice(1, open, open, -2)).Slice(1, open, 0, -1)
	record(o, "backwards in steps, and back", y, err)
	y, err = get(t)(random(t, r, 9).Slice(0, 7, 1, -2)).Slice(0, 1, 3, 1)
	record(o, "a part of what goes backwards", y, err)
	y, err = random(t, r, 4, 3).Slice(0, 1, 4, 0)
	refused(o, "step 0", y, err)
	y, err = random(t, r, 4, 3).Slice(0, 2, 1, 0)
	refused(o, "step 0", y, err)
}

// Select takes one index of an axis, which is then gone (rule 12).
func TestSelect(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	check := func(shape []int) {
		x := random(t, r, shape...)
		axis := r.IntN(len(shape))
		y, err := x.Select(axis, r.IntN(shape[axis]))
		record(o, "Select", y, err)
		y, err = x.Select(axis-len(shape), -1-r.IntN(shape[axis]))
		record(o, "Select, from the end", y, err)
		record(o, "as it was", x, nil)
	}
	for n := 1; n <= 4; n++ {
		for range 5 {
			check(sizes(r, n, 1, 5))
		}
	}
	for range 2 {
		check(large(r))
		check([]int{2, between(r, 66_000, 70_000)})
		check([]int{between(r, 66_000, 70_000), 2})
	}
}

// within is a tensor of this shape that begins within its buffer.
func within(t *testing.T, r *rand.Rand, shape []int) *tensor {
	t.Helper()
	return get(t)(random(t, r, append([]int{3}, shape...)...).Select(0, 1))
}

// Squeeze takes axes of size 1 away, those named or all; Unsqueeze puts one in (rules 13
// and 14).
func TestSqueeze(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	check := func(shape []int) {
		n := len(shape)
		x := random(t, r, shape...)
		y, err := x.Squeeze()
		record(o, "Squeeze, all", y, err)
		var ones []int
		for _, k := range r.Perm(n) {
			if shape[k] == 1 && r.IntN(3) > 0 {
				ones = append(ones, k-n*r.IntN(2))
			}
		}
		if len(ones) > 0 {
			y, err = x.Squeeze(ones...)
			record(o, "Squeeze", y, err)
		}
		for _, axis := range []int{0, n, -1, -n - 1, r.IntN(n + 1)} {
			y, err = x.Unsqueeze(axis)
			record(o, "Unsqueeze", y, err)
		}
		part := within(t, r, shape)
		y, err = part.Squeeze()
		record(o, "Squeeze of a part, all", y, err)
		if len(ones) > 0 {
			y, err = part.Squeeze(ones...)
			record(o, "Squeeze of a part", y, err)
		}
		y, err = part.Unsqueeze(r.IntN(n + 1))
		record(o, "Unsqueeze of a part", y, err)
		record(o, "as it was", x, nil)
	}
	for n := 1; n <= 5; n++ {
		for range 4 {
			check(sizes(r, n, 1, 2))
		}
	}
	check([]int{1, 3, 1, 1, 2, 1})
	check([]int{1, 1, 1})
	for _, axes := range [][]int{{0, 1}, {1, 0}, {-5, 1}, {0, 3}} { // after the first, others are in their places
		y, err := random(t, r, 1, 1, 3, 1, 2).Squeeze(axes...)
		record(o, "Squeeze of two", y, err)
	}
	for range 2 {
		check(slices.Insert(large(r), r.IntN(4), 1, 1))
		check([]int{1, between(r, 66_000, 70_000)})
	}
	x := random(t, r, 3, 2, 1, 4)
	for _, axis := range []int{0, 1, 3, -1} {
		y, err := x.Squeeze(axis)
		refused(o, "Squeeze of what is not 1", y, err)
	}
	y, err := x.Squeeze(2, 1)
	refused(o, "Squeeze of what is not 1", y, err)
}

// Expand repeats axes of size 1, puts axes in front, and keeps a size for -1 (rules 15 and
// 16).
func TestExpand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	check := func(shape, front []int, n int) {
		x := random(t, r, shape...)
		to := slices.Clone(shape)
		for k := range to {
			switch {
			case shape[k] == 1 && r.IntN(3) > 0:
				to[k] = n
			case r.IntN(2) == 0:
				to[k] = -1
			}
		}
		to = append(slices.Clone(front), to...)
		y, err := x.Expand(to...)
		record(o, "Expand", y, err)
		record(o, "as it was", x, nil)
		y, err = within(t, r, shape).Expand(to...)
		record(o, "Expand of a part", y, err)
	}
	for n := 1; n <= 4; n++ {
		for range 5 {
			check(sizes(r, n, 1, 2), sizes(r, r.IntN(3), 1, 3), between(r, 2, 5))
		}
	}
	check([]int{3, 1}, nil, 4)
	check([]int{1}, []int{3}, 70_000)
	check([]int{between(r, 66_000, 70_000)}, []int{2}, 1)
	check([]int{1, between(r, 250, 300), 1}, []int{2}, 150)
	check(large(r), []int{1}, 1)
	huge, err := random(t, r, 3, 1).Expand(1<<20, 3, 1<<38) // takes no memory
	o.Error("Expand, beyond all memory: error", err, kinds...)
	o.Ints("Expand, beyond all memory: shape", get(t)(huge, err).Shape())
	v, err := huge.At(-1, r.IntN(3), 1<<37)
	o.Float("Expand, beyond all memory: an element", v, observe.Exact())
	o.Error("Expand, beyond all memory: error of At", err, kinds...)
	part, err := get(t)(huge.Select(0, 1<<19)).Slice(1, 5, 1<<38, 1<<36)
	record(o, "Expand, beyond all memory: a part", part, err)
	for _, shape := range [][]int{{2, 3}, {3, 2, 4}, {4}, {3, -1, 5}, {-1, 2, 5, 1}, {2, 5, 1}, {2, 5}, {2, 5, 0}, {1, 5}, {2, 1}, {-1, 2, 5}, {3, -1, 2, 5}, {-1, -1, -1}, {2, 1 << 62}, {1 << 32, 1 << 32, 2, 5}, {}} {
		y, err := random(t, r, 2, 5).Expand(shape...)
		if slices.Equal(shape, []int{2, 5}) {
			record(o, "Expand to what it is", y, err)
		} else {
			refused(o, "Expand to what it cannot be", y, err)
		}
	}
	for _, shape := range [][]int{{-2}, {-3}, {math.MinInt}, {1, -2}, {0, -3}, {2, math.MinInt}, {-2, 1}, {-2, 3}, {-2, -2}, {math.MinInt, 5}, {math.MinInt, 0}} {
		y, err := random(t, r, 1).Expand(shape...)
		refused(o, "Expand to a size below -1", y, err)
		y, err = random(t, r, 1, 1).Expand(append([]int{1}, shape...)...)
		refused(o, "Expand to a size below -1", y, err)
	}
}
