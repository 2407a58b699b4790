package hidden

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"grade/observe"
)

const ages = 1000 * time.Hour // a MaxWait that is never over

// observeGivenUp records when each Submit returned and what, and whether the error of
// those that were given up is ctx.Err() itself.
func observeGivenUp(o *observe.Observer, name string, requests []request, answers []answer) {
	observeAnswers(o, name, answers)
	observeReturns(o, name, answers)
	for i, a := range answers {
		if requests[i].until > 0 {
			o.Bool(name+": the error is ctx.Err() itself", a.err == a.ctx)
		}
	}
}

// sorted puts requests in the order of their times.
func sorted(requests ...[]request) []request {
	list := slices.Concat(requests...)
	slices.SortStableFunc(list, func(a, b request) int { return int(a.at - b.at) })
	return list
}

// A ctx that is done before Submit: the model never sees the request, and the error is
// ctx.Err() itself. Nothing else changes (rule 8).
func TestDoneBefore(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 4 {
		bubble(t, func(t *testing.T) {
			size := below(r, 2, 6)
			w := newWorld(t, r, limits(size, ages))
			requests := apart(r, size-1, 1, 1, 9)
			for i := range 4 {
				requests = append(requests, request{at: ms(100 + i), in: -1, until: closing(1 + i), limit: i%2 == 0, own: i > 1})
			}
			requests = append(requests, request{at: ms(200), in: r.IntN(1e6)}) // which fills the batch
			answers := w.play(t, requests)
			w.observeCalls(o, "ctx done before")
			observeGivenUp(o, "ctx done before", requests, answers)
			w.end()
		})
	}
}

// A request that is given up while it waits returns at once and leaves the queue: no
// call has it, and it does not count towards MaxBatch. Where all are given up, the
// model is not called (rules 8 and 9).
func TestGivenUpWaiting(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for round := range 6 {
		bubble(t, func(t *testing.T) {
			size := below(r, 4, 9)
			w := newWorld(t, r, limits(size, ages))
			requests := apart(r, size-1, 1, 1, 4)
			gone := r.Perm(size - 1)[:below(r, 1, size-1)]
			if round == 0 {
				gone = r.Perm(size - 1) // all
			}
			for k, i := range gone {
				requests[i].until, requests[i].limit = giveUp(50+below(r, 0, 20)), k%2 == 0
				requests[i].own = k%2 == round%2
			}
			later := apart(r, len(gone)+1, 100, 1, 9) // the last of them fills the batch
			if round%2 == 1 {
				later = append(later, together(r, size, 1000)...)
			}
			requests = sorted(requests, later)
			answers := w.play(t, requests)
			w.observeCalls(o, "given up while it waits")
			observeGivenUp(o, "given up while it waits", requests, answers)
			w.end()
		})
	}
}

// If the oldest request is given up while it waits, the wait that counts is that of
// the oldest that is left, from its own Submit (rule 9).
func TestGivenUpOldest(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for round := range 8 {
		bubble(t, func(t *testing.T) {
			n := below(r, 40, 80)
			w := newWorld(t, r, limits(100, wait(n)))
			requests := apart(r, 6, 1, 2, 6)
			gone := below(r, 1, 5) // the first ones
			if round == 0 {
				gone = 6
			}
			for i := range gone {
				requests[i].until = giveUp(31 + below(r, 0, 8))
			}
			if round%2 == 1 { // and one in the middle, which changes nothing
				requests[5].until = giveUp(39)
				requests = append(requests, request{at: ms(n + 2), in: r.IntN(1e6)})
			}
			answers := w.play(t, sorted(requests, apart(r, 3, 300, 1, 5)))
			w.observeCalls(o, "the oldest is given up")
			observeAnswers(o, "the oldest is given up", answers)
			w.end()
		})
	}
}

// A request that is given up while a call has it returns at once, and nothing changes
// for the others of that call, nor for those that wait (rules 8 and 10).
func TestGivenUpRunning(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for round := range 8 {
		bubble(t, func(t *testing.T) {
			size := below(r, 3, 9)
			w := newWorld(t, r, limits(size, ages))
			w.took = always(work(100))
			requests := together(r, size, 1)
			for k, i := range r.Perm(size)[:below(r, 1, size)] { // not all
				requests[i].until, requests[i].limit = giveUp(below(r, 2, 90)), k%2 == 0
				requests[i].own = k%2 == round%2
			}
			next := apart(r, size, 10, 1, 9) // which wait meanwhile
			next[0].until = giveUp(150)      // and is then in a call
			requests = sorted(requests, next)
			answers := w.play(t, requests)
			observeGivenUp(o, "given up in a call", requests, answers)
			w.observeBatches(o, "given up in a call")
			w.end()
		})
	}
}

// seen is what a model knows of its ctx.
type seen struct {
	deadline bool
	value    any
	done     time.Duration // when it was done while the call ran; 0: never
}

// The ctx of the model is done when all requests of its call have been given up, and
// not before. It has no deadline and no values of a request's ctx. A model that does
// not look at it goes on running, and no other call begins (rules 3 and 11).
func TestModelContext(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	type keyOf struct{}
	for _, size := range []int{1, 2, below(r, 3, 9), below(r, 260, 300)} {
		for _, w := range []time.Duration{0, wait(5)} {
			plain(t, o, limits(size, w), keyOf{})
		}
	}
	for round := range 8 {
		obeys := round%2 == 0
		bubble(t, func(t *testing.T) {
			size := below(r, 2, 7)
			if round >= 6 {
				size = below(r, 260, 300)
			}
			w := newWorld(t, r, limits(size, wait(30)))
			var mu sync.Mutex
			saw := map[int]*seen{}
			w.watch = func(ctx context.Context, k int) {
				s := &seen{value: ctx.Value(keyOf{})}
				_, s.deadline = ctx.Deadline()
				mu.Lock()
				saw[k] = s
				mu.Unlock()
				s.done = whenDone(ctx, w, work(100), obeys)
			}
			requests := together(r, size, 1) // all given up, the last at another time than the first
			for i := range requests {
				requests[i].until, requests[i].limit = giveUp(below(r, 2, 20)), i%2 == 0
			}
			requests[r.IntN(size)].until = giveUp(30 + below(r, 0, 50))
			spared := together(r, size, 500) // all but one
			for i := range spared {
				spared[i].until = giveUp(510 + below(r, 0, 50))
			}
			spared[r.IntN(size)].until = giveUp(2000)
			alone := request{at: ms(1000), in: r.IntN(1e6), until: giveUp(1050), limit: true}
			last := together(r, size-1, 1500) // one that is given up in the queue, and the rest later
			for i := range last {
				last[i].until = giveUp(1560)
			}
			last[0].until = giveUp(1510)
			last = append(last, request{at: ms(1511), until: giveUp(1570)})
			requests = sorted(requests, apart(r, 2, 5, 1, 9), spared, []request{alone}, last)
			for i := range requests {
				requests[i].in = i
			}
			ctx := context.WithValue(t.Context(), keyOf{}, r.IntN(1e6))
			answers, done := w.beginWith(ctx, requests)
			done.Wait()
			time.Sleep(time.Second) // the last call goes on without requests
			observeAnswers(o, "requests", answers)
			w.observeTimes(o, "calls")
			for k := range w.calls {
				s := saw[k]
				o.Bool("the ctx has a deadline", s.deadline)
				o.Bool("the ctx has a value of a request's", s.value != nil)
				o.Int("when the ctx was done, in µs", micros(s.done))
			}
			w.end()
		})
	}
}

// plain has a call for one request and one for as many as there may be. What their ctx
// holds is nothing to the model's, which is done when all are given up.
func plain(t *testing.T, o *observe.Observer, cfg config, key any) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		w := newWorld(t, r, cfg)
		var mu sync.Mutex
		var at []int
		w.watch = func(ctx context.Context, k int) {
			_, deadline := ctx.Deadline()
			o.Bool("a plain call: the ctx has a deadline", deadline)
			o.Bool("a plain call: the ctx has a value of a request's", ctx.Value(key) != nil)
			done := micros(whenDone(ctx, w, work(100), false))
			mu.Lock()
			at = append(at, done)
			mu.Unlock()
		}
		requests := []request{{at: ms(1), in: r.IntN(1e6), until: giveUp(50), limit: true}, {at: ms(200), in: r.IntN(1e6), until: giveUp(10_000), limit: true}}
		for _, q := range together(r, cfg.MaxBatch, 400) {
			q.until = giveUp(450)
			requests = append(requests, q)
		}
		_, done := w.beginWith(context.WithValue(t.Context(), key, r.IntN(1e6)), requests)
		done.Wait()
		time.Sleep(time.Second)
		mu.Lock()
		o.Ints("a plain call: when the ctx was done, in µs", at)
		mu.Unlock()
		w.end()
	})
}

// whenDone waits for d or, where the model obeys, until ctx is done, and returns when
// that was, or 0.
func whenDone(ctx context.Context, w *world, d time.Duration, obeys bool) (at time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		at = time.Since(w.start)
	case <-timer.C:
		return 0
	}
	if !obeys {
		<-timer.C
	}
	return at
}
