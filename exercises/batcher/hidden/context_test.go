package hidden

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
)

// seen is what a model knows of its ctx.
type seen struct {
	deadline bool
	value    any
	done     time.Duration // when it was done while the call ran; 0: never
}

// The ctx of the model is done when all requests of its call have been given up, and
// not before: also when Close was called. It has no deadline and no values of a request's
// ctx, and does not depend on another call. A model that does not look at it goes on
// running, and no other call begins (rules 3 and 11).
func TestModelContext(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	type keyOf struct{}
	for _, size := range []int{1, 2, below(r, 3, 9), below(r, 260, 300)} {
		for _, w := range []time.Duration{0, wait(5)} {
			plain(t, o, limits(size, w), keyOf{})
		}
	}
	for _, obeys := range []bool{true, false} {
		closed(t, o, obeys)
	}
	for range 10 {
		late(t, o)
	}
	for round := range 8 {
		obeys := round%2 == 0
		bubble(t, func(t *testing.T) {
			size := below(r, 3, 7)
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
			synctest.Wait()
			var at []int
			for k := range w.calls {
				s := saw[k]
				o.Bool("the ctx has a deadline", s.deadline)
				o.Bool("the ctx has a value of a request's", s.value != nil)
				at = append(at, micros(s.done))
			}
			o.Ints("when the ctx of a call was done, in µs", at)
			w.observeTimes(o, "calls")
			observeAnswers(o, "requests", answers)
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

// closed has Close called while the first of four calls runs. The requests of all but the
// second, which keeps one, are given up while their call runs.
func closed(t *testing.T, o *observe.Observer, obeys bool) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		size := below(r, 2, 7)
		w := newWorld(t, r, limits(size, ages))
		var at []int // the calls come one after the other
		w.watch = func(ctx context.Context, _ int) {
			at = append(at, micros(whenDone(ctx, w, work(100), obeys)))
		}
		requests := together(r, 4*size, 1)
		for i := range requests {
			first := []int{20, 120, 210, 310}[i/size] // ms at which its call surely runs
			requests[i].until = giveUp(first + below(r, 0, 20))
			if i%size == 0 {
				requests[i].until = giveUp(first + 20)
			}
		}
		requests[size].until = 0
		w.begin(t, requests)
		go w.closeAt(closing(5))
		w.sleepUntil(time.Second)
		synctest.Wait()
		o.Ints("Close: when the ctx of a call was done, in µs", at)
	})
}

// late has a model itself give up the requests of its call, just before it returns. The
// ctx of the next call, which has one request, is none of their business.
func late(t *testing.T, o *observe.Observer) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		size := below(r, 20, 40)
		w := newWorld(t, r, limits(size, wait(5)))
		ctx, cancel := context.WithCancel(t.Context())
		next := time.Duration(-1)
		w.watch = func(c context.Context, k int) {
			if k == 0 {
				time.Sleep(work(20))
				cancel()
				return
			}
			next = whenDone(c, w, work(50), false)
		}
		w.beginWith(ctx, together(r, size, 1))
		w.begin(t, together(r, 1, 2))
		w.sleepUntil(time.Second)
		synctest.Wait()
		o.Int("when the ctx of the next call was done, in µs", micros(next))
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
