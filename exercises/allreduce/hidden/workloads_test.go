package hidden

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/allreduce"
)

// pipe is a link that copies from the one slice to the other, and allocates nothing.
type pipe struct {
	parts chan []float64
	taken chan struct{}
}

func newPipe() allreduce.Link { return pipe{make(chan []float64), make(chan struct{})} }

func (p pipe) Send(ctx context.Context, part []float64) error {
	select {
	case p.parts <- part:
	case <-ctx.Done():
		return ctx.Err()
	}
	<-p.taken
	return nil
}

func (p pipe) Recv(ctx context.Context, part []float64) error {
	select {
	case sent := <-p.parts:
		n := copy(part, sent)
		p.taken <- struct{}{}
		if n != len(sent) || n != len(part) {
			return errLength
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pipes is a ring of n ranks.
func pipes(tb testing.TB, n int) *allreduce.Ring {
	tb.Helper()
	links := make([]allreduce.Link, n)
	for i := range links {
		links[i] = newPipe()
	}
	r, err := allreduce.New(links)
	if err != nil || r == nil {
		tb.Fatalf("New refuses %d links: %v", n, err)
	}
	return r
}

// rounds has every rank reduce its data so many times, changed by a drawn number each time. It
// returns what each rank found at one place in each round, added up, and all errors: a round that
// is left out, or done for some places only, is missed.
func rounds(o *observe.Observer, r *allreduce.Ring, data [][]float64, op allreduce.Op, times int) (found []float64, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	steps, places := inputs(o.Rand(), len(data), 61), inputs(o.Rand(), 1, 59)[0]
	found = make([]float64, len(data))
	errs := make([]error, len(data))
	var wg sync.WaitGroup
	for rank := range data {
		wg.Go(func() {
			mine := data[rank]
			sum := 0.0
			for k := 0; k < times && errs[rank] == nil; k++ {
				mine[k%len(mine)] += steps[rank][k%61]
				errs[rank] = r.AllReduce(ctx, rank, mine, op)
				place := int(math.Abs(places[k%59])*8) + k
				sum += mine[place%len(mine)] * float64(1+k%5)
			}
			found[rank] = sum
		})
	}
	wg.Wait()
	return found, errors.Join(errs...)
}

// foundDigits is how exactly sums over many rounds are compared: means are of either sign.
var foundDigits = observe.Within(1e-3, 1e-9)

// checked records some elements of each rank, and the total of each.
func checked(o *observe.Observer, name string, data [][]float64, err error) {
	o.Error(name+": error", err)
	totals := make([]float64, len(data))
	for rank := range data {
		for range 16 {
			o.Float(name+": element", data[rank][o.Rand().IntN(len(data[rank]))], digits)
		}
		for i, x := range data[rank] {
			totals[rank] += x * float64(1+i%7)
		}
	}
	o.Floats(name+": total of all elements", totals, observe.Within(1e-3, 1e-12))
}

// Four sums over 16 ranks of 2 MiB each: work for a part is as much as the part is
// long, and not as all of the data.
func BenchmarkLarge(b *testing.B) {
	o := observe.New(b)
	data := inputs(o.Rand(), 16, 1<<18)
	r := pipes(b, len(data))
	var found []float64
	var err error
	for o.Loop() {
		found, err = rounds(o, r, data, allreduce.Sum, 4)
	}
	o.Floats("what each rank found in all rounds, added up", found, foundDigits)
	checked(o, "result", data, err)
}

// One sum over 24 ranks of 1 MiB each: a rank needs room for its own numbers once more
// and for a part, and not for those of all ranks or of all steps.
func BenchmarkMemory(b *testing.B) {
	o := observe.New(b)
	data := inputs(o.Rand(), 24, 1<<17)
	r := pipes(b, len(data))
	var found []float64
	var err error
	for o.Loop() {
		found, err = rounds(o, r, data, allreduce.Sum, 1)
	}
	o.Floats("what each rank found in all rounds, added up", found, foundDigits)
	checked(o, "result", data, err)
}

// 260 ranks, 518 steps of each: a step costs the same however many ranks there are.
func BenchmarkManyRanks(b *testing.B) {
	o := observe.New(b)
	data := inputs(o.Rand(), 260, 400)
	r := pipes(b, len(data))
	var found []float64
	var err error
	for o.Loop() {
		found, err = rounds(o, r, data, allreduce.Max, 1)
	}
	o.Floats("what each rank found in all rounds, added up", found, foundDigits)
	checked(o, "result", data, err)
}

// 5,000 small reductions on one ring: what one leaves behind is no burden to the next.
func BenchmarkManyRounds(b *testing.B) {
	o := observe.New(b)
	data := inputs(o.Rand(), 3, 24)
	r := pipes(b, len(data))
	var found []float64
	var err error
	for o.Loop() {
		found, err = rounds(o, r, data, allreduce.Mean, 5000)
	}
	o.Floats("what each rank found in all rounds, added up", found, foundDigits)
	checked(o, "result", data, err)
}

// 60,000 calls on a ring of one rank: a call that is over leaves nothing behind.
func BenchmarkAlone(b *testing.B) {
	o := observe.New(b)
	data := inputs(o.Rand(), 1, 8)
	r := pipes(b, 1)
	var found []float64
	var err error
	for o.Loop() {
		found, err = rounds(o, r, data, allreduce.Sum, 60_000)
	}
	o.Floats("what each rank found in all rounds, added up", found, foundDigits)
	checked(o, "result", data, err)
}
