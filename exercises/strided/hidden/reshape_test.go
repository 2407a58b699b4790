package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
)

// factors draws a shape of n elements.
func factors(r *rand.Rand, n int) (shape []int) {
	for n > 1 {
		size := n
		for _, p := range []int{2, 3, 5, 7} {
			if n%p == 0 && r.IntN(2) == 0 {
				size = p
			}
		}
		if n%(2*size) == 0 && r.IntN(3) == 0 {
			size *= 2
		}
		shape = append(shape, size)
		n /= size
		if r.IntN(6) == 0 {
			shape = append(shape, 1)
		}
	}
	r.Shuffle(len(shape), func(i, j int) { shape[i], shape[j] = shape[j], shape[i] })
	return shape
}

// smooth draws sizes that have many divisors.
func smooth(r *rand.Rand, n int) []int {
	shape := make([]int, n)
	for k := range shape {
		shape[k] = []int{1, 2, 4, 6, 12}[r.IntN(5)]
	}
	return shape
}

// View gives the same elements other axes (rule 17).
func TestView(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for n := 1; n <= 4; n++ {
		for range 6 {
			shape := smooth(r, n)
			x := random(t, r, shape...)
			y, err := x.View(factors(r, count(shape))...)
			record(o, "contiguous", y, err)
			y, err = get(t)(y, err).View(shape...)
			record(o, "and back", y, err)
			record(o, "as it was", x, nil)
		}
	}
	x := random(t, r, 5, 4, 6)
	y, err := get(t)(x.Slice(0, 1, 4, 1)).View(3, 2, 12)
	record(o, "rows of a contiguous one", y, err)
	for range 2 {
		n := 420 * between(r, 160, 180)
		x := random(t, r, n)
		y, err := x.View(factors(r, n)...)
		record(o, "large", y, err)
		y, err = get(t)(y, err).View(n)
		record(o, "large, and back", y, err)
	}
}

// Views of what is not contiguous are possible wherever strides do it, and else they are
// refused by ErrLayout (rule 18).
func TestViewRefused(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	get := get(t)
	try := func(name string, x *tensor, shape ...int) {
		y, err := x.View(shape...)
		record(o, name, y, err)
	}
	a := random(t, r, 4, 6)
	at := get(a.Transpose(0, 1))
	try("transposed", at, 24)
	try("transposed, within an axis", at, 3, 2, 4)
	try("transposed, within an axis", at, 6, 2, 2)
	try("transposed, across axes", at, 4, 6)
	try("transposed, with axes of size 1", at, 1, 6, 1, 4, 1)
	columns := get(a.Slice(1, 1, 5, 1))
	try("columns", columns, 16)
	try("columns, within an axis", columns, 2, 2, 2, 2)
	rows := get(a.Slice(0, open, open, 2))
	try("every other row", rows, 12)
	try("every other row, within an axis", rows, 2, 3, 2)
	even := get(a.Slice(1, open, open, 2))
	try("every other column", even, 12)
	try("every other column, the first axis split", even, 2, 2, 3)
	try("every other column, across axes", even, 6, 2)
	back := get(get(a.Slice(0, open, open, -1)).Slice(1, open, open, -1))
	try("backwards", back, 24)
	try("backwards", back, 2, 12)
	try("one axis backwards", get(a.Slice(0, open, open, -1)), 24)
	try("one axis backwards", get(a.Slice(1, open, open, -1)), 24)
	try("one axis backwards, within it", get(a.Slice(1, open, open, -1)), 2, 2, 3, 2)
	c := random(t, r, 2, 3, 4, 5)
	try("first axes merged", get(c.Slice(3, 1, 4, 1)), 24, 3)
	try("first axes merged, and others", get(c.Slice(3, 1, 4, 1)), 72)
	try("axes in the middle merged", get(c.Permute(3, 0, 1, 2)), 5, 24)
	try("axes in the middle merged", get(c.Permute(1, 2, 0, 3)), 12, 2, 5)
	try("axes in the middle merged", get(c.Permute(1, 2, 0, 3)), 12, 10)
	try("axes of size 1 in between", get(get(random(t, r, 3, 5, 4).Slice(1, 2, 3, 1)).Transpose(0, 1)), 3, 4)
	try("axes of size 1 in between", get(random(t, r, 3, 5, 4).Slice(1, 2, 3, 1)), 12)
	try("axes of size 1 in between", get(random(t, r, 5, 3, 4).Slice(0, 2, 3, 7)), 12)
	try("axes of size 1 in between", get(random(t, r, 3, 4).Unsqueeze(1)), 12)
	try("axes of size 1 in between", get(random(t, r, 3, 4).Unsqueeze(1)), 2, 6)
	try("axes of size 1 in between", get(get(random(t, r, 5, 3, 4).Slice(0, 2, 3, 1)).Transpose(0, 1)), 12)
	try("axes of size 1 at the end", get(random(t, r, 12, 5).Slice(1, 2, 3, 1)), 3, 4)
	spread := get(random(t, r, 36).Slice(0, open, open, 3))
	for range 3 { // several of them, behind a stride that is not 1
		spread = get(spread.Unsqueeze(-1))
		try("axes of size 1 at the end", spread, 3, 4)
		try("axes of size 1 at the end", spread, 2, 1, 6, 1)
	}
	try("axes of size 1 at the end", get(get(random(t, r, 12, 5, 7).Slice(1, 2, 3, 1)).Slice(2, 3, 4, 1)), 3, 4)
	e := get(random(t, r, 1, 4).Expand(6, 4))
	try("repeated", e, 24)
	try("repeated, within an axis", e, 3, 2, 2, 2)
	try("repeated twice", get(random(t, r, 1, 1).Expand(6, 4)), 24)
	try("repeated twice", get(random(t, r, 1, 1).Expand(6, 4)), 8, 3)
	try("repeated at the end", get(random(t, r, 4, 1).Expand(4, 6)), 24)
	try("many, transposed", get(random(t, r, 300, 260).Transpose(0, 1)), 300*260)
	try("many, within an axis", get(random(t, r, 300, 260).Transpose(0, 1)), 13, 20, 30, 10)
	try("many, columns", get(random(t, r, 300, 300).Slice(1, 0, 260, 1)), 100, 3, 260)
	// More elements than any memory has: there are strides, or there are none.
	beyond := func(name string, x *tensor, shape ...int) {
		y, err := x.View(shape...)
		o.Error(name+": error of View", err, kinds...)
		o.Bool(name+": a tensor", y != nil)
		if err != nil || y == nil {
			return
		}
		o.Ints(name+": shape", y.Shape())
		o.Int(name+": Len", y.Len())
		o.Bool(name+": IsContiguous", y.IsContiguous())
		o.Bool(name+": ReadOnly", y.ReadOnly())
		v, err := y.At(index(r, y.Shape())...)
		o.Float(name+": an element", v, observe.Exact())
		o.Error(name+": error of At", err, kinds...)
		z, err := x.Reshape(shape...)
		o.Error(name+": error of Reshape", err, kinds...)
		o.Ints(name+": shape of Reshape", get(z, err).Shape())
	}
	for _, bits := range []int{30, 31, 32, 33, 40, 41, 53, 60, 62} {
		x := get(random(t, r).Expand(1<<(bits/2), 1<<(bits-bits/2)))
		beyond("beyond all memory", x, 1<<bits)
		beyond("beyond all memory", x, -1)
		beyond("beyond all memory", x, 1<<(bits-bits/2), 1<<(bits/2))
		beyond("beyond all memory", x, 1<<10, 1, 1<<(bits-11), -1)
		x = get(random(t, r, 1, 2).Expand(1<<(bits-1), 2))
		beyond("beyond all memory, two of each", x, 1<<(bits-3), 1, 4, 2)
		for _, shape := range [][]int{{1 << bits}, {1 << (bits - 2), 4}, {-1}} {
			y, err := x.View(shape...)
			refused(o, "beyond all memory, across axes", y, err)
		}
	}
	for range 150 {
		shape := smooth(r, between(r, 1, 4))
		if r.IntN(3) == 0 {
			shape = slices.Repeat([]int{2}, between(r, 5, 9))
			shape[r.IntN(len(shape))] = 1
		}
		x := random(t, r, shape...)
		for range 2 {
			k := r.IntN(len(shape))
			switch r.IntN(4) {
			case 0:
				x = get(x.Permute(r.Perm(len(shape))...))
			case 1:
				x = get(x.Slice(k, open, open, -1))
			case 2:
				x = get(x.Slice(k, r.IntN(2), open, 2))
			case 3:
				k = slices.Index(x.Shape(), 1)
				if k >= 0 {
					to := x.Shape()
					to[k] = 4
					x = get(x.Expand(to...))
				}
			}
		}
		for range r.IntN(4) {
			x = get(x.Unsqueeze(r.IntN(len(x.Shape()) + 1)))
		}
		if count(x.Shape()) > 0 {
			try("some layout", x, factors(r, count(x.Shape()))...)
		}
	}
}

// Reshape gives any layout other axes (rule 20).
func TestReshape(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, shape := range [][]int{{4, 6, 12}, {2, 3, 5}, {8, 4, 6}, large(r), {40, 42, 48}} {
		for _, l := range layouts(t, r, shape) {
			n := count(l.x.Shape())
			y, err := l.x.Reshape(n)
			record(o, l.name, y, err)
			y, err = l.x.Reshape(factors(r, n)...)
			record(o, l.name, y, err)
			y, err = get(t)(y, err).Reshape(l.x.Shape()...)
			record(o, l.name+", and back", y, err)
			record(o, l.name+", as it was", l.x, nil)
		}
	}
}

// wraps returns two sizes whose product is 1 where it wraps around at 2^64.
func wraps(r *rand.Rand) (a, b int) {
	for b <= 1 {
		a = 2*between(r, 1<<20, 1<<40) + 1
		b = a // right in its last three bits, and in twice as many after each step
		for range 5 {
			b *= 2 - a*b
		}
	}
	return a, b
}

// One size may be -1, which is then what the others leave; it must be one, and they must
// leave one (rule 19).
func TestInferred(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	try := func(x *tensor, shape ...int) {
		before := slices.Clone(shape)
		y, err := x.View(shape...)
		record(o, "View", y, err)
		y, err = x.Reshape(shape...)
		record(o, "Reshape", y, err)
		o.Ints("the list of sizes", shape)
		o.Bool("the list of sizes as it was", slices.Equal(shape, before))
	}
	for range 10 {
		shape := smooth(r, between(r, 1, 4))
		x := random(t, r, shape...)
		to := factors(r, count(shape))
		to = append(to, 1)
		to[r.IntN(len(to))] = -1
		try(x, to...)
	}
	x := random(t, r, 4, 6)
	try(x, -1)
	try(x, 24, -1)
	try(x, -1, 8)
	try(x, 5, -1)
	try(x, -1, -1)
	try(x, 2, -1, 3, -1)
	try(x, 48, -1)
	try(x, 0, -1)
	try(x, -1, -24)
	try(x, -2, 12)
	try(x, -2, -12)
	try(x, -1, 1<<62, 4)
	try(x, -1, 1<<32, 1<<32)
	a, b := wraps(r)
	try(random(t, r, 1), -1, a, b)
	try(random(t, r, 0), 1<<62, 4, -1)
	try(random(t, r, 0), 1<<62, -1)
	try(x, math.MinInt, -1)
	try(random(t, r), -1)
	try(random(t, r), -1, 1)
	empty := random(t, r, 0, 3)
	try(empty, -1)
	try(empty, -1, 3)
	try(empty, 5, -1)
	try(empty, -1, 0)
	try(empty, 0, -1)
	try(random(t, r, 300, 260), -1, 1000)
	try(random(t, r, 300, 260), 7, -1)
	y, err := get(t)(x.Transpose(0, 1)).Reshape(-1)
	record(o, "Reshape of a transposed one", y, err)
	y, err = get(t)(x.Transpose(0, 1)).View(-1)
	refused(o, "View of a transposed one", y, err)
	y, err = get(t)(x.Transpose(0, 1)).View(-1, 2, 4)
	record(o, "View of a transposed one, within an axis", y, err)
}
