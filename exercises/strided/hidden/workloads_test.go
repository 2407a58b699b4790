package hidden

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"grade/observe"
)

// A part of a matrix, of about 1,700 by 1,500 numbers, is copied transposed, in two ways; each
// time another part. Time: that of some plain copies.
func BenchmarkTransposed(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	rows, cols := between(r, 1690, 1709), between(r, 1490, 1509)
	x, from := kept(b, r, rows+40, cols+40)
	copied, to := kept(b, r, cols, rows)
	d := &drawn{r: r, x: x, full: []int{rows + 40, cols + 40}, part: []int{rows, cols}, steps: []int{1, 1}, order: []int{1, 0}}
	p := newProbe(r, 16, from, rows*cols, d.place)
	var y *tensor
	for o.Loop() {
		for i := range 6 {
			turned := d.next(b)
			p.change()
			copied.CopyFrom(turned)
			p.look(to)
			if i%3 == 0 {
				y = turned.Contiguous()
				p.again() // which y does not show
				p.lookAt(y, rows)
			}
		}
	}
	o.Ints("shape", y.Shape())
	numbers(o, "Contiguous", y.Values())
	numbers(o, "CopyFrom", to)
	p.record(o, "some elements after each copy")
}

// Six axes in another order, and a part of them: about 96,000 and 48,000 numbers are
// copied, many times, of another view each time, and 96,000 that lie apart are filled. Time: a few
// additions for each, and no division.
func BenchmarkAxes(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	n, m := between(r, 39, 41), between(r, 49, 51)
	half := m / 2
	full := []int{3, 2, 2, 4, n + 10, m + 10}
	x, from := kept(b, r, full...)
	turned := &drawn{r: r, x: x, full: full, part: []int{3, 2, 2, 4, n, m}, steps: []int{0, 0, 0, 0, 1, 1}, order: []int{2, 0, 3, 1, 5, 4}}
	back := &drawn{r: r, x: x, full: full, part: []int{3, 2, 2, 4, n, half}, steps: []int{0, 0, 0, 0, -1, 2}, order: []int{0, 1, 2, 3, 4, 5}}
	one, to := kept(b, r, 2, 3, 4, 2, m, n)
	other, part := kept(b, r, 3, 2, 2, 4, n, half)
	p := newProbe(r, 8, from, len(to), turned.place)
	q := newProbe(r, 8, from, len(part), back.place)
	rounds := between(r, 195, 205)
	wide, apart := kept(b, r, 3, 2, 2, 4, n, 2*m)
	every := get(b)(wide.Slice(5, 0, 2*m, 2))
	fill, spots, filled := values(r, rounds), make([]int, rounds), make([]float64, rounds)
	for i := range spots {
		spots[i] = r.IntN(len(apart)) // filled or between
	}
	for o.Loop() {
		for i := range rounds {
			every.Fill(fill[i])
			filled[i] = apart[spots[i]]
			view := turned.next(b)
			p.change()
			one.CopyFrom(view)
			p.look(to)
			view = back.next(b)
			q.change()
			other.CopyFrom(view)
			q.look(part)
		}
	}
	numbers(o, "in another order", to)
	numbers(o, "a part", part)
	numbers(o, "filled, and what lies between", apart)
	o.Floats("an element after each Fill", filled)
	p.record(o, "some elements after each copy in another order")
	q.record(o, "some elements after each copy of a part")
}

// walk is where views of BenchmarkViews begin, and which element of the last one is read.
type walk struct {
	start, stop, step, row int
	index                  [5]int
}

// walks draws some. Their steps end at stop: what is left over there is no matter of a view's
// cost.
func walks(r *rand.Rand, n int) []walk {
	list := make([]walk, n)
	for i := range list {
		c := &list[i]
		c.start, c.step = between(r, 5, 194), between(r, 1, 3)
		rows := (200 - c.start) / c.step
		if r.IntN(2) == 0 {
			c.step, rows = -c.step, c.start/c.step
		}
		c.stop, c.row = c.start+rows*c.step, r.IntN(rows)
		copy(c.index[:], index(r, []int{2, 50, 3, 10, 10}))
	}
	return list
}

// About 180,000 views of a large tensor. Time and memory: those of a few numbers for each,
// however many elements there are.
func BenchmarkViews(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x := random(b, r, 100, 200, 150)
	list := walks(r, between(r, 16_300, 16_500))
	get := get(b)
	var sum uint64
	elements := 0
	for o.Loop() {
		for i := range list {
			c := &list[i]
			y := get(x.Transpose(0, 2))
			y = get(y.Unsqueeze(2))
			y = get(y.Squeeze())
			y = get(y.Slice(1, c.start, c.stop, c.step))
			y = get(y.Slice(2, open, open, -1))
			y = get(y.Unsqueeze(1))
			elements += c.index[1] * y.Len()
			y = get(y.Permute(2, 0, 1, 3))
			y = get(y.Select(0, c.row))
			y = get(y.Squeeze(1))
			y = get(y.View(50, 3, 10, 10))
			y = get(y.Expand(2, 50, 3, 10, 10))
			v, _ := y.At(c.index[:]...)
			sum = fold(sum, v)
		}
	}
	o.Int("an element of each last view", int(sum))
	o.Int("how many elements, weighted and added up", elements)
}

// Parts of 32 MB are copied to others of the same tensor that lie apart, and a transposed
// matrix to one that is there. Memory: none, as nothing overlaps.
func BenchmarkCopyFrom(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	rows, cols := between(r, 1990, 2010), between(r, 1990, 2010)
	x, from := kept(b, r, 2*rows, cols)
	low, high := get(b)(x.Slice(0, 0, rows, 1)), get(b)(x.Slice(0, rows, open, 1))
	turned := get(b)(low.Transpose(0, 1))
	copied, to := kept(b, r, cols, rows) // not zeros, which take memory when they are written to
	above := from[rows*cols:]
	p := newProbe(r, 16, from, rows*cols, func(i int) int { return i })
	q := newProbe(r, 16, from, rows*cols, func(i int) int { return i%rows*cols + i/rows })
	for o.Loop() {
		p.change()
		high.CopyFrom(low)
		p.look(above)
		q.change()
		copied.CopyFrom(turned)
		q.look(to)
	}
	p.record(o, "some elements after each copy")
	q.record(o, "some elements after each transposed copy")
	for range 20 {
		i, j := r.IntN(rows), r.IntN(cols)
		numbers(o, "some rows", above[i*cols:][:cols])
		numbers(o, "some transposed rows", to[j*rows:][:rows])
	}
}

// A view takes at most 8 allocations, whether there are few elements or four million, and
// where Reshape and Contiguous share they make no copy first (rule 33).
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
		sharing(t, o, x)
	}
}

// sharing records how many bytes Reshape and Contiguous allocate where they share: at most 64
// KiB, which is far more than a view needs and far less than a copy of a large tensor. A copy
// that is thrown away is one allocation only, and shares no less.
func sharing(t *testing.T, o *observe.Observer, x *tensor) {
	whole, flat := func() *tensor { return x.Contiguous() }, func() *tensor { return get(t)(x.Reshape(x.Len())) }
	if shares(x, whole()) && shares(x, flat()) && max(bytesOf(x, whole), bytesOf(x, flat)) <= 1<<16 {
		for range 20_000 { // of millions of elements, which are not looked at one by one
			whole()
			flat()
		}
	}
	part, turned, back := get(t)(x.Slice(0, 1, open, 1)), get(t)(x.Transpose(0, 2)), get(t)(x.Slice(0, open, open, -1))
	for _, l := range []named{{"all", x}, {"a part", part}, {"transposed", turned}, {"backwards", back}} {
		more := append([]int{1}, l.x.Shape()...)
		reshaped := bytesOf(l.x, func() *tensor { return get(t)(l.x.Reshape(more...)) })
		contiguous := bytesOf(l.x, func() *tensor { return l.x.Contiguous() })
		o.SelfReported().Int("bytes of a Reshape that shares: "+l.name, reshaped, observe.AtMost(0, 1<<16))
		o.SelfReported().Int("bytes of a Contiguous that shares: "+l.name, contiguous, observe.AtMost(0, 1<<16))
	}
}

// bytesOf is how many bytes a call allocates whose result shares its elements with x, and 0
// if it is a copy: whether it may be one is the matter of TestReshapeShares.
func bytesOf(x *tensor, call func() *tensor) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	y := call()
	runtime.ReadMemStats(&after)
	if !shares(x, y) {
		return 0
	}
	return int(after.TotalAlloc - before.TotalAlloc)
}

// shares reports whether the first element of y is that of x, which is above 0.
func shares(x, y *tensor) bool {
	first, of := make([]int, len(x.Shape())), make([]int, len(y.Shape()))
	old, _ := x.At(first...)
	x.Set(-old, first...)
	now, _ := y.At(of...)
	x.Set(old, first...)
	return now == -old
}
