package hidden

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/sampler"
)

// With Replacement a list is drawn as by Draw, each index independently of those before
// it and of the lists of other epochs and Seeds (rule 16).
func TestReplacement(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	weights := holes(r, 3)
	few := positive(r, 3)
	counted(t, o, config{Weights: weights, Samples: below(r, 7, 12), Replacement: true, Seed: r.Uint64()})
	counted(t, o, config{Weights: few, Samples: 3, Replacement: true, Seed: r.Uint64N(1000)})
	counted(t, o, config{Weights: equals(4), Samples: 4, Replacement: true, Seed: r.Uint64N(1000)})
	cfg := config{Weights: few, Samples: 60_000, Replacement: true, Seed: r.Uint64()}
	one, two := newTally(few, 1), newTally(few, 2)
	for pair := range slices.Chunk(list(t, cfg, r.IntN(1000)), 2) {
		one.add(pair[0])
		two.add(pair...)
	}
	one.independent(o, "a long list")
	two.independent(o, "a long list, by twos")
	goesOn(t, o, few)
}

// listCount is how many lists are counted.
const listCount = 8000

// counted counts what stands in lists with replacement, over epochs and over Seeds.
func counted(t *testing.T, o *observe.Observer, cfg config) {
	r := o.Rand()
	epoch := r.IntN(100)
	a := r.IntN(cfg.Samples - 1)
	b := below(r, a+1, cfg.Samples-1)
	for _, over := range []string{"epochs", "seeds"} {
		lists := make([][]int, listCount)
		for i := range lists {
			if over == "epochs" {
				lists[i] = list(t, cfg, epoch+i)
				continue
			}
			c := cfg
			c.Seed += uint64(i)
			lists[i] = list(t, c, epoch)
		}
		places(o, over, cfg.Weights, lists, a, b)
	}
}

// places counts what stands at two places of a list, and in two lists that follow each
// other.
func places(o *observe.Observer, over string, weights []float64, lists [][]int, a, b int) {
	one, two := newTally(weights, 1), newTally(weights, 2)
	for _, l := range lists {
		one.add(l[a])
		two.add(l[a], l[b])
	}
	one.independent(o, "a place over "+over)
	two.independent(o, "two places over "+over)
	for shift := -1; shift <= 1; shift++ {
		next := newTally(weights, 2)
		for pair := range slices.Chunk(lists, 2) {
			next.add(pair[0][1], pair[1][1+shift])
		}
		next.independent(o, "a place, and one of the next list, over "+over)
	}
}

// Without replacement a list is drawn as by Distinct, anew in each epoch and for each
// Seed (rule 16).
func TestWithoutReplacement(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	weights := dyadic(r, 3)
	epoch, start := r.IntN(100), r.Uint64()
	for _, over := range []string{"epochs", "seeds"} {
		one, two := newTally(weights, 1), newTally(weights, 2)
		var before []int
		next := newTally(weights, 2)
		for i := range listCount {
			cfg, e := config{Weights: weights, Samples: below(r, 2, 3), Seed: start}, epoch+i
			if over == "seeds" {
				cfg.Seed, e = start+uint64(i), epoch
			}
			l := list(t, cfg, e)
			one.add(l[0])
			two.add(l[:2]...)
			if i%2 == 1 {
				next.add(before[0], l[0])
			}
			before = l
		}
		one.independent(o, "the first over "+over)
		two.without(o, "the first two over "+over)
		next.independent(o, "the first of two lists over "+over)
	}
	for range 10 {
		weights := holes(r, below(r, 1, 40))
		n := 0
		for _, w := range weights {
			if w > 0 {
				n++
			}
		}
		cfg := config{Weights: weights, Samples: n, Seed: r.Uint64()}
		all := list(t, cfg, r.IntN(99))
		slices.Sort(all)
		o.Ints("all that can be drawn, sorted", all)
		cfg.Samples = r.IntN(n + 1)
		apart(o, "some", weights, list(t, cfg, r.IntN(99)))
	}
}

// both are the two kinds of an epoch: with replacement, and without.
func both(r *rand.Rand, n, samples int) []config {
	return []config{
		{Weights: positive(r, n), Samples: samples, Seed: r.Uint64()},
		{Weights: positive(r, n), Samples: samples, Seed: r.Uint64(), Replacement: true},
	}
}

// The list depends on Seed and epoch and on nothing else: not on the ranks, on other
// epochs, on other Samplers. Seeds and epochs that differ give lists that differ, also
// where their sum is the same, or the one is the other; and epochs are not counted by few
// bits (rules 17 and 18).
func TestSeeds(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, replacement := range []bool{false, true} {
		cfg := config{Weights: equals(below(r, 40, 60)), Samples: 40, Replacement: replacement}
		cfg.Seed = r.Uint64N(1000) + 20
		epoch := below(r, 3, 1000)
		s := newSampler(t, config{Weights: cfg.Weights, Samples: 40, Replacement: replacement, Seed: cfg.Seed, Ranks: 1})
		want, same := list(t, cfg, epoch), 0
		for range 12 {
			first(s.Epoch(r.IntN(1000)), 30) // which must not matter
			if slices.Equal(slices.Collect(s.Epoch(epoch)), want) && slices.Equal(list(t, cfg, epoch), want) {
				same++
			}
		}
		o.Int("the same lists", same)
		lists := map[string]bool{}
		keys := keys(r, cfg.Seed, epoch)
		for _, k := range keys {
			cfg.Seed = k.seed
			lists[fmt.Sprint(list(t, cfg, k.epoch))] = true
		}
		o.Int("lists of different seeds and epochs", len(lists))
		o.Int("different seeds and epochs", len(keys))
	}
}

// shares records what all ranks get of an epoch: how many indices, and how many of them
// are not those of the list.
func shares(t *testing.T, o *observe.Observer, cfg config, epoch int) {
	t.Helper()
	whole, wrong := list(t, cfg, epoch), 0
	var lens, counts []int
	for rank := range cfg.Ranks {
		cfg.Rank = rank
		s := newSampler(t, cfg)
		share := first(s.Epoch(epoch), cfg.Samples+cfg.Ranks+1)
		lens, counts = append(lens, s.Len()), append(counts, len(share))
		for j, i := range share {
			if i != whole[(rank+j*cfg.Ranks)%len(whole)] {
				wrong++
			}
		}
	}
	o.Ints("Len", lens)
	o.Ints("indices", counts)
	o.Int("indices that are not those of the list", wrong)
}

// Each rank has every Ranks-th place of the list, beginning at its own. Where they cannot
// be shared equally, the list is followed by its own beginning, again and again
// (rule 19).
func TestShares(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 4 {
		ranks := below(r, 3, 9)
		for _, samples := range []int{1, ranks - 1, ranks, ranks + 1, 4 * ranks, 4*ranks - 1, 4*ranks + 1, 4*ranks + below(r, 1, ranks-1), 2, 3} {
			for _, cfg := range both(r, 50, samples) {
				cfg.Ranks = ranks
				shares(t, o, cfg, r.IntN(99))
			}
		}
	}
	for _, samples := range []int{1, 2, below(r, 3, 9)} {
		for _, cfg := range both(r, 12, samples) {
			cfg.Ranks = 3*samples + below(r, 0, 5)
			shares(t, o, cfg, r.IntN(99))
		}
	}
	for _, ranks := range []int{1, below(r, 7, 90)} {
		for _, cfg := range both(r, 4000, below(r, 3000, 4000)) {
			cfg.Ranks = ranks
			shares(t, o, cfg, r.IntN(99))
		}
	}
	manyRanks(t, o)
}

// manyRanks records how many of the last of more than 65,536 ranks do not get the beginning of
// the list for their second index.
func manyRanks(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	samples, epoch := below(r, 68_000, 69_000), r.IntN(99)
	for _, cfg := range both(r, samples, samples) {
		whole, wrong := list(t, cfg, epoch), 0
		cfg.Ranks = samples - below(r, 1, 99)
		for _, back := range []int{1, below(r, 2, 999)} {
			cfg.Rank = cfg.Ranks - back
			share := slices.Collect(newSampler(t, cfg).Epoch(epoch))
			if len(share) != 2 || share[0] != whole[cfg.Rank] || share[1] != whole[(cfg.Rank+cfg.Ranks)%samples] {
				wrong++
			}
		}
		o.Int("of many ranks, those that have other indices", wrong)
	}
}

// With DropLast all ranks leave out what is left over at the end of the list, and have
// nothing where there are more ranks than indices (rule 20).
func TestDropLast(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 4 {
		ranks := below(r, 3, 9)
		for _, samples := range []int{1, ranks - 1, ranks, ranks + 1, 4 * ranks, 4*ranks - 1, 4*ranks + 1, 4*ranks + below(r, 1, ranks-1)} {
			for _, cfg := range both(r, 50, samples) {
				cfg.Ranks, cfg.DropLast = ranks, true
				shares(t, o, cfg, r.IntN(99))
			}
		}
	}
	for _, cfg := range both(r, 20, 20) {
		cfg.Ranks, cfg.DropLast = 1, true
		shares(t, o, cfg, r.IntN(99))
	}
}

// New refuses Ranks, Rank, Samples and weights that are not allowed, each with its error
// and without a Sampler. At the bounds all is right, and Samples 0 is an epoch without
// indices (rules 5 and 21).
func TestConfig(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	n := below(r, 3, 9)
	weights := holes(r, n)
	try := func(name string, cfg config) {
		s, err := sampler.New(cfg)
		o.Error(name, err, sampler.ErrRanks, sampler.ErrSamples, sampler.ErrWeights)
		o.Bool(name+": a sampler", s != nil)
		if s != nil && len(cfg.Weights) == len(weights) && &cfg.Weights[0] == &weights[0] {
			o.Int(name+": Len", s.Len())
			o.Int(name+": indices", len(first(s.Epoch(r.IntN(9)), 100)))
		}
	}
	for _, replacement := range []bool{false, true} {
		for _, dropLast := range []bool{false, true} {
			ok := config{Weights: weights, Samples: n, Ranks: 3, Rank: 1, Replacement: replacement, DropLast: dropLast}
			for _, ranks := range [][2]int{{0, 0}, {-1, 0}, {0, -1}, {math.MinInt, 0}, {3, -1}, {3, math.MinInt}, {3, 3}, {3, 4}, {1, 1}, {3, math.MaxInt}, {-2, -3}, {3, 0}, {3, 2}, {1, 0}} {
				cfg := ok
				cfg.Ranks, cfg.Rank = ranks[0], ranks[1]
				try("ranks", cfg)
			}
			for _, samples := range []int{-1, math.MinInt, -below(r, 2, 99), 0, 1, n - 1, n, n + 1, len(weights), len(weights) + 1} {
				cfg := ok
				cfg.Samples = samples
				try("samples", cfg)
			}
			for rank := range 3 {
				cfg := ok
				cfg.Samples, cfg.Rank = 0, rank
				try("no samples", cfg)
			}
			for _, ranks := range [][2]int{{0, 0}, {-1, 0}, {3, -1}, {3, 3}, {2, 5}} {
				cfg := ok
				cfg.Samples, cfg.Ranks, cfg.Rank = 0, ranks[0], ranks[1]
				try("no samples, ranks", cfg)
			}
			bad := refused(r)
			for _, name := range sorted(bad) {
				cfg := ok
				cfg.Weights, cfg.Samples = bad[name], 0
				try(name, cfg)
			}
		}
	}
}

// Samples, Ranks and Rank may be as large as an int can be, and epochs too: Len is right,
// and what comes first of a list comes at once (rules 18 and 21).
func TestLarge(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const most = math.MaxInt
	cfg := config{Weights: positive(r, 9), Replacement: true, Seed: r.Uint64()}
	epoch := most - r.IntN(2)
	cfg.Samples, cfg.Ranks = most, 1
	whole := first(newSampler(t, cfg).Epoch(epoch), 2000)
	o.Int("the first of many", len(whole))
	for _, samples := range []int{most, most - 1, most / 2, most/2 + 1, 1 << 40} {
		for _, ranks := range []int{1, 2, 3, below(r, 4, 400), 1 << 31, 1<<32 + 1, most / 2, most - 1, most} {
			for _, dropLast := range []bool{false, true} {
				cfg.Samples, cfg.Ranks, cfg.DropLast = samples, ranks, dropLast
				cfg.Rank = ranks - 1
				o.Int("Len of the last rank", newSampler(t, cfg).Len())
				cfg.Rank = r.IntN(min(ranks, 999))
				s := newSampler(t, cfg)
				o.Int("Len", s.Len())
				n := min(s.Len(), 1+(1999-cfg.Rank)/ranks)
				share, wrong := first(s.Epoch(epoch), n), 0
				for j, i := range share {
					if samples == most && i != whole[cfg.Rank+j*ranks] {
						wrong++
					}
				}
				o.Ints("the first of a share, and those that are wrong", []int{len(share), wrong})
			}
		}
	}
	for _, cfg := range both(r, 20, below(r, 3, 20)) {
		whole := list(t, cfg, epoch)
		for _, ranks := range []int{1 << 31, 1 << 40, most - 1, most} {
			for _, rank := range []int{0, ranks - 1, ranks - 2, ranks / 2, r.IntN(ranks)} {
				cfg.Ranks, cfg.Rank = ranks, rank
				s := newSampler(t, cfg)
				share := first(s.Epoch(epoch), 3)
				o.Ints("few for many ranks", []int{s.Len(), len(share)})
				o.Bool("the place of the rank", len(share) > 0 && share[0] == whole[rank%len(whole)])
			}
		}
	}
}
