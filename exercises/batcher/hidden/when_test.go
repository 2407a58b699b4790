package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
)

// A full queue goes to the model at once: as soon as MaxBatch requests wait and no call
// runs, without any wait (rule 4).
func TestFull(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range []int{1, 2, 3, below(r, 4, 9), below(r, 9, 40), 64, below(r, 2000, 2500)} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, r, config{MaxBatch: size, MaxWait: 10000 * time.Hour})
			w.took = always(work(1))
			var requests []request
			if size < 100 {
				requests = apart(r, size*below(r, 2, 5), 1, 3, 9)
			}
			for i := range 2 { // and some batches that are full at one instant
				requests = append(requests, together(r, size, 20000+10*i)...)
			}
			w.play(t, requests)
			w.observeCalls(o, "full batches")
			w.end()
		})
	}
}

// odd draws an odd number of nanoseconds, which no rounding keeps.
func odd(r *rand.Rand, most int) time.Duration { return time.Duration(2*r.IntN(most/2) + 1) }

// A request that stays alone goes to the model when it has waited for MaxWait, and
// neither before nor later (rule 4).
func TestLone(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, most := range []time.Duration{1, time.Microsecond, wait(below(r, 1, 9)), wait(below(r, 100, 9999)), 1000 * time.Hour, 1<<48 + odd(r, 1<<20), 1<<53 + odd(r, 1<<30), 1<<58 + odd(r, 1<<57)} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, r, config{MaxBatch: below(r, 2, 9), MaxWait: most})
			for _, q := range apart(r, below(r, 3, 6), 1, 1, 50) {
				time.Sleep(ms(below(r, 0, 40)))
				begin := time.Since(w.start)
				a := w.submit(t.Context(), request{in: q.in})
				o.Int("answer", a.out)
				o.Int("nanoseconds until the answer", int(a.at-begin))
			}
			o.Int("calls", len(w.calls))
			w.end()
		})
	}
}

// The wait of a batch begins with its first request: those that come later go with it
// and do not make it longer; one that comes when it is over begins the next (rules 4
// and 5).
func TestFirstRequest(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 12 {
		bubble(t, func(t *testing.T) {
			n := below(r, 10, 40)
			w := newWorld(t, r, config{MaxBatch: 1000, MaxWait: wait(n)})
			var requests []request
			for k := range below(r, 2, 5) {
				at := 1 + k*200
				requests = append(requests, request{at: ms(at), in: r.IntN(1e6)})
				for off := 1; off < n; off += below(r, 1, 9) {
					requests = append(requests, request{at: ms(at + off), in: r.IntN(1e6)})
				}
				if r.IntN(2) == 0 || k == 0 {
					requests = append(requests,
						request{at: ms(at + n), in: r.IntN(1e6)},     // 1 µs before the wait is over
						request{at: ms(at + n + 1), in: r.IntN(1e6)}) // and too late
				}
			}
			w.play(t, requests)
			w.observeCalls(o, "few requests")
			w.end()
		})
	}
}

// After a call, whether it was for a full batch or for a wait that was over, the next
// request begins a wait of its own: no older one is left over (rules 4 and 5).
func TestNextBatch(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 12 {
		bubble(t, func(t *testing.T) {
			n, size := below(r, 20, 60), below(r, 2, 7)
			w := newWorld(t, r, config{MaxBatch: size, MaxWait: wait(n)})
			at := 1
			var requests []request
			for range below(r, 2, 6) {
				requests = append(requests, apart(r, size, at, 1, 3)...) // full
				at += 3*size + below(r, 0, n)
				requests = append(requests, request{at: ms(at), in: r.IntN(1e6)}) // the wait of a next one
				if r.IntN(2) == 0 {
					at += 3 * n
				} else {
					at += below(r, n/2, n)
					requests = append(requests, apart(r, size-1, at, 0, 1)...)
					at += n + below(r, 1, 9)
				}
			}
			w.play(t, requests)
			w.observeCalls(o, "one batch after the other")
			w.end()
		})
	}
}

// While a call runs, requests wait in the queue and their time counts. When it
// returns, the next call begins at once, if one is due: a full batch, or what has
// waited for MaxWait; the rest goes on waiting from its own Submit. Submit returns
// when its call does (rules 2, 4 to 6).
func TestBusy(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 24 {
		bubble(t, func(t *testing.T) {
			size, n := below(r, 3, 8), below(r, 20, 40)
			w := newWorld(t, r, config{MaxBatch: size, MaxWait: wait(n)})
			long := []int{n / 4, n - 1, 2 * n, 5 * n}[i%4] // the first call, which begins at 1 ms
			w.took = func(k int) time.Duration {
				if k == 0 {
					return work(long)
				}
				return work(k % 3 * n / 4)
			}
			requests := together(r, size, 1)
			more := []int{1, size - 1, size, size + 1, 2*size + 1, 3 * size}[i%6]
			for k := range more {
				at := 2 + k*(long-2)/more // while it runs
				requests = append(requests, request{at: ms(at), in: r.IntN(1e6)})
			}
			requests = append(requests, apart(r, below(r, 0, 3*size), long+2, 1, n)...)
			answers := w.play(t, requests)
			w.observeCalls(o, "a busy model")
			observeReturns(o, "a busy model", answers)
			w.end()
		})
	}
}

// At most one call runs at a time, however many requests wait (rule 3).
func TestOneAtATime(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, c := range []config{limits(1, 0), limits(1, wait(3)), limits(2, wait(2)), limits(below(r, 3, 9), wait(below(r, 1, 9))), limits(100, 0)} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, r, c)
			w.took = func(k int) time.Duration { return work(1 + k*7%20) }
			answers := w.play(t, apart(r, 60, 1, 0, 5))
			o.Int("calls at the same time", w.most)
			observeAnswers(o, "many requests", answers)
			w.end()
		})
	}
}

// The queue has the order in which Submit was called, and a call takes the oldest
// requests in that order, at most MaxBatch: also where some between them are given up
// (rules 5 and 9).
func TestOrder(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range []int{1, 2, below(r, 3, 9), below(r, 20, 40), 1000} {
		inOrder(t, o, "", size, 0)
		inOrder(t, o, "given up: ", size, 5)
	}
}

// inOrder has requests wait for a call that takes long. One of each so many of the first
// ones, if that is above 0, is given up before that call ends.
func inOrder(t *testing.T, o *observe.Observer, name string, size, each int) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		w := newWorld(t, r, config{MaxBatch: size, MaxWait: wait(1)})
		w.took = always(work(50))
		requests := append(together(r, 1, 1), apart(r, below(r, 60, 80), 10, 0, 2)...)
		for i := 2; each > 0 && requests[i].at < ms(40) && i+each < len(requests); i += each {
			requests[i].until = giveUp(45)
		}
		w.play(t, requests)
		var seen []int
		largest := 0
		for _, c := range w.calls {
			seen = append(seen, c.in...)
			largest = max(largest, len(c.in))
		}
		o.Ints(name+"requests, as the model saw them", seen)
		o.Bool(name+"no call has more than MaxBatch", largest <= size)
		w.end()
	})
}

// With a MaxWait of 0 a request goes to the model at once if no call runs, and
// together with those that came meanwhile if one does (rule 7).
func TestNoWait(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range []int{1, below(r, 2, 5), 100} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, r, config{MaxBatch: size})
			w.took = always(work(below(r, 5, 15)))
			requests := apart(r, below(r, 3, 6), 1, 20, 40)
			requests = append(requests, apart(r, below(r, 20, 30), 1000, 0, 4)...)
			w.play(t, requests)
			w.observeCalls(o, "without a wait")
			w.end()
		})
	}
}

// What is far from usual, and allowed: the largest numbers of a Config, a wait of
// centuries, and a call for thousands of requests (rules 4, 5 and 18).
func TestLargestNumbers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const forever = time.Duration(math.MaxInt64)
	for _, c := range []config{
		limits(1, forever), limits(2, forever), limits(4, 1<<62),
		limits(math.MaxInt, wait(below(r, 1, 9))), limits(math.MaxInt, 0), limits(1<<40, wait(3)),
	} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, r, c)
			requests := slices.Concat(together(r, 4, 1), apart(r, 4, 20, 1, 2))
			answers := w.play(t, requests)
			w.observeCalls(o, "large numbers")
			observeAnswers(o, "large numbers", answers)
			w.end()
		})
	}
	centuries(t, o)
	thousands(t, o)
}

// centuries has a request wait for as long as the clock of a bubble, which begins in the
// year 2000 and ends in 2262, has room for.
func centuries(t *testing.T, o *observe.Observer) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		const year = 365 * 24 * time.Hour
		w := newWorld(t, r, limits(below(r, 2, 9), time.Duration(below(r, 150, 200))*year+1))
		a := w.submit(t.Context(), request{in: r.IntN(1e6)})
		o.Int("centuries: nanoseconds until the answer", int(a.at))
		o.Int("centuries: answer", a.out)
		w.end()
	})
}

// thousands has a full batch of very many requests, which come in any order.
func thousands(t *testing.T, o *observe.Observer) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		n := below(r, 17_000, 20_000)
		w := newWorld(t, r, limits(n, ages))
		answers := make([]answer, n)
		for i, q := range together(r, n, 1) {
			go func() { answers[i] = w.submit(t.Context(), q) }()
		}
		synctest.Wait()
		var sizes []int
		for _, c := range w.calls {
			sizes = append(sizes, len(c.in))
		}
		o.Ints("many thousand requests: those of each call", sizes)
		observeTotals(o, "many thousand requests", answers)
		w.end()
	})
}
