package hidden

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/strided"
)

// strides records those that mean something: of axes of size 2 and more, if there are
// elements.
func strides(o *observe.Observer, name string, x *tensor) {
	shape, list := x.Shape(), x.Strides()
	o.Int(name+": how many strides", len(list))
	if len(list) != len(shape) || slices.Contains(shape, 0) {
		return
	}
	for k := range list {
		if shape[k] == 1 {
			list[k] = 0
		}
	}
	o.Ints(name+": strides", list)
}

// Strides are distances in the buffer, those of a view in that of the tensor that it is
// of: 0 where Expand repeats, below 0 where Slice goes backwards (rule 25).
func TestStrides(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, shape := range [][]int{{2, 3, 4}, sizes(r, 3, 3, 6), sizes(r, 3, 3, 6), large(r)} {
		for _, l := range layouts(t, r, shape) {
			strides(o, l.name, l.x)
			strides(o, l.name+", Clone", l.x.Clone())
			strides(o, l.name+", Contiguous", l.x.Contiguous())
			strides(o, l.name+", Transpose", get(t)(l.x.Transpose(0, 1)))
			strides(o, l.name+", Slice", get(t)(l.x.Slice(1, open, open, -2)))
			strides(o, l.name+", Reshape", get(t)(l.x.Reshape(count(l.x.Shape()))))
			strides(o, l.name+", Squeeze", get(t)(l.x.Squeeze()))
		}
		strides(o, "New", get(t)(strided.New(shape...)))
		strides(o, "View", get(t)(random(t, r, shape...).View(shape[0], 1, shape[1]*shape[2])))
		strides(o, "View within an axis", get(t)(get(t)(random(t, r, 12, 5).Transpose(0, 1)).View(5, 2, 6)))
	}
}

// A tensor is contiguous if its elements lie one behind the other in the order of their
// indices; axes of size 1 do not matter, and no elements are contiguous (rule 26).
func TestIsContiguous(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	get := get(t)
	for _, shape := range [][]int{{2, 3, 4}, {4, 1, 5}, sizes(r, 3, 3, 6), large(r)} {
		shape[2] = max(shape[2], 3)
		for _, l := range layouts(t, r, shape) {
			o.Bool(l.name, l.x.IsContiguous())
			o.Bool(l.name+", Clone", l.x.Clone().IsContiguous())
			o.Bool(l.name+", Contiguous", l.x.Contiguous().IsContiguous())
		}
	}
	x := random(t, r, 4, 5)
	one := random(t, r, 4, 1)
	for _, l := range []named{
		{"rows", get(x.Slice(0, 1, 3, 1))},
		{"a row", get(x.Select(0, 2))},
		{"a row of two axes", get(x.Slice(0, 2, 3, 1))},
		{"a column", get(x.Select(1, 2))},
		{"a column of two axes", get(x.Slice(1, 2, 3, 1))},
		{"an element", get(get(x.Select(1, 2)).Select(0, 1))},
		{"an element of two axes, by steps", get(get(x.Slice(1, 2, 3, 7)).Slice(0, 3, 2, -4))},
		{"a part of a row", get(get(x.Slice(0, 2, 3, 1)).Slice(1, 1, 3, 1))},
		{"a column, transposed", get(one.Transpose(0, 1))},
		{"a row of each matrix, transposed", get(get(random(t, r, 3, 1, 4).Transpose(0, 1)).Transpose(0, 0))},
		{"a row of each matrix", get(get(random(t, r, 3, 2, 4).Slice(1, 0, 1, 1)).Transpose(0, 1))},
		{"repeated", get(random(t, r, 1).Expand(3))},
		{"repeated once", get(random(t, r, 1, 3).Expand(1, 1, 3))},
		{"none, transposed", get(get(x.Slice(0, 2, 2, 1)).Transpose(0, 1))},
		{"none, backwards", get(get(x.Slice(1, open, open, -1)).Slice(0, 0, 0, 1))},
		{"transposed twice", get(get(x.Transpose(0, 1)).Transpose(0, 1))},
		{"backwards twice", get(get(x.Slice(1, open, open, -1)).Slice(1, open, open, -1))},
		{"Unsqueeze at the end", get(x.Unsqueeze(2))},
		{"scalar", random(t, r)},
	} {
		o.Bool(l.name, l.x.IsContiguous())
	}
	check := func(name string, shape []int) { // one axis at a time is not as in a new tensor
		x := random(t, r, shape...)
		o.Bool(name, x.IsContiguous())
		for k, n := range shape {
			if n == 1 {
				continue
			}
			o.Bool(name+", one axis backwards", get(x.Slice(k, open, open, -1)).IsContiguous())
			o.Bool(name+", one index of an axis", get(x.Slice(k, 1, 2, 1)).IsContiguous())
			o.Bool(name+", an axis less", get(x.Select(k, 1)).IsContiguous())
			o.Bool(name+", one axis repeated", get(get(x.Slice(k, 0, 1, 1)).Expand(shape...)).IsContiguous())
			wide := slices.Clone(shape)
			wide[k] += 2
			y := random(t, r, wide...)
			o.Bool(name+", a part of an axis", get(y.Slice(k, 1, 1+n, 1)).IsContiguous())
			wide[k] = 2 * n
			y = random(t, r, wide...)
			o.Bool(name+", every other of an axis", get(y.Slice(k, open, open, 2)).IsContiguous())
			for j := range k {
				if shape[j] > 1 {
					o.Bool(name+", two axes exchanged", get(x.Transpose(j, k)).IsContiguous())
				}
			}
		}
	}
	for n := 1; n <= 9; n++ {
		check("of many axes", slices.Repeat([]int{2}, n))
	}
	many := slices.Repeat([]int{1}, 30)
	for _, k := range append(r.Perm(28)[:4], 28, 29, 0) {
		many[k] = between(r, 2, 3)
	}
	check("of thirty axes", many)
}

// Sizes may be 0: such a tensor has no elements, and all that can be done with another one
// can be done with it (rule 27).
func TestEmpty(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	get := get(t)
	for _, shape := range [][]int{{0}, {0, 3}, {3, 0}, {2, 0, 4}, {0, 0}, {1, 0}, {1 << 62, 0, 1 << 62}, {0, 1 << 62, 4}, {1 << 62, 4, 0}} {
		x, err := strided.New(shape...)
		record(o, "New", x, err)
		x, err = strided.FromSlice(nil, shape...)
		record(o, "FromSlice", x, err)
		o.Int("Len", get(x, err).Len())
		last := len(shape) - 1
		_, err = x.At(make([]int, len(shape))...)
		o.Error("error of At", err, kinds...)
		o.Error("error of Set", x.Set(1, make([]int, len(shape))...), kinds...)
		y, err := x.Transpose(0, -1)
		record(o, "Transpose", y, err)
		y, err = x.Permute(r.Perm(len(shape))...)
		record(o, "Permute", y, err)
		for _, step := range []int{1, -1, 3} {
			y, err = x.Slice(0, open, open, step)
			record(o, "Slice", y, err)
			y, err = x.Slice(last, 1, 2, step)
			record(o, "Slice", y, err)
		}
		for k := range shape {
			y, err = x.Slice(k, open, open, 0)
			refused(o, "step 0", y, err)
		}
		y, err = x.Squeeze()
		record(o, "Squeeze", y, err)
		y, err = x.Unsqueeze(0)
		record(o, "Unsqueeze", y, err)
		y, err = x.Expand(append([]int{2}, shape...)...)
		record(o, "Expand", y, err)
		for _, to := range [][]int{{0}, {5, 0}, {0, 1 << 62, 1 << 62}, {1 << 62, 4, 0}, {0, -1, 2}, {3, -1}, {}, {1}} {
			y, err = x.View(to...)
			record(o, "View", y, err)
			y, err = x.Reshape(to...)
			record(o, "Reshape", y, err)
		}
		record(o, "Clone", x.Clone(), nil)
		record(o, "Contiguous", x.Contiguous(), nil)
		o.Bool("IsContiguous", x.IsContiguous())
		o.Error("error of Fill", x.Fill(1), kinds...)
		o.Error("error of CopyFrom", x.CopyFrom(x), kinds...)
		o.Error("error of CopyFrom", x.CopyFrom(x.Clone()), kinds...)
		o.Error("error of CopyFrom, another shape", x.CopyFrom(get(x.Unsqueeze(0))), kinds...)
	}
	shape := []int{3, between(r, 2, 5), 4}
	x := random(t, r, shape...)
	none := get(x.Slice(1, 1, 1, 1))
	record(o, "none of an axis", none, nil)
	y, err := none.Select(0, -1)
	record(o, "none of an axis, Select", y, err)
	y, err = get(none.Slice(1, open, open, -1)).Slice(2, 1, 3, 1)
	record(o, "none of an axis, Slice", y, err)
	y, err = none.Select(1, 0)
	refused(o, "none of an axis, Select of it", y, err)
	y, err = none.Squeeze(1)
	refused(o, "none of an axis, Squeeze of it", y, err)
	y, err = get(none.Transpose(0, 1)).View(0, 7)
	record(o, "none of an axis, View", y, err)
	o.Error("none of an axis: error of Fill", none.Fill(-1), kinds...)
	o.Error("none of an axis: error of CopyFrom", none.CopyFrom(get(random(t, r, shape...).Slice(1, 2, 2, 1))), kinds...)
	numbers(o, "the tensor that it is of", x.Values())
	y, err = random(t, r, 3, 1).Expand(3, 0)
	record(o, "Expand to 0", y, err)
	y, err = random(t, r, 3, 1).Expand(0, 3, 1)
	record(o, "Expand by 0 in front", y, err)
	y, err = random(t, r, 3, 0).Expand(3, 1)
	refused(o, "Expand of 0", y, err)
	y, err = random(t, r, 1, 1, 1).Expand(1<<62, 0, 1<<62)
	record(o, "Expand to 0 and large sizes", y, err)
	y, err = get(x.Slice(0, 5, 9, 1)).Slice(1, 1, open, 1)
	record(o, "beyond the end", y, err)
	y, err = get(x.Slice(0, 5, 9, 1)).Reshape(2, -1)
	record(o, "beyond the end, Reshape", y, err)
}

// Sizes below 0, too many elements and another number of elements than there are, are
// ErrShape, also where a product overflows (rules 1, 2 and 17).
func TestShapeErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, shape := range [][]int{
		{-1}, {2, -3}, {-2, -3}, {0, -1}, {-1, 0}, {math.MinInt}, {math.MinInt, 2}, {math.MinInt, 0},
		{1 << 62, 4}, {1 << 62, 5}, {5, 1 << 62}, {1 << 32, 1 << 32}, {1 << 31, 1 << 31, 4}, {math.MaxInt, 2}, {1 << 62, 2}, {3, math.MaxInt/3 + 1}, {math.MaxInt, math.MaxInt},
	} {
		x, err := strided.New(shape...)
		refused(o, "New", x, err)
		for _, n := range []int{0, 1, 6} {
			x, err = strided.FromSlice(values(r, n), shape...)
			refused(o, "FromSlice", x, err)
		}
	}
	for range 6 { // sizes whose product is a number of elements that there are, and 2 to the power of 64
		q := uint64(between(r, 3, 50))
		p, rest := bits.Div64(1, 0, q)
		for more := range uint64(2) { // below q, and not: then the product does not even get smaller
			for _, shape := range [][]int{{int(q), int(p + 1 + more)}, {int(p + 1 + more), int(q)}, {int(q), 1, int(p + 1 + more)}} {
				x, err := strided.FromSlice(values(r, int(q-rest+more*q)), shape...)
				refused(o, "FromSlice of a product that overflows", x, err)
				x, err = strided.New(shape...)
				refused(o, "New of a product that overflows", x, err)
			}
		}
	}
	for _, shape := range [][]int{{6}, {2, 3}, {3, 2, 1}, {2, 2}, {7}, {}, {0}, {2, 3, 0}, {6, 6}, {-2, -3}, {-1, 6}} {
		for _, data := range [][]float64{values(r, 6), values(r, 9)[:6:6], values(r, 9)[:6]} {
			x, err := strided.FromSlice(data, shape...)
			record(o, "FromSlice of six", x, err)
		}
	}
	none := random(t, r, 2, 0)
	for _, shape := range [][]int{{-2}, {0, -2}, {-3, 0}, {2, -2}, {math.MinInt}, {1 << 62, 4}, {1 << 32, 1 << 32}, {1}, {2}, {}} {
		y, err := none.View(shape...)
		refused(o, "View of no elements", y, err)
		y, err = none.Reshape(shape...)
		refused(o, "Reshape of no elements", y, err)
	}
	x := random(t, r, 2, 3)
	turned := get(t)(x.Transpose(0, 1))
	for _, shape := range [][]int{{6}, {7}, {5}, {}, {2, 2}, {0}, {-6}, {-2, -3}, {2, 3, 2}, {6, 1 << 32, 1 << 32}, {1<<63 - 1, 2}, {1<<32 + 6}, {3, 1<<62 + 2}} {
		y, err := x.View(shape...)
		record(o, "View", y, err)
		y, err = x.Reshape(shape...)
		record(o, "Reshape", y, err)
		y, err = turned.Reshape(shape...)
		record(o, "Reshape, transposed", y, err)
		if len(shape) != 1 || shape[0] != 6 {
			y, err = turned.View(shape...)
			refused(o, "View, transposed", y, err)
		}
	}
}

// Axes are from -n to n-1, those of Unsqueeze from -n-1 to n, and where several are asked
// for, none twice: else it is ErrAxis (rules 6 to 8 and 12 to 14).
func TestAxisErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x := random(t, r, 1, 1, 1)
	for _, axis := range []int{-5, -4, -3, -1, 0, 2, 3, 4, math.MaxInt, math.MinInt} {
		for name, call := range calls(x, axis, r.IntN(3)) {
			y, err := call()
			record(o, names[name], y, err)
		}
	}
	scalar := random(t, r)
	for _, axis := range []int{-2, -1, 0, 1} {
		for name, call := range calls(scalar, axis, 0)[:6] {
			y, err := call()
			record(o, "scalar, "+names[name], y, err)
		}
	}
	x = random(t, r, 2, 3, 4)
	for _, axes := range [][]int{{}, {0}, {0, 1}, {0, 1, 1}, {0, 1, -2}, {0, 1, 3}, {0, 1, -4}, {0, 1, 2, 3}, {0, 1, 2, 2}, {2, 2, 2}, {-1, 2, 0}, {0, -3, 1}, {-1, -2, -3}, {1, 2, 3}, {3, 1, 2}, {2, -4, 1}, {1, math.MinInt, 2}} {
		y, err := x.Permute(axes...)
		record(o, "Permute", y, err)
	}
	thirty := random(t, r, slices.Repeat([]int{1}, 30)...)
	for k := range 30 { // each of thirty axes twice, and another one not at all
		axes := r.Perm(30)
		axes[slices.Index(axes, (k+1+r.IntN(29))%30)] = k - 30*r.IntN(2)
		y, err := thirty.Permute(axes...)
		refused(o, "Permute, thirty axes", y, err)
	}
	for _, axes := range [][]int{{0, 0}, {0, -3}, {1, 0, 1}, {3}, {0, 3}, {-4, 0}, {2, 1, 0}, {-1, 0}} {
		y, err := random(t, r, 1, 1, 1).Squeeze(axes...)
		record(o, "Squeeze", y, err)
	}
}

// names are what is asked for by calls.
var names = []string{"Transpose", "Transpose", "Slice", "Select", "Squeeze", "Unsqueeze"}

// calls are those that take an axis.
func calls(x *tensor, axis, other int) []func() (*tensor, error) {
	return []func() (*tensor, error){
		func() (*tensor, error) { return x.Transpose(axis, other) },
		func() (*tensor, error) { return x.Transpose(other, axis) },
		func() (*tensor, error) { return x.Slice(axis, 0, 1, 1) },
		func() (*tensor, error) { return x.Select(axis, 0) },
		func() (*tensor, error) { return x.Squeeze(axis) },
		func() (*tensor, error) { return x.Unsqueeze(axis) },
	}
}

// At, Set and Select take indices from -n to n-1, At and Set one for each axis: else it is
// ErrIndex, and nothing is read or written, also if there is something in the buffer (rules
// 4 and 12).
func TestIndexErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	get := get(t)
	base := random(t, r, 6, 7)
	try := func(name string, x *tensor, i ...int) {
		v, err := x.At(i...)
		o.Float(name+": At", v, observe.Exact())
		o.Error(name+": error of At", err, kinds...)
		o.Error(name+": error of Set", x.Set(-r.Float64(), i...), kinds...)
		numbers(o, name+": after Set", base.Values())
	}
	inner := get(get(base.Slice(0, 2, 4, 1)).Slice(1, 2, 5, 1)) // shape (2, 3), with something all around
	for _, x := range []named{{"all", base}, {"a part", inner}, {"transposed", get(inner.Transpose(0, 1))}, {"backwards", get(inner.Slice(1, open, open, -1))}} {
		n, m := x.x.Shape()[0], x.x.Shape()[1]
		for _, i := range [][]int{{n, 0}, {0, m}, {-n - 1, 0}, {0, -m - 1}, {n, -1}, {-1, m}, {math.MaxInt, 0}, {0, math.MinInt}, {0}, {}, {0, 0, 0}, {1, 1, 1}, {-n, -m}, {n - 1, m - 1}} {
			try(x.name, x.x, i...)
		}
		for axis, size := range x.x.Shape() {
			for _, i := range []int{-size - 1, -size, size - 1, size, math.MaxInt, math.MinInt} {
				y, err := x.x.Select(axis, i)
				record(o, x.name+", Select", y, err)
			}
		}
	}
	s := random(t, r)
	for _, i := range [][]int{{}, {0}, {0, 0}, {-1}} {
		v, err := s.At(i...)
		o.Float("scalar: At", v, observe.Exact())
		o.Error("scalar: error of At", err, kinds...)
	}
}
