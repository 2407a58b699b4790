package hidden

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
	"grade/reference/cosine"
)

// ended are contexts that have ended, in each way there is, with a cause and without.
func ended(o *observe.Observer) []context.Context {
	cancelled, cancel := context.WithCancel(background)
	cancel()
	late, cancel := context.WithDeadline(background, time.Unix(1, 0))
	cancel()
	caused, because := context.WithCancelCause(background)
	because(errCause)
	lateCaused, cancel := context.WithDeadlineCause(background, time.Unix(1, 0), errCause)
	cancel()
	all := []context.Context{cancelled, late, caused, lateCaused}
	o.Rand().Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

var errCause = errors.New("why it was cancelled")

// When ctx is cancelled between two blocks, at most one more comes, and then the
// error of ctx with an empty block: also where blocks are parts of a row, and where
// ctx was cancelled with a cause. A large block is not finished first (rule 24).
func TestCancelBlocks(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := ordinary[float64](r, 30, 4), ordinary[float64](r, 20, 4)
	for _, maxBytes := range []int{8 * 20, 8 * between(r, 2, 5), 8 * 2 * 20} {
		for _, stop := range []int{1, between(r, 2, 5), between(r, 6, 10)} {
			synctest.Test(t, func(t *testing.T) { // no goroutine is left over
				recordStop(t, o, a, b, maxBytes, stop)
				recordTimeout(o, a, b, maxBytes, stop)
			})
		}
	}
	seen := collect(t, cosine.Blocks(background, a, b, 1000), a.Rows, b.Rows)
	failure(o, "error of a ctx that goes on", seen.err)
	for _, ctx := range ended(o) {
		seen := collect(t, cosine.Blocks(ctx, a, b, 1000), a.Rows, b.Rows)
		failure(o, "error of a ctx that has ended", seen.err)
	}
	for _, ctx := range ended(o) {
		seen := collect(t, cosine.Blocks(ctx, narrow(a), narrow(b), 1000), a.Rows, b.Rows)
		failure(o, "error of a ctx that has ended, float32", seen.err)
	}
	recordBlocksLook(o, "", tall[float64](r), b)
	recordBlocksLook(o, ", float32", tall[float32](r), narrow(b))
	recordOneBlock(o)
}

// recordOneBlock cancels Blocks halfway through a block that is all there is: by then a and b have
// been prepared.
func recordOneBlock(o *observe.Observer) {
	large := random[float32](o.Rand(), 4000, 32)
	work := func(ctx context.Context) error {
		for _, err := range cosine.Blocks(ctx, large, large, 4*large.Rows*large.Rows) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	began := time.Now()
	failure(o, "error of Blocks, a block that is all", work(background))
	failure(o, "error of Blocks, cancelled at work on a block that is all", interrupted(time.Since(began)/2, work))
}

// recordBlocksLook records whether Blocks looks at ctx as often as it has to.
func recordBlocksLook[T cosine.Float](o *observe.Observer, name string, a, b cosine.Matrix[T]) {
	looked := looks(func(ctx context.Context) error {
		for _, err := range cosine.Blocks(ctx, a, b, 8*20*100) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	o.Bool("Blocks looks at ctx often enough"+name, looked.enough)
	o.Bool("Blocks ends when a look tells it to"+name, looked.ends)
}

// recordStop cancels ctx in the loop body of a block.
func recordStop(t *testing.T, o *observe.Observer, a, b matrix64, maxBytes, stop int) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(background)
	defer cancel(nil)
	blocks, sum := 0, 0.0
	var last error
	for block, err := range cosine.Blocks(ctx, a, b, maxBytes) {
		if last != nil {
			t.Fatal("nothing comes after an error")
		}
		if last = err; err != nil {
			o.Bool("the block of an error is empty", zero(block))
			continue
		}
		if blocks == 0 {
			sum += block.Sim.Data[0]
		}
		if blocks++; blocks == stop {
			cancel(errCause)
		}
	}
	failure(o, "error of a ctx that is cancelled between two blocks", last)
	o.Int("blocks in all where ctx is cancelled between two", blocks, observe.AtMost(1, 1))
	o.Float("first number of the first block", sum, near)
}

// recordTimeout lets the deadline of ctx pass in the loop body of a block. It waits in a
// bubble, in which that takes no time.
func recordTimeout(o *observe.Observer, a, b matrix64, maxBytes, stop int) {
	ctx, cancel := context.WithTimeout(background, time.Hour)
	defer cancel()
	blocks := 0
	var last error
	for _, err := range cosine.Blocks(ctx, a, b, maxBytes) {
		if last = err; err != nil || blocks > a.Rows*b.Rows {
			break
		}
		if blocks++; blocks == stop {
			time.Sleep(2 * time.Hour)
		}
	}
	failure(o, "error of a ctx whose deadline passes between two blocks", last)
}

// tall is a matrix of as many rows as looks are counted on.
func tall[T cosine.Float](r *rand.Rand) cosine.Matrix[T] { return random[T](r, rowsOfTall, 4) }

const rowsOfTall = 1600

// counter is a context that counts how often one looks at it, and may end at a look.
type counter struct {
	context.Context
	looks, last int64 // the last look before it ends
	end         error
	kept        bool // Done was called: one may look at the channel without a call
	mu          sync.Mutex
	done        chan struct{}
}

func (c *counter) Err() error {
	if c.look() {
		return c.end
	}
	return nil
}

func (c *counter) Done() <-chan struct{} {
	c.look()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = true
	return c.done
}

// look reports whether ctx has ended.
func (c *counter) look() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.looks++; c.looks == c.last+1 {
		close(c.done)
	}
	return c.looks > c.last
}

// looked tells of work of rowsOfTall rows how it looks at its ctx. Of one that keeps
// the channel of Done it cannot be told, which is right.
type looked struct{ enough, ends bool }

// looks lets work be done, and then be ended in the middle.
func looks(work func(context.Context) error) looked {
	whole := &counter{Context: background, last: math.MaxInt64 - 1, done: make(chan struct{})}
	err := work(whole)
	out := looked{enough: err == nil && (whole.kept || whole.looks >= rowsOfTall/16)}
	out.ends = true
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		part := &counter{Context: background, last: max(1, min(whole.looks/2, rowsOfTall/32)), end: end, done: make(chan struct{})}
		err = work(part)
		out.ends = out.ends && (errors.Is(err, end) || part.kept && err == nil)
	}
	return out
}

// When ctx has ended, or ends during the work, the work stops soon, and ctx.Err() is
// returned, not the cause of a cancellation. Whether it has ended or goes on, nobody waits
// for it, or for anything else, when a call has returned (rules 24 and 25).
func TestCancel(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	a, b := ordinary[float64](r, 8, 8), ordinary[float64](r, 8, 8)
	o.Floats(bySimilarity+"a ctx that goes on", pairs(similarity(t, o, a, b)), near)
	recordTopK(o, "a ctx that goes on", a, b, 1)
	for _, ctx := range ended(o) {
		failure(o, "error of Similarity, ctx has ended", cosine.Similarity(ctx, random[float64](r, 8, 8), a, b))
		_, err := cosine.TopK(ctx, a, b, 1)
		failure(o, "error of TopK, ctx has ended", err)
		failure(o, "error of Similarity, ctx has ended, float32", cosine.Similarity(ctx, random[float32](r, 8, 8), narrow(a), narrow(b)))
		_, err = cosine.TopK(ctx, narrow(a), narrow(b), 1)
		failure(o, "error of TopK, ctx has ended, float32", err)
	}
	recordLooks[float64](o, "")
	recordLooks[float32](o, ", float32")
	large, many := random[float64](r, 2000, 600), random[float64](r, 30_000, 32)
	dst := matrix64{Rows: 2000, Cols: 2000, Stride: 2000, Data: make([]float64, 2000*2000)}
	failure(o, "error of Similarity, cancelled at work", interrupted(soon, func(ctx context.Context) error {
		return cosine.Similarity(ctx, dst, large, large)
	}))
	ctx, cancel := context.WithTimeout(background, soon)
	_, err := cosine.TopK(ctx, many, many, 3)
	cancel()
	failure(o, "error of TopK, out of time", err)
	nobodyWaits[float64](t, o)
	nobodyWaits[float32](t, o)
}

// nobodyWaits calls Similarity and TopK in bubbles, which panic in the end if a goroutine
// waits there. So it cancels nothing: who waits for that would be gone.
func nobodyWaits[T cosine.Float](t *testing.T, o *observe.Observer) {
	t.Helper()
	r := o.Rand()
	for _, rows := range []int{1, between(r, 5, 40), between(r, 100, 300), rowsOfTall} {
		a, b := ordinary[T](r, rows, 4), ordinary[T](r, between(r, 1, 40), 4)
		dst := random[T](r, a.Rows, b.Rows)
		wrong := dst
		wrong.Rows++
		synctest.Test(t, func(t *testing.T) {
			goesOn, cancel := context.WithCancel(background)
			_ = cancel
			ends := &counter{Context: background, last: int64(r.IntN(5)), end: context.Canceled, done: make(chan struct{})}
			for _, ctx := range append(ended(o), background, goesOn, ends) {
				_ = cosine.Similarity(ctx, dst, a, b)
				_ = cosine.Similarity(ctx, wrong, a, b)
				_, _ = cosine.TopK(ctx, a, b, 3)
				_, _ = cosine.TopK(ctx, a, b, 0) // is wrong, too
			}
		})
	}
}

// recordLooks records whether Similarity and TopK look at ctx as often as they have to.
func recordLooks[T cosine.Float](o *observe.Observer, name string) {
	r := o.Rand()
	a, b := tall[T](r), random[T](r, 10, 4)
	dst := random[T](r, a.Rows, b.Rows)
	looked := looks(func(ctx context.Context) error { return cosine.Similarity(ctx, dst, a, b) })
	o.Bool("Similarity looks at ctx often enough"+name, looked.enough)
	o.Bool("Similarity ends when a look tells it to"+name, looked.ends)
	looked = looks(func(ctx context.Context) error {
		_, err := cosine.TopK(ctx, a, b, 3)
		return err
	})
	o.Bool("TopK looks at ctx often enough"+name, looked.enough)
	o.Bool("TopK ends when a look tells it to"+name, looked.ends)
}

const soon = 20 * time.Millisecond

// interrupted cancels work that long after it has begun, and returns its error. On a busy
// machine that may come when the work is over or nearly so, which proves nothing:
// then it is tried again, and sooner.
func interrupted(after time.Duration, work func(context.Context) error) (err error) {
	for range 5 {
		ctx, cancel := context.WithCancel(background)
		cancelled := make(chan time.Time, 1)
		timer := time.AfterFunc(after, func() {
			cancel()
			cancelled <- time.Now()
		})
		err = work(ctx)
		ended := time.Now()
		if timer.Stop() {
			after /= 2
			continue
		}
		if err != nil || ended.Sub(<-cancelled) > 2*soon {
			break
		}
	}
	return err
}
