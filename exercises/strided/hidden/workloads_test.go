package hidden

import (
	"testing"

	"grade/observe"
)

// A matrix of 1,700 by 1,500 numbers is copied transposed, in two ways. Time: that of some
// plain copies.
func BenchmarkTransposed(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x := random(b, r, 1700, 1500)
	to := random(b, r, 1500, 1700)
	turned := get(b)(x.Transpose(0, 1))
	var y *tensor
	round := 0.0
	for o.Loop() {
		for i := range 6 {
			round++
			x.Set(round, 3, 4)
			to.CopyFrom(turned)
			if i%3 == 0 {
				x.Set(-round, 5, 6)
				y = turned.Contiguous()
			}
		}
	}
	o.Ints("shape", y.Shape())
	numbers(o, "Contiguous", y.Values())
	numbers(o, "CopyFrom", to.Values())
}

// Six axes in another order, and a part of them: 96,000 and 48,000 numbers are copied,
// many times. Time: a few additions for each, and no division.
func BenchmarkAxes(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x := random(b, r, 3, 2, 2, 4, 40, 50)
	turned := get(b)(x.Permute(2, 0, 3, 1, 5, 4))
	back := get(b)(get(b)(x.Slice(4, open, open, -1)).Slice(5, 1, open, 2))
	one, other := random(b, r, turned.Shape()...), random(b, r, back.Shape()...)
	round := 0.0
	for o.Loop() {
		for range 200 {
			round++
			x.Set(round, 1, 1, 1, 2, 5, 6)
			one.CopyFrom(turned)
			x.Set(-round, 2, 0, 1, 3, 6, 7)
			other.CopyFrom(back)
		}
	}
	numbers(o, "in another order", one.Values())
	numbers(o, "a part", other.Values())
}

// 180,000 views of a large tensor. Time and memory: those of a few numbers for each,
// however many elements there are.
func BenchmarkViews(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x := random(b, r, 100, 200, 150)
	get := get(b)
	sum := 0.0
	elements := 0
	for o.Loop() {
		for i := range 20_000 {
			y := get(x.Transpose(0, 2))
			y = get(y.Slice(1, i%200, open, 1))
			y = get(y.Slice(2, open, open, -1))
			y = get(y.Unsqueeze(1))
			y = get(y.Permute(2, 0, 1, 3))
			y = get(y.Select(0, 0))
			y = get(y.Squeeze(1))
			elements += y.Len()
			y = get(y.View(50, 3, 10, 10))
			y = get(y.Expand(2, 50, 3, 10, 10))
			v, _ := y.At(i%2, i%50, i%3, i%10, i/10%10)
			sum += v
		}
	}
	o.Float("elements added up", sum)
	o.Int("how many elements", elements)
}

// Parts of 32 MB are copied to others of the same tensor that lie apart, and a transposed
// matrix to one that is there. Memory: none, as nothing overlaps.
func BenchmarkCopyFrom(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x := random(b, r, 4000, 2000)
	low, high := get(b)(x.Slice(0, 0, 2000, 1)), get(b)(x.Slice(0, 2000, open, 1))
	turned := get(b)(low.Transpose(0, 1))
	to := random(b, r, 2000, 2000) // not zeros, which take memory when they are written to
	for o.Loop() {
		high.CopyFrom(low)
		to.CopyFrom(turned)
	}
	v, _ := high.At(1999, r.IntN(2000))
	o.Float("an element", v)
	for _, y := range []*tensor{high, to} {
		for range 20 {
			numbers(o, "some rows", get(b)(y.Select(0, r.IntN(2000))).Values())
		}
	}
}

// A view takes at most 8 allocations, whether there are few elements or four million (rule
// 33).
func TestAllocations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, shape := range [][]int{{4, 1, 2, 3}, {1000, 1, 400, 10}} {
		x := random(t, r, shape...)
		axes, to, wide := []int{3, 2, 1, 0}, []int{shape[0], shape[2] * shape[3]}, []int{shape[0], 2, shape[2], shape[3]}
		for _, op := range []struct {
			name string
			of   func() (*tensor, error)
		}{
			{"Permute", func() (*tensor, error) { return x.Permute(axes...) }},
			{"Transpose", func() (*tensor, error) { return x.Transpose(0, 2) }},
			{"Slice", func() (*tensor, error) { return x.Slice(0, 1, open, 2) }},
			{"Slice, backwards", func() (*tensor, error) { return x.Slice(2, open, open, -1) }},
			{"Select", func() (*tensor, error) { return x.Select(0, 1) }},
			{"Squeeze", func() (*tensor, error) { return x.Squeeze() }},
			{"Unsqueeze", func() (*tensor, error) { return x.Unsqueeze(1) }},
			{"Expand", func() (*tensor, error) { return x.Expand(wide...) }},
			{"View", func() (*tensor, error) { return x.View(to...) }},
			{"Reshape", func() (*tensor, error) { return x.Reshape(to...) }},
		} {
			var y *tensor
			allocations := testing.AllocsPerRun(20, func() { y, _ = op.of() })
			y = get(t)(y, nil)
			o.Ints(op.name+": shape", y.Shape())
			v, err := y.At(make([]int, len(y.Shape()))...)
			o.Float(op.name+": the first element", v)
			o.Error(op.name+": error of At", err)
			o.SelfReported().Float(op.name+": allocations", allocations, observe.AtMost(0, 8))
		}
	}
}
