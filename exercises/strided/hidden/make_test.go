package hidden

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/strided"
)

// New makes zeros, and FromSlice a tensor of the numbers given, with the last axis
// contiguous; Shape, Len and Values say what is in it (rules 1 to 3).
func TestMake(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for n := 1; n <= 5; n++ {
		shape := sizes(r, n, 1, 5)
		x, err := strided.FromSlice(values(r, count(shape)), shape...)
		record(o, "FromSlice", x, err)
		o.Int("FromSlice: Len", get(t)(x, err).Len())
		v, err := x.At(index(r, shape)...)
		o.Float("FromSlice: an element", v, observe.Exact())
		o.Error("FromSlice: error of At", err, kinds...)
		x, err = strided.New(shape...)
		record(o, "New", x, err)
		o.Int("New: Len", get(t)(x, err).Len())
	}
	for _, shape := range [][]int{large(r), {between(r, 70_000, 80_000)}, {between(r, 66_000, 70_000), 2}, {2, between(r, 66_000, 70_000)}} {
		x, err := strided.FromSlice(values(r, count(shape)), shape...)
		record(o, "FromSlice", x, err)
		o.Int("FromSlice: Len", get(t)(x, err).Len())
		v, err := x.At(index(r, shape)...)
		o.Float("FromSlice: an element", v, observe.Exact())
		o.Error("FromSlice: error of At", err, kinds...)
		x, err = strided.New(shape...)
		record(o, "New", x, err)
	}
	for _, shape := range [][]int{{}, {1}, {4}, {2, 3}, {2, 1, 2, 1, 2, 2}, large(r), {1<<18 + r.IntN(99)}} { // each has numbers of its own
		x, err := strided.New(shape...)
		o.Error("New: error of Fill", get(t)(x, err).Fill(r.Float64()), kinds...)
		y, err := strided.New(shape...)
		record(o, "New, after another one was filled", y, err)
		o.Error("New: error of Fill", get(t)(y, err).Fill(-r.Float64()), kinds...)
		record(o, "New, another one was filled", x, nil)
		x, err = strided.New(shape...)
		record(o, "New, after others were filled", x, err)
	}
}

// At and Set read and write one element; an index below 0 counts from the end (rule 4).
func TestAt(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, shape := range [][]int{sizes(r, 1, 2, 9), sizes(r, 2, 2, 5), sizes(r, 3, 2, 5), sizes(r, 5, 1, 3), large(r), {2, 70_000 + r.IntN(99)}} {
		x := random(t, r, shape...)
		for range 10 {
			i := index(r, shape)
			for k := range i {
				if r.IntN(3) == 0 {
					i[k] -= shape[k]
				}
			}
			v, err := x.At(i...)
			o.Float("an element", v, observe.Exact())
			o.Error("error of At", err, kinds...)
			o.Error("error of Set", x.Set(-r.Float64(), i...), kinds...)
			v, _ = x.At(i...)
			o.Float("an element that was set", v, observe.Exact())
		}
		last := make([]int, len(shape))
		for k := range last {
			last[k] = -1
		}
		v, err := x.At(last...)
		o.Float("the last element", v, observe.Exact())
		o.Error("error of At", err, kinds...)
		numbers(o, "after all", x.Values())
	}
}

// A tensor of FromSlice has the slice for its buffer: what is written to one is read from
// the other (rule 2).
func TestFromSliceShares(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	ones := slices.Repeat([]int{1}, between(r, 1, 6)) // which has one element, as a scalar has
	for _, shape := range [][]int{{}, ones, {2}, sizes(r, 1, 2, 9), sizes(r, 3, 2, 4), sizes(r, 6, 1, 2), large(r)} {
		data := values(r, count(shape)+2)[:count(shape)] // with room behind
		if r.IntN(2) == 0 {
			data = slices.Clip(data)
		}
		x := get(t)(strided.FromSlice(data, shape...))
		for range 5 {
			data[r.IntN(len(data))] = -r.Float64()
			numbers(o, "tensor, the slice was written to", x.Values())
			o.Error("error of Set", x.Set(-r.Float64(), index(r, shape)...), kinds...)
			numbers(o, "slice, the tensor was written to", data)
		}
		o.Error("error of CopyFrom", x.CopyFrom(random(t, r, shape...)), kinds...)
		numbers(o, "slice, the tensor was copied to", data)
		o.Error("error of Fill", x.Fill(-r.Float64()), kinds...)
		numbers(o, "slice, the tensor was filled", data)
	}
}

// Tensors may have no axes, which have one element, and thirty (rule 5).
func TestAxes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	get := get(t)
	x := random(t, r)
	record(o, "a scalar", x, nil)
	o.Int("a scalar: Len", x.Len())
	o.Error("a scalar: error of Set", x.Set(r.Float64()), kinds...)
	v, err := x.At()
	o.Float("a scalar: At", v, observe.Exact())
	o.Error("a scalar: error of At", err, kinds...)
	y, err := x.Permute()
	record(o, "a scalar, Permute", y, err)
	y, err = x.Squeeze()
	record(o, "a scalar, Squeeze", y, err)
	y, err = x.View()
	record(o, "a scalar, View", y, err)
	y, err = x.Reshape(1, 1)
	record(o, "a scalar, Reshape", y, err)
	y, err = x.Expand(2, 3)
	record(o, "a scalar, Expand", y, err)
	y, err = x.Unsqueeze(-1)
	record(o, "a scalar, Unsqueeze", y, err)
	record(o, "a scalar, Clone", x.Clone(), nil)
	record(o, "a scalar, Contiguous", x.Contiguous(), nil)
	y = random(t, r)
	o.Error("a scalar: error of CopyFrom", x.CopyFrom(y), kinds...)
	record(o, "a scalar, copied", x, nil)
	o.Error("a scalar: error of Fill", x.Fill(r.Float64()), kinds...)
	record(o, "a scalar, filled", x, nil)
	record(o, "a scalar of Select", get(random(t, r, 4).Select(0, r.IntN(4))), nil)
	record(o, "a scalar of View", get(random(t, r, 1, 1).View()), nil)

	many := make([]int, 30)
	for k := range many {
		many[k] = 1
	}
	for _, k := range r.Perm(30)[:6] {
		many[k] = between(r, 2, 4)
	}
	x = random(t, r, many...)
	record(o, "thirty axes", x, nil)
	y, err = x.Permute(r.Perm(30)...)
	record(o, "thirty axes, Permute", y, err)
	record(o, "thirty axes, Clone", get(y, err).Clone(), nil)
	y, err = y.Squeeze()
	record(o, "thirty axes, Squeeze", y, err)
	y, err = x.View(x.Len())
	record(o, "thirty axes, View", y, err)
	y, err = random(t, r, count(many)).View(many...)
	record(o, "thirty axes of View", y, err)

	for range 3 { // all that can be done
		x = get(random(t, r, many...).Permute(r.Perm(30)...))
		many := x.Shape()
		k := slices.IndexFunc(many, func(n int) bool { return n > 1 })
		i := index(r, many)
		v, err := x.At(i...)
		o.Float("thirty axes: At", v, observe.Exact())
		o.Error("thirty axes: error of At", err, kinds...)
		i[k] -= many[k]
		o.Error("thirty axes: error of Set", x.Set(-r.Float64(), i...), kinds...)
		record(o, "thirty axes, Set", x, nil)
		i[k] = many[k]
		v, err = x.At(i...)
		o.Float("thirty axes: At, beyond", v, observe.Exact())
		o.Error("thirty axes: error of At, beyond", err, kinds...)
		o.Error("thirty axes: error of Set, beyond", x.Set(1, i...), kinds...)
		o.Error("thirty axes: error of Set, one index less", x.Set(1, make([]int, 29)...), kinds...)
		y, err = x.Transpose(k, -1-r.IntN(30))
		record(o, "thirty axes, Transpose", y, err)
		y, err = x.Slice(k, open, open, -1)
		record(o, "thirty axes, Slice", y, err)
		o.Error("thirty axes: error of CopyFrom", random(t, r, many...).CopyFrom(y), kinds...)
		to := random(t, r, many...)
		o.Error("thirty axes: error of CopyFrom", to.CopyFrom(y), kinds...)
		record(o, "thirty axes, copied", to, nil)
		o.Error("thirty axes: error of CopyFrom", x.CopyFrom(y), kinds...)
		record(o, "thirty axes, copied backwards", x, nil)
		y, err = x.Select(k, -1)
		record(o, "thirty axes, Select", y, err)
		o.Error("thirty axes: error of Fill", get(y, err).Fill(-r.Float64()), kinds...)
		record(o, "thirty axes, a part filled", x, nil)
		y, err = x.Unsqueeze(r.IntN(31))
		record(o, "thirty axes, Unsqueeze", y, err)
		wide := slices.Repeat([]int{-1}, 30)
		wide[slices.Index(many, 1)] = 3 // 31 axes
		y, err = x.Expand(append([]int{2}, wide...)...)
		record(o, "thirty axes, Expand", y, err)
		record(o, "thirty axes, Contiguous", x.Contiguous(), nil)
		y, err = x.Reshape(-1, 2)
		record(o, "thirty axes, Reshape", y, err)
		y, err = x.Reshape(append([]int{1}, many...)...)
		record(o, "thirty axes, Reshape", y, err)
	}
	many = slices.Repeat([]int{2}, 12)                      // more than those that lie together
	opposite := []int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0} // no two of these are one
	for _, order := range [][]int{opposite, r.Perm(12)} {
		x = random(t, r, many...)
		y, err = x.Permute(order...)
		record(o, "twelve axes, Permute", y, err)
		o.Error("twelve axes: error of CopyFrom", x.CopyFrom(y), kinds...)
		record(o, "twelve axes, copied", x, nil)
	}
	y, err = get(y, nil).Reshape(16, -1)
	record(o, "twelve axes, Reshape", y, err)
	twentyAxes(t, o, r)
	wide := random(t, r, slices.Repeat([]int{3}, 9)...)
	y = wide
	for k := range 9 {
		y = get(y.Slice(k, open, open, 2))
	}
	record(o, "nine axes, every other", y, nil)
	o.Error("nine axes: error of Fill", y.Fill(-r.Float64()), kinds...)
	record(o, "nine axes, filled", wide, nil)
}

// twentyAxes copies and fills a tensor of as many axes of which no two go on with each other,
// also none in what is filled.
func twentyAxes(t *testing.T, o *observe.Observer, r *rand.Rand) {
	get := get(t)
	x := random(t, r, slices.Repeat([]int{2}, 20)...)
	y := x
	for k := 1; k < 20; k += 2 {
		y = get(y.Slice(k, open, open, -1))
	}
	y = get(y.Permute(19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0))
	record(o, "twenty axes", y, nil)
	to := get(strided.New(x.Shape()...))
	o.Error("twenty axes: error of CopyFrom", to.CopyFrom(y), kinds...)
	record(o, "twenty axes, copied", to, nil)
	i := index(r, x.Shape())
	v, err := y.At(i...)
	o.Float("twenty axes: At", v, observe.Exact())
	o.Error("twenty axes: error of At", err, kinds...)
	o.Error("twenty axes: error of Fill", y.Fill(-r.Float64()), kinds...)
	record(o, "twenty axes, filled", x, nil)
}
