package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
)

type key struct {
	seed  uint64
	epoch int
}

// keys are as many different ones as the seed of the test says, those among them that
// sloppy ways to mix two numbers do not tell apart.
func keys(r *rand.Rand, seed uint64, epoch int) []key {
	e := uint64(epoch)
	all := []key{
		{seed, epoch}, {seed, epoch + 1}, {seed + 1, epoch}, {seed + 1, epoch - 1}, {seed - 1, epoch + 1}, {seed ^ 1, epoch ^ 1},
		{seed + e, 0}, {0, epoch + int(seed)}, {e, int(seed)}, {seed * e, 1}, {1, int(seed) * epoch}, {seed * e, 0}, {0, 0}, {0, 1}, {1, 0}, {1, 1},
		{seed + 31, epoch - 1}, {seed + 1000, epoch - 1}, {seed - 1, epoch + 1000}, {seed | 1<<32, epoch}, {seed | 1<<63, epoch},
		{seed, epoch + 1<<8}, {seed, epoch + 1<<16}, {seed, epoch + 1<<32}, {seed, epoch + 1<<62}, {seed + 1<<32, epoch - 1}, {seed + 1, epoch - 1 + 1<<32},
		{seed, math.MaxInt}, {seed, math.MaxInt - 1}, {1<<64 - 1, epoch}, {1<<64 - 1, math.MaxInt}, {1<<64 - 1, epoch + 1}, {1<<64 - 2, epoch + 1},
	}
	for _, factor := range []int{31, 37, 100, 101, 997, 1009, 9973, 10_007, 65_537, 1e6, 1_000_003, 1e9 + 7, 1 << 8, 1 << 10, 1 << 16, 1 << 20, 1 << 32, 1 << 40} {
		all = append(all, key{seed - 1, epoch + factor}, key{seed + uint64(factor), epoch - 1})
	}
	all = append(all, mixes(seed, epoch)...)
	for bit := range 63 {
		all = append(all, key{seed ^ 1<<bit, epoch}, key{seed, epoch ^ 1<<bit})
	}
	for range below(r, 5, 40) {
		all = append(all, key{r.Uint64(), r.IntN(100)})
	}
	slices.SortFunc(all, func(a, b key) int {
		return slices.Compare([]uint64{a.seed, uint64(a.epoch)}, []uint64{b.seed, uint64(b.epoch)})
	})
	return slices.Compact(all)
}

// mixers are numbers by which others are usually multiplied before they are mixed: those of
// SplitMix64, of Knuth's and of PCG's generators, of MurmurHash, xxHash, wyhash and FNV.
var mixers = []uint64{
	0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0x9e3779b9, 2_654_435_761,
	6_364_136_223_846_793_005, 1_442_695_040_888_963_407, 0xda942042e4dd58b5,
	0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53, 0x85ebca6b, 0xc2b2ae35,
	0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0xa0761d6478bd642f, 0xe7037ed1a0b428db,
	0x100000001b3, 16_777_619,
}

// mixes are keys that have the same sum as this one, or the same exclusive or, if either the seed
// or the epoch is multiplied by a mixer before.
func mixes(seed uint64, epoch int) (all []key) {
	e := uint64(epoch)
	for _, c := range mixers {
		all = append(all, key{seed + c, epoch - 1}, key{seed ^ c*e ^ c*(e+1), epoch + 1},
			beside(seed, func(s uint64) uint64 { return e + c*seed - c*s }),
			beside(seed, func(s uint64) uint64 { return e ^ c*seed ^ c*s }))
	}
	return all
}

// beside returns the nearest other seed for which the epoch is one that there is, not above
// math.MaxInt.
func beside(seed uint64, epoch func(seed uint64) uint64) key {
	for far := uint64(1); ; far++ {
		for _, s := range []uint64{seed + far, seed - far} {
			if e := epoch(s); e <= math.MaxInt {
				return key{s, int(e)}
			}
		}
	}
}

// goesOn looks whether the list of another epoch or Seed is a part of a long list from any place on, as
// where random numbers come of the place and some times the epoch, or the Seed, added up, or where each
// part of a list has a key of its own that is the key of another list. By chance that many indices are
// never the same.
func goesOn(t *testing.T, o *observe.Observer, weights []float64) {
	r := o.Rand()
	cfg := config{Weights: weights, Samples: 1_100_000 + r.IntN(1000), Replacement: true, Seed: 1 + r.Uint64N(1000)}
	seed, epoch := cfg.Seed, below(r, 1, 1000)
	long, parts := list(t, cfg, epoch), 0
	cfg.Ranks = 1
	const n = 100
	factor, top := r.Uint64()|1, uint64(1) // of a sum over n indices, and of the one before them
	for range n {
		top *= factor
	}
	type beginning struct {
		part []int
		from int // which place may be the first: whether lists are equal is for TestSeeds, but of the next ones
	}
	begins := map[uint64]beginning{}
	add := func(k key, from int) {
		cfg.Seed = k.seed
		b, sum := beginning{first(newSampler(t, cfg).Epoch(k.epoch), n), from}, uint64(0)
		for _, i := range b.part {
			sum = sum*factor + uint64(i+1)
		}
		begins[sum] = b
	}
	for _, k := range far(r, seed, epoch) {
		add(k, 1)
	}
	for _, k := range []key{{seed, epoch + 1}, {seed, epoch - 1}, {seed + 1, epoch}, {seed - 1, epoch}} {
		add(k, 0)
	}
	sum := uint64(0)
	for i, index := range long {
		if sum = sum*factor + uint64(index+1); i >= n {
			sum -= top * uint64(long[i-n]+1)
		}
		if b, ok := begins[sum]; ok && i+1-n >= b.from && slices.Equal(long[i+1-n:i+1], b.part) {
			parts++
		}
	}
	o.Int("lists that are a part of another one", parts)
}

// far are the keys of the seed and the epoch with a number added, or one bit changed, in either or in
// both: what a later part of a list may have for its key.
func far(r *rand.Rand, seed uint64, epoch int) []key {
	all := keys(r, seed, epoch)
	for bit := range 64 {
		all = append(all, key{seed + 1<<bit, epoch}, key{seed - 1<<bit, epoch})
		if bit < 62 {
			all = append(all, key{seed, epoch + 1<<bit}, key{seed + 1<<bit, epoch + 1<<bit}, key{seed + 1, epoch + 1<<bit}, key{seed + 1<<bit, epoch + 1})
		}
	}
	for _, c := range mixers {
		all = append(all, key{seed + c, epoch}, key{seed ^ c, epoch}, key{seed - c, epoch}, key{seed, int((uint64(epoch) + c) &^ (1 << 63))}, key{seed, int((uint64(epoch) ^ c) &^ (1 << 63))})
	}
	return slices.DeleteFunc(all, func(k key) bool { return k == key{seed, epoch} })
}
