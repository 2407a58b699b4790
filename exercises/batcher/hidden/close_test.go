package hidden

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
	"grade/reference/batcher"
)

// closeAt closes the batcher at a time and returns when Close came back.
func (w *world) closeAt(at time.Duration) time.Duration {
	w.sleepUntil(at)
	w.Close()
	return time.Since(w.start)
}

// Close has what waits answered at once, in batches of MaxBatch at most and in order,
// also after a call that fails, and returns when all of it is over, also a call that nobody
// wants any more; the ctx of the model is not done by that, and what is given up returns at
// once and, if it waits, has no call (rules 3, 8, 9, 15 and 20).
func TestClose(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for round := range 17 {
		bubble(t, func(t *testing.T) {
			size := below(r, 3, 7)
			w := newWorld(t, r, limits(size, ages))
			cancelled := 0
			w.watch = func(ctx context.Context, _ int) {
				if whenDone(ctx, w, work(50), false) > 0 {
					cancelled++
				}
			}
			// Some wait; or a call runs and none, some or many wait.
			n := []int{0, 1, size - 1, size, size + 1, 2 * size, 3*size + 1, 4*size - 1, 0, 2*size + 1, size, size - 1, 2*size - 1, size, size - 1, 2*size - 1, 2 * size}[round]
			requests := together(r, n, 1)
			if round == 9 { // some are given up while Close waits
				requests[size].until = giveUp(20)      // in the queue
				requests[size-1].until = giveUp(20)    // in a call
				requests[2*size].until = giveUp(10000) // never
			}
			if round == 10 || round == 11 { // or before: the call, if one runs, goes on, and Close waits for it
				for i := range requests {
					requests[i].until = giveUp(3)
				}
			}
			if round == 12 { // or all that is in the queue, while Close waits
				for i := size; i < n; i++ {
					requests[i].until = giveUp(20)
				}
			}
			if round >= 13 { // or, while Close waits, all that the last call has, and nothing else waits
				for i := range requests {
					requests[i].until = giveUp(20)
				}
				for i := size; i < n && round == 16; i++ {
					requests[i].until = giveUp(70)
				}
			}
			answers, done := w.begin(t, requests)
			o.Int("µs at which Close returned", micros(w.closeAt(closing(5))))
			w.mu.Lock()
			running := w.running
			w.mu.Unlock()
			o.Int("calls that run when Close has returned", running)
			done.Wait()
			w.observeCalls(o, "Close")
			observeAnswers(o, "Close", answers)
			observeReturns(o, "Close", answers)
			o.Bool("Close cancels a call", round != 10 && round < 13 && cancelled > 0)
		})
	}
	failsWhenClosed(t, o)
}

// failsWhenClosed has one call fail, or return too few answers, while Close waits, and records
// that other requests have their answers all the same.
func failsWhenClosed(t *testing.T, o *observe.Observer) {
	failure := errors.New("failure")
	for round := range 6 {
		bubble(t, func(t *testing.T) {
			r := o.Rand()
			bad, short := round%3, round >= 3
			size := below(r, 1, 7)
			w := newWorld(t, r, limits(size, ages))
			w.took = always(work(20))
			w.reply = func(k int, _, out []int) ([]int, error) {
				switch { // call 0 runs when Close is called, and the others follow
				case k == bad && short:
					return out[1:], nil
				case k == bad:
					return nil, failure
				}
				return out, nil
			}
			answers, _ := w.begin(t, together(r, 4*size, 1))
			returned := 0
			go func() { returned = micros(w.closeAt(closing(5))) }()
			w.sleepUntil(ms(500))
			synctest.Wait()
			observeAnswers(o, "Close, a call fails", answers, failure, batcher.ErrAnswers)
			o.Int("Close, a call fails: µs at which Close returned", returned)
		})
	}
}

// After Close was called Submit returns ErrClosed at once, and the model never sees the
// request: also while Close still waits (rule 19).
func TestClosed(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, waiting := range []int{0, 1, 3, 5} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, r, limits(3, ages))
			w.took = always(work(50))
			begun, done := w.begin(t, together(r, waiting, 1))
			closed := make(chan struct{})
			go func() {
				w.closeAt(closing(5))
				close(closed)
			}()
			// Some come while it waits, if it does, and some after it.
			var late []answer
			for _, q := range append(apart(r, 3, 10, 1, 9), apart(r, 3, 1000, 0, 9)...) {
				w.sleepUntil(q.at)
				late = append(late, w.submit(t.Context(), q))
			}
			<-closed
			done.Wait()
			observeAnswers(o, "after Close", late, batcher.ErrClosed)
			observeReturns(o, "after Close", late)
			observeAnswers(o, "before Close", begun, batcher.ErrClosed)
			w.observeBatches(o, "requests that the model saw")
		})
	}
}

// Close may be called again and by several goroutines: each call returns when all is
// over (rule 21).
func TestCloseAgain(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, waiting := range []int{0, 2, 4, 7} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, r, limits(3, ages))
			w.took = always(work(50))
			answers, done := w.begin(t, together(r, waiting, 1))
			at := make([]int, 5)
			var closes sync.WaitGroup
			for i := range at {
				closes.Go(func() { at[i] = micros(w.closeAt(closing(5 + i/2*30))) })
			}
			closes.Wait()
			done.Wait()
			o.Ints("µs at which calls of Close returned", at)
			o.Int("and one more", micros(w.closeAt(closing(1000))))
			observeAnswers(o, "answers", answers)
		})
	}
}

// When Close has returned, no goroutine is left, and all that waited has been answered:
// whatever was submitted, answered, given up or failed before (rules 15 and 20).
func TestNothingLeft(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	failure := errors.New("failure")
	for _, way := range []string{"nothing", "answers", "waits", "given up in the queue", "given up in a call", "all given up", "errors", "panics", "one panics"} {
		var answers []answer
		var later []func()
		clean := leavesNothing(t, func(t *testing.T) {
			w := newWorld(t, r, limits(3, wait(50)))
			w.took = always(work(20))
			requests := together(r, 8, 1)
			switch way {
			case "nothing":
				requests = nil
			case "waits":
				requests = requests[:2]
			case "given up in the queue":
				requests[7].until = giveUp(2)
			case "given up in a call":
				requests[1].until = giveUp(2)
			case "all given up":
				for i := range requests {
					requests[i].until = giveUp(2)
				}
			case "errors":
				w.reply = func(int, []int, []int) ([]int, error) { return nil, failure }
			case "one panics": // while Close waits: the others are answered
				w.reply = func(k int, _, out []int) ([]int, error) {
					if k == 1 {
						panic(failure)
					}
					return out, nil
				}
			case "panics":
				w.reply = func(int, []int, []int) ([]int, error) { panic(failure) }
			}
			var done *sync.WaitGroup
			ctx, cancel := context.WithCancel(context.Background())
			later = append(later, cancel) // not before all goroutines have been counted
			answers, done = w.beginWith(ctx, requests)
			w.Close()
			done.Wait()
		})
		o.Bool(way+": nothing left, while ctx goes on", clean && len(later) == 1)
		observeAnswers(o, way, answers, failure)
	}
}

// leavesNothing runs f in a bubble and tells whether all goroutines have ended then.
func leavesNothing(t *testing.T, f func(t *testing.T)) (clean bool) {
	defer func() {
		if v := recover(); v != nil && !left(v) {
			panic(v)
		}
	}()
	synctest.Test(t, f)
	return true
}

// A thousand batchers in one program, which share nothing: each has its own requests,
// its own wait and its own end (rule 22).
func TestThousand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		worlds := make([]*world, 1000)
		for i := range worlds {
			worlds[i] = newWorld(t, r, limits(2+i%3, wait(5+i%7)))
			worlds[i].took = always(work(3))
		}
		answers := make([][]answer, len(worlds))
		var all sync.WaitGroup
		for i, w := range worlds {
			requests := apart(r, 4, 1, 1, 4)
			all.Go(func() {
				for _, q := range requests {
					time.Sleep(ms(1))
					answers[i] = append(answers[i], w.submit(t.Context(), q))
				}
				if i%2 == 0 {
					go w.Close() // the others go on
				}
			})
		}
		all.Wait()
		var out, at, calls []int
		for i, w := range worlds {
			for _, a := range answers[i] {
				out, at = append(out, a.out), append(at, micros(a.at))
			}
			calls = append(calls, len(w.calls))
		}
		o.Ints("answers", out)
		o.Ints("when they came, in µs", at)
		o.Ints("calls", calls)
		for i, w := range worlds {
			if i%2 == 1 {
				w.end()
			}
		}
	})
}
