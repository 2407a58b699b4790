package hidden

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
)

// elapsed is the time that f takes on the clock of the bubble, in milliseconds.
func elapsed(f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start)) / 1e6
}

// Workers fetch at the same time, and they go on while the body works, until all
// batches of the Prefetch have been begun (rule 17). Allowed is 1.5 times the time
// that the course's solution takes.
func TestOverlap(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	// In which order the batches within reach are fetched is not graded. Where many
	// are, the body is quick: whoever gets the first one last has all its time to wait.
	inTime := observe.AtMost(1.5, 0)
	bubble(t, func(t *testing.T) {
		for _, c := range []struct {
			name            string
			n, size         int
			workers         int
			lo, hi          int // of a Get
			body            time.Duration
			prefetch, total int
		}{
			{name: "8 workers, a quick body", n: 104, size: 4, workers: 8, lo: 1, hi: 13, body: ms(1)},
			{name: "1 worker, as quick as the body", n: 50, size: 1, workers: 1, lo: 9, hi: 11, body: ms(10)},
			{name: "1 worker, batches", n: 100, size: 5, workers: 1, lo: 3, hi: 5, body: ms(20)},
			{name: "16 workers, no body", n: 512, size: 1, workers: 16, lo: 2, hi: 3},
			{name: "4 workers, one batch ahead", n: 60, size: 3, workers: 4, prefetch: 1, lo: 9, hi: 10, body: ms(28)},
			{name: "hundreds of workers", n: 600, size: 1, workers: 600, lo: 900, hi: 1000},
			{name: "4 workers, far ahead", n: 120, size: 2, workers: 4, prefetch: 50, lo: 8, hi: 9, body: ms(1)},
		} {
			s := newSource(r, c.n)
			s.randomDelays(r, c.lo, c.hi)
			l := newLoader(t, s, copies, config{BatchSize: c.size, Workers: c.workers, Prefetch: c.prefetch})
			var got result
			o.Float(c.name+": milliseconds", elapsed(func() {
				for b, err := range l.Epoch(t.Context(), 0) {
					got.batches = append(got.batches, b)
					o.Error(c.name, err)
					time.Sleep(c.body)
				}
			}), inTime)
			got.observe(o, c.name)
		}
		for _, c := range append(shapes, shape{1, 2, 2000}) {
			s := newSource(r, c.size*c.prefetch+below(r, 900, 1000))
			s.randomDelays(r, 1, 5)
			l := newLoader(t, s, copies, config{BatchSize: c.size, Workers: c.workers, Prefetch: c.prefetch})
			last, k := below(r, 1, 9), 0
			for range l.Epoch(t.Context(), 0) {
				if k++; k >= last {
					break
				}
				time.Sleep(time.Hour)
				begun, _, _ := s.counts()
				o.Int(c.String()+": samples not asked for in an hour of the body", len(s.tokens)-begun, observe.AtMost(1, 0))
			}
		}
		// A slow sample holds up the batches after it, and not their Gets.
		s := newSource(r, 48)
		slow := below(r, 0, 8)
		s.delay = func(i int) time.Duration {
			if i%15 == slow {
				return ms(60)
			}
			return ms(20)
		}
		l := newLoader(t, s, copies, config{BatchSize: 1, Workers: 8, Prefetch: 32})
		o.Float("slow ones among quick ones: milliseconds", elapsed(func() {
			run(l.Epoch(t.Context(), 0)).observe(o, "slow ones among quick ones")
		}), inTime)
	})
}

// shape is a Config in numbers.
type shape struct{ size, workers, prefetch int }

var shapes = []shape{{1, 3, 8}, {1, 8, 3}, {4, 2, 0}, {3, 5, 1}, {2, 1, 1}, {1, 1, 0}, {5, 40, 2}, {2, 3, 30}}

func (s shape) String() string {
	return fmt.Sprintf("BatchSize %d, Workers %d, Prefetch %d", s.size, s.workers, s.prefetch)
}

// While the body has a batch, at most Prefetch batches beyond it have been begun,
// however long the body takes; without a Prefetch twice as many as there are
// Workers.
func TestBackPressure(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		for _, c := range shapes {
			s := newSource(r, below(r, 900, 1000))
			s.randomDelays(r, 1, 5)
			l := newLoader(t, s, copies, config{BatchSize: c.size, Workers: c.workers, Prefetch: c.prefetch})
			name := c.String()
			long, k := below(r, 2, 12), 0
			for b, err := range l.Epoch(t.Context(), 0) {
				o.Int(name+": samples in a batch", len(b))
				o.Error(name, err)
				if k == 0 || k == 1 || k == long {
					time.Sleep(time.Hour)
					begun, _, _ := s.counts()
					o.Int(name+": Gets begun", begun, observe.AtMost(1, 0))
				}
				if k++; k > long {
					break
				}
			}
			begun, _, _ := s.counts()
			o.Int(name+": Gets begun in the end", begun, observe.AtMost(1, float64(c.size)))
		}
	})
}

// At most Workers Gets run at the same time. With Workers 0 the goroutine of the
// loop does it all and nothing ahead: while the body has a batch, the samples up
// to it have been asked for and no others.
func TestWorkers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{1, 2, 5, 11} {
			for _, size := range []int{1, 4, 16} {
				s := newSource(r, 16*below(r, 13, 19))
				s.randomDelays(r, 1, 9)
				l := newLoader(t, s, copies, config{BatchSize: size, Workers: workers, Prefetch: below(r, 1, 3) * workers})
				got := run(l.Epoch(t.Context(), 0))
				o.Int("batches", len(got.batches))
				_, _, most := s.counts()
				o.Int("Gets at the same time", most, observe.AtMost(1, 0))
			}
		}
		for _, prefetch := range []int{0, 5} {
			s := newSource(r, 3*below(r, 7, 13))
			s.randomDelays(r, 1, 9)
			collated := 0
			collate := func(idx []int, samples []int) ([]int, error) {
				collated++
				return copies(idx, samples)
			}
			l := newLoader(t, s, collate, config{BatchSize: 3, Prefetch: prefetch})
			for b, err := range l.Epoch(t.Context(), 0) {
				time.Sleep(time.Hour)
				synctest.Wait()
				begun, _, most := s.counts()
				o.Ints("without workers", b)
				o.Error("without workers", err)
				o.Ints("Gets begun, at the same time, batches made", []int{begun, most, collated})
			}
		}
	})
}
