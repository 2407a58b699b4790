package hidden

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"grade/observe"
	"grade/reference/cosine"
)

// a and b are never written to (rule 10).
func TestInputsUnchanged(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := random[float64](r, 13, 9), random[float64](r, 17, 9)
	scale(a, 3, 1e200)
	clear(row(b, 5))
	row(b, 7)[1] = math.Inf(1)
	o.SelfReported().Bool("a and b are as before", unchanged(t, a, b))
	a32, b32 := narrow(random[float64](r, 6, 9)), narrow(random[float64](r, 7, 9))
	o.SelfReported().Bool("a and b are as before, float32", unchanged(t, a32, b32))
	recordEach(t, o, "float64", ordinary[float64](r, 8, 8), ordinary[float64](r, 8, 8))
	recordEach(t, o, "float32", ordinary[float32](r, 8, 8), ordinary[float32](r, 8, 8))
}

// unchanged reports whether a and b are as before, when everything was called with them.
func unchanged[T cosine.Float](t *testing.T, a, b cosine.Matrix[T]) bool {
	t.Helper()
	bits := func() (out []uint64) {
		for _, x := range slices.Concat(a.Data, b.Data) {
			out = append(out, math.Float64bits(float64(x)))
		}
		return out
	}
	before := bits()
	dst := cosine.Matrix[T]{Rows: a.Rows, Cols: b.Rows, Stride: b.Rows, Data: make([]T, a.Rows*b.Rows)}
	_ = cosine.Similarity(background, dst, a, b)
	same := slices.Equal(before, bits())
	collect(t, cosine.Blocks(background, a, b, 100), a.Rows, b.Rows)
	same = same && slices.Equal(before, bits())
	_, _ = cosine.TopK(background, a, b, 3)
	return same && slices.Equal(before, bits())
}

// The loop over blocks may end early: nothing goes on then, and no goroutine is left.
// The sequence begins anew each time, and serves several loops at once, in goroutines
// and in turns (rules 17 and 19).
func TestStopEarly(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := ordinary[float64](r, between(r, 10, 20), 4), ordinary[float64](r, between(r, 10, 20), 4)
	stops := []int{1, between(r, 2, 9), between(r, 2, 9)}
	synctest.Test(t, func(t *testing.T) {
		goesOn, cancel := context.WithCancel(background)
		_ = cancel // who waits for that would be gone
		seq := cosine.Blocks(goesOn, a, b, 40)
		for _, stop := range stops {
			steps := 0
			first := math.NaN()
			for block, err := range seq {
				if steps == 0 && err == nil && len(block.Sim.Data) > 0 {
					first = block.Sim.Data[0]
				}
				if steps++; steps == stop {
					break
				}
			}
			o.Int("steps before the break", steps)
			o.Float("first number of a loop that ends early", first, near)
			synctest.Wait()
		}
		c := collect(t, seq, a.Rows, b.Rows)
		failure(o, "error of a loop over all", c.err)
		o.Float("all together after loops that ended early", fingerprint(r, c.sum), together(a.Rows*b.Rows))
		covers := make([]cover, 3)
		var wg sync.WaitGroup
		for i := range covers {
			wg.Go(func() { covers[i] = collect(t, seq, a.Rows, b.Rows) })
		}
		wg.Wait()
		for _, c := range covers {
			o.Float("all together, in one of several goroutines", fingerprint(r, c.sum), together(a.Rows*b.Rows))
		}
	})
	recordTurns(o, "", a, b)
	recordTurns(o, ", float32", narrow(a), narrow(b))
}

// recordTurns ranges twice over a sequence of blocks, in turns, and within the loop body over another
// sequence: no step of one may change a block of another.
func recordTurns[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	seq := cosine.Blocks(background, a, b, 40)
	first, stopFirst := iter.Pull2(seq)
	defer stopFirst()
	second, stopSecond := iter.Pull2(seq)
	defer stopSecond()
	ahead, _, more := second() // by a block
	sums := [3]float64{0, weigh(ahead), 0}
	for ok, steps := true, 0; (ok || more) && steps < 1e4; steps++ {
		var x, y cosine.Block[T]
		x, _, ok = first()
		y, _, more = second()
		for z, err := range cosine.Blocks(background, b, a, 100) {
			if err == nil && steps == 0 {
				sums[2] += weigh(z)
			}
		}
		sums[0] += weigh(x)
		sums[1] += weigh(y)
	}
	accuracy := together(1000 * a.Rows * b.Rows) // weights are up to some ten
	o.Float("blocks of a loop that takes turns with another"+name, sums[0], accuracy)
	o.Float("blocks of the other, one step ahead"+name, sums[1], accuracy)
	o.Float("blocks of a loop inside of both"+name, sums[2], accuracy)
}

// weigh is one number for a block. Those of all blocks have a sum that does not depend on
// how they were cut.
func weigh[T cosine.Float](block cosine.Block[T]) (sum float64) {
	for i := range block.Sim.Rows {
		for j, x := range row(block.Sim, i) {
			sum += math.Sqrt(float64(1+block.Row+i)) * math.Cbrt(float64(1+block.Col+j)) * float64(x)
		}
	}
	return sum
}

// Calls at the same time are safe, also with the same a and b: nothing may be shared
// between them. When a call has returned, or a loop over blocks has ended, nothing of it
// goes on (rules 19 and 25).
func TestConcurrent(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	writtenAfterwards(o)
	own := func() matrix64 { return ordinary[float64](r, 4*between(r, 8, 15), 32) }
	atOnce(o, "", ordinary[float64](r, 40, 32), own, 25)
	atOnce(o, "magnitudes: ", anyLength(r, ordinary[float64](r, 40, 32)), func() matrix64 { return anyLength(r, own()) }, 5)
	recordAtOnceOfSizes[float64](o, "")
	recordAtOnceOfSizes[float32](o, "float32: ")
	ofOneSequence[float64](o, "")
	ofOneSequence[float32](o, ", float32")
}

// writtenAfterwards writes to matrices when calls on them have ended, as their ctx had: the
// detector sees what goes on nevertheless.
func writtenAfterwards(o *observe.Observer) {
	r := o.Rand()
	for _, ctx := range ended(o) {
		a, b, dst := ordinary[float64](r, 40, 32), ordinary[float64](r, 30, 32), ordinary[float64](r, 40, 30)
		write := func() {
			for _, m := range []matrix64{a, b, dst} {
				for i := range m.Data {
					m.Data[i] = r.Float64()
				}
			}
		}
		failure(o, "error of Similarity, whose matrices are written to afterwards", cosine.Similarity(ctx, dst, a, b))
		write()
		_, err := cosine.TopK(ctx, a, b, 3)
		failure(o, "error of TopK, whose matrices are written to afterwards", err)
		write()
		for _, err := range cosine.Blocks(ctx, a, b, 1000) {
			failure(o, "error of Blocks, whose matrices are written to afterwards", err)
		}
		write()
	}
	writtenAfterEnds(r)
}

// writtenAfterEnds does so when calls have ended at work, by their ctx or by a break: which errors
// come is left open, for a call may be done before.
func writtenAfterEnds(r *rand.Rand) {
	a, b, dst := ordinary[float64](r, 40, 32), ordinary[float64](r, 30, 32), ordinary[float64](r, 40, 30)
	write := func() {
		for _, m := range []matrix64{a, b, dst} {
			for i := range m.Data {
				m.Data[i] = r.Float64()
			}
		}
	}
	for i := range 12 {
		ends := func() context.Context {
			return &counter{Context: background, last: 1 + int64(i%4), end: context.Canceled, done: make(chan struct{})}
		}
		_ = cosine.Similarity(ends(), dst, a, b)
		write()
		_, _ = cosine.TopK(ends(), a, b, 3)
		write()
		rangeOver(cosine.Blocks(ends(), a, b, 1000), 100)
		write()
		rangeOver(cosine.Blocks(background, a, b, 1000), 1+i%4)
		write()
	}
}

// rangeOver ends a loop after so many blocks, if there are as many.
func rangeOver(seq iter.Seq2[cosine.Block[float64], error], blocks int) {
	for range seq {
		if blocks--; blocks == 0 {
			break
		}
	}
}

// anyLength scales the rows of m, which changes no similarity.
func anyLength(r *rand.Rand, m matrix64) matrix64 {
	for i := range m.Rows {
		scale(m, i, math.Pow(10, float64(between(r, -280, 280))))
	}
	return m
}

// recordAtOnceOfSizes does with long rows, and with many, for which other memory may be taken
// than for others.
func recordAtOnceOfSizes[T cosine.Float](o *observe.Observer, name string) {
	r := o.Rand()
	long := 4 * between(r, 1050, 1150)
	atOnce(o, name, ordinary[T](r, 8, long), func() cosine.Matrix[T] { return ordinary[T](r, 4, long) }, 2)
	atOnce(o, name, ordinary[T](r, 40, 4), func() cosine.Matrix[T] { return ordinary[T](r, 4*between(r, 130, 140), 4) }, 1)
}

// atOnce records what calls at the same time make of a matrix that they share.
func atOnce[T cosine.Float](o *observe.Observer, name string, shared cosine.Matrix[T], own func() cosine.Matrix[T], rounds int) {
	n := shared.Rows
	results := make([]matrix64, 6)
	var wg sync.WaitGroup
	for i := range results {
		a, out := own(), matrix64{Rows: 3, Cols: n, Stride: n, Data: make([]float64, 3*n)}
		results[i] = out
		wg.Go(func() {
			for range rounds {
				addAll(out, a, shared)
			}
		})
	}
	wg.Wait()
	ofRounds := observe.Within(1e-3, 0) // sums of more than a thousand similarities
	for _, m := range results {
		for i, function := range []string{bySimilarity, byBlocks, byTopK} {
			o.Floats(name+function+"sums of calls at the same time", row(m, i), ofRounds)
		}
	}
}

// addAll adds up what each function makes of a and the rows of shared, in a row of out
// for each.
func addAll[T cosine.Float](out matrix64, a, shared cosine.Matrix[T]) {
	n, size := shared.Rows, sizeOf[T]()
	dst := cosine.Matrix[T]{Rows: a.Rows, Cols: n, Stride: n, Data: make([]T, a.Rows*n)}
	if cosine.Similarity(background, dst, a, shared) != nil {
		return
	}
	for j, s := range dst.Data {
		out.Data[j%n] += float64(s)
	}
	for block, err := range cosine.Blocks(background, shared, a, size*100) {
		for j := 0; err == nil && j < block.Sim.Rows; j++ {
			for _, s := range row(block.Sim, j) {
				out.Data[n+block.Row+j] += float64(s)
			}
		}
	}
	lists, _ := cosine.TopK(background, shared, a, 3)
	for j, list := range lists {
		for _, neighbor := range list {
			out.Data[2*n+j] += float64(neighbor.Score)
			if size == 8 { // which of two float32 scores is larger, rounding may decide
				out.Data[2*n+j] += float64(neighbor.Index)
			}
		}
	}
}

// ofOneSequence ranges over one sequence of blocks in several goroutines at a time.
func ofOneSequence[T cosine.Float](o *observe.Observer, name string) {
	a, b := ordinary[T](o.Rand(), 40, 32), ordinary[T](o.Rand(), 60, 32)
	for _, numbers := range []int{7, 60, 800} {
		seq := cosine.Blocks(background, a, b, numbers*sizeOf[T]())
		sums := make([]float64, 4)
		var wg sync.WaitGroup
		for i := range sums {
			wg.Go(func() {
				for range 5 {
					for block := range seq {
						sums[i] += weigh(block)
					}
				}
			})
		}
		wg.Wait()
		o.Floats("one sequence: sums of loops at the same time"+name, sums, together(1e6))
	}
}

// Nothing is kept of a matrix for the next call: other numbers may be in its memory then
// (rule 25).
func TestReused(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	reused := ordinary[float64](r, 8, 8)
	reused32 := ordinary[float32](r, 8, 8)
	for range 2 { // other numbers in the same memory
		recordEach(t, o, "numbers that have changed since", reused, shifted(reused))
		recordEach(t, o, "numbers that have changed since, float32", reused32, shifted(reused32))
		copy(reused.Data, ordinary[float64](r, 8, 8).Data)
		copy(reused32.Data, ordinary[float32](r, 8, 8).Data)
	}
	recordReused[float64](t, o, "")
	recordReused[float32](t, o, ", float32")
}

// recordReused writes other numbers into the same memory: into one row in the middle, then
// into all.
func recordReused[T cosine.Float](t *testing.T, o *observe.Observer, name string) {
	t.Helper()
	r := o.Rand()
	for _, shape := range [][2]int{{4, 4}, {40, 32}, {4, 1 << 12}, {1 << 10, 1 << 6}, {1 << 10, 1 << 9}} {
		a, b := ordinary[T](r, shape[0], shape[1]), ordinary[T](r, 4, shape[1])
		for step := range 3 {
			switch step {
			case 1:
				slices.Reverse(row(a, a.Rows/2))
			case 2:
				slices.Reverse(a.Data)
			}
			accuracy := together(a.Rows * b.Rows)
			o.Float(bySimilarity+"all together, of numbers that have changed"+name, fingerprint(r, similarity(t, o, a, b)), accuracy)
			o.Float(bySimilarity+"all together, of numbers that have changed in b"+name, fingerprint(r, similarity(t, o, b, a)), accuracy)
			c := collect(t, cosine.Blocks(background, a, b, 1<<30), a.Rows, b.Rows)
			failure(o, byBlocks+"error", c.err)
			o.Float(byBlocks+"all together, of numbers that have changed"+name, fingerprint(r, c.sum), accuracy)
			scores, err := scoresOfTopK(a, b)
			failure(o, byTopK+"error", err)
			o.Float(byTopK+"all together, of numbers that have changed"+name, fingerprint(r, scores), accuracy)
		}
	}
}
