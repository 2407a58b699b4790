package hidden

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
)

// With Shuffle every index comes exactly once in every epoch, also in the batches
// of several workers; the order is not that of the dataset.
func TestShuffle(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, workers := range []int{0, 1, 4} {
		s := newSource(r, below(r, 25, 60))
		cfg := config{BatchSize: below(r, 2, 9), Workers: workers, Shuffle: true, Seed: r.Uint64()}
		l := newLoader(t, s, keep, cfg)
		for epoch := range 4 {
			got := run(l.Epoch(t.Context(), epoch))
			for _, b := range got.batches {
				o.Int("size of a batch", len(b))
			}
			all := slices.Concat(got.batches...)
			o.Bool("in the order of the dataset", slices.Equal(all, s.tokens))
			slices.Sort(all)
			o.Ints("samples, sorted", all)
		}
		o.Ints("how often each was asked for", s.asked[:len(s.tokens)])

		cfg.DropLast = true
		s = newSource(r, cfg.BatchSize*5+1)
		all := slices.Concat(run(newLoader(t, s, keep, cfg).Epoch(t.Context(), 0)).batches...)
		slices.Sort(all)
		o.Int("different samples with DropLast", len(slices.Compact(all)))
	}
}

// The order depends on Seed, epoch and the number of samples and on nothing else:
// not on the Loader, its Workers, its BatchSize, other epochs or the time. Seeds
// and epochs that differ give orders that differ, also where their sum is the
// same, or the one is the other.
func TestSeeds(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	s := newSource(r, below(r, 24, 40))
	order := func(cfg config, epoch int) string {
		cfg.Shuffle = true
		return fmt.Sprint(slices.Concat(run(newLoader(t, s, keep, cfg).Epoch(t.Context(), epoch)).batches...))
	}
	seed, epoch := r.Uint64N(40)+20, below(r, 3, 20)
	first := order(config{BatchSize: 5, Seed: seed}, epoch)
	same := 0
	var others []config
	for range below(r, 5, 12) {
		others = append(others, config{BatchSize: below(r, 1, 50), Workers: below(r, 0, 5), Prefetch: below(r, 0, 5), Seed: seed})
	}
	l := newLoader(t, s, keep, config{BatchSize: 5, Seed: seed, Shuffle: true})
	for i, cfg := range others {
		run(l.Epoch(t.Context(), i)) // which must not matter
		if order(cfg, epoch) == first {
			same++
		}
	}
	if fmt.Sprint(slices.Concat(run(l.Epoch(t.Context(), epoch)).batches...)) == first {
		same++
	}
	o.Int("loaders that give the same order", same)

	different := map[string]bool{}
	for _, x := range pairs(r, seed, epoch) {
		different[order(config{BatchSize: 5, Seed: x.seed}, x.epoch)] = true
	}
	o.Int("orders of different seeds and epochs", len(different))
	all := slices.Concat(run(l.Epoch(t.Context(), epoch)).batches...)
	slices.Sort(all)
	o.Ints("samples, sorted", all)
}

type pair struct {
	seed  uint64
	epoch int
}

// pairs are as many different ones as the seed of the test says, those among them
// that sloppy ways to mix two numbers do not tell apart.
func pairs(r *rand.Rand, seed uint64, epoch int) []pair {
	e := uint64(epoch)
	list := []pair{
		{seed, epoch}, {seed, epoch + 1}, {seed + 1, epoch}, {seed + 1, epoch - 1}, {seed - 1, epoch + 1}, {seed ^ 1, epoch ^ 1},
		{seed + e, 0}, {0, epoch + int(seed)}, {e, int(seed)}, {seed * e, 1}, {1, int(seed) * epoch}, {seed * e, 0}, {0, 0}, {0, 1}, {1, 0}, {1, 1},
		{seed + 31, epoch - 1}, {seed + 1000, epoch - 1}, {seed | 1<<32, epoch}, {seed | 1<<63, epoch}, {seed, epoch | 1<<32},
	}
	for range below(r, 5, 40) {
		list = append(list, pair{r.Uint64(), r.IntN(1e6)})
	}
	slices.SortFunc(list, func(a, b pair) int {
		return slices.Compare([]uint64{a.seed, uint64(a.epoch)}, []uint64{b.seed, uint64(b.epoch)})
	})
	return slices.Compact(list)
}

// chiSquare is the limit for 119 degrees of freedom: a right shuffle is above it
// in one of two million tries.
const chiSquare = 211

// All orders are equally likely: over the epochs of one Seed, and over the Seeds
// in one epoch. Swapping every place with any other favours some orders, and so
// does swapping it with a later one only.
func TestUniform(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const rounds = 6000
	s := newSource(r, 5)
	place := map[int]int{}
	for i, token := range s.tokens {
		place[token] = i
	}
	seed, epoch := r.Uint64(), r.IntN(1000)
	var total int
	for name, at := range map[string]func(i int) (uint64, int){
		"epochs": func(i int) (uint64, int) { return seed, epoch + i },
		"seeds":  func(i int) (uint64, int) { return seed + uint64(i), epoch },
	} {
		seen := map[string]int{}
		for i := range rounds {
			seed, epoch := at(i)
			l := newLoader(t, s, keep, config{BatchSize: 5, Shuffle: true, Seed: seed})
			key := ""
			for _, token := range slices.Concat(run(l.Epoch(t.Context(), epoch)).batches...) {
				total += token % 1000
				key += fmt.Sprint(place[token])
			}
			seen[key]++
		}
		// Orders that never came count as well: 120 is 5 factorial.
		const expected = rounds / 120.0
		sum := (120 - float64(len(seen))) * expected
		for _, n := range seen {
			d := float64(n) - expected
			sum += d * d / expected
		}
		if sum > chiSquare {
			t.Errorf("χ² over %s is %.0f", name, sum)
		}
	}
	o.Int("sum of all samples", total)
}
