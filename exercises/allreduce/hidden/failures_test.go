package hidden

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
	"grade/reference/allreduce"
)

// errCause is why a ctx was cancelled, which is not its Err.
var errCause = errors.New("cause")

// When a Send or a Recv of a rank fails, all ranks return a RankError with that rank
// and what the link returned. A link that fails after the ring has failed changes nothing
// of that (rule 13).
func TestLinkFails(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		at := o.Rand().IntN(100)
		firstCounts(t, o, "a link fails late", never, func(g ring, rank int, _ context.CancelFunc) {
			g.links[rank].failsLate(errors.New("link: closed"))
		})
		for _, n := range []int{2, 3, 4, 6} {
			for rank := range n {
				for _, step := range []int{0, n - 2, n - 1, 2*n - 3} {
					for _, sends := range []bool{true, false} {
						// Any error is one, also those with a meaning elsewhere.
						at++
						cause := reasons(rank)[at%len(reasons(rank))]
						g := newRing(t, n, loose)
						breakLink(g.links[rank], step, sends, cause)
						errs := g.all(t.Context(), inputs(o.Rand(), n, 2*n), allreduce.Sum)
						failed(o, "a link fails", errs, cause)
						unwraps(o, errs, cause)
						begun := g.links[rank].recvs
						if sends {
							begun = g.links[rank].sends
						}
						o.Int("calls of what failed", begun)
					}
				}
				at++ // each reason at another step of the next rank
				unlike(t, o, n, rank)
				closing(t, o, n, rank)
				alone(t, o, n, rank, true)
				alone(t, o, n, rank, false)
			}
		}
		crowd(t, o)
	})
}

// unwraps records whether the RankErrors themselves lead to the cause, whatever is around
// them.
func unwraps(o *observe.Observer, errs []error, cause error) {
	for _, err := range errs {
		var e *allreduce.RankError
		o.Bool("the RankError itself unwraps to the cause", errors.As(err, &e) && e != nil && errors.Is(e, cause))
	}
}

// crowd has one of more than 256 ranks fail in its last step, after all others have made
// theirs.
func crowd(t *testing.T, o *observe.Observer) {
	const n = 257
	g := newRing(t, n, func() *link { return &link{queue: make(chan []float64, 2*n)} })
	cause := errors.New("broken")
	breakLink(g.links[o.Rand().IntN(n)], 2*(n-1)-1, false, cause)
	failed(o, "the last of many ranks", g.all(t.Context(), inputs(o.Rand(), n, 1), allreduce.Sum), cause)
}

// reasons are errors that a link may return, or that an Abort is for.
func reasons(rank int) []error {
	return []error{
		errors.New("broken"), context.Canceled, context.DeadlineExceeded, allreduce.ErrBusy, allreduce.ErrConfig,
		&allreduce.RankError{Rank: rank, Err: errors.New("of another ring")},
		&allreduce.RankError{Rank: rank + 1, Err: context.Canceled},
		fmt.Errorf("of a ring below: %w", &allreduce.RankError{Rank: rank + 1, Err: errors.New("broken")}),
	}
}

// several is an error that == must not be asked of.
type several struct{ texts []string }

func (s several) Error() string { return strings.Join(s.texts, ", ") }

// unlike has all links fail with errors that cannot be compared.
func unlike(t *testing.T, o *observe.Observer, n, rank int) {
	g := newRing(t, n, loose)
	for i, l := range g.links {
		if i != rank {
			l.recv = hour(0, several{[]string{"late"}})
		}
	}
	breakLink(g.links[rank], 0, true, several{[]string{"broken"}})
	for _, err := range g.all(t.Context(), inputs(o.Rand(), n, 2*n), allreduce.Sum) {
		var e *allreduce.RankError
		o.Bool("an error that cannot be compared: the rank's own", errors.As(err, &e) && e.Rank == rank)
		var s several
		o.Bool("an error that cannot be compared: the reason", errors.As(err, &s))
	}
}

// closing has one link fail. All others wait, and return an error of their own when they
// are cancelled because of that.
func closing(t *testing.T, o *observe.Observer, n, rank int) {
	g := newRing(t, n, loose)
	for _, l := range g.links {
		l.recv = hour(0, errors.New("link: closed"))
	}
	cause := errors.New("broken")
	l := g.links[(rank+n-1)%n] // that of the Recv
	l.recv = nil
	breakLink(l, 0, false, cause)
	failed(o, "others close", g.all(t.Context(), inputs(o.Rand(), n, 2*n), allreduce.Sum), cause)
}

// alone has one rank come first, to links that hold nothing: its Send fails while its Recv
// waits for what nobody sends, or the other way round.
func alone(t *testing.T, o *observe.Observer, n, rank int, sends bool) {
	g := newRing(t, n, tight)
	cause := errors.New("broken")
	out, in := g.links[rank], g.links[(rank+n-1)%n]
	if sends {
		breakLink(out, 0, true, cause)
		in.send = stuck
	} else {
		breakLink(in, 0, false, cause)
		out.recv = stuck
	}
	failed(o, "alone", g.first(t, rank, inputs(o.Rand(), n, n), allreduce.Sum), cause)
}

// stuck is a Send or Recv that does nothing until it is cancelled.
func stuck(ctx context.Context, _ int) error {
	<-ctx.Done()
	return ctx.Err()
}

// first calls AllReduce on one rank, and an hour later on the others: a rank may wait for all
// before it begins.
func (r ring) first(t *testing.T, rank int, data [][]float64, op allreduce.Op) []error {
	errs := make([]error, len(data))
	var wg sync.WaitGroup
	for i := range data {
		wg.Go(func() {
			if i != rank {
				time.Sleep(time.Hour)
			}
			errs[i] = r.AllReduce(t.Context(), i, data[i], op)
		})
	}
	wg.Wait()
	return errs
}

// firsts are ways in which a rank ends a ring while the others are in a call.
var firsts = []string{"Abort", "ctx", "a link", "mismatch"}

// never is a deadline that no call lives to see.
const never = 1000 * time.Hour

// firstCounts ends rings by a failure of one rank. The calls wait for links that take their
// time to end, and meanwhile each rank, the first one too, fails once more: by its deadline,
// or as again makes it.
func firstCounts(t *testing.T, o *observe.Observer, name string, deadline time.Duration, again func(g ring, rank int, cancel context.CancelFunc)) {
	for _, n := range []int{2, 3, 5} {
		for _, first := range firsts {
			for _, sends := range []bool{true, false} {
				failsTwice(t, o, name, n, first, sends, deadline, again)
			}
		}
	}
}

func failsTwice(t *testing.T, o *observe.Observer, name string, n int, first string, sends bool, deadline time.Duration, again func(g ring, rank int, cancel context.CancelFunc)) {
	g := newRing(t, n, loose)
	rank, cause := o.Rand().IntN(n), errors.New("the first")
	for _, l := range g.links {
		if sends {
			l.send = l.lingers
		} else {
			l.recv = l.lingers
		}
	}
	data := inputs(o.Rand(), n, 2*n)
	ctxs, cancels := make([]context.Context, n), make([]context.CancelFunc, n)
	for i := range n {
		ctxs[i], cancels[i] = context.WithTimeout(t.Context(), deadline)
		defer cancels[i]()
	}
	out, in := g.links[rank], g.links[(rank+n-1)%n] // whose Send and Recv are the first one's
	if first == "ctx" || first == "a link" {        // that fails at once, and waits for nothing
		if sends {
			out.send = hour(0, nil)
		} else {
			in.recv = hour(0, nil)
		}
	}
	come := time.Duration(0) // when the rank that fails first comes
	switch first {
	case "Abort":
		time.AfterFunc(ms(1), func() { g.Abort(rank, cause) })
	case "ctx":
		cause = context.Canceled
		time.AfterFunc(ms(1), cancels[rank])
	case "a link":
		if sends {
			breakLink(in, 0, false, cause)
		} else {
			breakLink(out, 0, true, cause)
		}
	case "mismatch":
		cause = allreduce.ErrMismatch
		come = ms(1)
		data[rank] = data[rank][1:]
	}
	for k, i := range o.Rand().Perm(n) {
		time.AfterFunc(ms(10+k), func() { again(g, i, cancels[i]) })
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if i == rank {
				time.Sleep(come)
			}
			errs[i] = g.AllReduce(ctxs[i], i, data[i], allreduce.Sum)
		})
	}
	wg.Wait()
	failed(o, name+", the first failure counts", errs, cause)
}

// lingers is a Send or Recv that ends an hour after its ctx is done, with an error of its
// own where the link has one.
func (l *link) lingers(ctx context.Context, k int) error {
	select {
	case <-ctx.Done():
	case <-time.After(24 * time.Hour): // where nobody cancels it
	}
	time.Sleep(time.Hour)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.late != nil {
		return l.late
	}
	return ctx.Err()
}

// failsLate has lingers return err in the end, also in a call that has begun.
func (l *link) failsLate(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = err
}

// soon allows the time that the reference takes, in milliseconds, and no more.
var soon = observe.AtMost(1, 0.001)

// elapsed is the time that f takes on the clock of the bubble, in milliseconds.
func elapsed(f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start)) / 1e6
}

// When the ctx of one rank is done, all ranks return at once, with a RankError of that
// rank and its ctx.Err(): wherever it is, and whatever the links say. When one rank has
// returned nil, it is too late for that. If the ring has failed before, the first failure
// counts, on all ranks: also on one whose own ctx is done while its call waits for a link
// (rules 13 and 14).
func TestCancel(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		firstCounts(t, o, "ctx cancelled late", never, func(_ ring, _ int, cancel context.CancelFunc) { cancel() })
		firstCounts(t, o, "deadline passes late", ms(10), func(ring, int, context.CancelFunc) {})
		for _, n := range []int{2, 3, 5} {
			for range 20 {
				complete(t, o, n, false)
			}
			if n > 2 { // a third rank
				lingering(t, o, n)
			}
			for _, deadline := range []bool{false, true} {
				rank := r.IntN(n)
				for _, late := range []int{0, rank, (rank + 1) % n, (rank + n - 1) % n} {
					// One link takes an hour, in a step of either half.
					g := newRing(t, n, loose)
					slow := r.IntN(2 * (n - 1))
					g.links[late].send = hour(slow, nil)
					cancelled(t, o, "in a step", g, n, rank, deadline)
				}
				// The last step: all others have finished.
				g := newRing(t, n, loose)
				g.links[(rank+1)%n].recv = hour(2*(n-1)-1, nil)
				cancelled(t, o, "at the end", g, n, rank, deadline)

				// The link of that rank has an error of its own for a ctx that is done.
				g = newRing(t, n, loose)
				g.links[rank].send = hour(r.IntN(2*(n-1)), errors.New("link: closed"))
				cancelled(t, o, "in a link", g, n, rank, deadline)
				g = newRing(t, n, loose)
				g.links[(rank+n-1)%n].recv = hour(r.IntN(2*(n-1)), errors.New("link: closed"))
				cancelled(t, o, "in a link", g, n, rank, deadline)

				// Another rank never comes.
				g = newRing(t, n, loose)
				cancelled(t, o, "before all have come", g, n-1, r.IntN(n-1), deadline)
			}
		}
	})
}

// lingering ends the ctx of one rank while the Recv of another one takes an hour to end: the
// ranks that wait for no link of their own return at once.
func lingering(t *testing.T, o *observe.Observer, n int) {
	g, rank := newRing(t, n, loose), o.Rand().IntN(n)
	slow := (rank + 1 + o.Rand().IntN(n-1)) % n
	in := g.links[(slow+n-1)%n]
	in.recv = in.lingers
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(ms(5), cancel)
	errs, took := g.timed(inputs(o.Rand(), n, n), func(i int) context.Context {
		if i == rank {
			return ctx
		}
		return t.Context()
	})
	failed(o, "the link of a third rank takes its time", errs, context.Canceled)
	took[slow] = 0
	for _, x := range took {
		o.Float("the link of a third rank takes its time: milliseconds of the others", x, soon)
	}
}

// timed adds up on every rank, and returns how many milliseconds each of them took, too.
func (r ring) timed(data [][]float64, ctx func(rank int) context.Context) (errs []error, took []float64) {
	errs, took = make([]error, len(data)), make([]float64, len(data))
	var wg sync.WaitGroup
	for rank := range data {
		wg.Go(func() {
			took[rank] = elapsed(func() { errs[rank] = r.AllReduce(ctx(rank), rank, data[rank], allreduce.Sum) })
		})
	}
	wg.Wait()
	return errs, took
}

// hour is a Send or Recv that takes an hour in step k, and then or when its ctx is done
// returns err, or what the ctx says.
func hour(k int, err error) func(context.Context, int) error {
	return func(ctx context.Context, at int) error {
		if at != k {
			return nil
		}
		select {
		case <-time.After(time.Hour):
			return err
		case <-ctx.Done():
		}
		if err != nil {
			return err
		}
		return ctx.Err()
	}
}

// cancelled has the first n ranks reduce, and ends the ctx of one of them after some
// time.
func cancelled(t *testing.T, o *observe.Observer, name string, g ring, n, rank int, deadline bool) {
	after := ms(below(o.Rand(), 5, 50))
	ctx, stop := context.WithCancelCause(t.Context())
	if deadline {
		var end context.CancelFunc
		ctx, end = context.WithTimeoutCause(t.Context(), after, errCause)
		defer end()
	} else {
		time.AfterFunc(after, func() { stop(errCause) })
	}
	defer stop(nil)
	o.Float(name+": milliseconds", elapsed(func() {
		errs := g.each(inputs(o.Rand(), n, 2*g.Size()), allreduce.Sum, func(i int) context.Context {
			if i == rank {
				return ctx
			}
			return t.Context()
		})
		failed(o, name, errs, ctx.Err())
		for _, err := range errs {
			var e *allreduce.RankError
			o.Bool(name+": Err is ctx.Err() itself", errors.As(err, &e) && e != nil && e.Err == ctx.Err())
		}
	}), soon)
}

// A rank that comes with a ctx that is done ends the ring without using a link
// (rule 14).
func TestDoneBefore(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 4} {
			for _, late := range []bool{false, true} {
				g := newRing(t, n, loose)
				rank := r.IntN(n)
				ctx, stop := context.WithCancelCause(t.Context())
				stop(errCause)
				data := inputs(r, n, 2*n)
				errs := make([]error, n)
				var wg sync.WaitGroup
				for i := range n {
					wg.Go(func() {
						if i != rank {
							errs[i] = g.AllReduce(t.Context(), i, data[i], allreduce.Mean)
							return
						}
						if late { // the others wait for it
							time.Sleep(ms(1))
						}
						errs[i] = g.AllReduce(ctx, i, data[i], allreduce.Mean)
					})
				}
				wg.Wait()
				failed(o, "done before", errs, context.Canceled)
				o.Int("Sends of that rank", g.links[rank].sends)
				o.Int("Recvs of that rank", g.links[(rank+n-1)%n].recvs)
				o.Floats("data", data[rank], observe.Exact())
				failed(o, "after one that was done before", g.all(t.Context(), data, allreduce.Sum), context.Canceled)
			}
			// It comes before all others.
			g := newRing(t, n, loose)
			ctx, stop := context.WithCancel(t.Context())
			stop()
			first := g.AllReduce(ctx, r.IntN(n), eighths(r, n), allreduce.Max)
			failed(o, "the first one is done before", append(g.all(t.Context(), inputs(r, n, n), allreduce.Max), first), context.Canceled)
		}
	})
}

// Abort ends the ring: ranks that are in a call return, and those that come later do
// too, all with a RankError of the first Abort, whose text names the rank and the reason.
// What was complete before stays so (rule 17).
func TestAbort(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		for range 20 {
			whileRanksCome(t, o)
		}
		texts(o, []error{&allreduce.RankError{Rank: below(r, 10, 1000), Err: errCause}}, errCause)
		firstCounts(t, o, "Abort comes late", never, func(g ring, rank int, _ context.CancelFunc) { g.Abort(rank, errCause) })
		for _, n := range []int{2, 3, 5} {
			for range 20 {
				complete(t, o, n, true)
			}
			cause, rank := errors.New("no gradients"), r.IntN(n)
			for _, reason := range reasons(rank) {
				g := newRing(t, n, loose)
				g.Abort(rank, reason)
				failed(o, "of any error", g.all(t.Context(), inputs(r, n, n), allreduce.Sum), reason)
			}
			idle := newRing(t, n, loose)
			data := inputs(r, n, n)
			record(o, "sum before", allreduce.Sum, data, idle.all(t.Context(), data, allreduce.Sum))
			idle.Abort(rank, cause)
			errs := idle.all(t.Context(), data, allreduce.Sum)
			failed(o, "between two calls", errs, cause)
			texts(o, errs, cause)
			for _, finished := range []bool{false, true} {
				g := newRing(t, n, loose)
				data := inputs(r, n, n)
				record(o, "sum before", allreduce.Sum, data, g.all(t.Context(), data, allreduce.Sum))
				if finished { // all but one wait for the end
					g.links[r.IntN(n)].recv = hour(4*(n-1)-1, nil)
				}
				time.AfterFunc(ms(3), func() {
					g.Abort(rank, cause)
					g.Abort((rank+1)%n, errors.New("another one"))
				})
				ranks := n
				if !finished {
					ranks-- // one does not come
				}
				o.Float("milliseconds", elapsed(func() {
					failed(o, "waiting", g.all(t.Context(), inputs(r, ranks, 2*n), allreduce.Max), cause)
				}), soon)
				failed(o, "later", g.all(t.Context(), inputs(r, n, 2*n), allreduce.Sum), cause)
			}
		}
	})
}

// whileRanksCome ends a ring at the moment at which its ranks come. One of them does not, so
// that it is no matter who is first.
func whileRanksCome(t *testing.T, o *observe.Observer) {
	const n = 5
	g, rank := newRing(t, n, func() *link { return &link{queue: make(chan []float64, 2*n)} }), o.Rand().IntN(n)
	go g.Abort(rank, errCause)
	failed(o, "while ranks come", g.all(t.Context(), inputs(o.Rand(), n-1, n), allreduce.Sum), errCause)
}

// complete has the ranks of a ring end what they can as soon as one of them has its
// result: for the others the reduction is complete as well.
func complete(t *testing.T, o *observe.Observer, n int, abort bool) {
	g := newRing(t, n, loose)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	data := inputs(o.Rand(), n, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for rank := range data {
		wg.Go(func() {
			errs[rank] = g.AllReduce(ctx, rank, data[rank], allreduce.Sum)
			if abort {
				g.Abort(rank, errCause)
			} else {
				cancel()
			}
		})
	}
	wg.Wait()
	record(o, "sum, and at once the end", allreduce.Sum, data, errs)
	if !abort {
		record(o, "sum, the next one", allreduce.Sum, data, g.all(t.Context(), data, allreduce.Sum))
	}
}

// When AllReduce returns, no Send and no Recv of its rank runs, also if they take
// their time to end, however long that is (rule 16).
func TestNothingLeft(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 3, 5} {
			for _, fault := range []string{"none", "Send", "Recv", "Abort", "ctx"} {
				g := newRing(t, n, tight)
				for _, l := range g.links {
					l.delay, l.cleanup = anyTime(r), anyTime(r)
				}
				at := r.IntN(n)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				switch fault {
				case "Send", "Recv":
					breakLink(g.links[at], r.IntN(2*(n-1)), fault == "Send", errors.New("broken"))
				case "Abort":
					time.AfterFunc(time.Millisecond/2, func() { g.Abort(at, errCause) })
				case "ctx":
					time.AfterFunc(time.Millisecond/2, cancel)
				}
				running := make([]int, n)
				data := inputs(r, n, 2*n)
				var wg sync.WaitGroup
				for rank := range n {
					wg.Go(func() {
						err := g.AllReduce(ctx, rank, data[rank], allreduce.Sum)
						running[rank] = g.running(rank)
						if (err != nil) != (fault != "none") {
							running[rank] = -1
						}
					})
				}
				wg.Wait()
				o.Ints(fault+": Sends and Recvs that run, by rank", running)
				synctest.Wait()
			}
		}
	})
}

// anyTime is anything from a millisecond to weeks: a rank waits for its links as long as they take.
func anyTime(r *rand.Rand) time.Duration {
	return time.Duration(float64(time.Millisecond) * math.Pow(10, 9.5*r.Float64()))
}

// running is the number of Sends and Recvs of a rank that run now.
func (r ring) running(rank int) int {
	n := len(r.links)
	out, in := r.links[rank], r.links[(rank+n-1)%n]
	out.mu.Lock()
	sending := out.sending
	out.mu.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	return sending + in.recing
}

// A link may hold nothing, so that Send is over only when the next rank receives, be it weeks
// later (rule 6).
func TestRendezvous(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 3, 4, 7} {
			g := newRing(t, n, tight)
			for range 2 {
				for _, l := range g.links {
					l.delay = anyTime(o.Rand())
				}
				data := inputs(o.Rand(), n, n*below(o.Rand(), 1, 9))
				record(o, "sum", allreduce.Sum, data, g.all(t.Context(), data, allreduce.Sum))
			}
		}
	})
}

// A rank sends and receives at the same time, so that a step takes as long as one
// message (rule 6). Allowed is 1.5 times the time that the course's solution takes.
func TestTime(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 5, 8, 16} {
			way := ms(below(o.Rand(), 5, 50))
			g := newRing(t, n, func() *link {
				l := tight()
				l.way, l.taken = way, make(chan struct{})
				return l
			})
			data := inputs(o.Rand(), n, n)
			o.Float("milliseconds", elapsed(func() {
				record(o, "sum", allreduce.Sum, data, g.all(t.Context(), data, allreduce.Sum))
			}), observe.AtMost(1.5, 0))
		}
	})
}

// A rank that is through goes on to its next call, whether or not others have
// returned from this one: calls of two rounds do not mix (rule 8). Two goroutines may call
// for one rank, too: where they meet, one of them is refused (rule 11).
func TestBackToBack(t *testing.T) {
	o := observe.New(t)
	sharedRank(t, o)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 3, 5} {
			g := newRing(t, n, tight)
			const rounds = 60
			lengths := make([]int, rounds)
			data := make([][][]float64, rounds)
			op := make([]allreduce.Op, rounds)
			for k := range data {
				op[k] = ops[o.Rand().IntN(2)].op // one that divides, and one that does not
				lengths[k] = n * below(o.Rand(), 1, 6)
				data[k] = inputs(o.Rand(), n, lengths[k])
			}
			errs := make([]error, n)
			var wg sync.WaitGroup
			for rank := range n {
				wg.Go(func() {
					for k := 0; k < rounds && errs[rank] == nil; k++ {
						errs[rank] = g.AllReduce(t.Context(), rank, data[k][rank], op[k])
					}
				})
			}
			wg.Wait()
			for rank := range n {
				o.Error("error", errs[rank])
				for k := range data {
					o.Floats("sum or mean", data[k][rank], comparison(op[k]))
				}
			}
		}
	})
}

// sharedRank has two goroutines call for one rank, and wait for nothing in between.
func sharedRank(t *testing.T, o *observe.Observer) {
	for range 50 {
		g := newRing(t, 1, loose)
		data, errs := inputs(o.Rand(), 2, 3), make([]error, 2)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = g.AllReduce(t.Context(), 0, data[i], allreduce.Mean) })
		}
		wg.Wait()
		for i, err := range errs {
			o.Bool("one of two calls for a rank: nil or ErrBusy", err == nil || errors.Is(err, allreduce.ErrBusy))
			o.Floats("mean of one rank", data[i], digits)
		}
	}
}

// Rings have nothing to do with each other: a thousand in one program, some of them at
// the same time, some that wait, and some that fail (rule 18).
func TestManyRings(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		waiting, data := newRing(t, 2, loose), inputs(o.Rand(), 2, 4)
		first := make(chan error, 1)
		go func() { first <- waiting.AllReduce(t.Context(), 0, data[0], allreduce.Sum) }()
		synctest.Wait()
		defer func() {
			err := waiting.AllReduce(t.Context(), 1, data[1], allreduce.Sum)
			record(o, "of the ring that waited", allreduce.Sum, data, []error{<-first, err})
		}()
		for range 40 {
			data := make([][][]float64, 10)
			errs := make([][]error, len(data))
			var wg sync.WaitGroup
			for k := range data {
				n := below(o.Rand(), 1, 5)
				data[k] = inputs(o.Rand(), n, n*below(o.Rand(), 1, 4))
				g := newRing(t, n, loose)
				if k%5 == 4 {
					g.Abort(k%n, errCause)
				}
				wg.Go(func() { errs[k] = g.all(t.Context(), data[k], allreduce.Sum) })
			}
			wg.Wait()
			for k := range data {
				o.Floats("sum on the first rank", data[k][0], observe.Exact())
				o.Floats("sum on the last rank", data[k][len(data[k])-1], observe.Exact())
				for _, err := range errs[k] {
					o.Error("error", err, errCause)
				}
			}
		}
	})
}
