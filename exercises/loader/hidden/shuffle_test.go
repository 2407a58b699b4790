package hidden

import (
	"fmt"
	"math"
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
		cfg := config{BatchSize: below(r, 2, 9), Workers: workers, Shuffle: true, Seed: r.Uint64()}
		s := newSource(r, cfg.BatchSize*below(r, 9, 15))
		l := newLoader(t, s, copies, cfg)
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
		sameEpoch(t, o, cfg)

		for n := range 4 { // few samples, which have few orders
			few := newSource(r, n)
			cfg := config{BatchSize: max(n, 1), Workers: workers, Shuffle: true, Seed: r.Uint64()}
			got := run(newLoader(t, few, copies, cfg).Epoch(t.Context(), r.IntN(9)))
			all := slices.Concat(got.batches...)
			slices.Sort(all)
			slices.Sort(few.tokens)
			o.Ints("few samples, sorted", all)
			o.Bool("each of few once", slices.Equal(all, few.tokens))
		}

		cfg.DropLast = true
		s = newSource(r, cfg.BatchSize*5+1)
		all := slices.Concat(run(newLoader(t, s, copies, cfg).Epoch(t.Context(), 0)).batches...)
		slices.Sort(all)
		o.Int("different samples with DropLast", len(slices.Compact(all)))
	}
}

// sameEpoch goes through one epoch several times, with a Collate that writes into the indices
// that it is given, and with a dataset that grows.
func sameEpoch(t *testing.T, o *observe.Observer, cfg config) {
	s := newSource(o.Rand(), 3*cfg.BatchSize)
	l := newLoader(t, s, func(idx, samples []int) ([]int, error) {
		clear(idx)
		return slices.Clone(samples), nil
	}, cfg)
	for range 3 {
		all := slices.Concat(run(l.Epoch(t.Context(), 1)).batches...)
		slices.Sort(all)
		o.Ints("samples of the same epoch, sorted", all)
		s.grow(o.Rand(), cfg.BatchSize)
	}
}

// The order depends on Seed, epoch and the number of samples and on nothing else:
// not on the Loader, its Workers, its BatchSize, other epochs or the time. Seeds
// and epochs that differ give orders that differ, also where their sum is the
// same, or that of one and a multiple of the other, or the one is the other.
func TestSeeds(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	divisors := []int{1, 2, 3, 4, 6, 12}
	s := newSource(r, 12*below(r, 2, 5))
	order := func(cfg config, epoch int) string {
		cfg.Shuffle = true
		return fmt.Sprint(slices.Concat(run(newLoader(t, s, copies, cfg).Epoch(t.Context(), epoch)).batches...))
	}
	// Epochs are small: whoever shuffles anew for each epoch from 0 on breaks no rule.
	seed, epoch := r.Uint64N(40)+20, below(r, 3, 20)
	first := order(config{BatchSize: 4, Seed: seed}, epoch)
	same := 0
	var others []config
	for range below(r, 5, 12) {
		others = append(others, config{BatchSize: divisors[r.IntN(6)], Workers: below(r, 0, 5), Prefetch: below(r, 0, 5), Seed: seed})
	}
	l := newLoader(t, s, copies, config{BatchSize: 4, Seed: seed, Shuffle: true})
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
	edgeSeeds(o, func(cfg config) string { return order(cfg, epoch) })
	lastOfBatches(t, o)

	different := map[string]bool{}
	for _, x := range pairs(r, seed, epoch) {
		different[order(config{BatchSize: 4, Seed: x.seed}, x.epoch)] = true
	}
	o.Int("orders of different seeds and epochs", len(different))
	alike := 0
	for _, x := range multiples(seed, epoch) {
		if order(config{BatchSize: 4, Seed: x.seed}, x.epoch) == first {
			alike++
		}
	}
	o.Int("pairs of Seed and epoch that give the order of another", alike)
	all := slices.Concat(run(l.Epoch(t.Context(), epoch)).batches...)
	slices.Sort(all)
	o.Ints("samples, sorted", all)
}

// edgeSeeds has two loaders of each outermost Seed: none of them, not even 0, asks for a random one.
func edgeSeeds(o *observe.Observer, order func(config) string) {
	for _, seed := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
		one, other := config{BatchSize: 4, Seed: seed}, config{BatchSize: 3, Workers: 2, Seed: seed}
		o.Bool("two loaders of an outermost Seed give the same order", order(one) == order(other))
	}
}

// lastOfBatches has batches, of several sizes, the last of which is not full and left
// out: the order of the others stays.
func lastOfBatches(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	s := newSource(r, below(r, 25, 40))
	cfg := config{BatchSize: len(s.tokens), Shuffle: true, Seed: r.Uint64()}
	whole := slices.Concat(run(newLoader(t, s, copies, cfg).Epoch(t.Context(), 2)).batches...)
	cfg.DropLast = true
	for cfg.BatchSize = 1; cfg.BatchSize < 10; cfg.BatchSize++ {
		got := slices.Concat(run(newLoader(t, s, copies, cfg).Epoch(t.Context(), 2)).batches...)
		o.Bool("the same order with DropLast", slices.Equal(got, whole[:min(len(got), len(whole))]))
	}
}

type pair struct {
	seed  uint64
	epoch int
}

// factors are what an epoch is multiplied with before it is added to a Seed.
var factors = []uint64{
	10, 100, 10_000, 1_000_003, 1_000_000_007, 1 << 8, 1 << 16, 1 << 32,
	100_000, 1_000_000, 10_000_000, 1_000_000_000, 12_345, 65_537, 104_729, 1_000_000_009, 1 << 20, 1 << 24, 1 << 40, 2654435761, 0xff51afd7ed558ccd,
	0x9e3779b9, 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 6364136223846793005, 1442695040888963407, 1099511628211,
}

// multiples are pairs that do not differ from seed and epoch where a key is the one times some number plus
// the other.
func multiples(seed uint64, epoch int) (list []pair) {
	for _, c := range []int{2, 3, 7, 10, 16, 17, 31, 37, 42, 97, 100, 101, 131, 256, 997, 1000, 1009, 1024, 7919, 10_000, 10_007} {
		list = append(list, pair{seed - 1, epoch + c}, pair{seed + uint64(c), epoch - 1})
	}
	return list
}

// pairs are as many different ones as the seed of the test says, those among them
// that sloppy ways to mix two numbers do not tell apart.
func pairs(r *rand.Rand, seed uint64, epoch int) []pair {
	e := uint64(epoch)
	list := []pair{
		{seed, epoch}, {seed, epoch + 1}, {seed + 1, epoch}, {seed + 1, epoch - 1}, {seed - 1, epoch + 1}, {seed ^ 1, epoch ^ 1},
		{seed + e, 0}, {0, epoch + int(seed)}, {e, int(seed)}, {seed * e, 1}, {1, int(seed) * epoch}, {seed * e, 0}, {0, 0}, {0, 1}, {1, 0}, {1, 1},
		{seed + 31, epoch - 1}, {seed + 1000, epoch - 1}, {seed | 1<<31, epoch}, {seed | 1<<32, epoch}, {seed | 1<<63, epoch}, {seed, epoch + 1<<8}, {seed, epoch + 1<<16},
		{seed, 12}, {10*seed + 1, 2}, {seed, 0x12}, {16*seed + 1, 2}, {23, 1}, {3, 12}, {0x23, 1}, {3, 0x12}, // digits that run together
	}
	for _, c := range factors {
		list = append(list, pair{seed + c, epoch - 1}, pair{seed ^ e*c ^ (e-1)*c, epoch - 1})
	}
	large := 1<<63 | r.Uint64()>>12<<11 // a float64 does not tell it from the next ones
	list = append(list, pair{large, epoch}, pair{large + 1, epoch}, pair{large + 2, epoch})
	list = append(list, pair{seed + 1<<31 - 1, epoch}, pair{large - 1<<31 + 1, epoch}) // nor does the old math/rand, whose seeds are modulo that
	for range below(r, 5, 20) {
		list = append(list, pair{r.Uint64(), r.IntN(100)})
	}
	slices.SortFunc(list, func(a, b pair) int {
		return slices.Compare([]uint64{a.seed, uint64(a.epoch)}, []uint64{b.seed, uint64(b.epoch)})
	})
	return slices.Compact(list)
}

// All orders are equally likely: over epochs, and over the Seeds in one epoch.
// Swapping every place with any other favours some orders, so does swapping it with a
// later one only, and so does a shuffle that is done again where all is in its place. Of
// many samples each may come to any place, with any other behind it: a fixed step from
// each to the next is no shuffle.
func TestUniform(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	seed, epoch := r.Uint64(), r.IntN(4)
	total := 0
	for _, c := range []struct {
		n     int
		limit float64
	}{{5, 211}, {3, 42}} { // χ² of 120 and of 6 orders: above it once in a million tries
		for _, c2 := range []struct {
			name string
			at   func(i int) (uint64, int)
		}{
			{"epochs", func(i int) (uint64, int) { return seed + uint64(i/100), i % 100 }},
			{"seeds", func(i int) (uint64, int) { return seed + uint64(i), epoch }},
		} {
			seen, sum := orders(t, newSource(r, c.n), c2.at)
			o.Bool(fmt.Sprintf("χ² of the orders of %d samples over %s is above %.0f", c.n, c2.name, c.limit), chiSquare(seen, c.n) > c.limit)
			total += sum
		}
	}
	o.Int("sum of all samples", total)
	farAndWide(t, o)
}

// farAndWide records of one order of very many samples whether each tenth of the samples comes
// equally often to each tenth of the places, and how far neighbours are from each other.
func farAndWide(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	n := 10 * below(r, 9_000, 11_000)
	l := newLoader(t, numbers(n), copies, config{BatchSize: n, Shuffle: true, Seed: r.Uint64()})
	order := slices.Concat(run(l.Epoch(t.Context(), r.IntN(3))).batches...)
	spread(o, order, n)
}

// spread records how an order of very many samples looks, whose numbers a right shuffle has
// nearly always: one that is too even, as steps through the samples are, is none either. χ² of
// 81 degrees of freedom is below 25 three times in ten thousand million.
func spread(o *observe.Observer, order []int, n int) {
	var cells [10][10]float64
	near, before := 0, -n
	for place, x := range order {
		cells[min(place*10/n, 9)][x*10/n]++
		if x-before >= -10 && x-before <= 10 {
			near++
		}
		before = x
	}
	sum := 0.0
	for _, row := range cells {
		for _, k := range row {
			sum += (k - float64(n)/100) * (k - float64(n)/100) / (float64(n) / 100)
		}
	}
	o.Int("different samples of many", distinct(order, n))
	o.Bool("χ² of tenths of samples at tenths of places is above 160", sum > 160)
	o.Bool("χ² of tenths of samples at tenths of places is below 25", sum < 25)
	o.Bool("more than 50 samples stand beside one that is at most 10 off", near > 50)
	steps := float64(distinct(between(order, n), n)) / float64(n)
	o.Bool("fewer than 58 % of all steps from a sample to the next come", steps < 0.58)
	o.Bool("more than 68 % of all steps from a sample to the next come", steps > 0.68)
}

// between lists the steps from each place of an order to the next, which go on at 0 behind n-1.
//
// Each of n steps is left out by a right shuffle with a probability of nearly 1/e, so that 63.2 %
// of them come. To swap two samples of an order changes 4 steps, and the number of different ones by 4
// at most: by the inequality of Azuma and Hoeffding it is t or more off its mean with a
// probability of no more than 2·exp(-2t²/(16n)). With t = 0.047·n, and 90,000 samples or more, that
// is 10⁻¹⁰.
func between(order []int, n int) []int {
	steps := make([]int, 0, n)
	for i := range max(len(order)-1, 0) {
		steps = append(steps, (order[i+1]-order[i]+n)%n)
	}
	return steps
}

// distinct counts the numbers from 0 to n-1 that a list has.
func distinct(list []int, n int) (count int) {
	seen := make([]bool, n)
	for _, x := range list {
		if !seen[x] {
			seen[x] = true
			count++
		}
	}
	return count
}

// rounds is how many orders are counted.
const rounds = 6000

// orders counts how often each order comes, and adds up samples.
func orders(t *testing.T, s *source, at func(i int) (seed uint64, epoch int)) (seen map[string]int, sum int) {
	place := map[int]int{}
	for i, token := range s.tokens {
		place[token] = i
	}
	seen = map[string]int{}
	for i := range rounds {
		seed, epoch := at(i)
		l := newLoader(t, s, copies, config{BatchSize: len(s.tokens), Shuffle: true, Seed: seed})
		var key []byte
		for _, token := range slices.Concat(run(l.Epoch(t.Context(), epoch)).batches...) {
			sum += token % 1000
			key = append(key, byte('0'+place[token]))
		}
		seen[string(key)]++
	}
	return seen, sum
}

// chiSquare says how far the counts of all n! orders are from equal.
func chiSquare(seen map[string]int, n int) float64 {
	all := 1
	for i := range n {
		all *= i + 1
	}
	expected := rounds / float64(all)
	sum := float64(all-len(seen)) * expected // those that never came
	for _, k := range seen {
		d := float64(k) - expected
		sum += d * d / expected
	}
	return sum
}
