package hidden

import (
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/logsumexp"
)

// LogSumExp of three million numbers. Time: one exponential for each; no sorting and
// no list of them. Memory: none.
func BenchmarkSlice(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	lists := make([][]float64, 2) // other numbers in each, so that no value is good for the next call
	for i := range lists {
		lists[i] = make([]float64, 2_990_000+r.IntN(20_000))
		for j := range lists[i] {
			lists[i][j] = 20 * r.Float64() // so close together that each of them counts
		}
	}
	values := make([]float64, len(lists))
	for o.Loop() {
		for i, xs := range lists {
			values[i] = logsumexp.LogSumExp(xs)
		}
	}
	o.Floats("values", values)
	for _, xs := range lists { // which stay as they were
		sum := 0.0
		for i, x := range xs {
			sum += x * float64(1+i%7)
		}
		o.Float("numbers afterwards, weighted and added up", sum, observe.Exact())
	}
}

// Of three million numbers out of a sequence. Memory: none, for no number is needed a
// second time.
func BenchmarkSequence(b *testing.B) {
	o := observe.New(b)
	seed := o.Rand().Uint64() | 1
	value := 0.0
	for o.Loop() {
		value = logsumexp.Of(func(yield func(float64) bool) {
			state := seed
			for range 3_000_000 {
				state ^= state << 13
				state ^= state >> 7
				state ^= state << 17
				if !yield(float64(state>>40) / (1 << 20)) { // 0 to 16
					return
				}
			}
		})
	}
	o.Float("value", value)
}

// The value after each Add, in many accumulators. Time: neither Add nor Value takes
// longer the more numbers there are.
func BenchmarkRunning(b *testing.B) {
	o := observe.New(b)
	const streams, length = 5_000, 300
	xs := draw(o.Rand(), streams+length, 0, 10)
	means := make([]float64, streams)
	for o.Loop() {
		for i := range means {
			var a logsumexp.Acc
			sum := 0.0
			for _, x := range xs[i : i+length] {
				a.Add(x)
				sum += a.Value()
			}
			means[i] = sum / length
		}
	}
	o.Floats("means", means)
}

// Nothing allocates: neither functions of slices nor accumulators, whatever the numbers are,
// and from the first call on.
func TestAllocations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	recordFirst(o)
	for _, n := range []int{0, 1, 2, 300 + r.IntN(100), 2000 + r.IntN(3000), 70_000} {
		recordAllocations(o, 5, draw(r, n, 0, 1))
	}
	recordAllocations(o, 2, draw(r, 300_000, 0, 1))
	recordAllocations(o, 1, slices.Repeat(draw(r, 1000, 0, 1), 1200))
	for _, special := range []float64{-inf, inf, math.NaN()} {
		xs := draw(r, 300+r.IntN(100), 0, 1)
		xs[r.IntN(len(xs))] = special
		recordAllocations(o, 5, xs)
	}
	recordAllocations(o, 5, slices.Repeat([]float64{-inf}, 300))
}

// recordFirst records how often the first calls with so many numbers allocate, more of them
// each time: room that is kept for the next call is allocated, too, and is too small then. Of
// several lengths the least counts, for the runtime allocates now and then as well.
func recordFirst(o *observe.Observer) {
	least, value := math.Inf(1), 0.0
	for n := 500; n <= 32_000; n *= 4 {
		xs := draw(o.Rand(), n, 0, 1)
		dst, own, first := make([]float64, n), slices.Clone(xs), true
		least = min(least, testing.AllocsPerRun(1, func() {
			if first { // which AllocsPerRun does not count
				first = false
				return
			}
			a := holding(xs)
			a.Merge(a)
			logsumexp.LogSoftmax(dst, xs)
			logsumexp.LogSoftmax(own, own)
			value = a.Value() + logsumexp.LogSumExp(xs)
		}))
	}
	o.Float("value of first calls", value, roughly)
	o.SelfReported().Float("allocations of first calls", least, observe.AtMost(1, 0))
}

// recordAllocations records how often calls with xs allocate, on average of some runs.
func recordAllocations(o *observe.Observer, runs int, xs []float64) {
	part := holding(draw(o.Rand(), 1000, 0, 1))
	dst, own := make([]float64, len(xs)), make([]float64, len(xs))
	value := 0.0
	allocations := testing.AllocsPerRun(runs, func() {
		var a logsumexp.Acc
		for _, x := range xs {
			a.Add(x)
		}
		a.Merge(part)
		a.Merge(a)
		copy(own, xs) // which the call may have filled with NaN
		logsumexp.LogSoftmax(dst, xs)
		logsumexp.LogSoftmax(own, own)
		value = a.Value() + logsumexp.LogSumExp(xs)
	})
	o.Float("value of all calls", value, roughly)
	o.SelfReported().Float("allocations", allocations, observe.AtMost(1, 0))
}
