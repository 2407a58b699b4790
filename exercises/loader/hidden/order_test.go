package hidden

import (
	"context"
	"fmt"
	"strings"
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
		run(newLoader(t, s, sum, cfg).Epoch(t.Context(), 0)).observe(o, "batch")
		o.Int("calls of Collate", int(calls.Load()))
	}
	for _, workers := range []int{0, 3} { // more batches than 16 bits count
		s := newSource(r, 1<<16+below(r, 100, 3000))
		h, n := 0, 0
		for b, err := range newLoader(t, s, keep, config{BatchSize: 1, Workers: workers}).Epoch(t.Context(), 0) {
			if n++; err != nil || len(b) != 1 || n > len(s.tokens) {
				break
			}
			h = (h*31 + b[0]) % 1e9
		}
		o.Int("batches of many", n)
		o.Int("hash of many batches", h)
	}
	words := make(texts, 3*below(r, 4, 10))
	for i := range words {
		words[i] = fmt.Sprint(r.IntN(1e9))
	}
	join := func(idx []int, samples []string) (*line, error) {
		return &line{first: idx[0], text: strings.Join(samples, " ")}, nil
	}
	l, err := loader.New(words, join, config{BatchSize: 3, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil || b == nil {
			t.Fatalf("got %v, %v", b, err)
		}
		o.Int("first index", b.first)
		o.String("text", b.text)
	}
	o.Int("Len", l.Len())
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
				run(newLoader(t, s, gather, cfg).Epoch(t.Context(), 0)).observe(o, "batch")
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
			l := newLoader(t, s, gather, config{BatchSize: below(r, 1, 12), DropLast: drop, Workers: below(r, 0, 3)})
			for range 3 {
				o.Int("Len", l.Len())
				o.Int("batches", len(run(l.Epoch(t.Context(), 0)).batches))
				s.grow(r, below(r, 1, 20))
			}
		}
		orders := [][]int{draws(r, below(r, 20, 40), 10), draws(r, below(r, 40, 60), 10)}
		chosen := pureSampler(func(epoch, _ int) []int { return orders[epoch] })
		l := newLoader(t, newSource(r, 10), gather, config{BatchSize: below(r, 2, 9), DropLast: drop, Sampler: chosen})
		o.Int("Len with a Sampler", l.Len())
		o.Int("batches of epoch 0", len(run(l.Epoch(t.Context(), 0)).batches))
		o.Int("batches of epoch 1", len(run(l.Epoch(t.Context(), 1)).batches))

		// A Sampler of as many as there are now: neither the dataset's length is kept nor its answer.
		s := newSource(r, below(r, 5, 20))
		factor := 1
		l = newLoader(t, s, gather, config{BatchSize: below(r, 2, 5), DropLast: drop, Sampler: pureSampler(func(_, n int) []int { return make([]int, factor*n) })})
		for range 3 {
			o.Int("Len with a Sampler that lists all", l.Len())
			o.Int("batches with a Sampler that lists all", len(run(l.Epoch(t.Context(), 0)).batches))
			s.grow(r, below(r, 10, 20))
			o.Int("Len with a Sampler that lists all, of a dataset that has grown", l.Len())
			factor++
		}
	}
}

// A Sampler decides on the order: fewer indices than samples, or more, or the
// same twice; it is told the epoch and the dataset's length. Its slice is copied
// before anything else is called, and not written into. An index that does not
// exist is for Get to refuse.
func TestSampler(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, workers := range []int{0, 3} {
		s := newSource(r, below(r, 10, 20))
		seed := r.IntN(1e6)
		chosen := &sampler{orders: func(epoch, n int) []int {
			order := make([]int, n-5+epoch*7)
			for i := range order {
				order[i] = (seed + i*i + 3*epoch) % n
			}
			return order
		}}
		l := newLoader(t, s, gather, config{BatchSize: 4, Workers: workers, Sampler: chosen})
		for _, epoch := range []int{0, 2, 1} {
			run(l.Epoch(t.Context(), epoch)).observe(o, fmt.Sprint("epoch ", epoch))
			o.Ints("the Sampler's slice afterwards", chosen.last)
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
		run(l.Epoch(t.Context(), 3)).observe(o, "while the Sampler uses its slice again")

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
		l = newLoader(t, s, gather, config{BatchSize: 4, Workers: workers, Sampler: turning})
		same := l.Epoch(t.Context(), 1)
		for range 4 {
			run(same).observe(o, "a Sampler that changes its mind, the same sequence")
			run(l.Epoch(t.Context(), 1)).observe(o, "a Sampler that changes its mind")
			turn += below(r, 1, 9)
		}

		wrong := below(r, 100, 1000)
		bad := pureSampler(func(int, int) []int { return []int{3, 1, 4, 1, 5, wrong, 2, 6} })
		l = newLoader(t, s, gather, config{BatchSize: 2, Workers: workers, Sampler: bad})
		run(l.Epoch(t.Context(), 0)).observe(o, "with an index that does not exist", errNoSample)
	}
}

// Batches come in the same order whatever Workers and Prefetch are, and however
// long a Get or a Collate takes: never in the order in which they were ready.
func TestAnyWorkers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	s := newSource(r, 60) // whole batches of any of the sizes
	s.randomDelays(r, 0, 12)
	order := r.Perm(len(s.tokens))
	slow := func(idx []int, samples []int) ([]int, error) {
		time.Sleep(ms(samples[0] % 30))
		return gather(idx, samples)
	}
	size := below(r, 2, 6)
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 2, 5, 16, 100} {
			for _, prefetch := range []int{0, 1, 3, 40, 200} {
				cfg := config{BatchSize: size, Workers: workers, Prefetch: prefetch}
				cfg.Sampler = pureSampler(func(int, int) []int { return order })
				run(newLoader(t, s, slow, cfg).Epoch(t.Context(), 0)).observe(o, "batch")
			}
		}
	})
}
