package hidden

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/allreduce"
)

// reduces runs one operation on rings of several sizes, whose parts are equal, and on
// much data.
func reduces(t *testing.T, o *observe.Observer, name string, op allreduce.Op) {
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 3} {
			data := inputs(o.Rand(), n, n*below(o.Rand(), 66_000, 80_000))
			errs := newRing(t, n, loose).all(t.Context(), data, op)
			checked(o, fmt.Sprintf("%s of much data over %d ranks", name, n), data, errors.Join(errs...))
		}
		for _, n := range []int{32, below(o.Rand(), 33, 70)} {
			data := inputs(o.Rand(), n, n*below(o.Rand(), 2, 7))
			errs := newRing(t, n, loose).all(t.Context(), data, op)
			checked(o, fmt.Sprintf("%s over many ranks", name), data, errors.Join(errs...))
		}
		for _, n := range []int{2, 3, 4, 5, 7, 8, 16} {
			data := inputs(o.Rand(), n, n*below(o.Rand(), 2, 7))
			errs := newRing(t, n, loose).all(t.Context(), data, op)
			record(o, fmt.Sprintf("%s over %d ranks", name, n), op, data, errs)
		}
	})
}

// Sum adds up the numbers of all ranks, element by element, and every rank has the
// sums (rules 1 and 2).
func TestSum(t *testing.T) { reduces(t, observe.New(t), "sum", allreduce.Sum) }

// Mean is the sum, divided by the number of ranks (rules 1 and 2).
func TestMean(t *testing.T) { reduces(t, observe.New(t), "mean", allreduce.Mean) }

// Max is the largest of the numbers, which may all be below 0 (rules 1 and 2).
func TestMax(t *testing.T) {
	o := observe.New(t)
	reduces(t, o, "max", allreduce.Max)
	bubble(t, func(t *testing.T) {
		n := below(o.Rand(), 3, 6)
		data := inputs(o.Rand(), n, 4*n)
		for _, x := range data {
			for i := range x {
				x[i] = -1 - math.Abs(x[i])
			}
		}
		errs := newRing(t, n, loose).all(t.Context(), data, allreduce.Max)
		record(o, "max of numbers below 0", allreduce.Max, data, errs)
	})
}

// The length need not be a multiple of the number of ranks (rule 4).
func TestUneven(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, c := range ops {
			data := inputs(o.Rand(), 3, 3*below(o.Rand(), 66_000, 80_000)+below(o.Rand(), 1, 3))
			errs := newRing(t, 3, loose).all(t.Context(), data, c.op)
			checked(o, c.name+", uneven parts of much data", data, errors.Join(errs...))
		}
		for _, n := range []int{2, 3, 5, 8} {
			for rest := 1; rest < n; rest++ {
				for _, c := range ops {
					data := inputs(o.Rand(), n, n*below(o.Rand(), 1, 5)+rest)
					errs := newRing(t, n, loose).all(t.Context(), data, c.op)
					record(o, c.name+", uneven parts", c.op, data, errs)
				}
			}
		}
	})
}

// There may be fewer numbers than ranks, or none at all (rules 4 and 5).
func TestShort(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 5, 9} {
			for length := range n {
				for _, c := range ops {
					data := inputs(o.Rand(), n, length)
					errs := newRing(t, n, loose).all(t.Context(), data, c.op)
					record(o, c.name+", fewer numbers than ranks", c.op, data, errs)
				}
			}
		}
		// A slice that is nil is one of no numbers.
		errs := newRing(t, 3, loose).all(t.Context(), make([][]float64, 3), allreduce.Sum)
		record(o, "sum of nil", allreduce.Sum, make([][]float64, 3), errs)
	})
}

// A ring of one rank has its result at once, and uses no link (rule 7).
func TestOneRank(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, length := range []int{0, 1, below(o.Rand(), 2, 40)} {
			for _, c := range ops {
				r := newRing(t, 1, tight)
				data := inputs(o.Rand(), 1, length)
				for range 2 { // and again
					record(o, c.name+" of one rank", c.op, data, r.all(t.Context(), data, c.op))
				}
				begun, _ := r.links[0].counts()
				o.Int("Sends and Recvs", begun)
			}
		}
	})
}

// A link gets the parts that the README says, in that order, and in the second half
// of the steps the parts that are complete (rules 4 and 5).
func TestMessages(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 3} {
			r := newRing(t, n, loose)
			length := n*below(o.Rand(), 66_000, 80_000) + below(o.Rand(), 0, n)
			r.all(t.Context(), inputs(o.Rand(), n, length), allreduce.Sum)
			for _, l := range r.links {
				for _, part := range l.sent {
					o.Int("much data: numbers of a message", len(part))
					sum := 0.0
					for i, x := range part {
						sum += x * float64(1+i%7)
					}
					o.Float("much data: a message, weighted and added up", sum, observe.Exact())
				}
			}
		}
		for _, n := range []int{2, 3, 4, 7} {
			for _, length := range []int{n * below(o.Rand(), 2, 4), n*below(o.Rand(), 2, 4) + below(o.Rand(), 1, n), n - 1, 0} {
				for _, c := range ops {
					if c.op == allreduce.Mean {
						continue // who divides is left open
					}
					r := newRing(t, n, loose)
					errs := r.all(t.Context(), inputs(o.Rand(), n, length), c.op)
					for rank, l := range r.links {
						o.Error(c.name+": error", errs[rank])
						o.Int(c.name+": messages", len(l.sent))
						for _, part := range l.sent {
							o.Floats(c.name+": message", part, observe.Exact())
						}
					}
				}
			}
		}
	})
}

// A rank sends 2(N-1) messages of an N-th of the data each, and receives as many, one
// after the other: a part is one message, however long it is (rule 5).
func TestTraffic(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for i, length := range []int{below(o.Rand(), 132_000, 150_000), below(o.Rand(), 66_000, 80_000)} {
			n := 2 + i
			op := ops[o.Rand().IntN(3)].op
			r := newRing(t, n, loose)
			r.all(t.Context(), inputs(o.Rand(), n, n*length), op)
			for _, l := range r.links {
				numbers := make([]int, len(l.sent))
				for k, part := range l.sent {
					numbers[k] = len(part)
				}
				o.Ints("much data: Sends, Recvs, at the same time", []int{l.sends, l.recvs, l.most})
				o.Ints("much data: numbers of each message", numbers)
			}
		}
		for _, n := range []int{2, 3, 6, 12} {
			for _, c := range ops {
				r := newRing(t, n, loose)
				r.all(t.Context(), inputs(o.Rand(), n, n*below(o.Rand(), 3, 30)), c.op)
				for _, l := range r.links {
					numbers := 0
					for _, part := range l.sent {
						numbers += len(part)
					}
					o.Ints("Sends, Recvs, at the same time, numbers", []int{l.sends, l.recvs, l.most, numbers})
				}
			}
			// One link is slow, so that what is to be sent piles up behind it.
			r := newRing(t, n, loose)
			slow := r.links[o.Rand().IntN(n)]
			slow.delay = ms(below(o.Rand(), 20, 40))
			r.all(t.Context(), inputs(o.Rand(), n, 2*n), allreduce.Sum)
			o.Ints("slow: Sends, Recvs, at the same time", []int{slow.sends, slow.recvs, slow.most})
		}
	})
}

// What a rank ends with is made of what the links brought, and of nothing else
// (rule 6).
func TestCarried(t *testing.T) {
	o := observe.New(t)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 3, 5, 6} {
			for _, c := range ops {
				for _, change := range changes(o.Rand(), c.op) {
					for half := range 2 {
						altered(t, o, c.name, c.op, n, half, change)
					}
				}
			}
		}
	})
}

// changes are what links do to a number: they make it larger, they make it smaller than any that a
// rank has, which is no maximum, and they double it. A mean is only doubled, as who divides is left
// open.
func changes(r *rand.Rand, op allreduce.Op) []func(x float64) float64 {
	by := float64(below(r, 1, 1000))
	all := []func(x float64) float64{
		func(x float64) float64 { return 2 * x },
		func(x float64) float64 { return x + by },
		func(x float64) float64 { return x - by - 1<<14 },
	}
	if op == allreduce.Mean {
		return all[:1]
	}
	return all
}

// altered runs one operation over links that change each number in one half of the steps.
func altered(t *testing.T, o *observe.Observer, name string, op allreduce.Op, n, half int, change func(x float64) float64) {
	r := newRing(t, n, loose)
	for _, l := range r.links {
		l.alter = func(k int, part []float64) {
			for i := range part {
				if k/(n-1) == half {
					part[i] = change(part[i])
				}
			}
		}
	}
	data := inputs(o.Rand(), n, 3*n)
	errs := r.all(t.Context(), data, op)
	for i := range data[0] {
		var all []float64 // which rank has which depends on where a part begins
		for rank := range data {
			all = append(all, data[rank][i])
		}
		slices.Sort(all)
		o.Floats(name+": an element on all ranks, sorted", all, comparison(op))
	}
	for _, err := range errs {
		o.Error(name+": error", err)
	}
}

// held is how many bytes of the heap are in use.
func held() int64 {
	var m runtime.MemStats
	for range 2 { // what the first one finds is free after the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// empty is a link that keeps nothing of what it carries.
type empty chan []float64

func (e empty) Send(ctx context.Context, part []float64) error {
	select {
	case e <- slices.Clone(part):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e empty) Recv(ctx context.Context, part []float64) error {
	select {
	case message := <-e:
		copy(part, message)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// left is how much of the heap a ring keeps after a number of reductions, in MiB.
func left(t *testing.T, reductions, length int) int64 {
	ring, err := allreduce.New([]allreduce.Link{make(empty, 1), make(empty, 1)})
	if err != nil {
		t.Fatal("New refuses two links")
	}
	ctx, cancel := context.WithCancel(context.Background()) // one that lives on, and could keep what watches it
	defer cancel()
	before := held()
	data := [2][]float64{make([]float64, length), make([]float64, length)}
	for range reductions {
		var all sync.WaitGroup
		for rank := range 2 {
			all.Go(func() { ring.AllReduce(ctx, rank, data[rank], allreduce.Sum) })
		}
		all.Wait()
	}
	data = [2][]float64{}
	after := held()
	runtime.KeepAlive(ring)
	return (after - before) >> 20
}

// leftByFailure is how much of the heap a ring keeps after a reduction that failed, in MiB.
func leftByFailure(t *testing.T) int64 {
	ring, err := allreduce.New([]allreduce.Link{dry{}, dry{}})
	if err != nil {
		t.Fatal("New refuses two links")
	}
	before := held()
	data := [2][]float64{make([]float64, 1<<19), make([]float64, 1<<19)}
	var all sync.WaitGroup
	for rank := range 2 {
		all.Go(func() { ring.AllReduce(context.Background(), rank, data[rank], allreduce.Sum) })
	}
	all.Wait()
	data = [2][]float64{}
	after := held()
	runtime.KeepAlive(ring)
	return (after - before) >> 20
}

// dry is a link that brings nothing.
type dry struct{}

func (dry) Send(context.Context, []float64) error { return nil }
func (dry) Recv(context.Context, []float64) error { return errCause }

// A ring may be used again and again, with other lengths and operations, and keeps nothing
// of what it was used for (rule 8).
func TestRepeated(t *testing.T) {
	o := observe.New(t)
	o.Bool("nothing is kept of long data", left(t, 2, 1<<19) < 2)
	o.Bool("nothing is kept of many reductions", left(t, 20_000, 1) < 2)
	o.Bool("nothing is kept of one that failed", leftByFailure(t) < 2)
	bubble(t, func(t *testing.T) {
		for _, n := range []int{2, 4, 5} {
			r := newRing(t, n, loose)
			for _, parts := range []int{1, below(o.Rand(), 4, 9), 2, 9} { // longer ones after shorter ones, and the other way round
				for _, i := range o.Rand().Perm(len(ops)) {
					data := inputs(o.Rand(), n, n*parts)
					errs := r.all(t.Context(), data, ops[i].op)
					record(o, ops[i].name+", on a ring that was used before", ops[i].op, data, errs)
				}
			}
		}
	})
}
