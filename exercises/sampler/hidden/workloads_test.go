package hidden

import (
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/sampler"
)

// skewed draws n weights, of which those of the same remainder of 8 are about as large.
func skewed(r *rand.Rand, n int) []float64 {
	weights := make([]float64, n)
	order := r.Perm(8)
	for i := range weights {
		weights[i] = float64(2+order[i%8]) * (0.5 + r.Float64())
	}
	return weights
}

// parts records how large a part of the counts each remainder of 8 has.
func parts(o *observe.Observer, name string, counts []float64) {
	sums, total := make([]float64, 8), 0.0
	for i, n := range counts {
		sums[i%8] += n
		total += n
	}
	for i := range sums {
		sums[i] /= total
	}
	o.Floats(name, sums, observe.Within(0.01, 0))
}

// Four million draws from 30,000 weights: a draw takes the same time however many there
// are.
func BenchmarkDraw(b *testing.B) {
	o := observe.New(b)
	weights := skewed(o.Rand(), 30_000)
	table := newTable(b, weights)
	g := chance(o.Rand())
	var c *tally
	for o.Loop() {
		c = newTally(weights, 1)
		for range 4_000_000 {
			c.counts[table.Draw(g)]++
		}
	}
	c.n = 4_000_000
	c.independent(o, "draws")
	parts(o, "parts", c.counts)
}

// A Table of a million weights, a quarter of them 0, is made, and drawn from 200,000 times. Time: each weight is
// looked at a few times. Memory: a few numbers for each.
func BenchmarkTable(b *testing.B) {
	o := observe.New(b)
	weights := skewed(o.Rand(), 1_000_000)
	for i := 0; i < len(weights)/2; i += 2 {
		weights[i] = 0
	}
	weights[o.Rand().IntN(len(weights))] = 1e5 // which has a part of many others
	g := chance(o.Rand())
	counts := make([]float64, len(weights))
	var table *sampler.Table
	for o.Loop() {
		clear(counts)
		table = newTable(b, weights)
		for range 200_000 {
			counts[table.Draw(g)]++
		}
	}
	o.Int("Len", table.Len())
	o.Float("a probability", table.Prob(7), relative)
	parts(o, "parts", counts)
	different := 0.0
	for _, n := range counts {
		different += min(n, 1)
	}
	o.Float("different ones", different, observe.Within(0, 0.01))
}

// 1,500 different indices of 100,000, a few of which have most of the weight, and all of
// 20,000. Neither all weights are looked at for each, nor is it drawn until one is new.
func BenchmarkDistinct(b *testing.B) {
	o := observe.New(b)
	weights := skewed(o.Rand(), 100_000)
	heavy := o.Rand().Perm(len(weights))[:5]
	for _, i := range heavy {
		weights[i] = 1e16 * (1 + o.Rand().Float64())
	}
	few := positive(o.Rand(), 20_000)
	g := chance(o.Rand())
	var some, all []int
	for o.Loop() {
		some = distinct(b, weights, 1500, g)
		all = distinct(b, few, len(few), g)
	}
	apart(o, "some", weights, some)
	mean := 0.0 // of those that are not heavy: larger than that of all weights
	for _, i := range some[5:] {
		mean += weights[i] / float64(len(some)-5)
	}
	o.Float("mean weight", mean, observe.Within(0.8, 0))
	slices.Sort(heavy)
	slices.Sort(some[:5])
	o.Ints("the heavy ones", heavy)
	o.Ints("the first of some, sorted", some[:5])
	apart(o, "all", few, all)
}

// A rank's half of an epoch of four million indices, and an epoch of one rank: they are drawn as they are asked for,
// and never are all of them in memory.
func BenchmarkEpoch(b *testing.B) {
	o := observe.New(b)
	weights := skewed(o.Rand(), 8*below(o.Rand(), 10, 20))
	cfg := config{Weights: weights, Samples: 4_000_001, Replacement: true, Seed: o.Rand().Uint64(), Ranks: 2, Rank: 1}
	share := newSampler(b, cfg)
	cfg.Samples, cfg.Ranks, cfg.Rank = 1_500_000, 1, 0
	whole := newSampler(b, cfg)
	epoch := o.Rand().IntN(99)
	var c *tally
	for o.Loop() {
		c = newTally(weights, 1)
		for _, s := range []*sampler.Sampler{share, whole} {
			for i := range s.Epoch(epoch) {
				c.counts[i]++
				c.n++
			}
		}
	}
	o.Int("indices", c.n)
	c.independent(o, "draws")
}

// A Draw allocates nothing.
func TestAllocations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	weights := make([]float64, below(r, 20, 99))
	only := r.IntN(len(weights))
	weights[only] = r.Float64() + 0.1
	for _, table := range []*sampler.Table{newTable(t, weights), newTable(t, positive(r, 500))} {
		sum := 0
		allocations := testing.AllocsPerRun(100, func() { sum += table.Draw(g) })
		if table.Len() == len(weights) {
			o.Int("sum", sum)
		}
		o.SelfReported().Float("allocations", allocations, observe.AtMost(1, 0))
	}
}
