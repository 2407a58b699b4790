package hidden

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
	"grade/reference/allreduce"
)

// All ranks have the same result to the last bit, also of numbers whose sum depends
// on the order: a part is added up in the order in which it goes round (rules 3
// and 5).
func TestSameBits(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		for _, n := range []int{3, 4, 6, 7} {
			for _, c := range ops {
				data := inputs(r, n, n*below(r, 3, 6))
				for _, x := range data {
					for i := range x {
						x[i] = r.NormFloat64() * math.Pow(10, float64(r.IntN(30)-15))
					}
				}
				errs := newRing(t, n, loose).all(t.Context(), data, c.op)
				for rank := range data {
					o.Error(c.name+": error", errs[rank])
					o.Bool(c.name+": the bits are those of rank 0", slices.EqualFunc(data[rank], data[0],
						func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }))
					if c.op == allreduce.Sum { // of a mean that is almost 0 few digits are right
						o.Floats(c.name+": in its order", data[rank], observe.Exact())
					}
				}
			}
		}
	})
}

// NaN, infinities and zeros with a sign are numbers as any other: sums are those of
// Go's +, and Max is Go's max (rule 2).
func TestSpecialValues(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	inf, minus := math.Inf(1), math.Copysign(0, -1)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 3, 5} {
			// For each element a number that most ranks have, and two that one rank has.
			kinds := [][3]float64{
				{1, math.NaN(), 2}, {math.NaN(), 1, 1}, {1, inf, 2}, {1, -inf, 2}, {-inf, -inf, 3}, {-inf, -inf, -inf},
				{inf, -inf, inf}, {0, inf, -inf}, {minus, minus, minus}, {minus, 0, minus}, {0, minus, 0}, {inf, math.NaN(), inf},
				{-math.MaxFloat64, -inf, -inf}, {-inf, math.NaN(), -inf}, {-1, minus, -2}, {-1, 0, minus},
			}
			lengths := []int{len(kinds) * n}
			if n < 5 { // and much data
				lengths = append(lengths, n*below(r, 66_000, 80_000))
			}
			for _, c := range ops {
				for _, length := range lengths {
					data := inputs(r, n, length)
					for i := range data[0] {
						kind := kinds[i/n%len(kinds)]
						for rank := range data {
							data[rank][i] = kind[0]
						}
						// Each kind n times: where a part begins, the odd one is on each rank.
						data[(i+1)%n][i], data[i%n][i] = kind[2], kind[1]
					}
					errs := newRing(t, n, loose).all(t.Context(), data, c.op)
					if length > len(kinds)*n {
						for rank := range data {
							o.Error(c.name+" of much data: error", errs[rank])
							o.Ints(c.name+" of much data: how many numbers of each kind, and where", sorts(data[rank]))
						}
						continue
					}
					record(o, c.name, c.op, data, errs)
					for rank := range data {
						o.String(c.name+": signs of zeros", zeros(data[rank]))
					}
				}
			}
		}
	})
}

// sorts counts NaN, infinities, zeros of either sign and other numbers of either sign,
// and adds up the places where they are.
func sorts(x []float64) []int {
	counts := make([]int, 14)
	for i, v := range x {
		kind := 0
		switch {
		case math.IsNaN(v):
		case math.IsInf(v, 0):
			kind = 1
		case v == 0:
			kind = 2
		default:
			kind = 3
		}
		kind *= 2
		if kind > 0 && math.Signbit(v) {
			kind--
		}
		counts[kind]++
		counts[7+kind] += i
	}
	return counts
}

func zeros(x []float64) string {
	var b []byte
	for _, v := range x {
		switch {
		case v != 0:
		case math.Signbit(v):
			b = append(b, '-')
		default:
			b = append(b, '+')
		}
	}
	return string(b)
}

// For Mean the sum comes first and is then divided, once: a sum that is too large is
// infinite, and numbers that are too small to be divided count all the same (rule 2).
func TestMeanDividesLast(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 3, 4, 6, 8, 16, 32, 64, below(o.Rand(), 65, 100), -2, -3} {
			length := 4 * n
			if n < 0 { // much data
				n = -n
				length = 4 * n * below(o.Rand(), 16_500, 20_000)
			}
			data := inputs(o.Rand(), n, length)
			for rank := range data {
				for i := range data[rank] {
					switch i % 4 {
					case 0:
						data[rank][i] = math.MaxFloat64 * (0.9 + o.Rand().Float64()/10)
					case 1:
						data[rank][i] = -math.MaxFloat64 * (0.9 + o.Rand().Float64()/10)
					case 2:
						data[rank][i] = math.SmallestNonzeroFloat64
					}
				}
			}
			errs := newRing(t, n, loose).all(t.Context(), data, allreduce.Mean)
			if n > 6 || length > 4*n {
				for rank := range data {
					o.Error("mean: error", errs[rank])
					o.Ints("mean: how many numbers of each kind, and where", sorts(data[rank]))
				}
				continue
			}
			record(o, "mean", allreduce.Mean, data, errs)
			for rank := range data { // of the smallest number: 1 of it, and not 0
				o.Bool("small numbers are lost", data[rank][2] == 0)
			}
		}
	})
}

// New refuses a list without links, or with one that is nil. AllReduce refuses a rank
// and an operation that there are not, and nothing else comes of that call (rules 9
// and 10).
func TestConfig(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		refused := func(links []allreduce.Link) {
			got, err := allreduce.New(links)
			o.Error("New", err, allreduce.ErrConfig)
			o.Bool("New returns no ring", got == nil)
		}
		refused(nil)
		refused([]allreduce.Link{})
		for _, n := range []int{1, 2, 5} {
			for _, at := range []int{0, n - 1, r.IntN(n)} {
				links := make([]allreduce.Link, n)
				for i := range links {
					links[i] = loose()
				}
				links[at] = nil
				refused(links)
				links[at] = (*link)(nil) // which is one
				_, err := allreduce.New(links)
				o.Error("New, with a Link that holds a nil pointer", err, allreduce.ErrConfig)
			}
			g := newRing(t, n, loose)
			o.Int("Size", g.Size())
			for _, bad := range []int{-1, n, math.MinInt, math.MaxInt, n + r.IntN(100)} {
				refuses(t.Context(), o, g, bad, allreduce.Sum)
				unheard(t, o, g, bad, allreduce.Sum)
			}
			for _, op := range []allreduce.Op{-1, allreduce.Max + 1, allreduce.Op(3 + r.IntN(100))} {
				refuses(t.Context(), o, g, r.IntN(n), op)
				unheard(t, o, g, r.IntN(n), op)
			}
			// What a smaller type takes for a rank or an operation that there is. Such a call
			// waits for the other ranks.
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			for _, more := range []int{1 << 8, 1 << 16, 1 << 32, -1 << 8, -1 << 16, -1 << 32, math.MinInt} {
				refuses(ctx, o, g, more+r.IntN(n), allreduce.Sum)
				for _, c := range ops {
					refuses(ctx, o, g, r.IntN(n), allreduce.Op(more)+c.op)
				}
			}
			data, errs := inputs(r, n, 2*n), make([]error, n)
			var wg sync.WaitGroup
			for i, rank := range r.Perm(n) {
				if i == n-1 { // all others have come, and do not notice such calls either
					synctest.Wait()
					for _, op := range []allreduce.Op{-1, allreduce.Max + 1, allreduce.Op(3 + r.IntN(100))} {
						refuses(ctx, o, g, rank, op)
						refuses(ctx, o, g, n+r.IntN(100), op)
					}
					for _, c := range ops {
						refuses(ctx, o, g, []int{-1, n, n + r.IntN(100)}[r.IntN(3)], c.op)
					}
				}
				wg.Go(func() { errs[rank] = g.AllReduce(t.Context(), rank, data[rank], allreduce.Sum) })
			}
			wg.Wait()
			record(o, "sum after calls that were refused", allreduce.Sum, data, errs)
		}
	})
}

func refuses(ctx context.Context, o *observe.Observer, g ring, rank int, op allreduce.Op) {
	data, before := eighths(o.Rand(), 4), g.begun()
	o.Error("AllReduce", g.AllReduce(ctx, rank, data, op), allreduce.ErrConfig)
	o.Floats("data of a call that was refused", data, observe.Exact())
	o.Int("Sends and Recvs of a call that was refused", g.begun()-before)
}

// The list of links is copied, and of a slice of data only its elements are touched
// (rules 2 and 9).
func TestOwnership(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 5} {
			var given []allreduce.Link
			for range n {
				given = append(given, loose())
			}
			g, err := allreduce.New(given)
			if err != nil {
				t.Fatal(err)
			}
			clear(given)
			for _, c := range ops {
				inside(t, o, "even parts", g, 2*n, c.op)
				inside(t, o, "uneven parts", g, 2*n+below(o.Rand(), 1, max(2, n)), c.op)
			}
		}
	})
}

// inside reduces what lies in larger arrays.
func inside(t *testing.T, o *observe.Observer, name string, g *allreduce.Ring, length int, op allreduce.Op) {
	n := g.Size()
	arrays := inputs(o.Rand(), n, 6*n)
	data := make([][]float64, n)
	for rank := range data {
		data[rank] = arrays[rank][n : n+length : 6*n-1]
	}
	errs := ring{Ring: g}.all(t.Context(), data, op)
	if op == allreduce.Sum {
		record(o, name, op, data, errs)
	}
	for rank := range data {
		o.Floats(name+": numbers before and after the data", slices.Concat(arrays[rank][:n], arrays[rank][n+length:]), observe.Exact())
	}
}

// A rank whose length or operation is another one than that of the first rank that
// came ends the ring: all ranks return a RankError with that rank and ErrMismatch, and
// have the data that they had (rules 12 and 13).
func TestMismatch(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		pairs := r.Perm(6) // each operation with each other one
		next := func() (op, other allreduce.Op) {
			pairs = append(pairs[1:], pairs[0])
			op = allreduce.Op(pairs[0] % 3)
			return op, (op + 1 + allreduce.Op(pairs[0]/3)) % 3
		}
		for _, n := range []int{2, 3, 5} {
			for pair := range 6 { // no numbers, and each operation with each other one
				op := allreduce.Op(pair % 3)
				mismatch(t, o, newRing(t, n, loose), r.Perm(n), below(r, 1, n), 0, 0, op, (op+1+allreduce.Op(pair/3))%3)
			}
			for _, by := range []int{1, 1 << 8, 1 << 16} { // no numbers, and some
				mismatch(t, o, newRing(t, n, loose), r.Perm(n), below(r, 1, n), 0, by, allreduce.Sum, allreduce.Sum)
				mismatch(t, o, newRing(t, n, loose), r.Perm(n), below(r, 1, n), n, n+by, allreduce.Max, allreduce.Max)
			}
			for _, op := range []allreduce.Op{allreduce.Sum, allreduce.Max} { // after a round that went well
				g := newRing(t, n, loose)
				data := inputs(r, n, n)
				for _, err := range g.all(t.Context(), data, allreduce.Sum) {
					o.Error("first round", err)
				}
				mismatch(t, o, g, r.Perm(n), below(r, 1, n), n, n+1-int(op)/2, allreduce.Sum, op)
			}
			lengths := []int{n, n * below(r, 2, 5)}
			for _, odd := range []int{1, n - 1, below(r, 1, n)} { // who differs, in order of coming
				for _, length := range lengths {
					for _, by := range []int{1, -1, -length, 0} { // 0: another operation
						op, other := allreduce.Sum, allreduce.Sum
						if by == 0 {
							op, other = next()
						}
						mismatch(t, o, newRing(t, n, loose), r.Perm(n), odd, length, length+by, op, other)
						if n > 2 { // the last rank does not come
							mismatch(t, o, newRing(t, n, loose), r.Perm(n)[:n-1], below(r, 1, n-1), length, length+by, op, other)
						}
					}
				}
			}
		}
	})
}

// mismatch lets ranks come in order, a millisecond apart, one of them with another
// length or operation than the others. If a rank is missing in order, it never comes.
func mismatch(t *testing.T, o *observe.Observer, g ring, order []int, odd, length, otherLength int, op, otherOp allreduce.Op) {
	errs := make([]error, len(order))
	var all, before [][]float64
	var wg sync.WaitGroup
	for k, rank := range order {
		data, mine := eighths(o.Rand(), length), op
		if k == odd {
			data, mine = eighths(o.Rand(), otherLength), otherOp
		}
		all, before = append(all, data), append(before, slices.Clone(data))
		wg.Go(func() { errs[k] = g.AllReduce(t.Context(), rank, data, mine) })
		time.Sleep(ms(1))
	}
	wg.Wait()
	failed(o, "mismatch", errs, allreduce.ErrMismatch)
	recordKept(o, "data after a mismatch", all, before) // of ranks that came earlier, too, which have received parts
}

// A call of a rank that is in a call already returns ErrBusy at once. The ring, the
// first call and the data of the second one do not notice (rule 11).
func TestBusy(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 4} {
			g := newRing(t, n, loose)
			for range 3 {
				early := r.IntN(n)
				data := inputs(r, n, 2*n)
				first := make(chan error, 1)
				go func() { first <- g.AllReduce(t.Context(), early, data[early], allreduce.Sum) }()
				synctest.Wait()
				for _, c := range ops { // also one that would not agree
					again(t, o, g, early, 2*n, c.op)
				}
				again(t, o, g, early, 2*n-1, allreduce.Sum)
				unheard(t, o, g, early, allreduce.Sum)
				for rank := range n {
					if rank != early {
						go func() { first <- g.AllReduce(t.Context(), rank, data[rank], allreduce.Sum) }()
					}
				}
				for range n {
					o.Error("first calls", <-first, allreduce.ErrBusy)
				}
				for rank := range n {
					o.Floats("sum", data[rank], observe.Exact())
				}
			}
			busyAtTheEnd(t, o, n)
		}
	})
}

// again makes a second call of a rank that is in one.
func again(t *testing.T, o *observe.Observer, g ring, rank, length int, op allreduce.Op) {
	second := eighths(o.Rand(), length)
	o.Error("second call", g.AllReduce(t.Context(), rank, second, op), allreduce.ErrBusy)
	o.Floats("data of the second call", second, observe.Exact())
}

// unheard makes a call that is refused with a ctx that is done: which error it gets is open,
// but the ring does not notice it.
func unheard(t *testing.T, o *observe.Observer, g ring, rank int, op allreduce.Op) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	data := eighths(o.Rand(), 4)
	o.Bool("an error of a call whose ctx is done", g.AllReduce(ctx, rank, data, op) != nil)
	o.Floats("data of a call whose ctx is done", data, observe.Exact())
}

// busyAtTheEnd makes second calls of ranks that have made all their steps and wait for
// one that has not.
func busyAtTheEnd(t *testing.T, o *observe.Observer, n int) {
	g := newRing(t, n, loose)
	late := o.Rand().IntN(n)
	g.links[(late+n-1)%n].recv = hour(2*(n-1)-1, nil)
	data := inputs(o.Rand(), n, 2*n)
	errs := make(chan []error, 1)
	go func() { errs <- g.all(t.Context(), data, allreduce.Sum) }()
	synctest.Wait()
	for rank := range n {
		if rank != late {
			again(t, o, g, rank, 2*n, allreduce.Sum)
		}
	}
	record(o, "sum after second calls", allreduce.Sum, data, <-errs)
}

type key struct{}

// Links get a ctx that has the values of the caller's, and is done when the call is over;
// and a ctx that is done when
// its call is over is nothing to later calls (rules 14 and 16).
func TestContexts(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 4} {
			g := newRing(t, n, loose)
			given, taken := make([]context.Context, n), make([]context.Context, n) // to the last Send and Recv of each rank
			values, received := make([]observe.Transcript, n), make([]observe.Transcript, n)
			for i, l := range g.links {
				l.send = func(ctx context.Context, k int) error {
					values[i].Add("Send %d: %v", k, ctx.Value(key{}))
					given[i] = ctx
					return nil
				}
				l.recv = func(ctx context.Context, k int) error {
					received[(i+1)%n].Add("Recv %d: %v", k, ctx.Value(key{}))
					taken[(i+1)%n] = ctx
					return nil
				}
			}
			for round := range 4 {
				tokens := inputs(o.Rand(), n, 1)
				data := inputs(o.Rand(), n, 2*n)
				cancels := make([]context.CancelCauseFunc, n)
				errs := g.each(data, allreduce.Sum, func(rank int) context.Context {
					if round == 3 { // one that nobody can cancel
						cancels[rank] = func(error) {}
						return context.WithValue(context.Background(), key{}, tokens[rank][0])
					}
					ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, tokens[rank][0]))
					cancels[rank] = cancel
					return ctx
				})
				record(o, "sum", allreduce.Sum, data, errs)
				for _, ctx := range slices.Concat(given, taken) {
					o.Bool("the ctx of a call that is over is done", ctx != nil && ctx.Err() != nil)
				}
				for _, cancel := range cancels {
					cancel(errCause)
				}
				synctest.Wait()
			}
			for i := range values {
				o.Transcript("values in Send", &values[i])
				o.Transcript("values in Recv", &received[i])
			}
		}
	})
}

// When a rank fails, for whatever reason, no rank's data changes, in whatever step it is,
// whatever numbers they are and however many (rule 13).
func TestUnchanged(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		n := below(o.Rand(), 2, 4)
		step := below(o.Rand(), n-1, 2*(n-1)) // each rank has combined much data then
		reason := []string{"ctx", "Abort", "link"}[o.Rand().IntN(3)]
		endedBy(t, o, ofAllBits(o.Rand(), n, below(o.Rand(), 66_000, 140_000)), step, reason)
		for _, n := range []int{2, 3, 5} {
			for step := range 2 * (n - 1) {
				for _, reason := range []string{"ctx", "Abort"} {
					endedBy(t, o, ofAllBits(o.Rand(), n, 2*n), step, reason)
					lateLink(t, o, n, step, o.Rand().IntN(n), reason, true)
					lateLink(t, o, n, step, o.Rand().IntN(n), reason, false)
				}
			}
		}
		for _, n := range []int{2, 3, 4} {
			for rank := range n {
				for step := range 2 * (n - 1) {
					for _, sends := range []bool{true, false} {
						for _, length := range []int{2 * n, n - 1, 0} { // also fewer elements than ranks, and none
							g := newRing(t, n, loose)
							fail := breakLink(g.links[rank], step, sends, errors.New("broken"))
							data := ofAllBits(o.Rand(), n, length)
							before := copied(data)
							for _, err := range g.all(t.Context(), data, ops[o.Rand().IntN(3)].op) {
								o.Bool("an error", err != nil)
							}
							o.Int("failures of links", fail())
							recordKept(o, "data", data, before)
						}
					}
				}
			}
		}
	})
}

// endedBy ends a ring in the middle of a step, by one rank's ctx, by Abort or by a link.
func endedBy(t *testing.T, o *observe.Observer, data [][]float64, step int, reason string) {
	n := len(data)
	g := newRing(t, n, loose)
	rank := o.Rand().IntN(n)
	busy := g.links[o.Rand().IntN(n)]
	busy.recv = hour(step, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	switch reason {
	case "ctx":
		time.AfterFunc(ms(1), cancel)
	case "Abort":
		time.AfterFunc(ms(1), func() { g.Abort(rank, errCause) })
	default:
		breakLink(busy, step, o.Rand().IntN(2) == 0, errCause)
	}
	before := copied(data)
	g.each(data, ops[o.Rand().IntN(3)].op, func(i int) context.Context {
		if i == rank {
			return ctx
		}
		return t.Context()
	})
	recordKept(o, "data after "+reason, data, before)
}

// lateLink ends a ring while one link is busy, which returns nil all the same, an hour
// later: its rank has made that step then, and maybe all, but too late.
func lateLink(t *testing.T, o *observe.Observer, n, step, late int, reason string, sends bool) {
	for off := range min(n, 3) { // also the rank whose link it is
		rank := (late + off) % n
		g := newRing(t, n, func() *link { return &link{queue: make(chan []float64, 16)} })
		slow := func(_ context.Context, k int) error {
			if k == step {
				time.Sleep(time.Hour)
			}
			return nil
		}
		if sends {
			g.links[late].send = slow
		} else {
			g.links[late].recv = slow
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(ms(1), func() {
			if reason == "ctx" {
				cancel()
			} else {
				g.Abort(rank, errCause)
			}
		})
		data := ofAllBits(o.Rand(), n, n)
		before := copied(data)
		errs := g.each(data, ops[o.Rand().IntN(3)].op, func(i int) context.Context {
			if i == rank {
				return ctx
			}
			return t.Context()
		})
		for i := range data {
			o.Bool("an error, although a link returns none", errs[i] != nil)
		}
		recordKept(o, "data after "+reason+" and a link that is late", data, before)
	}
}

// breakLink has one Send or Recv return an error, a millisecond late, and returns
// how often it has done so.
func breakLink(l *link, step int, sends bool, err error) func() int {
	failures := 0
	fail := func(_ context.Context, k int) error {
		if k != step {
			return nil
		}
		time.Sleep(ms(1))
		failures++
		return err
	}
	if sends {
		l.send = fail
	} else {
		l.recv = fail
	}
	return func() int { return failures }
}

// A ring that has failed stays so: every later call, also of a rank that had not come
// yet, or whose own ctx is done, returns the same at once, uses no link and keeps its data
// (rule 15).
func TestFailedRing(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		alone := newRing(t, 1, loose)
		x := eighths(r, 4)
		o.Error("one rank", alone.AllReduce(t.Context(), 0, x, allreduce.Sum))
		o.Floats("one rank", x, observe.Exact())
		alone.Abort(0, errCause)
		dead(t, o, alone, errCause)
		for _, n := range []int{2, 3, 5} {
			cause := errors.New("broken")
			rank := r.IntN(n)
			g := newRing(t, n, loose)
			breakLink(g.links[rank], r.IntN(2*(n-1)), true, cause)
			failed(o, "at first", g.all(t.Context(), inputs(r, n, 2*n), allreduce.Sum), cause)
			dead(t, o, g, cause)

			g = newRing(t, n, loose) // only some of the ranks have come
			early := (rank + 1) % n
			breakLink(g.links[early], 0, true, cause)
			breakLink(g.links[(early+n-1)%n], 0, false, cause)
			failed(o, "alone", g.first(t, early, inputs(r, n, 2*n), allreduce.Max), cause)
			dead(t, o, g, cause)

			g = newRing(t, n, loose) // after one that went well
			data := inputs(r, n, 2*n)
			record(o, "sum", allreduce.Sum, data, g.all(t.Context(), data, allreduce.Sum))
			breakLink(g.links[rank], 2*(n-1)+r.IntN(2*(n-1)), true, cause)
			failed(o, "in the second one", g.all(t.Context(), inputs(r, n, n), allreduce.Sum), cause)
			dead(t, o, g, cause)

			for _, way := range []string{"a mismatch", "a ctx", "a Recv"} {
				failsInACall(t, o, way, n)
			}
		}
	})
}

// failsInACall ends a ring by what happens to one rank while all are in a call, and records whether
// all of them get the same when they call again, at the same time.
func failsInACall(t *testing.T, o *observe.Observer, way string, n int) {
	r := o.Rand()
	g, rank, cause := newRing(t, n, loose), r.IntN(n), errors.New("broken")
	data, late := inputs(r, n, 2*n), time.Duration(0) // of that rank
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	switch way {
	case "a mismatch":
		data[rank], late, cause = eighths(r, 2*n+1), ms(1), allreduce.ErrMismatch
	case "a ctx":
		cause = context.Canceled
		g.links[rank].recv = hour(r.IntN(2*(n-1)), nil)
		time.AfterFunc(ms(1), cancel)
	default:
		breakLink(g.links[rank], r.IntN(2*(n-1)), false, cause)
	}
	first := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			mine := t.Context()
			if i == rank {
				mine = ctx
				time.Sleep(late)
			}
			first[i] = g.AllReduce(mine, i, data[i], allreduce.Sum)
		})
	}
	wg.Wait()
	used, start := g.begun(), time.Now()
	data = inputs(r, n, 2*n)
	before := copied(data)
	for i, err := range g.all(t.Context(), data, ops[r.IntN(3)].op) {
		var a, b *allreduce.RankError
		same := errors.As(first[i], &a) && errors.As(err, &b) && a != nil && b != nil && a.Rank == b.Rank && errors.Is(first[i], cause) == errors.Is(err, cause)
		o.Bool("after "+way+": the same error again", same)
	}
	o.Int("after "+way+": Sends and Recvs", g.begun()-used)
	o.Bool("after "+way+": at once", time.Since(start) == 0)
	recordKept(o, "after "+way+": data", data, before)
}

// dead records what comes of calls on a ring that has failed.
func dead(t *testing.T, o *observe.Observer, g ring, cause error) {
	before, start := g.begun(), time.Now()
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range ops {
		for _, rank := range o.Rand().Perm(g.Size()) { // one after the other
			data := eighths(o.Rand(), 2*g.Size())
			failed(o, fmt.Sprint("later: ", c.name), []error{g.AllReduce(t.Context(), rank, data, c.op)}, cause)
			failed(o, "later, and its own ctx is done", []error{g.AllReduce(ended, rank, data, c.op)}, cause)
			o.Floats("later: data", data, observe.Exact())
		}
	}
	o.Int("later: Sends and Recvs", g.begun()-before)
	o.Bool("later: at once", time.Since(start) == 0)
}
