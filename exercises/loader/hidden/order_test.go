package hidden

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/loader"
)

// Without Shuffle and Sampler the order is 0, 1, 2, ...; for each batch Collate is
// called once, with the indices and the samples in this order, and what it
// returns is the batch, whatever the types are.
func TestSequential(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, workers := range []int{0, 1, 4} {
		cfg := config{BatchSize: below(r, 2, 7), Workers: workers}
		s := newSource(r, cfg.BatchSize*below(r, 3, 9))
		var calls atomic.Int64 // Collate may be called by several goroutines
		sum := func(idx []int, samples []int) ([]int, error) { calls.Add(1); return gather(idx, samples) }
		run(newLoader(t, s, sum, cfg).Epoch(t.Context(), 0)).observeFor(o, workers, "batch")
		o.Int("calls of Collate", int(calls.Load()))
	}
	for _, workers := range []int{0, 3} {
		n := 1<<16 + below(r, 100, 3000)
		many(t, o, config{BatchSize: 1, Workers: workers}, n)
		many(t, o, config{BatchSize: n, Workers: workers}, n)
	}
	words := make(texts, 3*below(r, 4, 10))
	for i := range words {
		words[i] = fmt.Sprint(r.IntN(1e9))
	}
	join := func(idx []int, samples []string) (*line, error) {
		return &line{first: idx[0], text: strings.Join(samples, " ")}, nil
	}
	l, err := loader.New(words, join, config{BatchSize: 3, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range l.Epoch(t.Context(), 0) {
		o.Error("error beside a text", err)
		if o.Bool("a text", b != nil); b == nil {
			break
		}
		o.Int("first index", b.first)
		o.String("text", b.text)
	}
	o.Int("Len", l.Len())
}

// many goes through more batches, or samples of a batch, than 16 bits count.
func many(t *testing.T, o *observe.Observer, cfg config, n int) {
	batches, different, sum := 0, 0, 0
	seen := make([]bool, n)
	for b, err := range newLoader(t, numbers(n), copies, cfg).Epoch(t.Context(), 0) {
		if batches++; err != nil || batches > len(seen) {
			break
		}
		for j, x := range b {
			sum = (sum + (x+1)*(j+1)) % 1e9
			if !seen[x] {
				seen[x] = true
				different++
			}
		}
	}
	o.Ints("many samples: batches, different samples, hash of the batches", []int{batches, different, sum})
}

type texts []string

func (w texts) Len() int { return len(w) }

func (w texts) Get(_ context.Context, i int) (string, error) { return w[i], nil }

type line struct {
	first int
	text  string
}

// The last batch has the samples that are left, also if it is the only one. With
// DropLast it is left out if it is not full, and its samples are not asked for.
// No sample is asked for twice.
func TestLastBatch(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, workers := range []int{0, 3} {
		size := below(r, 3, 8)
		for _, n := range []int{size * 4, size*4 + 1, size*5 - 1, size, size - 1, 1} {
			for _, drop := range []bool{false, true} {
				s := newSource(r, n)
				cfg := config{BatchSize: size, Workers: workers, DropLast: drop}
				run(newLoader(t, s, copies, cfg).Epoch(t.Context(), 0)).observe(o, "batch")
				o.Ints("how often each sample was asked for", s.asked[:n])
			}
		}
	}
}

// Len is the number of batches that an epoch has now: rounded up, with DropLast
// down. It asks the dataset each time; with a Sampler it counts its epoch 0.
func TestLen(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, drop := range []bool{false, true} {
		for range 10 {
			s := newSource(r, below(r, 1, 60))
			l := newLoader(t, s, copies, config{BatchSize: below(r, 1, 12), DropLast: drop, Workers: below(r, 0, 3)})
			for range 3 {
				o.Int("Len", l.Len())
				s.grow(r, below(r, 1, 20))
			}
		}
		orders := [][]int{draws(r, below(r, 20, 40), 10), draws(r, below(r, 40, 60), 10)}
		chosen := pureSampler(func(epoch, _ int) []int { return orders[epoch] })
		l := newLoader(t, newSource(r, 10), copies, config{BatchSize: below(r, 2, 9), DropLast: drop, Sampler: chosen})
		o.Int("Len with a Sampler", l.Len())
		run(l.Epoch(t.Context(), 1))
		o.Int("Len with a Sampler after a pass of another epoch", l.Len())

		// A Sampler of as many as there are now: neither the dataset's length is kept nor its answer.
		s := newSource(r, below(r, 5, 20))
		factor := 1
		l = newLoader(t, s, copies, config{BatchSize: below(r, 2, 5), DropLast: drop, Sampler: pureSampler(func(_, n int) []int { return make([]int, factor*n) })})
		for range 3 {
			o.Int("Len with a Sampler that lists all", l.Len())
			s.grow(r, below(r, 10, 20))
			o.Int("Len with a Sampler that lists all, of a dataset that has grown", l.Len())
			factor++
		}
	}
}

// A Sampler decides on the order: fewer indices than samples, or more, or the
// same twice; it is told the epoch and the dataset's length. Its slice is copied
// before anything else is called, whatever BatchSize and DropLast are, and written into
// by neither the loader nor Collate. An index that does not exist is for Get to refuse.
func TestSampler(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, workers := range []int{0, 1, 3} {
		s := newSource(r, below(r, 10, 20))
		seed := r.IntN(1e6)
		chosen := &sampler{orders: func(epoch, n int) []int {
			k := (n - 5 + epoch*7) / 4 * 4 // whole batches
			order := make([]int, k, k+5)
			for i := range order {
				order[i] = (seed + i*i + 3*epoch) % n
			}
			for i := len(order); i < cap(order); i++ {
				order[:i+1][i] = seed + i // which is the Sampler's, too
			}
			return order
		}}
		l := newLoader(t, s, gather, config{BatchSize: 4, Workers: workers, Sampler: chosen})
		for _, epoch := range []int{0, 2, 1} {
			run(l.Epoch(t.Context(), epoch)).observeFor(o, workers, fmt.Sprint("epoch ", epoch))
			o.Ints("the Sampler's slice afterwards", chosen.last)
			o.Ints("what is behind the Sampler's slice afterwards", chosen.last[len(chosen.last):cap(chosen.last)])
			s.grow(r, 3)
		}

		scribbled := false
		s.fail = func(int) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if !scribbled {
				scribbled = true
				clear(chosen.last)
			}
			return nil
		}
		run(l.Epoch(t.Context(), 3)).observeFor(o, workers, "while the Sampler uses its slice again")

		// A Sampler may answer in another way each time that it is asked.
		s.fail = nil
		turn := 0
		turning := pureSampler(func(epoch, n int) []int {
			order := make([]int, n+epoch)
			for i := range order {
				order[i] = (i + turn) % n
			}
			return order
		})
		l = newLoader(t, s, gather, config{BatchSize: 1, Workers: workers, Sampler: turning})
		same := l.Epoch(t.Context(), 1)
		for range 4 {
			run(same).observeFor(o, workers, "a Sampler that changes its mind, the same sequence")
			run(l.Epoch(t.Context(), 1)).observeFor(o, workers, "a Sampler that changes its mind")
			turn += below(r, 1, 9)
		}
		anotherAnswer(t, o, s, workers)
		noSuchSample(t, o, s)
		for _, size := range []int{1, 4, 12} { // one batch or more, of the dataset's 12 samples, of fewer or of more
			for k, length := range []int{1, 4, 6, 12, 24, 26} {
				for _, drop := range []bool{false, true} {
					usedAgain(t, o, config{BatchSize: size, Workers: workers, DropLast: drop}, length, k%2*5)
				}
			}
		}
	}
}

// anotherAnswer has a Sampler list one index four times as often as the index says, and another
// index each time that it is asked. It records whether each pass has the whole of one answer.
func anotherAnswer(t *testing.T, o *observe.Observer, s *source, workers int) {
	value := below(o.Rand(), 7, 10)
	l := newLoader(t, s, func(idx, _ []int) ([]int, error) { return slices.Clone(idx), nil }, config{
		BatchSize: 4, Workers: workers, Sampler: pureSampler(func(int, int) []int {
			value = max(value-1, 1)
			return slices.Repeat([]int{value}, 4*value)
		}),
	})
	for range 3 {
		all := slices.Concat(run(l.Epoch(t.Context(), 0)).batches...)
		one := len(all) > 0 && slices.Equal(all, slices.Repeat(all[:1], 4*all[0]))
		o.Bool("a pass has the whole of one answer of the Sampler", one)
	}
}

// usedAgain has a Sampler write other indices into its slice when the first Get is called,
// and in another pass has Collate write into the slices that it is given.
func usedAgain(t *testing.T, o *observe.Observer, cfg config, length, room int) {
	s := newSource(o.Rand(), 12)
	order := draws(o.Rand(), length+room, 12)
	chosen := &sampler{last: order[:length]}
	chosen.orders = func(int, int) []int { return chosen.last }
	cfg.Sampler = chosen
	name := ""
	if length%cfg.BatchSize != 0 { // what becomes of that is for TestLastBatch to say
		name = "a last batch that is not full: "
	}
	scribble := func(idx []int, samples []int) ([]int, error) {
		for i := range idx {
			idx[i] = -1
		}
		_ = append(idx, -2)
		return samples, nil
	}
	run(newLoader(t, s, scribble, cfg).Epoch(t.Context(), 0))
	o.Ints("the Sampler's slice and what is behind it, when Collate has written into its own", order)
	chosen.last = draws(o.Rand(), length, 12)
	var once sync.Once
	s.fail = func(int) error {
		once.Do(func() {
			for i := range chosen.last {
				chosen.last[i] = (chosen.last[i] + 1) % 12
			}
		})
		return nil
	}
	run(newLoader(t, s, gather, cfg).Epoch(t.Context(), 0)).observeFor(o, cfg.Workers, name+"while the Sampler uses its slice again")
}

// noSuchSample has a Sampler list indices that do not exist: Get is asked for them.
func noSuchSample(t *testing.T, o *observe.Observer, s *source) {
	for _, wrong := range []int{below(o.Rand(), 100, 1000), -below(o.Rand(), 1, 1000), math.MaxInt, math.MinInt} {
		other := max(wrong, math.MinInt+1) - 1 // smaller, and behind it
		bad := pureSampler(func(int, int) []int { return []int{3, 1, 4, 1, 5, wrong, 2, other} })
		for _, workers := range []int{0, 1, 3} {
			l := newLoader(t, s, gather, config{BatchSize: 4, Sampler: bad, Workers: workers})
			run(l.Epoch(t.Context(), 0)).inOrder(o, "with an index that does not exist", errNoSample)
		}
	}
}

// Batches come in the same order whatever Workers and Prefetch are, and however
// long a Get or a Collate takes, also if they are hundreds: never in the order in which they were ready.
func TestAnyWorkers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	s := newSource(r, 60) // whole batches of any of the sizes
	s.randomDelays(r, 0, 12)
	order := r.Perm(len(s.tokens))
	slow := func(idx []int, samples []int) ([]int, error) {
		time.Sleep(ms(samples[0] % 30))
		return copies(idx, samples)
	}
	size := below(r, 2, 6)
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 2, 5, 16, 100} {
			for _, prefetch := range []int{0, 1, 3, 40, 200} {
				cfg := config{BatchSize: size, Workers: workers, Prefetch: prefetch}
				cfg.Sampler = pureSampler(func(int, int) []int { return order })
				run(newLoader(t, s, slow, cfg).Epoch(t.Context(), 0)).inOrder(o, "batch")
			}
		}
		hundreds := newSource(r, 600)
		hundreds.randomDelays(r, 1, 1000)
		run(newLoader(t, hundreds, copies, config{BatchSize: 300, Workers: 300}).Epoch(t.Context(), 0)).inOrder(o, "batch of hundreds")
	})
}
