package hidden

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"grade/observe"
)

// Without an active adapter a Layer is its base, forward and backward; and the base itself
// works as it was given (rules 7, 9 and 10).
func TestBase(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 8 {
		base := anyBase(r)
		l := newLayer(t, base)
		if i%2 == 1 { // known, but not active
			add(t, r, l, base, "idle", plain(1+r.IntN(3)))
		}
		n := 1 + r.IntN(4)
		x, dy := numbers(r, n*base.In), numbers(r, n*base.Out)
		o.Floats("outputs", forward(t, l, x))
		o.Floats("gradients of x", backward(t, l, x, dy))
		base.GradW, base.GradB = numbers(r, len(base.W)), numbers(r, len(base.B))
		o.Floats("outputs of the base alone", base.Forward(x))
		o.Floats("gradients of x by the base alone", base.Backward(x, dy))
		o.Floats("gradients of the weights, by the base alone", base.GradW)
		o.Floats("gradients of the bias, by the base alone", base.GradB)
		base.GradW, base.GradB = nil, nil
		base.Backward(x, dy)
		o.Floats("first gradients of the weights, by the base alone", base.GradW)
		o.Floats("first gradients of the bias, by the base alone", base.GradB)
	}
}

// Forward is W·x + b + scale·B·A·x, for each row (rules 2, 4 and 7).
func TestForward(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 20 {
		base := anyBase(r)
		l := newLayer(t, base)
		uneven(t, r, l, base, scaled(r, 1+r.IntN(5)), i)
		for range 2 {
			o.Floats("outputs", forward(t, l, numbers(r, (1+r.IntN(5))*base.In)))
		}
	}
}

// Backward has the gradients of A and B, added up over the rows (rule 10).
func TestGradients(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 21 {
		base := anyBase(r)
		l := newLayer(t, base)
		a := active(t, r, l, base, "a", scaled(r, 1+r.IntN(5)))
		n := 1 + r.IntN(5)
		x, dy := numbers(r, n*base.In), numbers(r, n*base.Out)
		switch i % 7 { // what is 0 adds nothing to the outputs, and has gradients all the same
		case 5:
			clear(a.B)
		case 6:
			clear(a.A)
		case 4: // what is very small in dy, and very large in the adapter
			size := math.Ldexp(1, 40+r.IntN(60))
			scale(dy, 1/size)
			scale(a.A, size)
			scale(a.B, size)
		}
		switch i % 3 {
		case 1: // a Forward of other rows in between
			forward(t, l, numbers(r, 3*base.In))
		case 2: // and one of these, before they and A are changed
			forward(t, l, x)
			x[r.IntN(len(x))] += 2
			a.A[r.IntN(len(a.A))] += 2
		}
		backward(t, l, x, dy)
		gradients(o, a)
	}
}

// Backward returns the gradient of x, through the base and through the adapter (rule 9).
func TestInputGradient(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 20 {
		base := anyBase(r)
		l := newLayer(t, base)
		uneven(t, r, l, base, scaled(r, 1+r.IntN(5)), i)
		n := 1 + r.IntN(5)
		o.Floats("gradients of x", backward(t, l, numbers(r, n*base.In), numbers(r, n*base.Out)))
	}
}

// Gradients are added to those that are there, until ZeroGrad (rules 10 and 13).
func TestAccumulates(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		base := anyBase(r)
		l := newLayer(t, base)
		other := add(t, r, l, base, "other", plain(2))
		a := active(t, r, l, base, "a", plain(1+r.IntN(4)))
		mark(r, other)
		mark(r, a)
		for range 1 + r.IntN(3) {
			n := 1 + r.IntN(3)
			backward(t, l, numbers(r, n*base.In), numbers(r, n*base.Out))
		}
		gradients(o, a)
		a.GradA[r.IntN(len(a.GradA))], a.GradB[r.IntN(len(a.GradB))] = nan, inf
		l.ZeroGrad()
		o.Floats("after ZeroGrad", grads(a), exact)
		mark(r, a) // what is written after ZeroGrad is added to as well
		backward(t, l, numbers(r, base.In), numbers(r, base.Out))
		gradients(o, a)
		l.ZeroGrad()
		o.Floats("those of another adapter", grads(other), exact)
		was := mark(r, a)
		use(t, l, "")
		l.ZeroGrad()
		o.Floats("what ZeroGrad changes where none is active", less(grads(a), was), exact)
	}
}

// A Rank of 1, one above In and Out, and layers of one input or output (rules 2, 7 and 10).
func TestRanks(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range [][3]int{{1, 1, 1}, {1, 1, 3}, {1, 5, 2}, {5, 1, 2}, {3, 4, 1}, {3, 5, 5}, {5, 3, 4}, {4, 3, 9}, {3, 3, 3}} {
		base := newBase(r, size[0], size[1], r.IntN(2) == 0)
		l := newLayer(t, base)
		a := active(t, r, l, base, "a", plain(size[2]))
		x, dy := numbers(r, 2*base.In), numbers(r, 2*base.Out)
		o.Ints("lengths of A and B", []int{len(a.A), len(a.B)})
		o.Int("rank", a.Rank)
		o.Floats("outputs", forward(t, l, x))
		o.Floats("gradients of x", backward(t, l, x, dy))
		gradients(o, a)
		merge(t, l)
		o.Floats("weights while merged", base.W)
	}
}

// With RankStabilized the scale is Alpha/√Rank, and that is the scale everywhere (rule 4).
func TestStabilized(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 4 {
		base := anyBase(r)
		l := newLayer(t, base)
		cfg := scaled(r, 2+r.IntN(6))
		o.Float("the scale, ordinary", add(t, r, l, base, "a", cfg).Scale())
		cfg.RankStabilized = true
		a := active(t, r, l, base, "b", cfg)
		o.Float("the scale, stabilized", a.Scale())
		o.Bool("stabilized", a.RankStabilized)
		o.Float("alpha", a.Alpha, exact)
		x, dy := numbers(r, 2*base.In), numbers(r, 2*base.Out)
		o.Floats("outputs", forward(t, l, x))
		o.Floats("gradients of x", backward(t, l, x, dy))
		gradients(o, a)
		merge(t, l)
		o.Floats("weights while merged", base.W)
		unmerge(t, l)
		o.Floats("weights after Unmerge", base.W)
	}
}

// No rows are no error and give no rows (rule 18).
func TestNoRows(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, none := range [][]float64{nil, {}} {
		base := anyBase(r)
		l := newLayer(t, base)
		a := active(t, r, l, base, "a", plain(2))
		was := mark(r, a)
		y, err := l.Forward(none)
		sentinels(o, "error of Forward", err)
		o.Floats("no outputs", y)
		dx, err := l.Backward(none, none)
		sentinels(o, "error of Backward", err)
		o.Floats("no gradients of x", dx)
		o.Floats("what is added to the gradients", less(grads(a), was), exact)
		o.Floats("outputs", forward(t, l, numbers(r, base.In)))
		o.Int("gradients of x, of rows after no rows", len(backward(t, l, numbers(r, base.In), numbers(r, base.Out))))
	}
}

// What is not finite in one row stays in that row, and NaN makes all of that row NaN, whatever the
// weights are (rule 19).
func TestRowsApart(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i, bad := range []float64{nan, nan, inf, -inf} {
		base := anyBase(r)
		l := newLayer(t, base)
		a := add(t, r, l, base, "a", plain(2))
		zero := r.IntN(base.Out) // an output whose weights are 0: times NaN they are NaN
		clear(base.W[zero*base.In : (zero+1)*base.In])
		clear(a.B[zero*a.Rank : (zero+1)*a.Rank])
		if i > 0 {
			use(t, l, "a")
		}
		n, at := 5, r.IntN(5)
		x, dy := numbers(r, n*base.In), numbers(r, n*base.Out)
		x[at*base.In+r.IntN(base.In)] = bad
		y := forward(t, l, x)
		dx := backward(t, l, x, dy)
		o.Floats("outputs, NaN or infinite in x", cut(y, at, base.Out, bad))
		o.Floats("gradients of x, NaN or infinite in x", dx)
		o.Ints("numbers that are not finite in other rows", []int{notFinite(cut(y, at, base.Out, 0)), notFinite(dx)})
		o.Ints("lengths", []int{len(y), len(dx)})
		for c := range base.Out {
			one := slices.Clone(dy)
			one[at*base.Out+c] = bad
			o.Floats("gradients of x, NaN or infinite in the gradient of y", cut(backward(t, l, x, one), at, base.In, bad))
			o.Floats("gradients of x, NaN or infinite in that of y alone", cut(backward(t, l, numbers(r, n*base.In), one), at, base.In, bad))
		}
		if i > 0 {
			merge(t, l)
			o.Floats("outputs while merged, NaN or infinite in x", cut(forward(t, l, x), at, base.Out, bad))
		}
	}
}

// cut returns m, whose rows have n numbers, without row at. If bad is NaN, that row is left.
func cut(m []float64, at, n int, bad float64) []float64 {
	if bad != bad || len(m) < (at+1)*n {
		return m
	}
	return append(append([]float64{}, m[:at*n]...), m[(at+1)*n:]...)
}

func notFinite(xs []float64) (n int) {
	for _, x := range xs {
		if x-x != 0 {
			n++
		}
	}
	return n
}

// Many inputs, outputs and rows, and a large rank (rules 7, 9 and 10).
func TestLarge(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i, size := range [][4]int{{2500, 3, 2, 3}, {3, 2500, 2, 3}, {5, 7, 3000, 2}, {9, 6, 3, 300}, {120, 90, 70, 70}} {
		base := newBase(r, size[0]+r.IntN(9), size[1]+r.IntN(9), true)
		l := newLayer(t, base)
		a := active(t, r, l, base, "a", plain(size[3]+r.IntN(9)))
		n := size[2] + r.IntN(9)
		x, dy := numbers(r, n*base.In), numbers(r, n*base.Out)
		o.Float(fmt.Sprintf("outputs of size %d, weighted and added up", i), product(forward(t, l, x)))
		o.Float(fmt.Sprintf("gradients of x of size %d, weighted and added up", i), product(backward(t, l, x, dy)))
		o.Float(fmt.Sprintf("gradients of A and B of size %d, weighted and added up", i), product(grads(a)))
		merge(t, l)
		o.Float(fmt.Sprintf("weights of size %d, weighted and added up", i), product(base.W))
		o.Ints("lengths", []int{len(a.A), len(a.B), base.In, base.Out})
	}
}
