package hidden

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
)

// The slice that the model is given is its own, as long as the batch: it may keep it,
// write into it and append to it, and it never changes later (rule 16).
func TestOwnRequests(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range []int{1, below(r, 2, 9), 100} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, r, limits(size, ages))
			w.took = always(work(2))
			var kept, longer [][]int
			mark := r.IntN(1e6)
			w.reply = func(k int, in, out []int) ([]int, error) {
				if k%2 == 0 {
					for i := range in {
						in[i] += mark
					}
					longer = append(longer, append(in, mark), append(append(in, mark), in...))
				}
				kept = append(kept, in)
				return out, nil
			}
			answers := w.play(t, apart(r, size*below(r, 4, 7), 1, 0, 3))
			for _, in := range kept {
				o.Ints("slices that were kept", in, observe.Multiset())
			}
			for _, in := range longer {
				o.Ints("slices that were appended to and kept", in, observe.Multiset())
			}
			observeAnswers(o, "answers", answers)
			w.end()
		})
	}
	failure := errors.New("failure")
	keepsRequests(t, o, "kept, with an error", func([]int) ([]int, error) { return nil, failure })
	keepsRequests(t, o, "kept, with too many answers", func(out []int) ([]int, error) { return append(out, 1), nil })
	keepsRequests(t, o, "kept, some given up", func(out []int) ([]int, error) { return out, nil }, 0, 2)
	well := func(out []int) ([]int, error) { return out, nil }
	fails := func([]int) ([]int, error) { return nil, failure }
	few := func(out []int) ([]int, error) { return out[1:], nil }
	for _, w := range []way{
		{name: "calls that go well", end: well},
		{name: "an error", end: fails},
		{name: "an error and answers", end: func(out []int) ([]int, error) { return out, failure }},
		{name: "too few answers", end: few},
		{name: "too many answers", end: func(out []int) ([]int, error) { return append(out, 1), nil }},
		{name: "no answers", end: func([]int) ([]int, error) { return nil, nil }},
		{name: "all given up", end: well, gone: true},
		{name: "all given up, and the error of the ctx", end: func([]int) ([]int, error) { return nil, context.Canceled }, gone: true},
		{name: "all given up, and too few answers", end: few, gone: true},
	} {
		keepsAll(t, o, "kept after "+w.name, w)
	}
}

// way is how a call ends, and whether all its requests are given up while it runs.
type way struct {
	name string
	end  func(out []int) ([]int, error)
	gone bool
}

// keepsAll has a model keep the slices of all its calls: some that end in a way, some that
// go well, and the last one by Close. It records how many of them have changed when all is over.
func keepsAll(t *testing.T, o *observe.Observer, name string, odd way) {
	for _, size := range []int{1, below(o.Rand(), 2, 9), below(o.Rand(), 66, 80)} {
		bubble(t, func(t *testing.T) {
			r := o.Rand()
			w := newWorld(t, r, limits(size, ages))
			w.took = always(work(20))
			// Two in a row, one that goes well between, and one at the end: what is used
			// again is used in the next call or in a later one.
			ends := []bool{false, true, true, false, true}
			var kept [][]int
			w.reply = func(k int, in, out []int) ([]int, error) {
				kept = append(kept, in)
				if k < len(ends) && ends[k] {
					return odd.end(out)
				}
				return out, nil
			}
			requests := together(r, len(ends)*size+max(1, size-1), 1)
			for i := range requests {
				if k := i / size; k < len(ends) && ends[k] && odd.gone {
					requests[i].until = giveUp(20*k + 10)
				}
			}
			w.playUntil(t, requests, ms(20*len(ends)+10))
			go w.Close()
			w.sleepUntil(ms(20*len(ends) + 50))
			synctest.Wait()
			changed := 0
			for k, in := range kept {
				if !slices.Equal(in, w.calls[k].in) {
					changed++
				}
			}
			o.Ints(name+": slices, and how many of them changed later", []int{len(kept), changed})
		})
	}
}

// keepsRequests has a model keep its slice of requests, of which some are given up while
// it has them, and end its call in a way.
func keepsRequests(t *testing.T, o *observe.Observer, name string, end func(out []int) ([]int, error), gone ...int) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		size := below(r, 3, 9)
		w := newWorld(t, r, limits(size, ages))
		w.took = always(work(20))
		var kept []int
		w.reply = func(_ int, in, out []int) ([]int, error) {
			if kept == nil {
				kept = in
			}
			return end(out)
		}
		requests := together(r, size, 1)
		for _, i := range gone {
			requests[i].until = giveUp(10)
		}
		w.playUntil(t, requests, ms(100))
		o.Ints(name, kept, observe.Multiset())
		w.end()
	})
}

// The slice that the model returns is the model's, which writes into it again from its
// next call on: so the answers are taken out before. The batcher does not write into it,
// whatever becomes of the call and its requests (rule 17).
func TestReusedAnswers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range []int{1, 2, below(r, 3, 20), below(r, 260, 300)} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, r, config{MaxBatch: size})
			buffer := make([]int, size)
			var last []int // what the call before returned
			changed := 0
			w.took = func(k int) time.Duration {
				if !slices.Equal(last, buffer[:len(last)]) {
					changed++
				}
				clear(buffer)
				return work(k % 2 * 3)
			}
			w.reply = func(k int, in, out []int) ([]int, error) {
				last = out
				return buffer[:copy(buffer, out)], nil
			}
			// All wait at the same time, so that each call but the first begins when
			// the one before returns.
			answers := make([]answer, max(150, 5*size))
			var wg sync.WaitGroup
			for i, x := range tokens(r, len(answers)) {
				wg.Go(func() { answers[i] = w.submit(t.Context(), request{in: x}) })
			}
			wg.Wait()
			if size < 100 {
				observeAnswers(o, "answers", answers)
			} else {
				observeTotals(o, "answers of large batches", answers)
			}
			o.Int("answers that were changed", changed)
			w.end()
		})
	}
	failure := errors.New("failure")
	for _, size := range []int{1, below(r, 3, 9), below(r, 66, 80)} {
		for _, gone := range []int{0, 1, size - 1, size} { // that are given up meanwhile
			keepsAnswers(t, o, "kept", size, gone, 0, nil)
			keepsAnswers(t, o, "kept, too many", size, gone, 1, nil)
			keepsAnswers(t, o, "kept, too few", size, gone, -1, nil)
			keepsAnswers(t, o, "kept, beside an error", size, gone, 0, failure)
		}
	}
}

// keepsAnswers has a model keep the slice that it returns, which is of another length than
// the batch by so many, and records it and what lies behind it in its array.
func keepsAnswers(t *testing.T, o *observe.Observer, name string, size, gone, more int, err error) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		w := newWorld(t, r, limits(size, ages))
		w.took = always(work(20))
		kept := make([]int, 2*size)
		for i := range kept {
			kept[i] = below(r, 1, 1e6)
		}
		w.reply = func(int, []int, []int) ([]int, error) { return kept[:size+more], err }
		requests := together(r, size, 1)
		for _, i := range r.Perm(size)[:gone] {
			requests[i].until = giveUp(10)
		}
		w.playUntil(t, requests, ms(100))
		o.Ints(name, kept)
		w.end()
		o.Ints(name+", when the batcher is closed", kept)
	})
}
