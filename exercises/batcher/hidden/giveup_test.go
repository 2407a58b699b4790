package hidden

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"grade/observe"
	"grade/reference/batcher"
)

const ages = 1000 * time.Hour // a MaxWait that is never over

// observeGivenUp records when each Submit returned and what, and whether the error of
// those that were given up is ctx.Err() itself.
func observeGivenUp(o *observe.Observer, name string, requests []request, answers []answer) {
	observeAnswers(o, name, answers)
	observeReturns(o, name, answers)
	for i, a := range answers {
		switch {
		case requests[i].until > 0 && requests[i].own:
			o.Bool(name+", own type of ctx: ctx.Err() itself", a.err == a.ctx)
		case requests[i].until > 0:
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
// model is not called. That is so while a call runs, too; and what has left is not kept in memory
// until the call returns (rules 8 and 9).
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
	for round := range 4 {
		givenUpBusy(t, o, round)
	}
	notKept(t, o, "given up while a call runs", below(r, 1, 9), true)
	notKept(t, o, "given up while too few wait", 1000, false)
}

// data is a request that can be looked for in memory.
type data [64]byte

// notKept has many requests given up, in groups that wait at the same time, and records whether most of them
// can be reached no more. If it is busy a full batch comes first, whose call runs meanwhile.
func notKept(t *testing.T, o *observe.Observer, name string, size int, busy bool) {
	bubble(t, func(t *testing.T) {
		returns := make(chan struct{})
		b, err := batcher.New(func(_ context.Context, in []*data) ([]int, error) {
			<-returns
			return make([]int, len(in)), nil
		}, limits(size, ages))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; busy && i < size; i++ {
			go b.Submit(t.Context(), new(data))
		}
		synctest.Wait()
		var all []weak.Pointer[data]
		for range 15 {
			ctx, cancel := context.WithCancel(t.Context())
			for range below(o.Rand(), 50, 100) {
				in := new(data)
				all = append(all, weak.Make(in))
				go b.Submit(ctx, in)
			}
			synctest.Wait()
			cancel()
			synctest.Wait()
		}
		runtime.GC()
		runtime.GC() // what a sync.Pool holds goes with the second
		kept := 0
		for _, p := range all {
			if p.Value() != nil {
				kept++
			}
		}
		o.Bool(name+": most requests can be reached no more when Submit has returned", kept < len(all)/2)
		close(returns)
		go b.Close()
		synctest.Wait()
	})
}

// givenUpBusy has requests given up that wait while a call runs, so that too few are left for
// a full batch when it returns.
func givenUpBusy(t *testing.T, o *observe.Observer, round int) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		size, gone := below(r, 3, 9), below(r, 1, 4)
		if round == 0 {
			gone = size // there are enough for two
		}
		w := newWorld(t, r, limits(size, ages))
		w.took = always(work(50))
		waiting := apart(r, size-1+gone, 5, 0, 2)
		for _, i := range r.Perm(len(waiting))[:gone] {
			waiting[i].until = giveUp(30 + below(r, 0, 15))
		}
		filling := request{at: ms(100), in: r.IntN(1e6)}
		w.play(t, sorted(together(r, size, 1), waiting, []request{filling}))
		w.observeCalls(o, "given up, busy")
		w.end()
	})
}

// If the oldest request is given up while it waits, the wait that counts is that of the
// oldest that is left, or of the next to come if none is, from its own Submit: also if a
// call runs then (rules 6 and 9).
func TestGivenUpOldest(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const last = 8
	for round := range last + 1 {
		bubble(t, func(t *testing.T) {
			n := below(r, 44, 80)
			w := newWorld(t, r, limits(100, wait(n)))
			requests := apart(r, 6, 1, 2, 6)
			gone := below(r, 1, 5) // the first ones
			if round == 0 || round == last {
				gone = 6
			}
			for i := range gone {
				requests[i].until = giveUp(31 + below(r, 0, 8))
			}
			if round%2 == 1 { // and one in the middle, which changes nothing
				requests[5].until = giveUp(39)
				requests = append(requests, request{at: ms(n + 2), in: r.IntN(1e6)})
			}
			next := 300
			if round == last { // before the wait of the first that is given up would be over
				next = 42
			}
			answers := w.play(t, sorted(requests, apart(r, 3, next, 1, 5)))
			w.observeCalls(o, "the oldest is given up")
			observeAnswers(o, "the oldest is given up", answers)
			w.end()
		})
	}
	for round := range 8 {
		oldestBusy(t, o, round)
	}
}

// oldestBusy has the oldest requests given up while a call runs, which ends before their
// wait is over, after it, or when that of the next is over, too.
func oldestBusy(t *testing.T, o *observe.Observer, round int) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		n := below(r, 60, 80)
		w := newWorld(t, r, limits(9, wait(n)))
		long := []int{50, n + 4, n + 4, 2 * n}[round%4] // from 1 ms on
		w.took = func(k int) time.Duration { return work(long * (1 - min(k, 1))) }
		waiting := apart(r, 5, 3, 8, 10)
		gone := below(r, 1, 4)
		for i := range gone {
			waiting[i].until = giveUp(40 + below(r, 0, 9))
		}
		if round%4 == 2 { // when its wait is over
			waiting[0].until = giveUp(n + 4)
		}
		w.play(t, sorted(together(r, 9, 1), waiting))
		w.observeCalls(o, "oldest given up, busy")
		w.end()
	})
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
