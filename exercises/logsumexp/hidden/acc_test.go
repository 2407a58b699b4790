package hidden

import (
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"grade/observe"
	"grade/reference/logsumexp"
)

// record writes down what a holds.
func record(o *observe.Observer, name string, a *logsumexp.Acc, c ...observe.Comparison) {
	o.Float(name+" value", a.Value(), c...)
	o.Int(name+" length", a.Len())
}

// holding makes an accumulator of xs.
func holding(xs []float64) (a logsumexp.Acc) {
	for _, x := range xs {
		a.Add(x)
	}
	return a
}

// once is a sequence of xs that can be had a single time. It counts the attempts.
func once(xs []float64, ranges *int) iter.Seq[float64] {
	return func(yield func(float64) bool) {
		if *ranges++; *ranges > 1 {
			return
		}
		for _, x := range xs {
			if !yield(x) {
				return
			}
		}
	}
}

// The value of a sequence that can be ranged over only once, of any numbers, or none, also
// where the sequence itself uses the package, or several have their numbers at the same time
// (rule 6, and rules 1 to 4).
func TestSequence(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		recordOnce(o, "value of no numbers", nil)
		recordOnce(o, "value of a sequence", draw(r, 2+r.IntN(50), 0, 3))
		recordOnce(o, large+"value", draw(r, 2+r.IntN(50), 1e4*r.NormFloat64(), 1))
		recordOnce(o, large+"value of a single one", draw(r, 1, -1000, 100))
		recordOnce(o, weightless+"value", []float64{-inf, -inf})
		recordOnce(o, weightless+"value with others", mix(r, draw(r, 3, 0, 1), -inf))
		recordOnce(o, infinite+"value", mix(r, draw(r, 3, 0, 1), -inf, inf))
		recordOnce(o, infinite+"value", mix(r, draw(r, 3, 0, 1), -inf, inf, math.NaN()))
	}
	// NaN behind +Inf, and lengths at which chunks and counters come round.
	recordOnce(o, infinite+"value where NaN comes behind +Inf", []float64{r.NormFloat64(), inf, r.NormFloat64(), math.NaN()})
	recordOnce(o, "value of a long sequence", draw(r, above(r), 0, 2))
	for _, xs := range crowds(r) {
		recordOnce(o, "value of a large number and very many small ones", xs)
	}
	for _, xs := range near(r) {
		recordOnce(o, large+"value where the sum is too large or too small, and no exponential is", xs)
	}
	for _, xs := range behind(r) {
		recordOnce(o, large+"long sequence far above the first", xs)
	}
	for _, specials := range spoiled {
		for xs := range scattered(r, specials...) {
			recordOnce(o, infinite+"long sequence, +Inf and NaN far apart", xs)
		}
	}
	for xs := range scattered(r, -inf, -inf) {
		recordOnce(o, weightless+"long sequence with much -Inf", xs)
	}
	for _, n := range lengths(r) {
		recordOnce(o, "value of a long sequence", draw(r, n, 0, 2))
		recordOnce(o, large+"value of a long sequence", draw(r, n, 1e4*r.NormFloat64(), 1))
		xs := draw(r, n, 0, 1)
		at := r.IntN(n)
		xs[at] = inf
		recordOnce(o, infinite+"value of a long sequence with +Inf", xs)
		xs[(at+1+r.IntN(n-1))%n] = math.NaN()
		recordOnce(o, infinite+"value of a long sequence with +Inf and NaN", xs)
		recordOnce(o, weightless+"value of a long sequence with one number", append(slices.Repeat([]float64{-inf}, n), r.NormFloat64()))
	}
	of := func(xs []float64) float64 { return logsumexp.Of(slices.Values(xs)) }
	placed(o, large+"value of a sequence where one number is far above the others, at any place", of, 0, 760+r.Float64())
	placed(o, weightless+"value of a sequence of one number beside -Inf, at any place", of, -inf, r.NormFloat64())
	placed(o, infinite+"value of a sequence with NaN at any place, and +Inf", of, 0, math.NaN(), inf)
	for _, n := range []int{1, 3, 10, 300, 5000} {
		for _, inner := range []int{1, 3, 300, 5000} {
			recordNested(o, draw(r, n, 0, 1), draw(r, inner, 3, 1))
		}
		for calls := 2; calls <= 3; calls++ {
			o.Floats("values of sequences that have their numbers at the same time", atOnce(draw(r, n, 0, 1), calls))
		}
	}
	for _, most := range []int{3, 8, 8, 20, 20, 600} {
		var lists [][]float64
		for k := range 6 + r.IntN(6) {
			lists = append(lists, draw(r, r.IntN(most), float64(k%4), 1))
		}
		o.Floats("values of sequences that have their numbers by turns", byTurns(r, lists))
	}
}

// byTurns calls Of for each list, and passes a number to one of these calls or to another: each
// begins and ends while others go on, the first to begin being the first to end or not.
func byTurns(r *rand.Rand, lists [][]float64) []float64 {
	values := make([]float64, len(lists))
	var turns []func() (float64, bool)
	for k, xs := range lists {
		next, _ := iter.Pull(func(pause func(float64) bool) {
			values[k] = logsumexp.Of(func(yield func(float64) bool) {
				for _, x := range xs {
					if !pause(x) || !yield(x) {
						return
					}
				}
				pause(0) // the end is a turn of its own
			})
		})
		turns = append(turns, next)
	}
	for len(turns) > 0 {
		i := r.IntN(min(3, len(turns))) // of few, so that some begin when others have ended
		if _, more := turns[i](); !more {
			turns = slices.Delete(turns, i, i+1)
		}
	}
	return values
}

// atOnce calls Of in the sequence of Of, and passes each of xs, or some, on to all of these calls,
// also to those that outer sequences belong to. It returns their values, the innermost first.
func atOnce(xs []float64, calls int, outer ...func(float64) bool) (values []float64) {
	value := logsumexp.Of(func(yield func(float64) bool) {
		yields := append(slices.Clone(outer), yield)
		if len(yields) < calls {
			values = atOnce(xs, calls, yields...)
			return
		}
		for i, x := range xs {
			for j, yield := range yields {
				if i%(j+1) == 0 && !yield(x+float64(j)) {
					return
				}
			}
		}
	})
	return append(values, value)
}

// recordNested records the values of xs as sequences that use the package between their
// numbers, and what they get: a sequence of values is one, for example.
func recordNested(o *observe.Observer, xs, inner []float64) {
	between := map[string]func() float64{
		"Of":        func() float64 { return logsumexp.Of(slices.Values(inner)) },
		"LogSumExp": func() float64 { return logsumexp.LogSumExp(slices.Clone(inner)) },
		"LogSoftmax": func() float64 {
			dst := make([]float64, len(inner))
			logsumexp.LogSoftmax(dst, inner)
			return float64(len(dst))
		},
		"an Acc": func() float64 {
			a := holding(inner)
			return a.Value()
		},
		"Of in Of": func() float64 {
			return logsumexp.Of(func(yield func(float64) bool) {
				_ = yield(1) && yield(logsumexp.Of(slices.Values(inner))) && yield(2)
			})
		},
	}
	for _, name := range slices.Sorted(maps.Keys(between)) {
		got := 0.0
		value := logsumexp.Of(func(yield func(float64) bool) {
			for i, x := range xs {
				if i < 3 || i == len(xs)/3|1 || i == len(xs)-1 {
					got = between[name]()
				}
				if !yield(x) {
					return
				}
			}
			got += between[name]()
		})
		o.Float("value of a sequence that uses "+name, value)
		if strings.HasPrefix(name, "Of") {
			o.Float("what such a sequence gets of "+name, got, roughly)
		}
	}
}

// recordOnce records the value of xs as a sequence, and how often it was ranged over.
func recordOnce(o *observe.Observer, name string, xs []float64) {
	ranges := 0
	o.Float(name, logsumexp.Of(once(xs, &ranges)))
	o.Int("times a sequence was ranged over", ranges)
}

// The zero Acc is empty, and after each Add the value and the number of all that was
// added can be had, as often as one likes (rule 7, with rules 1 to 4).
func TestAcc(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	// Rising numbers move the maximum with each of them, falling ones never.
	for round, slope := range []float64{-1, 0, 1, 5, -400, -1, 1, 400} {
		var a logsumexp.Acc
		record(o, "empty", &a)
		center := []float64{3, 2000}[round/4] * r.NormFloat64()
		for i := range 10 {
			a.Add(center + slope*float64(i) + r.NormFloat64())
			record(o, "then", &a)
			record(o, "asked again", &a)
		}
	}
	jumps(o)
	for _, center := range []float64{0, 2000 * r.NormFloat64()} {
		var a logsumexp.Acc
		held := 0
		for _, n := range slices.Sorted(slices.Values(lengths(r))) {
			for held < n {
				a.Add(center + r.NormFloat64())
				held++
			}
			record(o, many+"then", &a)
			record(o, many+"asked again", &a)
		}
		for _, x := range []float64{-inf, inf, math.NaN()} {
			a.Add(x)
			record(o, many+"with infinities and NaN", &a)
		}
	}
	for _, specials := range [][]float64{{-inf}, {-inf, inf}, {-inf, inf, math.NaN()}} {
		var a logsumexp.Acc
		for _, x := range mix(r, draw(r, 4, -800, 2), specials...) {
			a.Add(x)
			record(o, "with infinities and NaN", &a)
		}
	}
	for _, specials := range append(spoiled, []float64{-inf, -inf}) {
		for xs := range scattered(r, specials...) {
			a := holding(xs)
			record(o, many+"with +Inf and NaN far apart", &a)
		}
	}
}

// jumps adds numbers that go up or down by a step of any size, several at each height:
// so that sums of exponentials overflow which one alone does not, and as many numbers as
// show together and not alone.
func jumps(o *observe.Observer) {
	r := o.Rand()
	for _, size := range []float64{10, 30, 40, 300, 600, 700, 705, 708, 709, 709.7, 710, 745, 1000, math.Pow(10, 4+300*r.Float64())} {
		for _, step := range []float64{size, -size} {
			var a logsumexp.Acc
			start := 1e3 * r.NormFloat64()
			for height := range 3 {
				for range 3 + r.IntN(5) {
					a.Add(start + step*float64(height) + r.Float64())
				}
				record(o, "after a jump", &a)
			}
		}
	}
	// So many at the edge that their exponentials overflow together, and none by itself.
	for _, edge := range []float64{704, 706, 708.9, 709.7} {
		var a logsumexp.Acc
		start := 100 * r.NormFloat64()
		a.Add(start)
		for range 500 {
			a.Add(start + edge - 0.01*r.Float64())
		}
		record(o, "numbers at the edge of overflow", &a)
	}
	for _, xs := range behind(r) {
		a := holding(xs)
		record(o, many+"far above the first", &a)
	}
	var a logsumexp.Acc
	top := 100 * r.NormFloat64()
	a.Add(top)
	for range 20_000 {
		a.Add(top - 22 - 4*r.Float64())
	}
	record(o, "one large number and very many small ones", &a)
	// Each of the small ones leaves the value as it is, to the last digits, and all do not.
	for _, gap := range []float64{22, 26, 30} {
		a := holding([]float64{r.Float64() / 8})
		for range 4 {
			record(o, "one large number, asked again and again", &a)
			for range 100_000 {
				a.Add(-gap)
			}
		}
		record(o, "one large number, asked again and again", &a)
	}
}

// What is added to a copy does not show in the original, nor the other way round
// (rule 9).
func TestCopy(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 10 {
		a := holding(draw(r, r.IntN(100), 0, 1))
		b := a
		a.Add(3 + r.Float64())
		record(o, "original", &a, roughly)
		record(o, "copy", &b, roughly)
		b.Add(4 + r.Float64())
		record(o, "original", &a, roughly)
		record(o, "copy", &b, roughly)
		b.Merge(a)
		b = a
		b.Merge(holding(draw(r, 3, 5, 1)))
		record(o, "original", &a, roughly)
		record(o, "copy", &b, roughly)
	}
	for _, held := range [][]float64{{inf}, {math.NaN()}, {-inf}, {inf, -inf}, {inf, math.NaN()}} {
		for _, one := range []float64{inf, math.NaN(), -inf, r.NormFloat64()} {
			for _, others := range [][]float64{nil, draw(r, 3, 0, 1)} {
				a := holding(mix(r, others, held...))
				b := a
				b.Add(one)
				record(o, infinite+"original, one added to the copy", &a)
				record(o, infinite+"copy, after that", &b)
				c := a
				a.Merge(holding([]float64{one}))
				record(o, infinite+"copy, one merged into the original", &c)
			}
		}
	}
	for _, n := range lengths(r) {
		a := holding(draw(r, n, 0, 1))
		recordCopies(o, many, a, math.Log(float64(n)))
	}
	a := holding(draw(r, 3, 0, 1))
	for i := range 45 { // up to more numbers than can be added one by one
		a.Merge(a)
		recordCopies(o, many+"doubled, ", a, float64(i)*math.Ln2)
	}
}

// recordCopies adds to an accumulator of value about value, and to copies of it.
func recordCopies(o *observe.Observer, name string, a logsumexp.Acc, value float64) {
	r := o.Rand()
	b := a
	for range 2 {
		a.Add(value + 3 + r.Float64())
		record(o, name+"copy, the other grew", &b, roughly)
		b.Add(value + 4 + r.Float64())
		record(o, name+"original, the other grew", &a, roughly)
	}
	c := a
	c.Merge(b)
	record(o, name+"original, a copy merged", &a, roughly)
	record(o, name+"copy, merged", &c, roughly)
}
