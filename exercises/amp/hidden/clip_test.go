package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/amp"
)

// near is for gradients of a norm of 100 and more, where the 1e-6 in the formula changes
// the eighth digit.
var near = observe.Within(0, 1e-7)

// clip calls Clip and records what it returns and leaves.
func clip(o *observe.Observer, grads [][]float64, max, p float64, c observe.Comparison) {
	norm, err := amp.Clip(grads, max, p)
	sentinels(o, "error of Clip", err)
	o.Float("norm that Clip returns", norm, right)
	o.Floats("gradients after Clip", flat(grads), c)
}

// lengths are some at which loops that take several numbers at a time come to an end.
func lengths(r *rand.Rand) []int {
	ns := []int{1, 2, 3, 5 + r.IntN(4), 100 + r.IntN(900)}
	for n := 8; n <= 1<<12; n *= 4 {
		ns = append(ns, n-1, n, n+1)
	}
	return append(ns, 1<<16+1+r.IntN(1000))
}

// ordinary clips gradients of all lengths, to less than their norm.
func ordinary(o *observe.Observer, p float64) {
	r := o.Rand()
	for range 10 {
		clip(o, draw(r, 200*(1+r.Float64())), 1+90*r.Float64(), p, near)
	}
	for _, n := range lengths(r) {
		clip(o, [][]float64{numbers(r, n, 300)}, 1+90*r.Float64(), p, near)
		many := make([][]float64, n)
		for i := range many {
			many[i] = numbers(r, 1+r.IntN(2), 300)
		}
		clip(o, many, 1+90*r.Float64(), p, near)
	}
	big := numbers(r, 70_000+r.IntN(1000), 300)
	big[r.IntN(len(big))] = 1e5
	norm, err := amp.Clip([][]float64{big}, 10, p)
	o.Float("norm of many", norm, right)
	sentinels(o, "error of many", err)
	o.Floats("some of many", []float64{big[0], big[r.IntN(len(big))], big[len(big)-1]}, near)
}

// With p = 2, the norm is the root of the sum of all squares of all slices together, and
// one factor scales all gradients if it is above max (rules 1 and 2).
func TestClip(t *testing.T) { ordinary(observe.New(t), 2) }

// With p = +Inf, the norm is the largest absolute value of all slices together (rules 1
// and 2).
func TestClipLargest(t *testing.T) { ordinary(observe.New(t), inf) }

// The factor is max / (norm + 1e-6), which shows where the norm is small (rule 2).
func TestEpsilon(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 10 {
		for _, p := range []float64{2, inf} {
			scale := math.Pow(10, -8+7*r.Float64())
			clip(o, draw(r, scale), scale*r.Float64()/4, p, right)
			clip(o, draw(r, 1e-7), 0.9e-7+1e-7*r.Float64(), p, right)
			// Exactly the norm, which is 5k with any way to compute it.
			k := power(r, -26, -20)
			clip(o, [][]float64{{3 * k}, {-4 * k}}, 5*k, 2, right)
			clip(o, [][]float64{{3 * k}, {-4 * k}}, 4*k, inf, right)
		}
	}
	for _, p := range []float64{2, inf} {
		tiny(o, p)
	}
}

// tiny clips gradients of a norm far below 1e-6 to a max that is below it, too. Their norm
// is for TestClipMagnitudes.
func tiny(o *observe.Observer, p float64) {
	r := o.Rand()
	for exponent := -10; exponent > -280; exponent -= 9 {
		grads := draw(r, math.Pow(10, float64(exponent)))
		amp.Clip(grads, 1e-8*(1+r.Float64()), p)
		o.Floats("gradients of a tiny norm, clipped to a max below 1e-6", flat(grads), right)
	}
}

// Gradients whose norm is below max are not changed, and never scaled up (rule 2).
func TestNeverUp(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, p := range []float64{2, inf} {
		for range 5 {
			grads := draw(r, 1+r.Float64())
			clip(o, grads, norm2(grads)*(1.001+5*r.Float64()), p, exact)
			k := power(r, 0, 5)
			clip(o, [][]float64{{3 * k}, nil, {-4 * k}}, 5*k+power(r, -16, -6), p, exact)
			clip(o, [][]float64{{3 * k}, nil, {-4 * k}}, k*(1+r.Float64()), p, rough)
			clip(o, draw(r, power(r, -60, -10)), 1+r.Float64(), p, exact)
		}
	}
}

// There may be no slices, and slices may be nil or empty: no numbers have a norm of 0
// (rule 3).
func TestClipEmpty(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, p := range []float64{2, inf} {
		for _, none := range [][][]float64{nil, {}, {nil}, {{}}, {nil, {}, nil}, {{0}, nil, {0, 0}}} {
			clip(o, slices.Clone(none), r.Float64(), p, exact)
			clip(o, slices.Clone(none), 0, p, exact)
			clip(o, append(slices.Clone(none), numbers(r, 3, 9)), 1+r.Float64(), p, rough)
			clip(o, append([][]float64{numbers(r, 3, 9)}, none...), 1+r.Float64(), p, rough)
		}
		grads := [][]float64{nil, {}, {9}, nil}
		_, err := amp.Clip(grads, 1, p)
		sentinels(o, "error of Clip", err)
		o.Int("slices", len(grads))
		o.Bool("nil stays nil", grads[0] == nil && grads[3] == nil && grads[1] != nil)
	}
}

// A max of 0 sets all gradients to 0, and one of +Inf changes nothing (rule 4).
func TestClipBounds(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, p := range []float64{2, inf} {
		for range 3 {
			clip(o, draw(r, 10), 0, p, exact)
			clip(o, draw(r, 10), inf, p, exact)
			clip(o, draw(r, 1e300/100), inf, p, exact)
			clip(o, draw(r, 10), zero, p, exact)
		}
		for exponent := -280; exponent < 140; exponent += 7 { // their norm is for TestClipMagnitudes
			grads := draw(r, math.Pow(10, float64(exponent)))
			amp.Clip(grads, 0, p)
			o.Floats("gradients of any size after Clip with a max of 0", flat(grads), exact)
		}
	}
}

// A gradient that is NaN or infinite is ErrNonFinite, and nothing is changed; the norm is
// NaN if there is a NaN, and +Inf otherwise (rule 5).
func TestClipNotFinite(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, p := range []float64{2, inf} {
		for _, bad := range [][]float64{{nan}, {inf}, {-inf}, {nan, inf}, {inf, nan}, {-inf, nan}, {inf, -inf}} {
			for _, max := range []float64{1 + r.Float64(), 1e9, 0, inf} {
				grads := draw(r, 9)
				spots := r.Perm(3)
				first := numbers(r, 3, 9)
				for i, x := range bad {
					first[spots[i]] = x
				}
				clip(o, slices.Insert(grads, r.IntN(len(grads)+1), first), max, p, exact)
				clip(o, [][]float64{slices.Clone(bad)}, max, p, exact)
			}
		}
		for _, bad := range []float64{nan, inf, -inf} { // first of all, and last of all
			long := numbers(r, 40+r.IntN(30), 9)
			long[0] = bad
			clip(o, [][]float64{long}, 1, p, exact)
			for _, scale := range []float64{1e200, 1e-200} {
				far := numbers(r, 3+r.IntN(9), scale)
				far[r.IntN(len(far))] = bad
				clip(o, [][]float64{{1e200, 1e-200}, far}, 1e9, p, exact)
			}
			long = numbers(r, 40+r.IntN(30), 9)
			long[len(long)-1] = bad
			clip(o, [][]float64{nil, long}, 1, p, exact)
		}
	}
}

// Numbers may be so large or so small that their squares are no float64, alone or
// together (rule 6).
func TestClipMagnitudes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, p := range []float64{2, inf} {
		for exponent := 10; exponent < 298; exponent += 6 {
			scale := math.Pow(10, float64(exponent)+6*r.Float64()/2)
			clip(o, draw(r, scale), scale*r.Float64()/4, p, rough)
			clip(o, draw(r, 1/scale), 1+r.Float64(), p, exact)
		}
		for range 5 {
			small, large := math.Pow(10, -200-90*r.Float64()), math.Pow(10, 160+100*r.Float64())
			mixed := [][]float64{{small, -small}, {large, small}, {-large}, {small}}
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			clip(o, mixed, 2*large, p, exact)
			clip(o, [][]float64{{small}, {0}, {-small * (1 + r.Float64())}, numbers(r, 4, small)}, 1, p, exact)
			clip(o, [][]float64{numbers(r, 5, large), {0, 0}}, 10*r.Float64(), p, rough)
		}
		for exponent := -290; exponent <= 290; exponent += 2 { // on both sides of any bound for large and for small ones
			s := math.Pow(10, float64(exponent))
			clip(o, [][]float64{numbers(r, 3, s), numbers(r, 3, 10*s), numbers(r, 3, 100*s)}, inf, p, exact)
		}
		// Each square is in range, and their sum is not; and the other way round.
		clip(o, [][]float64{numbers(r, 2000+r.IntN(2000), 1.2e154)}, 1e150*(1+r.Float64()), p, rough)
		clip(o, [][]float64{numbers(r, 2000+r.IntN(2000), 1e-160*(1+r.Float64()))}, 1, p, exact)
	}
}

// A max below 0 or NaN and a p other than 2 and +Inf are an error, and nothing is changed
// (rule 7).
func TestClipRefuses(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	try := func(grads [][]float64, max, p float64) {
		_, err := amp.Clip(grads, max, p)
		sentinels(o, "error of Clip", err)
		o.Floats("gradients after Clip", flat(grads), exact)
	}
	for _, max := range []float64{-r.Float64() - 1e-9, -1e-300, nan, -inf} {
		try(draw(r, 9), max, 2)
		try(draw(r, 9), max, inf)
		try([][]float64{{nan, 1}}, max, 2)
		try(nil, max, inf)
	}
	for _, p := range []float64{0, 1, 3, 1.5, -2, -inf, nan, 2 + r.Float64(), 1e300} {
		try(draw(r, 9), 1, p)
		try([][]float64{{inf, 1}}, 1, p)
		try([][]float64{nil, {}}, inf, p)
	}
	norm, err := amp.Clip([][]float64{{300}, {400}}, 1e3, 2)
	o.Float("norm afterwards", norm, right)
	sentinels(o, "error afterwards", err)
}
