package hidden

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/strided"
)

// CopyFrom between two views of one tensor copies what was there before, whichever way they
// overlap (rule 29).
func TestOverlap(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	get := get(t)
	for _, n := range []int{4, between(r, 5, 9), between(r, 270, 300)} {
		try := func(name string, shape []int, views func(x *tensor) (to, from *tensor)) {
			x := random(t, r, shape...)
			to, from := views(x)
			o.Error(name+": error of CopyFrom", to.CopyFrom(from), kinds...)
			numbers(o, name+": the whole", x.Values())
			numbers(o, name+": copied", to.Values())
		}
		slice := func(x *tensor, axis, start, stop, step int) *tensor { return get(x.Slice(axis, start, stop, step)) }
		square, list := []int{n, n}, []int{n * n}
		try("onto itself", square, func(x *tensor) (*tensor, *tensor) { return x, x })
		try("transposed", square, func(x *tensor) (*tensor, *tensor) { return x, get(x.Transpose(0, 1)) })
		try("transposed", square, func(x *tensor) (*tensor, *tensor) { return get(x.Transpose(0, 1)), x })
		try("backwards", list, func(x *tensor) (*tensor, *tensor) { return x, slice(x, 0, open, open, -1) })
		try("backwards", square, func(x *tensor) (*tensor, *tensor) { return slice(x, 0, open, open, -1), x })
		part := n * n * 3 / 4
		try("backwards, a part", list, func(x *tensor) (*tensor, *tensor) {
			return slice(x, 0, 0, part, 1), slice(x, 0, open, n*n-part-1, -1)
		})
		try("backwards, a part", list, func(x *tensor) (*tensor, *tensor) {
			return slice(x, 0, open, n*n-part-1, -1), slice(x, 0, 0, part, 1)
		})
		try("rows up", square, func(x *tensor) (*tensor, *tensor) { return slice(x, 0, 0, n-1, 1), slice(x, 0, 1, open, 1) })
		try("rows down", square, func(x *tensor) (*tensor, *tensor) { return slice(x, 0, 1, open, 1), slice(x, 0, 0, n-1, 1) })
		try("columns to the left", square, func(x *tensor) (*tensor, *tensor) { return slice(x, 1, 0, n-1, 1), slice(x, 1, 1, open, 1) })
		try("columns to the right", square, func(x *tensor) (*tensor, *tensor) { return slice(x, 1, 1, open, 1), slice(x, 1, 0, n-1, 1) })
		try("one on", list, func(x *tensor) (*tensor, *tensor) { return slice(x, 0, 1, open, 1), slice(x, 0, 0, n*n-1, 1) })
		try("one back", list, func(x *tensor) (*tensor, *tensor) { return slice(x, 0, 0, n*n-1, 1), slice(x, 0, 1, open, 1) })
		try("other steps", list, func(x *tensor) (*tensor, *tensor) {
			return slice(x, 0, 0, n*n/2, 1), slice(x, 0, 0, n*n/2*2, 2)
		})
		try("other steps", list, func(x *tensor) (*tensor, *tensor) {
			return slice(x, 0, 0, n*n/2*2, 2), slice(x, 0, 0, n*n/2, 1)
		})
		try("a row into all", square, func(x *tensor) (*tensor, *tensor) {
			return x, get(slice(x, 0, 1, 2, 1).Expand(n, n))
		})
		try("a column into all", square, func(x *tensor) (*tensor, *tensor) {
			return x, get(slice(x, 1, 1, 2, 1).Expand(n, n))
		})
		try("a column into all rows", square, func(x *tensor) (*tensor, *tensor) {
			return x, get(get(get(x.Select(1, r.IntN(2))).Unsqueeze(0)).Expand(n, n))
		})
		try("a row into all columns", square, func(x *tensor) (*tensor, *tensor) {
			return x, get(get(get(x.Select(0, r.IntN(2))).Unsqueeze(1)).Expand(n, n))
		})
		try("an element into all", square, func(x *tensor) (*tensor, *tensor) {
			return x, get(slice(slice(x, 0, 1, 2, 1), 1, 1, 2, 1).Expand(n, n))
		})
		try("apart", square, func(x *tensor) (*tensor, *tensor) { return slice(x, 0, 0, 2, 1), slice(x, 0, 2, 4, 1) })
		try("in turns", list, func(x *tensor) (*tensor, *tensor) {
			return slice(x, 0, 0, n*n/2*2, 2), slice(x, 0, 1, n*n/2*2, 2)
		})
		// The last element of one is the first of the other.
		m := n * n / 4
		for k := range 4 {
			meeting := func(x *tensor) (low, high *tensor) {
				low, high = slice(x, 0, 0, 2*m-1, 2), slice(x, 0, 2*m-2, 4*m-3, 2)
				if k%2 == 1 {
					low = slice(low, 0, open, open, -1)
				}
				if k/2 == 1 {
					high = slice(high, 0, open, open, -1)
				}
				return low, high
			}
			try("in one element", list, meeting)
			try("in one element", list, func(x *tensor) (*tensor, *tensor) {
				low, high := meeting(x)
				return high, low
			})
		}
		try("through View", list, func(x *tensor) (*tensor, *tensor) {
			y := get(x.View(n, n))
			return y, get(y.Transpose(0, 1))
		})
		try("through Reshape and Contiguous", list, func(x *tensor) (*tensor, *tensor) {
			return get(x.Reshape(n, n)), get(get(x.Contiguous().View(n, n)).Transpose(0, 1))
		})
	}
	try := func(name string, x, to, from *tensor) {
		o.Error(name+": error of CopyFrom", to.CopyFrom(from), kinds...)
		numbers(o, name+": the whole", x.Values())
		numbers(o, name+": copied", to.Values())
	}
	for n := 1; n <= 8; n++ { // many axes, in the opposite order, and one of them backwards
		x := random(t, r, slices.Repeat([]int{2}, n)...)
		axes := make([]int, n)
		for k := range axes {
			axes[k] = n - 1 - k
		}
		try("many axes, in the opposite order", x, x, get(x.Permute(axes...)))
		for k := range n {
			try("many axes, one backwards", x, x, get(x.Slice(k, open, open, -1)))
		}
	}
	sameStrides(t, o, r)
	contiguousParts(t, o, r)
	// Parts that begin and end beyond 65,536 elements.
	for k := range 4 {
		x := random(t, r, 400_000+r.IntN(100))
		part := func(from int) *tensor { return get(x.Slice(0, from, from+140_000, 2)) }
		a := r.IntN(100_000)
		low, high := part(a), part(a+2*between(r, 60_000, 66_000))
		if k%2 == 1 {
			low, high = get(low.Slice(0, open, open, -1)), get(high.Slice(0, open, open, -1))
		}
		if k/2 == 1 {
			low, high = high, low
		}
		try("many, two parts", x, high, low)
	}
	// More than a million elements.
	n := huge(r)
	list, square := get(strided.FromSlice(apart(r, n), n)), random(t, r, 1026, 1026)
	try("many, backwards", list, list, get(list.Slice(0, open, open, -1)))
	try("many, one on", list, get(list.Slice(0, 1, open, 1)), get(list.Slice(0, 0, n-1, 1)))
	try("many, one back", list, get(list.Slice(0, 0, n-1, 1)), get(list.Slice(0, 1, open, 1)))
	try("many, transposed", square, square, get(square.Transpose(0, 1)))
	try("many, rows down", square, get(square.Slice(0, 1, open, 1)), get(square.Slice(0, 0, 1025, 1)))
	try("many, columns to the right", square, get(square.Slice(1, 1, open, 1)), get(square.Slice(1, 0, 1025, 1)))
	try("many, a column into all", square, square, get(get(square.Slice(1, 7, 8, 1)).Expand(1026, 1026)))
}

// contiguousParts copies between parts of a list, which are contiguous and begin in other
// places, and views of them by the calls that may share what is contiguous.
func contiguousParts(t *testing.T, o *observe.Observer, r *rand.Rand) {
	get := get(t)
	back := func(y *tensor) *tensor { return get(y.Slice(0, open, open, -1)) }
	same := func(y *tensor) *tensor { return y }
	for _, view := range []func(y *tensor) *tensor{
		func(y *tensor) *tensor { return get(y.View(y.Len())) },
		func(y *tensor) *tensor { return get(y.Reshape(-1)) },
		func(y *tensor) *tensor { return y.Contiguous() },
		func(y *tensor) *tensor { return get(get(y.View(2, -1)).View(-1)) },
		func(y *tensor) *tensor { return get(get(y.Unsqueeze(0)).Squeeze()) },
	} {
		for _, views := range [][2]func(y *tensor) *tensor{{view, view}, {view, same}, {same, view}} {
			for k := range 4 {
				n, a := 2*between(r, 3, 40), between(r, 1, 9)
				b := a + between(r, 1, n/2)
				if k%2 == 1 {
					a, b = b, a
				}
				x := random(t, r, n/2*3+9)
				to, from := views[0](get(x.Slice(0, a, a+n, 1))), views[1](get(x.Slice(0, b, b+n, 1)))
				if k/2 == 1 {
					to = back(to)
				} else {
					from = back(from)
				}
				o.Error("contiguous parts: error of CopyFrom", to.CopyFrom(from), kinds...)
				numbers(o, "contiguous parts: the whole", x.Values())
			}
		}
	}
}

// sameStrides copies parts of a tensor to others that have the same strides and lie some steps
// away, along each axis or along several, forwards or backwards: of these, some can be copied
// in one direction only, and which one that is, no single axis says.
func sameStrides(t *testing.T, o *observe.Observer, r *rand.Rand) {
	steps := []int{1, -1, 2, -2}
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		for _, a := range steps {
			for _, b := range steps {
				moved(t, o, r, []int{5, 7}, []int{a, b}, order)
				moved(t, o, r, []int{6, 5}, []int{a, b}, order)
			}
		}
	}
	for signs := range 8 {
		step := sizes(r, 3, 1, 2)
		for k := range step {
			step[k] *= 1 - 2*(signs>>k&1)
		}
		moved(t, o, r, []int{5, 5, 5}, step, r.Perm(3))
	}
	moved(t, o, r, []int{3, 33_000}, []int{1, -1}, []int{0, 1})
	moved(t, o, r, []int{3, 33_000}, []int{-1, 1}, []int{1, 0})
}

// moved copies a part of a tensor to others, which are a step away from it along some axes,
// one way or the other.
func moved(t *testing.T, o *observe.Observer, r *rand.Rand, shape, steps, axes []int) {
	get := get(t)
	part := func(x *tensor, away func(axis int) int) *tensor { // 0 or 1 steps
		y := x
		for k, step := range steps {
			n := (shape[k]-1)/max(step, -step) - 1 // steps within it
			start := away(k) * max(step, -step)
			if step < 0 {
				y = get(get(y.Slice(k, start, start-n*step+1, -step)).Slice(k, open, open, -1))
			} else {
				y = get(y.Slice(k, start, start+n*step+1, step))
			}
		}
		return get(y.Permute(axes...))
	}
	for way := range count(slices.Repeat([]int{3}, len(shape))) {
		away := make([]int, len(shape)) // -1, 0 or 1
		for k := range away {
			away[k] = way%3 - 1
			way /= 3
		}
		x := random(t, r, shape...)
		to := part(x, func(k int) int { return max(away[k], 0) })
		from := part(x, func(k int) int { return max(-away[k], 0) })
		o.Error("the same strides, some steps away: error of CopyFrom", to.CopyFrom(from), kinds...)
		numbers(o, "the same strides, some steps away: the whole", x.Values())
	}
}

// chain makes a view of a view of a view.
func chain(t testing.TB, r *rand.Rand, x *tensor, steps int) *tensor {
	get := get(t)
	for range steps {
		shape := x.Shape()
		n := len(shape)
		k := r.IntN(n)
		switch r.IntN(8) {
		case 0:
			x = get(x.Permute(r.Perm(n)...))
		case 1:
			x = get(x.Transpose(k, -1))
		case 2:
			x = get(x.Slice(k, open, open, -1))
		case 3:
			if shape[k] > 3 {
				x = get(x.Slice(k, 1, open, 1))
			}
		case 4:
			if shape[k] > 3 {
				x = get(x.Slice(k, shape[k]-1, open, -2))
			}
		case 5:
			if n > 2 {
				x = get(x.Select(k, r.IntN(shape[k])))
			}
		case 6:
			x = get(x.Unsqueeze(k))
		case 7:
			if shape[k]%2 == 0 {
				x = get(x.View(slices.Replace(x.Shape(), k, k+1, shape[k]/2, 2)...))
			}
		}
	}
	return x
}

// Views of views, of any operations in any order, are views of the first (rules 6 to 22).
func TestChains(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 60 {
		shape := sizes(r, 4, 2, 8)
		if i%10 == 9 {
			shape = append(large(r), 4)
		}
		x := random(t, r, shape...)
		y := chain(t, r, x, between(r, 3, 9))
		record(o, "at the end", y, nil)
		o.Error("error of Set", y.Set(-r.Float64(), index(r, y.Shape())...), kinds...)
		numbers(o, "the first, the last was written to", x.Values())
		y = chain(t, r, y.Clone(), 3)
		record(o, "on from a copy", y, nil)
	}
}

// A tensor stays as it is, but for its elements: the lists of sizes and axes that are given
// to a call, and those that Shape and Strides return, are the caller's, views of it change
// nothing, and neither does a call that is refused (rules 30 and 31).
func TestStays(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	get := get(t)
	for range 5 {
		shape := []int{2, 3, 1, between(r, 2, 5)}
		n := count(shape)
		data := values(r, n)
		check := func(name string, made func(list []int) *tensor, list ...int) {
			list = append(slices.Clone(list), 77)[:len(list)] // there is room behind
			x := made(list)
			o.Ints(name+": the list, and what is behind it", list[:len(list)+1])
			for k := range list {
				list[k] = 5
			}
			record(o, name+": the list was written to", x, nil)
			for _, own := range [][]int{x.Shape(), x.Strides()} {
				for k := range own {
					own[k] += 3
				}
				own = append(own, 4)
				o.Int(name+": how many there are", len(own))
			}
			record(o, name+": Shape and Strides were written to", x, nil)
			y := get(x.Transpose(0, -1))
			own := y.Shape()
			own[0] = 0
			record(o, name+": a view of it", y, nil)
		}
		x := get(strided.FromSlice(data, shape...))
		check("New", func(l []int) *tensor {
			x := get(strided.New(l...))
			o.Error("New: error of CopyFrom", x.CopyFrom(random(t, r, shape...)), kinds...)
			return x
		}, shape...)
		check("FromSlice", func(l []int) *tensor { return get(strided.FromSlice(data, l...)) }, shape...)
		check("Permute", func(l []int) *tensor { return get(x.Permute(l...)) }, 3, -4, 2, 1)
		check("Squeeze", func(l []int) *tensor { return get(x.Squeeze(l...)) }, -2)
		check("Expand", func(l []int) *tensor { return get(x.Expand(l...)) }, 2, 2, 3, 4, -1)
		check("View", func(l []int) *tensor { return get(x.View(l...)) }, shape[3], -1)
		check("Reshape", func(l []int) *tensor { return get(x.Reshape(l...)) }, -1, 3)
		check("Reshape, copied", func(l []int) *tensor { return get(get(x.Transpose(0, 1)).Reshape(l...)) }, -1, shape[3])
		for n := range 10 { // with any number of axes
			sizes := slices.Repeat([]int{2}, n)
			all := values(r, 1<<n)
			x := get(strided.FromSlice(all, sizes...))
			check("some axes, New", func(l []int) *tensor { return get(strided.New(l...)) }, append(sizes, 1)...)
			check("some axes, FromSlice", func(l []int) *tensor { return get(strided.FromSlice(all, l...)) }, append(sizes, 1)...)
			check("some axes, Expand", func(l []int) *tensor { return get(x.Expand(l...)) }, append([]int{1}, sizes...)...)
			check("some axes, View", func(l []int) *tensor { return get(x.View(l...)) }, append(sizes, 1)...)
			check("some axes, View, a size left out", func(l []int) *tensor { return get(x.View(l...)) }, append(sizes, -1)...)
			check("some axes, Reshape", func(l []int) *tensor { return get(x.Reshape(l...)) }, append(sizes, 1)...)
			if n > 1 {
				turned := get(x.Transpose(0, -1))
				check("some axes, Reshape, copied", func(l []int) *tensor { return get(turned.Reshape(l...)) }, append([]int{4}, sizes[2:]...)...)
				check("some axes, Permute", func(l []int) *tensor { return get(x.Permute(l...)) }, r.Perm(n)...)
			}
			one := get(x.View(append([]int{1}, append(slices.Clone(sizes), 1)...)...))
			if n > 0 {
				check("some axes, Squeeze", func(l []int) *tensor { return get(one.Squeeze(l...)) }, -1, 0)
			}
			other := get(x.Unsqueeze(0))
			ours, theirs := one.Shape(), other.Shape() // neither is the other one
			o.Ints("Shape of a tensor of other axes", ours)
			o.Ints("Shape of a tensor of other axes", theirs)
			ours, theirs = one.Strides(), other.Strides()
			o.Bool("Strides are lists of their own", len(ours) == 0 || len(theirs) == 0 || &ours[0] != &theirs[0])
			indices := make([]int, n)
			for k := range indices {
				indices[k] = -2 + r.IntN(3)
			}
			given(o, x, indices)
			if n > 1 { // refused, but only by the last one
				refused := slices.Repeat([]int{-2}, n)
				refused[n-1] = 2
				given(o, x, refused)
			}
		}
		for range 3 {
			for _, err := range []error{
				second(x.Permute(0, 1, 2)), second(x.Permute(0, 0, 1, 2)), second(x.Transpose(0, 4)), second(x.Slice(3, 0, 1, 0)),
				second(x.Slice(4, 0, 1, 1)), second(x.Select(0, 2)), second(x.Squeeze(2, 0)), second(x.Unsqueeze(6)),
				second(x.Expand(2, 3, 4)), second(x.View(7)), second(x.Reshape(-1, 7)), x.Set(1, 2, 0, 0, 0), x.CopyFrom(random(t, r, n)),
			} {
				o.Error("error of a call that is refused", err, kinds...)
			}
			record(o, "after calls that were refused", x, nil)
			o.Bool("contiguous after calls that were refused", x.IsContiguous())
			for range 5 {
				chain(t, r, x, 4)
				x.Clone()
				x.Contiguous()
			}
			record(o, "after views and copies were made", x, nil)
		}
		eachView(x, func(kind string, v *tensor) {
			var made []*tensor
			eachView(v, func(_ string, w *tensor) {
				eachView(w, func(string, *tensor) {})
				made = append(made, w)
			})
			record(o, kind+": after views of it were made", v, nil)
			for _, w := range made {
				record(o, kind+": a view of it, after others were made", w, nil)
			}
		})
	}
}

// eachView calls do with a view of each kind, as far as x has one.
func eachView(x *tensor, do func(kind string, v *tensor)) {
	shape := x.Shape()
	for _, view := range []struct {
		kind string
		make func() (*tensor, error)
	}{
		{"Unsqueeze(0)", func() (*tensor, error) { return x.Unsqueeze(0) }},
		{"Unsqueeze at the end", func() (*tensor, error) { return x.Unsqueeze(len(shape)) }},
		{"Select", func() (*tensor, error) { return x.Select(0, -1) }},
		{"Slice", func() (*tensor, error) { return x.Slice(-1, open, open, -1) }},
		{"Transpose", func() (*tensor, error) { return x.Transpose(0, -1) }},
		{"Squeeze", func() (*tensor, error) { return x.Squeeze() }},
		{"Expand", func() (*tensor, error) { return x.Expand(append([]int{2}, shape...)...) }},
		{"Reshape", func() (*tensor, error) { return x.Reshape(shape...) }},
	} {
		if v, err := view.make(); err == nil && v != nil {
			do(view.kind, v)
		}
	}
}

// given records a list of indices after At and Set of it. What these answer is for other tests
// to see.
func given(o *observe.Observer, x *tensor, indices []int) {
	indices = append(slices.Clone(indices), 77)[:len(indices)] // there is room behind
	x.At(indices...)
	o.Ints("At: the list, and what is behind it", indices[:len(indices)+1])
	x.Set(1, indices...)
	o.Ints("Set: the list, and what is behind it", indices[:len(indices)+1])
}

// second is the error of a call.
func second(_ *tensor, err error) error { return err }

// A thousand tensors and views live side by side, and each call answers for its own (rules
// 22, 23 and 31).
func TestThousand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	get := get(t)
	var first, views, copies []*tensor
	for range 1000 {
		x := random(t, r, sizes(r, 3, 2, 4)...)
		first = append(first, x)
		views = append(views, chain(t, r, x, 4))
		copies = append(copies, views[len(views)-1].Clone())
	}
	for i, y := range views {
		o.Error("error of Set", y.Set(-r.Float64(), index(r, y.Shape())...), kinds...)
		if i%50 == 0 {
			record(o, "one of a thousand", y, nil)
		}
	}
	var all, written, copied []float64
	for i := range first {
		all = append(all, first[i].Values()...)
		written = append(written, views[i].Values()...)
		copied = append(copied, copies[i].Values()...)
	}
	numbers(o, "all", all)
	numbers(o, "all views", written)
	numbers(o, "all copies", copied)

	x := random(t, r, large(r)...)
	y := x
	sum := 0.0
	for i := range 1000 { // each a view of the one before
		y = get(get(y.Transpose(i%3, (i+1)%3)).Slice(i%3, open, open, -1))
		v, err := y.At(index(r, y.Shape())...)
		if err == nil {
			sum += v * float64(1+i%7)
		}
	}
	o.Float("elements of a thousand views of each other", sum)
	record(o, "the last of a thousand views of each other", y, nil)
	list := random(t, r, 7)
	for range 1000 {
		o.Error("error of CopyFrom", list.CopyFrom(get(list.Slice(0, open, open, -1))), kinds...)
		o.Error("error of Set", list.Set(r.Float64(), r.IntN(7)), kinds...)
	}
	record(o, "after a thousand copies", list, nil)

	// And more calls of each kind than 16 bits count.
	z := random(t, r, 2, 1, 3)
	sum, failed := 0.0, 0
	made := make([]*tensor, 0, 16)
	for i := range 1<<16 + 100 {
		made = made[:0]
		for _, of := range []func() (*tensor, error){
			func() (*tensor, error) { return z.Permute(2, 1, 0) },
			func() (*tensor, error) { return z.Transpose(0, 2) },
			func() (*tensor, error) { return z.Slice(2, open, open, -1) },
			func() (*tensor, error) { return z.Select(2, i%3) },
			func() (*tensor, error) { return z.Squeeze() },
			func() (*tensor, error) { return z.Unsqueeze(i % 4) },
			func() (*tensor, error) { return z.Expand(2, 2, 3) },
			func() (*tensor, error) { return z.View(3, 2) },
			func() (*tensor, error) { return made[0].Reshape(6) },
			func() (*tensor, error) { return strided.New(2, 3) },
			func() (*tensor, error) { return made[0].Contiguous(), nil },
			func() (*tensor, error) { return made[2].Clone(), nil },
		} {
			y, err := of()
			if err != nil || y == nil || y.Len() == 0 {
				failed++
				y = z
			}
			made = append(made, y)
		}
		for k, y := range made {
			v, err := y.At([]int{0, 0, -1, 0}[:len(y.Shape())]...)
			if err != nil {
				failed++
			}
			sum += v * float64(k+1)
		}
		if made[9].Fill(float64(i)) != nil || made[10].CopyFrom(made[0]) != nil || z.Set(float64(i%9), 0, 0, i%3) != nil || z.Set(1, 2, 0, 0) == nil || made[6].Fill(1) == nil {
			failed++
		}
		if list := z.Values(); len(list) == 6 {
			sum += list[i%6] + made[9].Values()[5]
		}
	}
	o.Float("elements of very many tensors", sum)
	o.Int("how many of very many calls failed", failed)
	record(o, "after very many calls", z, nil)
}

// Any number of goroutines read a tensor and make views and copies of it at the same time,
// and write to elements that are not the same, also where those of one lie between those of another
// (rule 32).
func TestConcurrent(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const workers, rounds = 6, 20
	shape := []int{between(r, 6, 9), between(r, 7, 9), 12}
	x := random(t, r, shape...)
	turned := get(t)(x.Permute(2, 0, 1))
	wide := get(t)(get(t)(x.Slice(1, 0, 1, 1)).Expand(shape[0], 5, 12))
	own := random(t, r, workers, 50)
	big := random(t, r, large(r)...)
	deep := get(t)(random(t, r, 2, 3, 2, 3, 2, 2, 2).Permute(6, 5, 4, 3, 2, 1, 0))
	sums := make([][]float64, workers)
	rows := make([]*tensor, workers)
	for i := range workers {
		sums[i] = make([]float64, 8)
		rows[i] = get(t)(own.Select(0, i))
	}
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			<-start
			for k := range rounds {
				if y, err := turned.Reshape(-1, 4); err == nil && y != nil {
					sums[i][0] += fingerprint(y.Values())
				}
				if y, err := x.Slice(1, i%3, open, -1); err == nil && y != nil {
					sums[i][1] += fingerprint(y.Contiguous().Values())
				}
				if y, err := wide.Select(1, k%5); err == nil && y != nil {
					sums[i][2] += fingerprint(y.Clone().Values())
				}
				if v, err := turned.At(k%12, i, -1); err == nil {
					sums[i][3] += v
				}
				if turned.IsContiguous() || !x.IsContiguous() || len(turned.Strides()) != 3 || turned.Shape()[0] != 12 {
					sums[i][3]++
				}
				if y, err := turned.Transpose(0, 1); err == nil && y != nil {
					sums[i][4] += fingerprint(y.Values())
				}
				if rows[i].Set(float64(i*k), k) == nil {
					sums[i][5]++
				}
			}
			for k := range 3 { // all that can be done, also with many axes
				for _, of := range []func() (*tensor, error){
					func() (*tensor, error) { return deep.Clone(), nil },
					func() (*tensor, error) { return deep.Contiguous(), nil },
					func() (*tensor, error) { return deep.Permute(3, 1, 2, 0, 6, 5, 4) },
					func() (*tensor, error) { return deep.Slice(k, open, open, -1) },
					func() (*tensor, error) { return deep.Select(-1, k%2) },
					func() (*tensor, error) { return deep.Unsqueeze(k) },
					func() (*tensor, error) { return deep.Unsqueeze(9) },
					func() (*tensor, error) { return deep.Reshape(-1, 12) },
					func() (*tensor, error) { return deep.Reshape(5, -1) },
					func() (*tensor, error) { return deep.View(-1) },
					func() (*tensor, error) { return deep.Expand(2, 2, 2, 2, 3, 2, 3, 2) },
					func() (*tensor, error) { return x.Squeeze() },
					func() (*tensor, error) { return x.Expand(append([]int{2}, shape...)...) },
					func() (*tensor, error) { return x.Expand(shape...) },
					func() (*tensor, error) { return x.View(shape...) },
					func() (*tensor, error) { return x.Contiguous(), nil },
					func() (*tensor, error) { return wide.Squeeze() },
					func() (*tensor, error) { return wide.View(-1, 3) },
					func() (*tensor, error) { return strided.New(3, 4) },
					func() (*tensor, error) { return strided.FromSlice([]float64{1, 2, 3, float64(i)}, 2, 2) },
				} {
					y, err := of()
					if err != nil || y == nil {
						sums[i][7]++
						continue
					}
					sums[i][6] += fingerprint(y.Values()) + float64(y.Len()+len(y.Shape()))
					if y.ReadOnly() {
						sums[i][7] += 100
					}
				}
				if y, err := strided.New(deep.Shape()...); err == nil && y != nil { // of its own
					if y.CopyFrom(deep) == nil && y.CopyFrom(x) != nil {
						sums[i][6] += fingerprint(y.Values())
					}
					if z, err := y.Permute(6, 5, 4, 3, 2, 1, 0); err == nil && z != nil {
						if z, err := z.Select(3, 1); err == nil && z != nil && z.Fill(float64(k)) == nil {
							sums[i][6] += fingerprint(y.Values())
						}
					}
					if z, err := y.Slice(2, open, open, -1); err == nil && z != nil && y.CopyFrom(z) == nil {
						sums[i][6] += fingerprint(y.Values())
					}
				}
			}
			if y, err := rows[i].Slice(0, open, open, -1); err == nil && y != nil && rows[i].CopyFrom(y) == nil {
				sums[i][7] += 1000
			}
			if y, err := rows[i].Slice(0, 20, 25, 1); err == nil && y != nil && y.Fill(float64(-i)) == nil {
				sums[i][7] += 1000
			}
			if y, err := big.Transpose(0, 2); err == nil && y != nil {
				sums[i][4] += fingerprint(y.Contiguous().Values())
			}
			if z, err := x.View(-1); err == nil && z != nil {
				if part, err := z.Slice(0, i, i+20, 1); err == nil && part != nil {
					if to, err := rows[i].Slice(0, 25, 45, 1); err == nil && to != nil && to.CopyFrom(part) == nil {
						sums[i][5]++
					}
				}
			}
		})
	}
	close(start)
	wg.Wait()
	for i := range sums {
		o.Floats("what a goroutine read, added up", sums[i])
	}
	numbers(o, "what all of them wrote", own.Values())
	numbers(o, "what all of them read", x.Values())

	// Between the elements of one goroutine are those of others.
	for _, s := range []int{2, 3, between(r, 4, 7)} {
		for _, n := range []int{4, 2 * between(r, 3, 9), 2 * between(r, 30, 40)} {
			inTurns(t, o, r, s, n)
		}
	}
	inTurns(t, o, r, 2, 2*between(r, 17_000, 17_100))
}

// parted is a tensor, and parts of it that have no element in common.
type parted struct {
	name  string
	whole *tensor
	parts []*tensor
}

// inTurns divides tensors among s goroutines, so that each has a part whose first axis is n
// and whose elements are between those of the others, and records what comes of it if each
// reads and writes its own in all ways.
func inTurns(t *testing.T, o *observe.Observer, r *rand.Rand, s, n int) {
	get := get(t)
	divided := func(name string, whole *tensor, part func(i int) *tensor) parted {
		p := parted{name: name, whole: whole}
		for i := range s {
			p.parts = append(p.parts, part(i))
		}
		return p
	}
	list, columns := random(t, r, n*s), random(t, r, n, s)
	all := []parted{
		divided("every other", list, func(i int) *tensor { return get(list.Slice(0, i, open, s)) }),
		divided("columns", columns, func(i int) *tensor { return get(columns.Select(1, i)) }),
	}
	if n > 1000 {
		all = all[1:]
	} else {
		back, blocks, deep, gaps := random(t, r, n*s), random(t, r, n, s, 3), random(t, r, 2, n, s), random(t, r, n, 4, s+1)
		all = append(all,
			divided("backwards", back, func(i int) *tensor { return get(back.Slice(0, n*s-1-i, open, -s)) }),
			divided("parts of rows", blocks, func(i int) *tensor { return get(blocks.Select(1, i)) }),
			divided("columns, transposed", deep, func(i int) *tensor { return get(get(deep.Select(2, i)).Transpose(0, 1)) }),
			divided("columns with gaps", gaps, func(i int) *tensor { return get(get(gaps.Select(2, i)).Slice(1, 0, 3, 2)) }),
		)
	}
	for _, p := range all {
		sums, failed := make([][]float64, s), make([]int, s)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i, x := range p.parts {
			slice := func(start, stop, step int) *tensor { return get(x.Slice(0, start, stop, step)) }
			from, own := random(t, r, x.Shape()...), get(strided.New(x.Shape()...))
			up, down, back := slice(1, open, 1), slice(0, n-1, 1), slice(open, open, -1)
			even, odd := slice(0, open, 2), slice(1, open, 2)
			first := make([]int, len(x.Shape()))
			last := slices.Repeat([]int{-1}, len(first))
			wg.Go(func() {
				<-start
				try := func(err error) {
					if err != nil {
						failed[i]++
					}
				}
				read := func() {
					if n > 1000 && len(sums[i]) > 0 {
						return
					}
					v, err := x.At(last...)
					try(err)
					sums[i] = append(sums[i], v, fingerprint(x.Values()), fingerprint(x.Clone().Values()), fingerprint(x.Contiguous().Values()))
					if y, err := back.Reshape(-1); err == nil && y != nil {
						sums[i] = append(sums[i], fingerprint(y.Values()))
					}
					try(own.CopyFrom(x))
					sums[i] = append(sums[i], fingerprint(own.Values()))
				}
				read()
				try(odd.Fill(float64(-i)))
				try(x.Set(float64(i), first...))
				try(x.Set(0.5, last...))
				read()
				try(x.CopyFrom(from))
				try(up.CopyFrom(down))
				read()
				try(back.CopyFrom(x))
				try(down.CopyFrom(up))
				read()
				try(even.CopyFrom(odd))
				try(x.CopyFrom(x))
				read()
				try(x.Fill(float64(i)))
			})
		}
		close(start)
		wg.Wait()
		for i := range sums {
			o.Floats(p.name+", in turns: what a goroutine read", sums[i])
		}
		o.Ints(p.name+", in turns: calls that failed", failed)
		numbers(o, p.name+", in turns: what all of them wrote", p.whole.Values())
	}
}
