// Package hidden holds what students do not see. The tests record what the package
// answers, and compare nothing: grade compares it with what the reference answered.
package hidden

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/logsumexp"
)

var inf = math.Inf(1)

// draw makes n numbers about center, spread wide.
func draw(r *rand.Rand, n int, center, spread float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = center + spread*r.NormFloat64()
	}
	return xs
}

// product is one number for many, in which each has a weight of its own.
func product(weights, xs []float64) (sum float64) {
	for i, x := range xs {
		sum += weights[i] * x
	}
	return sum
}

// digest is product where infinities and NaN count as numbers, so that each is seen at its place.
func digest(weights, xs []float64) (sum float64) {
	for i, x := range xs {
		switch {
		case math.IsNaN(x):
			x = 30
		case math.IsInf(x, 0):
			x = math.Copysign(40, x)
		}
		sum += weights[i] * x
	}
	return sum
}

// mix puts some of each of specials among xs, in any order.
func mix(r *rand.Rand, xs []float64, specials ...float64) []float64 {
	for _, s := range specials {
		for range 1 + r.IntN(3) {
			xs = append(xs, s)
		}
	}
	r.Shuffle(len(xs), func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
	return xs
}

// lengths are those at which chunks, buffers and counters come round, and some more.
func lengths(r *rand.Rand) []int {
	ns := []int{45 + r.IntN(10), 90 + r.IntN(20), 200 + r.IntN(100), 500 + r.IntN(500), 1000 + r.IntN(3000)}
	for n := 8; n <= 1<<12; n *= 2 {
		ns = append(ns, n-1, n, n+1)
	}
	return ns
}

// crowds are one number and so many far below it that all of them together count, though none
// does by itself: the large one first, last and in between.
func crowds(r *rand.Rand) (list [][]float64) {
	for i, gap := range []float64{24, 27, 30, 31, 33.4} { // 400,000 times exp(-31) are 1.4e-8
		n := 400_000
		if gap > 33 { // exp(-33.9) so often is 3.8e-9
			n = 2_000_000
		}
		xs := slices.Repeat([]float64{-gap - r.Float64()/2}, n)
		xs[[]int{0, len(xs) - 1, r.IntN(len(xs)), 0, 0}[i]] = 0
		list = append(list, xs)
	}
	return list
}

// near are numbers, few and very many, whose exponentials a float64 holds, and their sum just
// not: the more there are, the smaller they are; and numbers whose exponentials it just holds.
func near(r *rand.Rand) (list [][]float64) {
	const largest, least = 709.78, -745.13 // whose exponentials are float64s
	for _, n := range []int{2, 3, 10, 100, 1000, 20_000 + r.IntN(1000), 400_000} {
		top := largest - math.Log(float64(n)) + 0.05 + 0.3*r.Float64()
		list = append(list, draw(r, n, top, 0.001), draw(r, n, least+0.1*r.Float64(), 0.001))
	}
	return list
}

// behind are a small number and many that lie far above it, and not so far that the
// exponential of a difference is too large for a float64: only all of them together are.
func behind(r *rand.Rand) (list [][]float64) {
	for _, gap := range []float64{698.5 + 1.5*r.Float64(), 700 + 4*r.Float64(), 704 + 4*r.Float64(), 708 + 1.5*r.Float64()} {
		xs := draw(r, 1+int(math.Exp(710.3-gap)), 10*r.NormFloat64()+gap, 0.001)
		list = append(list, append([]float64{xs[0] - gap}, xs...))
	}
	return list
}

// scattered are long lists of ordinary numbers and each of specials once, in that order: at any
// places, and as far from each other as there is. A -Inf goes on for a while.
func scattered(r *rand.Rand, specials ...float64) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		for _, n := range []int{3000 + r.IntN(3000), 10_000 + r.IntN(10_000), 70_000 + r.IntN(60_000)} {
			numbers := draw(r, n, 0, 1)
			apart, drawn := make([]int, len(specials)), make([]int, len(specials))
			for i := range specials {
				apart[i] = (n-20)*i/max(1, len(specials)-1) + r.IntN(20)
				drawn[i] = r.IntN(n - len(specials))
			}
			slices.Sort(drawn)
			for i := range drawn {
				drawn[i] += i // no two at the same
			}
			for _, places := range [][]int{apart, drawn} {
				xs := slices.Clone(numbers)
				for i, at := range places {
					xs[at] = specials[i]
					next := append(places[i+1:len(places):len(places)], n)[0]
					for specials[i] == -inf && at < next && r.IntN(n) > 3 {
						xs[at] = -inf
						at++
					}
				}
				if !yield(xs) {
					return
				}
			}
		}
	}
}

// spoiled are specials to scatter: one of them or several, NaN first and NaN last.
var spoiled = [][]float64{{inf}, {math.NaN()}, {inf, math.NaN()}, {math.NaN(), inf}, {-inf, inf}, {inf, -inf, math.NaN()}, {inf, inf, math.NaN(), -inf}}

// above is a length beyond those, and beyond what 16 bits count.
func above(r *rand.Rand) int { return 1<<16 + r.IntN(1000) }

// many begins the names of what is observed of more than a few numbers. Where many ordinary
// numbers have a wrong answer already, it does not count again (exercise.yaml).
const many = "many numbers: "

// large, infinite and weightless begin the names of what is observed of such numbers beside what
// a test is about: TestMagnitudes, TestNotFinite and TestNegativeInf are about them.
const (
	large      = "large numbers: "
	infinite   = "infinities and NaN: "
	weightless = "-Inf: "
)

// roughly compares where a test is not about the last digits, but about what counts at all.
var roughly = observe.Within(1e-5, 1e-5)

// The log-sum-exp of a few or many numbers of ordinary size (rules 1 and 5).
func TestSlice(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range append(lengths(r), 2, 3, 4+r.IntN(20), above(r)) {
		for _, spread := range []float64{0, 0.1, 1, 10} {
			o.Float("value of ordinary numbers", logsumexp.LogSumExp(draw(r, n, 3*r.NormFloat64(), spread)))
		}
	}
}

// Numbers whose exponentials are too large or too small for a float64, and numbers so
// far apart that even their difference is too large (rule 1).
func TestMagnitudes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, sign := range []float64{-1, 1} {
		for _, center := range []float64{700, 750, 1e4, 1e6, 1e300, 1e308} {
			o.Float("value of large numbers", logsumexp.LogSumExp(draw(r, 2+r.IntN(8), sign*center*(1+r.Float64()/2), 1)))
		}
		for exponent := -300; exponent < 308; exponent += 8 {
			x := sign * math.Pow(10, float64(exponent)+8*r.Float64())
			o.Float("value of two numbers of any size", logsumexp.LogSumExp([]float64{x, x * r.Float64()}))
			o.Float("value of a number and its negative", logsumexp.LogSumExp([]float64{x, -x}))
		}
	}
	for _, gap := range []float64{600, 700, 708.9, 709, 709.7, 710, 740, 745, 746} {
		low := 10 * r.NormFloat64()
		rising := []float64{low, low + gap, low + gap - r.Float64(), low + gap, low + gap - r.Float64()}
		o.Float("value of numbers with a gap, the small first", logsumexp.LogSumExp(slices.Clone(rising)))
		slices.Reverse(rising)
		o.Float("value of numbers with a gap, the small last", logsumexp.LogSumExp(rising))
	}
	for _, xs := range [][]float64{{-math.MaxFloat64, -math.MaxFloat64}, {math.MaxFloat64, -math.MaxFloat64}, {-math.MaxFloat64, math.MaxFloat64}} {
		o.Float("value of the largest there is and its negative", logsumexp.LogSumExp(xs))
	}
	for range 10 {
		low, high := -1e308*(1+r.Float64()/2), 1e308*(1+r.Float64()/2)
		o.Float("wide", logsumexp.LogSumExp(mix(r, nil, low, high, low/2)))
		o.Float("wide, ordinary numbers on top", logsumexp.LogSumExp(mix(r, draw(r, 3, 0, 1), low)))
		o.Float("wide, within reach of a logarithm", logsumexp.LogSumExp(mix(r, draw(r, 3, 0, 1), -30*r.Float64(), -2000)))
	}
	for _, xs := range crowds(r) {
		o.Float("a large number and very many small ones", logsumexp.LogSumExp(xs))
	}
	for _, xs := range near(r) {
		o.Float(many+"value where the sum is too large or too small, and no exponential is", logsumexp.LogSumExp(xs))
	}
	for _, xs := range behind(r) {
		o.Float(many+"value of numbers far above the first", logsumexp.LogSumExp(xs))
		slices.Reverse(xs)
		o.Float(many+"value of numbers far above the last", logsumexp.LogSumExp(xs))
	}
	for _, n := range lengths(r) {
		center := 1000 + 1e6*r.Float64()
		o.Float(many+"value of large ones", logsumexp.LogSumExp(draw(r, n, center, 1)))
		o.Float(many+"value of large ones below 0", logsumexp.LogSumExp(draw(r, n, -center, 1)))
	}
	for _, height := range []float64{760 + r.Float64(), 1e6 + r.Float64()} {
		placed(o, many+"value where one number is far above the others, at any place", logsumexp.LogSumExp, 0, height)
	}
}

// -Inf adds nothing, first, last or in between; of no numbers, or none but -Inf, the
// value is -Inf (rule 2).
func TestNegativeInf(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, xs := range [][]float64{nil, {}, {-inf}, {-inf, -inf}, {-inf, -inf, -inf}} {
		o.Float("value of no weight", logsumexp.LogSumExp(xs))
		x, y := -5*r.Float64(), -100*r.Float64()
		o.Float("-Inf first", logsumexp.LogSumExp(append(xs[:len(xs):len(xs)], x, x, y)), roughly)
		o.Float("-Inf last", logsumexp.LogSumExp(append([]float64{x, y, y}, xs...)), roughly)
		o.Float("-Inf in between", logsumexp.LogSumExp(append(append([]float64{x, y}, xs...), y, x)), roughly)
	}
	for _, n := range lengths(r) {
		xs := slices.Repeat([]float64{-inf}, n)
		o.Float(many+"value of no weight", logsumexp.LogSumExp(xs))
		for range 3 {
			xs[r.IntN(n)] = -100 * r.Float64()
		}
		o.Float(many+"value of a few beside -Inf", logsumexp.LogSumExp(xs))
	}
	for _, specials := range [][]float64{{-inf}, {-inf, -inf, -inf}} {
		for xs := range scattered(r, specials...) {
			o.Float(many+"value where -Inf goes on for a while", logsumexp.LogSumExp(xs))
		}
	}
	placed(o, many+"value of one number beside -Inf, at any place", logsumexp.LogSumExp, -inf, r.NormFloat64())
}

// NaN wins over everything, and +Inf over everything else, wherever they stand and
// however many numbers are between them (rule 3).
func TestNotFinite(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	nan := math.NaN()
	for _, specials := range [][]float64{
		{}, {inf}, {nan}, {inf, nan}, {inf, -inf}, {nan, -inf}, {inf, nan, -inf},
	} {
		for range 8 {
			o.Float("value with infinities and NaN", logsumexp.LogSumExp(mix(r, draw(r, 1+r.IntN(3), 0, 5), specials...)), roughly)
			o.Float("value without finite numbers", logsumexp.LogSumExp(mix(r, nil, specials...)))
		}
	}
	for _, xs := range [][]float64{{inf, inf}, {nan, nan}, {nan, inf}, {inf, nan}, {nan, 1}, {1, nan}, {inf, 1}, {1, inf}} {
		o.Float("value of two", logsumexp.LogSumExp(xs))
	}
	for _, n := range lengths(r) {
		xs := draw(r, n, 0, 1)
		at := r.IntN(n)
		xs[at] = inf
		o.Float(many+"value with +Inf", logsumexp.LogSumExp(xs))
		xs[(at+1+r.IntN(n-1))%n] = nan
		o.Float(many+"value with +Inf and NaN", logsumexp.LogSumExp(xs))
	}
	for _, specials := range spoiled {
		for xs := range scattered(r, specials...) {
			o.Float(many+"value with +Inf and NaN far apart", logsumexp.LogSumExp(xs))
		}
	}
	for _, n := range []int{1 << 8, 1 << 16} { // which counts of few bits take for none
		for _, special := range []float64{inf, nan} {
			o.Float(many+"value with very many +Inf or NaN", logsumexp.LogSumExp(append(slices.Repeat([]float64{special}, n), r.NormFloat64())))
		}
	}
	placed(o, many+"value with +Inf at any place", logsumexp.LogSumExp, 0, inf)
	placed(o, many+"value with NaN at any place", logsumexp.LogSumExp, 0, nan)
	placed(o, many+"value with NaN at any place, and +Inf", logsumexp.LogSumExp, 0, nan, inf)
}

// The value of a single number is that number to the last bit, also beside -Inf
// (rule 4).
func TestSingle(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, exponent := range []float64{-310, -100, -10, -1, 0, 1, 2.9, 10, 100, 308} {
		recordSingle(o, (1+r.Float64()/2)*math.Pow(10, exponent))
	}
	recordSingle(o, math.MaxFloat64)
	for _, n := range lengths(r) {
		x := 100 * r.NormFloat64()
		xs := slices.Repeat([]float64{-inf}, n)
		xs[r.IntN(n)] = x
		o.Float(weightless+"many numbers, LogSumExp of a number beside -Inf", logsumexp.LogSumExp(xs), observe.Exact())
		o.Float(weightless+"many numbers, Of a number beside -Inf", logsumexp.Of(slices.Values(xs)), observe.Exact())
	}
}

// recordSingle records the value of x alone, and of -x.
func recordSingle(o *observe.Observer, x float64) {
	for _, x := range []float64{-x, x} {
		var a logsumexp.Acc
		a.Add(x)
		o.Float("LogSumExp of a single number", logsumexp.LogSumExp([]float64{x}), observe.Exact())
		o.Float(weightless+"LogSumExp of a number beside -Inf", logsumexp.LogSumExp(mix(o.Rand(), []float64{x}, -inf)), observe.Exact())
		o.Float("Of a single number", logsumexp.Of(slices.Values([]float64{x})), observe.Exact())
		o.Float("Value of a single number", a.Value(), observe.Exact())
		a.Add(-inf)
		o.Float(weightless+"Value of a number beside -Inf", a.Value(), observe.Exact())
	}
}

// LogSumExp leaves its argument as it is, whatever numbers are in it, and remembers nothing
// of it: the same slice with another number in it has another value (rule 5).
func TestArgument(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 10 {
		xs := draw(r, 2+r.IntN(30), 0, 3)
		o.Float("value", logsumexp.LogSumExp(xs), roughly)
		o.Float("value once more", logsumexp.LogSumExp(xs), roughly)
		o.Floats("numbers afterwards", xs, observe.Exact())
		xs[r.IntN(len(xs))] += 1 + 5*r.Float64()
		o.Float("value after a change", logsumexp.LogSumExp(xs), roughly)
		// The values of these are for other tests.
		low, high := -1e308*(1+r.Float64()/2), 1e308*(1+r.Float64()/2)
		for _, specials := range [][]float64{{-inf}, {inf}, {math.NaN()}, {-inf, inf}, {inf, math.NaN()}, {-inf, inf, math.NaN()}, {low, high}} {
			for _, others := range [][]float64{nil, draw(r, 1+r.IntN(8), 0, 3), draw(r, 1+r.IntN(8), 2000*r.NormFloat64(), 1)} {
				xs := mix(r, others, specials...)
				logsumexp.LogSumExp(xs)
				o.Floats("numbers of any kind afterwards", xs, observe.Exact())
			}
		}
	}
	for _, n := range append(lengths(r), 1_000_000+r.IntN(200_000)) {
		xs := draw(r, n, 0, 1)
		weights := draw(r, n, 0, 1)
		o.Float(many+"value", logsumexp.LogSumExp(xs), roughly)
		o.Float(many+"the numbers afterwards, weighted and added up", product(weights, xs), observe.Exact())
		xs[r.IntN(n)] += 20 + 5*r.Float64()
		o.Float(many+"value after a change", logsumexp.LogSumExp(xs), roughly)
		for _, special := range []float64{-inf, inf, math.NaN()} { // each beside those before
			xs[r.IntN(n)] = special
			logsumexp.LogSumExp(xs)
			o.Float(many+"numbers of any kind afterwards, weighted and added up", digest(weights, xs), observe.Exact())
		}
	}
}
