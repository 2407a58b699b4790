package hidden

import (
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/logsumexp"
)

// softmax calls LogSoftmax, with a dst that holds numbers already, and records what
// is in both slices afterwards.
func softmax(o *observe.Observer, xs []float64, c ...observe.Comparison) {
	dst := draw(o.Rand(), len(xs), 0, 1)
	logsumexp.LogSoftmax(dst, xs)
	o.Floats("result", dst, c...)
	o.Floats("numbers afterwards", xs, observe.Exact())
	logsumexp.LogSoftmax(xs, xs)
	o.Floats("result in place", xs, c...)
}

// softmaxOfMany is softmax of so many numbers that their sum is recorded, each with a
// weight of its own.
func softmaxOfMany(o *observe.Observer, name string, xs []float64, c ...observe.Comparison) {
	r := o.Rand()
	dst, weights := draw(r, len(xs), 0, 1), draw(r, len(xs), 0, 1)
	logsumexp.LogSoftmax(dst, xs)
	o.Float(name+"results, weighted and added up", product(weights, dst), c...)
	o.Float(name+"the numbers afterwards, weighted and added up", product(weights, xs), observe.Exact())
	xs[r.IntN(len(xs))] += 12 // in the same slice
	logsumexp.LogSoftmax(dst, xs)
	o.Float(name+"results after a change, weighted and added up", product(weights, dst), c...)
	logsumexp.LogSoftmax(xs, xs)
	o.Float(name+"results in place, weighted and added up", product(weights, xs), c...)
}

// softmaxOfVeryMany is softmax of xs a thousand times over, for drawing takes longer than the
// call. One of these, at any place, has most of the weight, and the results at some places are
// recorded: each of them depends on all numbers.
func softmaxOfVeryMany(o *observe.Observer, xs []float64) {
	r := o.Rand()
	xs = slices.Repeat(xs, 1000)
	xs[r.IntN(len(xs))] += 20 + float64(r.IntN(4))
	places := []int{0, len(xs) - 1}
	for range 20 {
		places = append(places, r.IntN(len(xs)))
	}
	dst := make([]float64, len(xs))
	logsumexp.LogSoftmax(dst, xs)
	logsumexp.LogSoftmax(xs, xs)
	o.Floats(many+"some results of very many", picked(dst, places))
	o.Floats(many+"some results of very many, in place", picked(xs, places))
}

// picked are those of xs at places.
func picked(xs []float64, places []int) (some []float64) {
	for _, i := range places {
		some = append(some, xs[i])
	}
	return some
}

// Each number minus the log-sum-exp of all, in another slice or in place; -Inf stays
// -Inf (rules 10 and 12).
func TestLogSoftmax(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{1, 2, 3, 4 + r.IntN(30)} {
		for _, spread := range []float64{0, 1, 300} {
			softmax(o, draw(r, n, 1000*r.NormFloat64(), spread))
			softmax(o, mix(r, draw(r, n, 1000*r.NormFloat64(), spread), -inf))
		}
	}
	// The largest first, last or in between, as far from the others as there is.
	for _, far := range []float64{50, 709, 745, 2000, 1e13 * (1 + r.Float64()), math.Pow(10, 4+303*r.Float64()), 1e308 * r.Float64()} {
		for at := range 3 {
			one, others := draw(r, 3, 0, 1), draw(r, 3, 0, 1)
			one[at] += far
			others[at] -= far
			softmax(o, one)
			softmax(o, others)
		}
	}
	// All of them equal, and of any size.
	for _, size := range []float64{1e17, 1e20, 1e35, 1e100, 1e300, 1.5e308, math.MaxFloat64} {
		softmax(o, []float64{-size})
		softmax(o, []float64{-size, -size})
		softmax(o, []float64{-size, -size, -size})
		softmax(o, []float64{size, size})
	}
	for _, n := range append(lengths(r), above(r)) {
		softmaxOfMany(o, many, draw(r, n, 1000*r.NormFloat64(), 3))
	}
	softmaxOfVeryMany(o, draw(r, 1000+r.IntN(1000), 1000*r.NormFloat64(), 3))
	for _, xs := range behind(r) {
		softmaxOfMany(o, many+"far above the first, ", xs)
	}
	for _, xs := range crowds(r) {
		dst := make([]float64, len(xs))
		logsumexp.LogSoftmax(dst, xs)
		logsumexp.LogSoftmax(xs, xs)
		o.Floats("largest result, of a large number beside very many small ones", []float64{slices.Max(dst), slices.Max(xs)})
	}
	// One far above the others, at any place: what it has, and the first and the last.
	results := func(xs []float64) float64 {
		logsumexp.LogSoftmax(xs, xs)
		return xs[0] + xs[len(xs)/2] + xs[len(xs)-1]
	}
	placed(o, many+"results where one is far above the others, at any place", results, 0, 760+r.Float64())
	for _, n := range lengths(r) { // so much -Inf at first that a block has nothing else
		xs := append(slices.Repeat([]float64{-inf}, n), draw(r, 3, 0, 1)...)
		dst := make([]float64, len(xs))
		logsumexp.LogSoftmax(dst, xs)
		logsumexp.LogSoftmax(xs, xs)
		o.Floats(many+"last results, behind nothing but -Inf", slices.Concat(dst[n-1:], xs[n-1:]))
	}
	for _, specials := range [][]float64{{-inf}, {-inf, -inf, -inf}} {
		for xs := range scattered(r, specials...) {
			dst := make([]float64, len(xs))
			logsumexp.LogSoftmax(dst, xs)
			logsumexp.LogSoftmax(xs, xs)
			o.Ints(many+"results that are -Inf", []int{weightlessOf(dst), weightlessOf(xs)})
			weights := draw(r, len(xs), 0, 1)
			o.Float(many+"results beside -Inf, weighted and added up", product(weights, dst))
			o.Float(many+"results beside -Inf in place, weighted and added up", product(weights, xs))
		}
	}
}

// weightlessOf counts the -Inf in xs and puts 0 in their place.
func weightlessOf(xs []float64) (n int) {
	for i, x := range xs {
		if x == -inf {
			xs[i] = 0
			n++
		}
	}
	return n
}

// numbersIn counts what is not NaN.
func numbersIn(xs []float64) (n int) {
	for _, x := range xs {
		if x == x {
			n++
		}
	}
	return n
}

// Only differences matter: beside numbers of any size, up to 10¹⁵, the logarithm of the sum is
// right to the same digits as beside 0 (rule 10).
func TestLogSoftmaxShift(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, sign := range []float64{-1, 1} {
		for range 10 {
			xs := make([]float64, 2+r.IntN(6))
			center := sign * float64(1e15+r.Int64N(1e14))
			for i := range xs {
				xs[i] = center + float64(r.IntN(5)) // whole numbers, which are exact here
			}
			softmax(o, xs, roughly)
		}
	}
	shifts(o)
	for _, n := range lengths(r) {
		xs := make([]float64, n)
		center := float64(1e15 + r.Int64N(1e14))
		for i := range xs {
			xs[i] = center + float64(r.IntN(5))
		}
		softmaxOfMany(o, many, xs, roughly)
	}
}

// shifts are numbers of each size at which x - (m + log s) has lost the ninth digit: from 2²⁴ on,
// where a float64 is rounded to 2⁻²⁸. Of such differences some are off at each size, whatever is
// drawn.
func shifts(o *observe.Observer) {
	r := o.Rand()
	for exponent := 24; exponent <= 50; exponent++ {
		for _, sign := range []float64{-1, 1} {
			start := sign * (math.Ldexp(1, exponent) + float64(100+r.IntN(1000)))
			for n := 2; n <= 12; n++ {
				rising, equal := make([]float64, n), slices.Repeat([]float64{start}, n)
				for i, k := range r.Perm(n) {
					rising[i] = start + float64(k)
				}
				softmax(o, rising)
				softmax(o, equal)
			}
		}
	}
	for _, n := range lengths(r) {
		for _, exponent := range []int{27, 29, 30, 36, 43} {
			xs, dst := make([]float64, n), make([]float64, n)
			for i := range xs {
				xs[i] = math.Ldexp(1, exponent) + float64(r.IntN(5))
			}
			logsumexp.LogSoftmax(dst, xs)
			o.Floats(many+"first results", dst[:3])
		}
	}
}

// Without a finite log-sum-exp there are no probabilities: all are NaN (rule 11).
func TestLogSoftmaxNotFinite(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, alone := range []float64{-inf, inf, math.NaN()} {
		softmax(o, []float64{alone})
	}
	for _, specials := range [][]float64{{-inf}, {inf}, {inf, -inf}, {math.NaN()}, {math.NaN(), -inf}, {math.NaN(), inf}, {math.NaN(), inf, -inf}} {
		softmax(o, mix(r, nil, specials...))
		if specials[0] != -inf {
			softmax(o, mix(r, draw(r, 1+r.IntN(3), 0, 1), specials...))
		}
	}
	softmax(o, draw(r, 3, 0, 1), roughly) // and the next call is as ever
	for _, n := range lengths(r) {
		for _, special := range []float64{inf, math.NaN()} {
			xs, weights := draw(r, n, 0, 1), draw(r, n, 0, 1)
			xs[r.IntN(n)] = special
			dst := make([]float64, n)
			logsumexp.LogSoftmax(dst, xs)
			o.Float(many+"the numbers afterwards, weighted and added up", digest(weights, xs), observe.Exact())
			o.Int(many+"results that are not NaN", numbersIn(dst))
			o.Float(many+"result at any place", dst[r.IntN(n)], roughly)
		}
		dst := slices.Repeat([]float64{-inf}, n)
		logsumexp.LogSoftmax(dst, dst)
		o.Int(many+"results that are not NaN, of no weight", numbersIn(dst))
	}
	xs := slices.Repeat(draw(r, 1000+r.IntN(1000), 0, 1), 1000)
	dst := make([]float64, len(xs))
	for _, special := range []float64{inf, math.NaN()} {
		xs[r.IntN(len(xs))] = special
		logsumexp.LogSoftmax(dst, xs)
		o.Int(many+"results of very many that are not NaN", numbersIn(dst))
	}
	for _, specials := range spoiled {
		for xs := range scattered(r, specials...) {
			dst := make([]float64, len(xs))
			logsumexp.LogSoftmax(dst, xs)
			logsumexp.LogSoftmax(xs, xs)
			o.Ints(many+"not NaN, +Inf and NaN far apart", []int{numbersIn(dst), numbersIn(xs)})
		}
	}
}

// No numbers are no error, different lengths are (rule 12).
func TestLogSoftmaxLengths(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {3, 2}, {2, 3}} {
		dst, xs := draw(r, n[0], 0, 1), draw(r, n[1], 0, 1)
		o.Panics("panics", func() { logsumexp.LogSoftmax(dst, xs) })
		softmax(o, xs, roughly)
	}
	for _, none := range [][2][]float64{{nil, nil}, {nil, {}}, {{}, nil}} {
		o.Panics("panics at no numbers, nil or empty", func() { logsumexp.LogSoftmax(none[0], none[1]) })
	}
	for _, n := range lengths(r) {
		xs := draw(r, n+1, 0, 1)
		dst := make([]float64, n+1)
		o.Panics("panics at many numbers, dst is shorter", func() { logsumexp.LogSoftmax(dst[:n], xs) })
		o.Panics("panics at many numbers, dst is longer", func() { logsumexp.LogSoftmax(dst, xs[:n]) })
	}
}
