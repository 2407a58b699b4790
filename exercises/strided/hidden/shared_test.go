package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/strided"
)

// seen writes to one of two tensors and records the other one, and the other way round.
func seen(o *observe.Observer, r *rand.Rand, name string, x, y *tensor) {
	for range 2 {
		o.Error(name+": error of Set", y.Set(-r.Float64(), index(r, y.Shape())...), kinds...)
		numbers(o, name+": the first, the second was written to", x.Values())
		o.Error(name+": error of Set", x.Set(-r.Float64(), index(r, x.Shape())...), kinds...)
		numbers(o, name+": the second, the first was written to", y.Values())
	}
	o.Error(name+": error of Fill", y.Fill(-r.Float64()), kinds...)
	numbers(o, name+": the first, the second was filled", x.Values())
}

// What Permute, Transpose, Slice, Select, Squeeze, Unsqueeze and View return shares all
// elements with the tensor it is of, and Expand reads what is written to it later (rule
// 22).
func TestViewsShare(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, shape := range [][]int{{2, 3, 4}, sizes(r, 3, 2, 5), large(r)} {
		ops := []struct {
			name string
			of   func(x *tensor) (*tensor, error)
		}{
			{"Permute", func(x *tensor) (*tensor, error) { return x.Permute(2, 0, 1) }},
			{"Permute, as it is", func(x *tensor) (*tensor, error) { return x.Permute(0, 1, 2) }},
			{"Transpose", func(x *tensor) (*tensor, error) { return x.Transpose(0, 1) }},
			{"Slice", func(x *tensor) (*tensor, error) { return x.Slice(2, 1, open, 1) }},
			{"Slice, all", func(x *tensor) (*tensor, error) { return x.Slice(0, open, open, 1) }},
			{"Slice, every other", func(x *tensor) (*tensor, error) { return x.Slice(1, open, open, 2) }},
			{"Slice, backwards", func(x *tensor) (*tensor, error) { return x.Slice(1, open, open, -1) }},
			{"Select", func(x *tensor) (*tensor, error) { return x.Select(1, -1) }},
			{"Unsqueeze", func(x *tensor) (*tensor, error) { return x.Unsqueeze(1) }},
			{"Squeeze, nothing", func(x *tensor) (*tensor, error) { return x.Squeeze() }},
			{"View", func(x *tensor) (*tensor, error) { return x.View(1, x.Len()) }},
			{"View, as it is", func(x *tensor) (*tensor, error) { return x.View(x.Shape()...) }},
		}
		for _, op := range ops {
			x := random(t, r, shape...)
			seen(o, r, op.name, x, get(t)(op.of(x)))
		}
		x := random(t, r, shape[0], 1, shape[2])
		seen(o, r, "Squeeze", x, get(t)(x.Squeeze()))
		x = random(t, r, 1, shape[1], 1)
		seen(o, r, "Squeeze, one axis", x, get(t)(x.Squeeze(-1)))
		x = random(t, r, shape[0], 1)
		y := get(t)(x.Expand(shape[0], shape[1]*shape[2]))
		for range 3 {
			o.Error("Expand: error of Set", x.Set(-r.Float64(), r.IntN(shape[0]), 0), kinds...)
			numbers(o, "Expand: the tensor that it is of was written to", y.Values())
		}
		x = random(t, r, shape...)
		a, b := get(t)(x.Transpose(0, 2)), get(t)(x.Slice(0, open, open, -1))
		seen(o, r, "two views of one tensor", a, b)
	}
	scalarsShare(t, o)
}

// scalarsShare records that tensors of one element share it as others do: views of a scalar, those
// that are scalars, and views of both.
func scalarsShare(t *testing.T, o *observe.Observer) {
	r, get := o.Rand(), get(t)
	views := []func(x *tensor) (*tensor, error){
		func(x *tensor) (*tensor, error) { return x.Permute(upTo(len(x.Shape()))...) },
		func(x *tensor) (*tensor, error) { return x.Squeeze() },
		func(x *tensor) (*tensor, error) { return x.View() },
		func(x *tensor) (*tensor, error) { return x.View(1) },
		func(x *tensor) (*tensor, error) { return x.View(1, -1, 1) },
		func(x *tensor) (*tensor, error) { return x.Unsqueeze(between(r, -1, 0)) },
	}
	zero, many := get(strided.New()), random(t, r, between(r, 2, 9))
	for _, base := range []*tensor{random(t, r), zero, random(t, r, 1), random(t, r, 1, 1), get(many.Select(0, 0)), get(many.Select(0, -1))} {
		for _, view := range views {
			x := get(view(base))
			seen(o, r, "one element", base, x)
			seen(o, r, "one element, a view of a view", x, get(views[r.IntN(len(views))](x)))
			wide := get(x.Expand(append([]int{between(r, 1, 3)}, x.Shape()...)...))
			o.Error("one element: error of CopyFrom", base.CopyFrom(random(t, r, base.Shape()...)), kinds...)
			numbers(o, "one element, expanded: the tensor that it is of was copied to", wide.Values())
		}
		numbers(o, "the tensor that one element is of", many.Values())
	}
}

// Reshape shares all elements where View can give the axes, and no element where it cannot;
// Contiguous where the tensor is contiguous (rules 20 and 21).
func TestReshapeShares(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, shape := range [][]int{{4, 6, 12}, {2, 3, 6}, large(r)} {
		for _, l := range layouts(t, r, shape) {
			if l.name == "Expand" {
				continue
			}
			for range 2 {
				y, err := l.x.Reshape(append([]int{1}, l.x.Shape()...)...)
				seen(o, r, l.name+", one axis more", l.x, get(t)(y, err))
				seen(o, r, l.name+", Contiguous", l.x, l.x.Contiguous())
			}
		}
		for _, l := range layouts(t, r, shape) {
			if l.name != "Expand" {
				y, err := l.x.Reshape(l.x.Len())
				seen(o, r, l.name+", one axis", l.x, get(t)(y, err))
			}
		}
		for _, l := range layouts(t, r, []int{4, 12, 16}) {
			if l.name != "Expand" {
				y, err := l.x.Reshape(factors(r, l.x.Len())...)
				seen(o, r, l.name+", some axes", l.x, get(t)(y, err))
			}
		}
	}
	for _, x := range []*tensor{random(t, r), get(t)(strided.New()), random(t, r, 1), get(t)(random(t, r, 3).Select(0, r.IntN(3)))} {
		for n := range 3 {
			seen(o, r, "one element, Reshape", x, get(t)(x.Reshape(slices.Repeat([]int{1}, n)...)))
		}
		seen(o, r, "one element, Contiguous", x, x.Contiguous())
	}
}

// Clone, and Contiguous and Reshape where they copy, share nothing with the tensor, and
// Values is a slice of the caller (rules 3, 20, 21 and 23).
func TestCopies(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, shape := range [][]int{{4, 6, 12}, sizes(r, 3, 3, 5), large(r)} {
		for _, l := range layouts(t, r, shape) {
			y := l.x.Clone()
			record(o, l.name+", Clone", y, nil)
			record(o, l.name+", Contiguous", l.x.Contiguous(), nil)
			o.Bool(l.name+", Clone is contiguous", y.IsContiguous())
			o.Bool(l.name+", Contiguous is contiguous", l.x.Contiguous().IsContiguous())
			list := l.x.Values()
			list[r.IntN(len(list))] = -1
			numbers(o, l.name+", the list of values was written to", l.x.Values())
			if l.name != "Expand" {
				seen(o, r, l.name+", Clone", l.x, y)
			}
		}
	}

	for _, shape := range [][]int{{}, {1}, {5}, {2, 3}, {1, 4}, {2, 1, 2, 1, 2, 2}, large(r)} {
		readOnlyCopies(t, o, r, shape...)
	}

	// Of one element and of many, with few axes and with many: what is returned twice is two
	// things.
	wide := get(t)(random(t, r, 2, huge(r)).Slice(0, 0, 1, 1))
	six := get(t)(random(t, r, 2, 3, 2, 2, 3, 2).Permute(r.Perm(6)...))
	for _, x := range []*tensor{
		random(t, r), random(t, r, 1), random(t, r, 1, 1, 1), random(t, r, 2), random(t, r, 3, 2), random(t, r, 2, 1, 2, 1, 2, 3),
		get(t)(random(t, r, 5).Select(0, 3)), get(t)(random(t, r, 4, 4).Slice(0, 2, 3, 1)), get(t)(random(t, r, 4, 5).Transpose(0, 1)),
		get(t)(random(t, r, 4, 5).Slice(1, open, open, -2)), six, random(t, r, large(r)...), wide, get(t)(random(t, r, 1030, 1040).Transpose(0, 1)),
	} {
		copies := []*tensor{x.Clone(), x.Clone()}
		if !x.IsContiguous() {
			copies = append(copies, x.Contiguous(), x.Contiguous())
			if y, err := x.View(x.Len()); err != nil || y == nil {
				copies = append(copies, get(t)(x.Reshape(x.Len())), get(t)(x.Reshape(x.Len(), 1)), get(t)(x.Reshape(x.Len())))
			}
		}
		lists := [][]float64{x.Values(), x.Values()}
		for k, y := range copies {
			o.Error("of each size: error of Set", y.Set(-1e6*float64(k+1), make([]int, len(y.Shape()))...), kinds...)
		}
		for k, list := range lists {
			list[0] = -2e6 * float64(k+1)
			_ = append(list[:0:len(list)], -3e6*float64(k+1))
		}
		o.Error("of each size: error of Set", x.Set(-4e6, make([]int, len(x.Shape()))...), kinds...)
		lists = append(lists, x.Values(), copies[0].Values(), copies[1].Values())
		for _, y := range copies {
			numbers(o, "of each size, a copy", y.Values())
		}
		for _, list := range lists {
			numbers(o, "of each size, values", list)
		}
		numbers(o, "of each size, the tensor", x.Values())
	}
}

// readOnlyCopies records that numbers of a tensor which is read-only and contiguous are copied
// all the same: it is written to what it is of.
func readOnlyCopies(t *testing.T, o *observe.Observer, r *rand.Rand, shape ...int) {
	get := get(t)
	for _, view := range []func(x *tensor) (*tensor, error){
		func(x *tensor) (*tensor, error) { return x, nil },
		func(x *tensor) (*tensor, error) { return x.Unsqueeze(0) },
		func(x *tensor) (*tensor, error) { return x.View(count(shape)) },
		func(x *tensor) (*tensor, error) { return x.Contiguous(), nil },
	} {
		base := random(t, r, shape...)
		x := get(view(get(base.Expand(shape...))))
		list, other, y := x.Values(), x.Clone().Values(), x.Clone()
		for k := range list {
			list[k] = -1
		}
		_ = append(list[:0:len(list)], -2)
		numbers(o, "read-only, the list of values was written to", x.Values())
		numbers(o, "read-only, the list of values was written to: another one", other)
		y.Fill(-3) // whether it can be filled is no matter here
		numbers(o, "read-only, a copy was written to", base.Values())
		list, y = x.Values(), x.Clone()
		o.Error("read-only: error of Set of what it is of", base.Set(-r.Float64(), index(r, shape)...), kinds...)
		numbers(o, "read-only, it was written to what it is of: the list of values", list)
		numbers(o, "read-only, it was written to what it is of: a copy", y.Values())
	}
}

// unchanged records the errors of calls that write to a tensor what is in it.
func unchanged(o *observe.Observer, r *rand.Rand, name string, x *tensor) {
	o.Error(name+": error of CopyFrom, of itself", x.CopyFrom(x), kinds...)
	o.Error(name+": error of CopyFrom, of equal numbers", x.CopyFrom(x.Clone()), kinds...)
	for k, of := range []func() (*tensor, error){
		func() (*tensor, error) { return x.View(x.Shape()...) },
		func() (*tensor, error) { return x.Permute(upTo(len(x.Shape()))...) },
		func() (*tensor, error) { return x.Expand(x.Shape()...) },
	} {
		if y, err := of(); err == nil && y != nil {
			o.Error(name+": error of CopyFrom, of a view of all of it", x.CopyFrom(y), kinds...)
			if k < 2 {
				o.Error(name+": error of CopyFrom, to a view of all of it", y.CopyFrom(x), kinds...)
			}
		}
	}
	if x.Len() > 0 {
		at := index(r, x.Shape())
		v, err := x.At(at...)
		o.Error(name+": error of At", err, kinds...)
		o.Error(name+": error of Set, of the same number", x.Set(v, at...), kinds...)
	}
	if x.Len() == 1 {
		o.Error(name+": error of Fill, of the same number", x.Fill(x.Values()[0]), kinds...)
	}
}

// upTo are the numbers from 0 to n-1.
func upTo(n int) []int {
	list := make([]int, n)
	for k := range list {
		list[k] = k
	}
	return list
}

// A tensor of Expand, and each view of one, refuses to be written to by ErrReadOnly, and
// nothing is written; copies can be written to, and so can the tensor it is of (rule 24).
func TestReadOnly(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	get := get(t)
	base := random(t, r, 3, 1, 4)
	wide := get(base.Expand(2, 3, 5, 4))
	same := get(base.Expand(3, 1, 4))
	many := get(random(t, r, 1, between(r, 66_000, 70_000)).Expand(2, -1))
	for _, l := range []named{
		{"Expand", wide},
		{"Expand, in front", get(base.Expand(2, 3, 1, 4))},
		{"Expand, nothing repeated", same},
		{"Expand, many", many},
		{"Expand of Expand", get(wide.Expand(2, 3, 5, 4))},
		{"Permute of Expand", get(wide.Permute(1, 0, 2, 3))},
		{"Transpose of Expand", get(wide.Transpose(0, 1))},
		{"Slice of Expand", get(wide.Slice(2, 1, 2, 1))},
		{"Slice of Expand, one of each", get(get(wide.Slice(2, 1, 2, 1)).Slice(0, 0, 1, 1))},
		{"Select of Expand", get(get(wide.Select(2, 1)).Select(0, 1))},
		{"Squeeze of Expand", get(same.Squeeze())},
		{"Unsqueeze of Expand", get(same.Unsqueeze(0))},
		{"View of Expand", get(same.View(12))},
		{"Reshape of Expand, without a copy", get(same.Reshape(12))},
		{"Contiguous of Expand, without a copy", same.Contiguous()},
		{"the tensor that it is of", base},
		{"Clone of Expand", wide.Clone()},
		{"Clone of Expand, nothing repeated", same.Clone()},
		{"Contiguous of Expand", wide.Contiguous()},
		{"Reshape of Expand", get(wide.Reshape(120))},
		{"Clone of Expand, many", many.Clone()},
	} {
		o.Bool(l.name+": ReadOnly", l.x.ReadOnly())
		o.Error(l.name+": error of Set", l.x.Set(-r.Float64(), index(r, l.x.Shape())...), kinds...)
		numbers(o, l.name+": after Set", l.x.Values())
		o.Error(l.name+": error of CopyFrom", l.x.CopyFrom(random(t, r, l.x.Shape()...)), kinds...)
		numbers(o, l.name+": after CopyFrom", l.x.Values())
		unchanged(o, r, l.name, l.x)
		o.Error(l.name+": error of Fill", l.x.Fill(-r.Float64()), kinds...)
		numbers(o, l.name+": after Fill", l.x.Values())
	}
	numbers(o, "the tensor that it is of, after all", base.Values())
	numbers(o, "Expand, after all", wide.Values())

	// With any number of axes: views, in which one axis more or less is all that is new, and
	// copies.
	try := func(name string, x *tensor, err error) {
		x = get(x, err)
		o.Bool(name+": ReadOnly", x.ReadOnly())
		o.Error(name+": error of Fill", x.Fill(-r.Float64()), kinds...)
		from := get(strided.New(x.Shape()...))
		o.Error(name+": error of CopyFrom", x.CopyFrom(from), kinds...)
		unchanged(o, r, name, x)
		if x.Len() > 0 {
			o.Error(name+": error of Set", x.Set(-r.Float64(), index(r, x.Shape())...), kinds...)
		}
		numbers(o, name+": after all", x.Values())
	}
	again := func(x *tensor, err error) func(name string) { return func(name string) { try(name, x, err) } }
	for n := range 10 {
		for _, shape := range [][]int{slices.Repeat([]int{1}, n), slices.Repeat([]int{2}, n), append(slices.Repeat([]int{3}, n/4), 0)} {
			base := get(strided.FromSlice(values(r, count(shape)), shape...))
			m := len(shape)
			same := get(base.Expand(shape...))
			again(same, nil)("axes, Expand")
			again(same.Expand(shape...))("axes, Expand of Expand")
			again(same.Expand(append([]int{2}, shape...)...))("axes, Expand of Expand")
			again(same.Permute(r.Perm(m)...))("axes, Permute of Expand")
			again(same.Squeeze())("axes, Squeeze of Expand")
			again(same.Unsqueeze(r.IntN(m + 1)))("axes, Unsqueeze of Expand")
			again(same.View(count(shape)))("axes, View of Expand")
			again(same.View(shape...))("axes, View of Expand")
			again(same.Reshape(append([]int{1}, shape...)...))("axes, Reshape of Expand, without a copy")
			again(same.Contiguous(), nil)("axes, Contiguous of Expand, without a copy")
			again(same.Clone(), nil)("axes, Clone of Expand")
			if count(shape) == 1 {
				again(same.View())("axes, View of Expand")
				again(same.Reshape())("axes, Reshape of Expand, without a copy")
			}
			if m > 0 {
				again(same.Transpose(0, -1))("axes, Transpose of Expand")
				again(same.Slice(r.IntN(m), open, open, 2))("axes, Slice of Expand")
			}
			if m > 0 && shape[0] > 0 {
				again(same.Slice(0, 0, 1, 1))("axes, Slice of Expand")
				again(same.Select(0, -1))("axes, Select of Expand")
			}
			if m > 0 && shape[m-1] == 1 {
				again(same.Squeeze(-1))("axes, Squeeze of Expand")
			}
			numbers(o, "axes, the tensor that it is of", base.Values())

			// Two rows, of which the first axis is repeated and the last one is not, are no one axis.
			row := get(random(t, r, 1, 6).Expand(2, 6))
			for _, to := range [][]int{append(slices.Repeat([]int{1}, n), 12), append([]int{3}, append(slices.Repeat([]int{1}, n), 4)...), append([]int{3, 2, 2}, slices.Repeat([]int{1}, n)...)} {
				again(row.Reshape(to...))("axes, Reshape of Expand, a copy")
			}
			turned := get(get(row.View(append(slices.Repeat([]int{1}, n), 2, 6)...)).Transpose(-1, -2))
			again(turned.Contiguous(), nil)("axes, Contiguous of Expand, a copy")
			again(turned.Clone(), nil)("axes, Clone of Expand")
		}
	}
}

// Fill and CopyFrom write all elements of a tensor of any layout, and no other ones (rule
// 28).
func TestCopyFrom(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range []int{3, between(r, 4, 6), 42} {
		shape := []int{size, size + 1, size + 2}
		for _, from := range layouts(t, r, shape) {
			want := from.x.Shape()
			wide := random(t, r, 2*want[0]+1, want[len(want)-1]+1, 2*count(want)/want[0]/want[len(want)-1])
			to := get(t)(wide.Slice(0, 2*want[0]-1, open, -2))
			to = get(t)(to.Slice(1, 1, open, 1))
			to = get(t)(to.Slice(2, 1, open, 2))
			to = get(t)(to.Transpose(1, 2)) // two or three axes, of the wanted size
			flat := get(t)(from.x.Reshape(want[0], count(want)/want[0]/want[len(want)-1], want[len(want)-1]))
			o.Error(from.name+": error of CopyFrom", to.CopyFrom(flat), kinds...)
			numbers(o, from.name+": copied", to.Values())
			numbers(o, from.name+": what is around it", wide.Values())
			numbers(o, from.name+": as it was", from.x.Values())
			o.Error(from.name+": error of Fill", to.Fill(r.Float64()), kinds...)
			numbers(o, from.name+": filled", wide.Values())
			y := random(t, r, want...)
			o.Error(from.name+": error of CopyFrom", y.CopyFrom(from.x), kinds...)
			numbers(o, from.name+": copied to a contiguous one", y.Values())
		}
	}
	x := random(t, r, 2, 3)
	for _, shape := range [][]int{{3, 2}, {6}, {2, 3, 1}, {1, 3}, {3}, {1}, {}} {
		o.Error("another shape: error of CopyFrom", x.CopyFrom(random(t, r, shape...)), kinds...)
		numbers(o, "another shape: nothing copied", x.Values())
	}
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, -r.Float64()}
	for k, s := range special {
		o.Error("error of Set", x.Set(s, k/3, k%3), kinds...)
	}
	numbers(o, "special numbers", x.Values())
	y := get(t)(x.Transpose(0, 1))
	numbers(o, "special numbers, copied", y.Contiguous().Values())
	long := get(t)(random(t, r, 2, 3, between(r, 66_000, 70_000)).Permute(2, 1, 0))
	numbers(o, "a long outer axis, copied", long.Contiguous().Values())

	// Shapes of as many elements are other ones all the same, and nothing is copied.
	for _, group := range [][][]int{{{}, {1}, {1, 1}, {1, 1, 1}}, {{2, 3}, {3, 2}, {6}, {1, 2, 3}, {2, 1, 3}, {2, 3, 1}, {1, 6}}, {{0}, {0, 3}, {3, 0}, {1, 0}}, {{250, 300}, {300, 250}, {75_000}, {1, 250, 300}}} {
		for i, shape := range group {
			for j, other := range group {
				if i != j {
					to := random(t, r, shape...)
					o.Error("a shape of as many elements: error of CopyFrom", to.CopyFrom(random(t, r, other...)), kinds...)
					numbers(o, "a shape of as many elements: nothing copied", to.Values())
				}
			}
			to := random(t, r, shape...)
			o.Error("the same shape: error of CopyFrom", to.CopyFrom(random(t, r, shape...)), kinds...)
			numbers(o, "the same shape: copied", to.Values())
		}
	}

	// Every number arrives as it is.
	zero := math.Copysign(0, -1)
	for _, n := range []int{3, 70} { // a -0 for a 0, which is equal to it, and back
		whole := func() *tensor { return get(t)(strided.New(n, n)) }
		turned := func() *tensor { return get(t)(whole().Transpose(0, 1)) }
		part := func() *tensor { return get(t)(get(t)(strided.New(n, 2*n)).Slice(1, open, open, 2)) }
		for _, to := range []func() *tensor{whole, turned, part} {
			for _, from := range []func() *tensor{whole, turned, part} {
				to, from := to(), from()
				o.Error("signs of 0: error of Fill", from.Fill(zero), kinds...)
				o.Error("signs of 0: error of CopyFrom", to.CopyFrom(from), kinds...)
				signs(o, "signs of 0: copied", to.Values())
				o.Error("signs of 0: error of Fill", to.Fill(0), kinds...)
				o.Error("signs of 0: error of CopyFrom", from.CopyFrom(to), kinds...)
				signs(o, "signs of 0: filled and copied back", from.Values())
			}
		}
	}
	for _, shape := range [][]int{{}, {1}, {5}, {2, 3}, {2, 2, 2, 2, 2}, {40, 40}} {
		for _, s := range append(special, zero, 0) {
			to := random(t, r, shape...)
			o.Error("special numbers: error of Fill", to.Fill(s), kinds...)
			numbers(o, "special numbers: filled", to.Values())
			signs(o, "special numbers: filled", to.Values())
			from := values(r, count(shape))
			from[r.IntN(len(from))] = s
			x := get(t)(strided.FromSlice(from, shape...))
			o.Error("special numbers: error of CopyFrom", to.CopyFrom(x), kinds...)
			signs(o, "special numbers: copied", to.Values())
			signs(o, "special numbers: Clone", x.Clone().Values())
			o.Error("special numbers: error of Set", to.Set(s, make([]int, len(shape))...), kinds...)
			v, err := to.At(make([]int, len(shape))...)
			o.Error("special numbers: error of At", err, kinds...)
			signs(o, "special numbers: At", []float64{v})
		}
	}

	// Many elements of several layouts, more than a million of some, with others in between.
	n, million := 1<<18+2*r.IntN(99)+1, huge(r)
	for _, l := range []struct {
		name  string
		shape []int
		of    func(x *tensor) (*tensor, error)
	}{
		{"all", []int{million}, func(x *tensor) (*tensor, error) { return x.Slice(0, open, open, 1) }},
		{"a part", []int{n + 9}, func(x *tensor) (*tensor, error) { return x.Slice(0, 3, n+4, 1) }},
		{"every other, a million", []int{2 * million}, func(x *tensor) (*tensor, error) { return x.Slice(0, open, open, 2) }},
		{"every other", []int{2 * n}, func(x *tensor) (*tensor, error) { return x.Slice(0, 1, open, 2) }},
		{"every other, backwards", []int{2 * n}, func(x *tensor) (*tensor, error) { return x.Slice(0, open, open, -2) }},
		{"every third", []int{3 * n}, func(x *tensor) (*tensor, error) { return x.Slice(0, open, 3*n-2, 3) }},
		{"a column", []int{n, 2}, func(x *tensor) (*tensor, error) { return x.Select(1, 1) }},
		{"columns", []int{n/4 + 1, 5}, func(x *tensor) (*tensor, error) { return x.Slice(1, 1, 5, 1) }},
		{"every other row", []int{14, n / 6}, func(x *tensor) (*tensor, error) { return x.Slice(0, open, open, 2) }},
		{"every other column, transposed", []int{n / 500, 1004}, func(x *tensor) (*tensor, error) { return get(t)(x.Slice(1, open, open, 2)).Transpose(0, 1) }},
		{"of three axes", []int{102, 103, 210}, func(x *tensor) (*tensor, error) { return x.Slice(2, 1, open, 2) }},
	} {
		base := random(t, r, l.shape...)
		to := get(t)(l.of(base))
		o.Error("many, "+l.name+": error of Fill", to.Fill(-1000-r.Float64()), kinds...)
		numbers(o, "many, "+l.name+": filled", base.Values())
		from := get(t)(strided.FromSlice(apart(r, to.Len()), to.Shape()...))
		o.Error("many, "+l.name+": error of CopyFrom", to.CopyFrom(from), kinds...)
		numbers(o, "many, "+l.name+": copied", base.Values())
		o.Error("many, "+l.name+": error of CopyFrom", from.CopyFrom(to), kinds...)
		numbers(o, "many, "+l.name+": copied back", from.Values())
	}
}
