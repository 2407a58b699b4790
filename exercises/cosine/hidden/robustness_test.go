package hidden

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
	"grade/reference/cosine"
)

// a and b are never written to.
func TestInputsUnchanged(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := random[float64](r, 13, 9), random[float64](r, 17, 9)
	scale(a, 3, 1e200)
	clear(row(b, 5))
	row(b, 7)[1] = math.Inf(1)
	a32, b32 := narrow(random[float64](r, 6, 9)), narrow(random[float64](r, 7, 9))
	before, before32 := slices.Concat(a.Data, b.Data), slices.Concat(a32.Data, b32.Data)
	record(o, "similarity", a, b)
	record(o, "float32", a32, b32)
	c := collect(t, cosine.Blocks(background, a, b, 100), a.Rows, b.Rows)
	o.Float("blocks", fingerprint(r, matrix64{Rows: 13, Cols: 5, Stride: 17, Data: c.sum.Data}))
	recordTopK(o, "best", a, b, 3)
	o.SelfReported().Bool("as before", slices.Equal(before, slices.Concat(a.Data, b.Data)))
	o.SelfReported().Bool("as before, float32", slices.Equal(before32, slices.Concat(a32.Data, b32.Data)))
}

// The loop over blocks may end early: nothing goes on then, and no goroutine is left.
// The sequence begins anew each time, and serves several goroutines.
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
			o.Int("steps", steps)
			o.Float("first", first)
			synctest.Wait()
		}
		c := collect(t, seq, a.Rows, b.Rows)
		failure(o, "error", c.err)
		o.Float("all together", fingerprint(r, c.sum))
		covers := make([]cover, 3)
		var wg sync.WaitGroup
		for i := range covers {
			wg.Go(func() { covers[i] = collect(t, seq, a.Rows, b.Rows) })
		}
		wg.Wait()
		for _, c := range covers {
			o.Float("several at once", fingerprint(r, c.sum))
		}
	})
}

// done makes a context that has ended, in one of two ways.
func done(o *observe.Observer) context.Context {
	ctx, cancel := context.WithCancel(background)
	if o.Rand().IntN(2) == 0 {
		ctx, cancel = context.WithDeadline(background, time.Unix(1, 0))
	}
	cancel()
	return ctx
}

// When ctx is cancelled between two blocks, at most one more comes, and then the
// error of ctx with an empty block.
func TestCancelBlocks(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := random[float64](r, 30, 4), random[float64](r, 20, 4)
	for _, stop := range []int{1, between(r, 2, 5), between(r, 6, 10)} {
		ctx, cancel := context.WithCancel(background)
		blocks, sum := 0, 0.0
		var last error
		for block, err := range cosine.Blocks(ctx, a, b, 8*20) {
			if last != nil {
				t.Fatal("nothing comes after an error")
			}
			if last = err; err != nil {
				o.Int("rows of the block of an error", block.Sim.Rows)
				continue
			}
			if blocks == 0 {
				sum += block.Sim.Data[0]
			}
			if blocks++; blocks == stop {
				cancel()
			}
		}
		cancel()
		failure(o, "error", last)
		o.Int("blocks", blocks, observe.AtMost(1, 1))
		o.Float("first", sum)
	}
	for range 4 {
		c := context.Context(background)
		if r.IntN(2) == 0 {
			c = done(o)
		}
		seen := collect(t, cosine.Blocks(c, a, b, 1000), a.Rows, b.Rows)
		failure(o, "error", seen.err)
	}
}

// When ctx has ended, or ends during the work, the work stops soon, and the error of
// ctx is returned.
func TestCancel(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := random[float64](r, 8, 5), random[float64](r, 8, 5)
	for range 10 {
		ctx := context.Context(background)
		if r.IntN(2) == 0 {
			ctx = done(o)
		}
		dst := random[float64](r, 8, 8)
		err := cosine.Similarity(ctx, dst, a, b)
		failure(o, "Similarity", err)
		if err == nil {
			o.Float("all together", fingerprint(r, dst))
		}
		lists, err := cosine.TopK(ctx, a, b, 1)
		failure(o, "TopK", err)
		if err == nil {
			recordLists(o, "best", lists, 5)
		}
	}
	large, many := random[float64](r, 2000, 600), random[float64](r, 30_000, 32)
	dst := matrix64{Rows: 2000, Cols: 2000, Stride: 2000, Data: make([]float64, 2000*2000)}
	failure(o, "Similarity, cancelled at work", interrupted(func(ctx context.Context) error {
		return cosine.Similarity(ctx, dst, large, large)
	}))
	ctx, cancel := context.WithTimeout(background, soon)
	_, err := cosine.TopK(ctx, many, many, 3)
	cancel()
	failure(o, "TopK, out of time", err)
}

const soon = 20 * time.Millisecond

// interrupted cancels work soon after it has begun, and returns its error. On a busy
// machine that may come when the work is over or nearly so, which proves nothing:
// then it is tried again.
func interrupted(work func(context.Context) error) (err error) {
	for range 5 {
		ctx, cancel := context.WithCancel(background)
		cancelled := make(chan time.Time, 1)
		timer := time.AfterFunc(soon, func() {
			cancel()
			cancelled <- time.Now()
		})
		err = work(ctx)
		ended := time.Now()
		if timer.Stop() {
			continue
		}
		if err != nil || ended.Sub(<-cancelled) > 2*soon {
			break
		}
	}
	return err
}

// Calls at the same time are safe, also with the same a and b: nothing may be
// shared between them.
func TestConcurrent(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
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
		o.Matrix("sums", 3, 40, m.Data)
	}
}

// The lists that TopK returns belong to the caller: no later call changes them.
func TestListsAreKept(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	b := random[float64](r, 30, 6)
	var all [][][]cosine.Neighbor[float64]
	for range 4 {
		lists, err := cosine.TopK(background, random[float64](r, 5, 6), b, 4)
		failure(o, "error", err)
		all = append(all, lists)
	}
	for _, lists := range all {
		recordLists(o, "best", lists, 6)
	}
	for i, list := range all[0] {
		_ = append(list, cosine.Neighbor[float64]{Index: -1 - i}) // must not reach into the next list
	}
	recordLists(o, "after appending", all[0], 6)
}
