package hidden

import (
	"iter"
	"math"
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
	a32, b32 := narrow(random[float64](r, 6, 9)), narrow(random[float64](r, 7, 9))
	before, before32 := slices.Concat(a.Data, b.Data), slices.Concat(a32.Data, b32.Data)
	recordEach(t, o, "float64", a, b)
	recordEach(t, o, "float32", a32, b32)
	o.SelfReported().Bool("a and b are as before", slices.Equal(before, slices.Concat(a.Data, b.Data)))
	o.SelfReported().Bool("a and b are as before, float32", slices.Equal(before32, slices.Concat(a32.Data, b32.Data)))
}

// The loop over blocks may end early: nothing goes on then, and no goroutine is left.
// The sequence begins anew each time, and serves several loops at once, in goroutines
// and in turns (rules 17 and 19).
func TestStopEarly(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := random[float64](r, between(r, 10, 20), 4), random[float64](r, between(r, 10, 20), 4)
	stops := []int{1, between(r, 2, 9), between(r, 2, 9)}
	synctest.Test(t, func(t *testing.T) {
		seq := cosine.Blocks(background, a, b, 40)
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
			o.Float("first number of a loop that ends early", first)
			synctest.Wait()
		}
		c := collect(t, seq, a.Rows, b.Rows)
		failure(o, "error of a loop over all", c.err)
		o.Float("all together after loops that ended early", fingerprint(r, c.sum))
		covers := make([]cover, 3)
		var wg sync.WaitGroup
		for i := range covers {
			wg.Go(func() { covers[i] = collect(t, seq, a.Rows, b.Rows) })
		}
		wg.Wait()
		for _, c := range covers {
			o.Float("all together, in one of several goroutines", fingerprint(r, c.sum))
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
	accuracy := together[T](1000 * a.Rows * b.Rows) // weights are up to some ten
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

// Calls at the same time are safe, also with the same a and b: nothing may be
// shared between them, nor be kept for the next one (rule 25).
func TestConcurrent(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	reused := random[float64](r, 5, 6)
	for range 2 { // other numbers in the same memory
		recordEach(t, o, "numbers that have changed since", reused, reused)
		copy(reused.Data, draws(len(reused.Data), r.NormFloat64))
	}
	reused32 := random[float32](r, 5, 6)
	for range 2 {
		recordEach(t, o, "numbers that have changed since, float32", reused32, reused32)
		for i := range reused32.Data {
			reused32.Data[i] = float32(r.NormFloat64())
		}
	}
	recordReused[float64](t, o, "")
	recordReused[float32](t, o, ", float32")
	const workers, rounds = 6, 25
	shared := random[float64](r, 40, 30)
	own := make([]matrix64, workers)
	results := make([]matrix64, workers)
	for i := range own {
		own[i] = random[float64](r, between(r, 30, 60), 30)
		results[i] = matrix64{Rows: 3, Cols: 40, Stride: 40, Data: make([]float64, 3*40)}
	}
	var wg sync.WaitGroup
	for i, a := range own {
		wg.Go(func() {
			out := results[i]
			dst := matrix64{Rows: a.Rows, Cols: 40, Stride: 40, Data: make([]float64, a.Rows*40)}
			for range rounds {
				if cosine.Similarity(background, dst, a, shared) != nil {
					continue
				}
				for j, s := range dst.Data {
					out.Data[j%40] += s
				}
				for block, err := range cosine.Blocks(background, shared, a, 8*100) {
					for j := 0; err == nil && j < block.Sim.Rows; j++ {
						for _, s := range row(block.Sim, j) {
							out.Data[40+block.Row+j] += s
						}
					}
				}
				lists, _ := cosine.TopK(background, shared, a, 3)
				for j, list := range lists {
					for _, n := range list {
						out.Data[80+j] += float64(n.Index) + n.Score
					}
				}
			}
		})
	}
	wg.Wait()
	for _, m := range results {
		o.Floats(bySimilarity+"sums of calls at the same time", row(m, 0))
		o.Floats(byBlocks+"sums of calls at the same time", row(m, 1))
		o.Floats(byTopK+"sums of calls at the same time", row(m, 2))
	}
}

// recordReused writes other numbers into the same memory: into one row in the middle, then
// into all.
func recordReused[T cosine.Float](t *testing.T, o *observe.Observer, name string) {
	t.Helper()
	r := o.Rand()
	for _, shape := range [][2]int{{3, 4}, {40, 30}, {4, 1 << 12}, {1 << 10, 1 << 6}, {1 << 10, 1 << 9}} {
		a, b := random[T](r, shape[0], shape[1]), random[T](r, 2, shape[1])
		for step := range 3 {
			switch step {
			case 1:
				scale(a, a.Rows/2, -1)
			case 2:
				for i := range a.Rows {
					scale(a, i, -1)
				}
			}
			accuracy := together[T](a.Rows * b.Rows)
			o.Float(bySimilarity+"all together, of numbers that have changed"+name, fingerprint(r, similarity(o, a, b)), accuracy)
			o.Float(bySimilarity+"all together, of numbers that have changed in b"+name, fingerprint(r, similarity(o, b, a)), accuracy)
			c := collect(t, cosine.Blocks(background, a, b, 1<<30), a.Rows, b.Rows)
			failure(o, byBlocks+"error", c.err)
			o.Float(byBlocks+"all together, of numbers that have changed"+name, fingerprint(r, c.sum), accuracy)
			scores, err := scoresOfTopK(a, b)
			failure(o, byTopK+"error", err)
			o.Float(byTopK+"all together, of numbers that have changed"+name, fingerprint(r, scores), accuracy)
		}
	}
}

// The lists that TopK returns belong to the caller: no later call changes them, and
// appending to one changes no other (rule 23).
func TestListsAreKept(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := random[float64](r, 20, 6), random[float64](r, 30, 6)
	keptLists(o, "", a, b, 4)
	a32, b32 := apart[float32](r, 20, 30)
	keptLists(o, ", float32", a32, b32, 4)
	a, b = apart[float64](r, 20, 700)
	keptLists(o, ", of many", a, b, 300)
	// All rows of b, or more than there are.
	for _, rows := range []int{1, 2, 30} {
		a, b := random[float64](r, 20, 6), random[float64](r, rows, 6)
		a32, b32 := apart[float32](r, 20, rows)
		for _, k := range []int{rows, rows + 1, 2 * rows, math.MaxInt} {
			keptLists(o, ", of all", a, b, k)
			keptLists(o, ", of all, float32", a32, b32, k)
		}
	}
	keptLists(o, ", of rows without columns", random[float64](r, 20, 0), random[float64](r, 3, 0), 2)
}

// keptLists calls TopK with a quarter of a's rows at a time, and records in the end what
// all calls returned.
func keptLists[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T], k int) {
	var all [][][]cosine.Neighbor[T]
	var first [][]cosine.Neighbor[T]
	rows := a.Rows / 4
	for i := range 4 {
		lists, err := cosine.TopK(background, view(a.Data[i*rows*a.Cols:], rows, a.Cols, a.Cols), b, k)
		failure(o, "error"+name, err)
		all = append(all, lists)
		if len(all) == 1 {
			first = copied(lists)
		}
	}
	for _, lists := range all {
		recordLists(o, "lists of several calls"+name, lists, a.Cols)
	}
	o.Bool("lists are as before later calls"+name, slices.EqualFunc(first, all[0], slices.Equal))
	for i, list := range all[0] {
		_ = append(list, cosine.Neighbor[T]{Index: -1 - i}) // must not reach into the next list
	}
	o.Bool("lists are as before appending"+name, slices.EqualFunc(first, all[0], slices.Equal))
	o.Int("number of lists"+name, len(all[0]))
	for _, list := range all[0] {
		o.Int("length of a list"+name, len(list))
	}
}

// copied is lists that nothing else changes.
func copied[T cosine.Float](lists [][]cosine.Neighbor[T]) (out [][]cosine.Neighbor[T]) {
	for _, list := range lists {
		out = append(out, slices.Clone(list))
	}
	return out
}
