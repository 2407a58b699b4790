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

// chunks is how many generators the draws of BenchmarkDraw come from, one after the other.
const chunks = 64

// Four million draws from some 30,000 weights: a draw takes the same time however many there
// are. Some 6,000 of them are rare, and come all the same.
func BenchmarkDraw(b *testing.B) {
	o := observe.New(b)
	weights := skewed(o.Rand(), 8*below(o.Rand(), 3600, 3850))
	rare := rarely(o.Rand(), weights)
	table := newTable(b, weights)
	seed := o.Rand().Uint64()
	generator := func(chunk int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(chunk))) }
	draws := touched(4_000_000)
	size := len(draws) / chunks
	for o.Loop() {
		for chunk := range chunks {
			g := generator(chunk)
			for k := range draws[chunk*size : (chunk+1)*size] {
				draws[chunk*size+k] = int32(table.Draw(g))
			}
		}
	}
	rareAgain(o, rare, draws)
	sums, of := rareAsOne(weights, rare, draws)
	one := newTally(sums, 1)
	for _, i := range of {
		one.add(int(i))
	}
	one.independent(o, "draws")
	at := o.Rand().IntN(len(of) / 2)
	groupings(o, sums, of[at:at+len(of)/2])
	chunk := o.Rand().IntN(chunks)
	again, g := newTable(b, slices.Clone(weights)), generator(chunk)
	other := 0
	for _, i := range draws[chunk*size : (chunk+1)*size] {
		if int32(again.Draw(g)) != i {
			other++
		}
	}
	o.Int("draws that an equal table and an equal generator do not give", other)
}

// A Table of a million weights, a quarter of them 0, is made, and drawn from 200,000 times. Time: each weight is
// looked at a few times. Memory: a few numbers for each.
func BenchmarkTable(b *testing.B) {
	o := observe.New(b)
	weights := skewed(o.Rand(), 1_000_000-8*o.Rand().IntN(1000))
	for i := 0; i < len(weights)/2; i += 2 {
		weights[i] = 0
	}
	weights[o.Rand().IntN(len(weights))] = 1e5 // which has a part of many others
	g := chance(o.Rand())
	draws := touched(200_000)
	var table *sampler.Table
	for o.Loop() {
		table = newTable(b, weights)
		for k := range draws {
			draws[k] = int32(table.Draw(g))
		}
	}
	o.Int("Len", table.Len())
	for range 64 {
		o.Float("a probability", table.Prob(o.Rand().IntN(len(weights))), relative)
	}
	groupings(o, weights, draws)
	slices.Sort(draws)
	o.Float("different ones", float64(len(slices.Compact(draws))), observe.Within(0, 0.01))
}

// Some 1,500 different indices of 100,000, a few of which have most of the weight, and all of
// 20,000. Neither all weights are looked at for each, nor is it drawn until one is new.
func BenchmarkDistinct(b *testing.B) {
	o := observe.New(b)
	weights := skewed(o.Rand(), below(o.Rand(), 99_000, 101_000))
	heavy := o.Rand().Perm(len(weights))[:5]
	for _, i := range heavy {
		weights[i] = 1e16 * (1 + o.Rand().Float64())
	}
	few := positive(o.Rand(), below(o.Rand(), 19_800, 20_200))
	k := below(o.Rand(), 1485, 1515)
	g := chance(o.Rand())
	var some, all []int
	for o.Loop() {
		some = distinct(b, weights, k, g)
		all = distinct(b, few, len(few), g)
	}
	apart(o, "some", weights, some)
	apart(o, "all", few, all)
	light := slices.Clone(weights)
	for _, i := range heavy {
		light[i] = 0
	}
	inTurn(o, "some", light, some[5:])
	inTurn(o, "all", few, all)
	slices.Sort(heavy)
	slices.Sort(some[:5])
	o.Ints("the heavy ones", heavy)
	o.Ints("the first of some, sorted", some[:5])
}

// A rank's half of an epoch of more than four million indices, and an epoch of one rank: they are
// drawn as they are asked for, and never are all of them in memory, in however few bytes. Of more
// than 256 weights an index does not fit in one, and two for each are more than everybody may use.
func BenchmarkEpoch(b *testing.B) {
	o := observe.New(b)
	weights := skewed(o.Rand(), 8*below(o.Rand(), 40, 70))
	cfg := config{Weights: weights, Samples: 4_600_001 + 2*o.Rand().IntN(10_000), Replacement: true, Seed: o.Rand().Uint64(), Ranks: 2, Rank: 1}
	half := cfg
	share := newSampler(b, cfg)
	cfg.Samples, cfg.Ranks, cfg.Rank = 4_400_000-o.Rand().IntN(5000), 1, 0
	cfg.Seed = o.Rand().Uint64() // another list: draws that are counted twice would scatter too much
	whole := newSampler(b, cfg)
	epoch := o.Rand().IntN(99)
	draws := touched(share.Len() + whole.Len())
	n := 0
	for o.Loop() {
		n = 0
		for _, s := range []*sampler.Sampler{share, whole} {
			for i := range s.Epoch(epoch) {
				if n < len(draws) {
					draws[n] = int32(i)
				}
				n++
			}
		}
	}
	o.Int("indices", n)
	one := newTally(weights, 1)
	for _, i := range draws {
		one.add(int(i))
	}
	one.independent(o, "draws")
	groupings(o, weights, draws)
	half.Ranks, half.Rank = 1, 0
	from := len(draws) - cfg.Samples
	o.Int("indices that are not those of the list", others(half, epoch, draws[:o.Rand().IntN(from)], 1, 2)+
		others(cfg, epoch, draws[from:][:o.Rand().IntN(from)], 0, 1))
}

// others counts the first indices of a share that are not those of the list of one rank, from a place on
// and so many apart.
func others(cfg config, epoch int, share []int32, from, apart int) (n int) {
	s, err := sampler.New(cfg)
	if err != nil {
		return len(share)
	}
	place := 0
	for i := range s.Epoch(epoch) {
		k := (place - from) / apart
		if k >= len(share) {
			break
		}
		if place >= from && (place-from)%apart == 0 && int(share[k]) != i {
			n++
		}
		place++
	}
	return n
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
