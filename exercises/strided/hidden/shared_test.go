package hidden

import (
	"math"
	"math/rand/v2"
	"testing"

	"grade/observe"
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
		o.Error(l.name+": error of Fill", l.x.Fill(-r.Float64()), kinds...)
		numbers(o, l.name+": after Fill", l.x.Values())
	}
	numbers(o, "the tensor that it is of, after all", base.Values())
	numbers(o, "Expand, after all", wide.Values())
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
			if len(want) == 4 {
				to = get(t)(to.Reshape(want[0], want[1]*want[2], want[3]))
			}
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
}
