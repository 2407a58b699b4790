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
	sent  func(part []float64) // a function, so that what it knows cannot be printed
}

func (p pipe) Send(ctx context.Context, part []float64) error {
	p.sent(part)
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

// carried is what a link has carried: how many messages and numbers, and the sum of one number,
// at a drawn place, of each message of the steps that combine, which Mean has not divided yet.
type carried struct {
	messages, numbers int
	sum               float64
	places            []float64
	steps             int // that combine, of a reduction
}

func (c *carried) add(part []float64) {
	if n := len(part); n > 0 && c.messages%(2*c.steps) < c.steps {
		place := int(math.Abs(c.places[c.messages%len(c.places)])*8) + c.messages
		c.sum += part[place%n] * float64(1+c.messages%5)
	}
	c.messages++
	c.numbers += len(part)
}

// pipes is a ring of n ranks, and what each link carries.
func pipes(o *observe.Observer, tb testing.TB, n int) (*allreduce.Ring, []carried) {
	tb.Helper()
	links, all := make([]allreduce.Link, n), make([]carried, n)
	for i, places := range inputs(o.Rand(), n, 53) {
		all[i] = carried{places: places, steps: n - 1}
		links[i] = pipe{make(chan []float64), make(chan struct{}), all[i].add}
	}
	r, err := allreduce.New(links)
	if err != nil || r == nil {
		tb.Fatalf("New refuses %d links: %v", n, err)
	}
	return r, all
}

// recordCarried records what the links have carried: a reduction by another way than over all
// links is missed.
func recordCarried(o *observe.Observer, all []carried) {
	var messages, numbers []int
	var sums []float64
	for _, c := range all {
		messages, numbers, sums = append(messages, c.messages), append(numbers, c.numbers), append(sums, c.sum)
	}
	o.Ints("messages of each link", messages)
	o.Ints("numbers of each link", numbers)
	o.Floats("some of what each link carried, added up", sums, foundDigits)
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
	r, all := pipes(o, b, len(data))
	var found []float64
	var err error
	for o.Loop() {
		found, err = rounds(o, r, data, allreduce.Sum, 4)
	}
	recordCarried(o, all)
	o.Floats("what each rank found in all rounds, added up", found, foundDigits)
	checked(o, "result", data, err)
}

// One sum over 24 ranks of 1 MiB each: a rank needs room for its own numbers once more
// and for a part, and not for those of all ranks or of all steps.
func BenchmarkMemory(b *testing.B) {
	o := observe.New(b)
	data := inputs(o.Rand(), 24, 1<<17)
	r, all := pipes(o, b, len(data))
	var found []float64
	var err error
	for o.Loop() {
		found, err = rounds(o, r, data, allreduce.Sum, 1)
	}
	recordCarried(o, all)
	o.Floats("what each rank found in all rounds, added up", found, foundDigits)
	checked(o, "result", data, err)
}

// 260 ranks, 518 steps of each: a step costs the same however many ranks there are.
func BenchmarkManyRanks(b *testing.B) {
	o := observe.New(b)
	data := inputs(o.Rand(), 260, 400)
	r, all := pipes(o, b, len(data))
	var found []float64
	var err error
	for o.Loop() {
		found, err = rounds(o, r, data, allreduce.Max, 1)
	}
	recordCarried(o, all)
	o.Floats("what each rank found in all rounds, added up", found, foundDigits)
	checked(o, "result", data, err)
}

// 5,000 small reductions on one ring: what one leaves behind is no burden to the next.
func BenchmarkManyRounds(b *testing.B) {
	o := observe.New(b)
	data := inputs(o.Rand(), 3, 24)
	r, all := pipes(o, b, len(data))
	var found []float64
	var err error
	for o.Loop() {
		found, err = rounds(o, r, data, allreduce.Mean, 5000)
	}
	recordCarried(o, all)
	o.Floats("what each rank found in all rounds, added up", found, foundDigits)
	checked(o, "result", data, err)
}

// 60,000 calls on a ring of one rank: a call that is over leaves nothing behind.
func BenchmarkAlone(b *testing.B) {
	o := observe.New(b)
	data := inputs(o.Rand(), 1, 8)
	r, all := pipes(o, b, 1)
	var found []float64
	var err error
	for o.Loop() {
		found, err = rounds(o, r, data, allreduce.Sum, 60_000)
	}
	recordCarried(o, all)
	o.Floats("what each rank found in all rounds, added up", found, foundDigits)
	checked(o, "result", data, err)
}
