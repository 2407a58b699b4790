// Package sampler draws samples by weight.
package sampler

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
)

var (
	ErrPower   = errors.New("power")
	ErrWeights = errors.New("weights")
	ErrSamples = errors.New("samples")
	ErrRanks   = errors.New("ranks")
)

// Balance counts first, and then gives each sample its share.
func Balance[L comparable](labels []L, q float64) ([]float64, error) {
	if !(q >= 0) || !(q <= 1) {
		return nil, fmt.Errorf("%w %g", ErrPower, q)
	}
	n := make(map[L]float64)
	for _, l := range labels {
		n[l]++
	}
	// Every sample brings its part of its class: their sum is that over the classes, and
	// always in the same order.
	sum := 0.0
	weights := make([]float64, len(labels))
	for i, l := range labels {
		weights[i] = math.Pow(n[l], q) / n[l]
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	return weights, nil
}

// Config is that of the README.
type Config struct {
	Weights     []float64
	Samples     int
	Replacement bool
	Seed        uint64
	Ranks, Rank int
	DropLast    bool
}

// Sampler has a table or a tree, by the kind of its epochs.
type Sampler struct {
	samples, ranks, rank int
	dropLast             bool
	seed                 uint64
	table                *Table
	weights              []float64
}

// New returns a Sampler.
func New(cfg Config) (*Sampler, error) {
	possible, err := check(cfg.Weights)
	switch {
	case err != nil:
		return nil, err
	case cfg.Ranks < 1 || uint(cfg.Rank) >= uint(cfg.Ranks):
		return nil, ErrRanks
	case cfg.Samples < 0, !cfg.Replacement && cfg.Samples > possible:
		return nil, ErrSamples
	}
	s := &Sampler{samples: cfg.Samples, ranks: cfg.Ranks, rank: cfg.Rank, dropLast: cfg.DropLast, seed: cfg.Seed}
	if cfg.Replacement {
		s.table, err = NewTable(cfg.Weights)
	} else {
		s.weights = append(s.weights, cfg.Weights...)
	}
	return s, err
}

// Len returns the length of a share.
func (s *Sampler) Len() int {
	share, over := s.samples/s.ranks, s.samples%s.ranks
	if over > 0 && !s.dropLast {
		share++
	}
	return share
}

// Epoch returns a share.
func (s *Sampler) Epoch(epoch int) iter.Seq[int] {
	return func(yield func(int) bool) {
		key := mix(mix(s.seed) + uint64(epoch))
		at := func(p int) int { return s.table.pick(mix(key + uint64(p)*odd)) }
		if s.table == nil && s.Len() > 0 {
			list, _ := Distinct(s.weights, s.samples, rand.New(rand.NewPCG(key, 0)))
			at = func(p int) int { return list[p] }
		}
		p := s.rank
		for range s.Len() {
			if !yield(at(p % s.samples)) {
				return
			}
			p += s.ranks // may be too large for an int after the last place only
		}
	}
}

const odd = 0x9e3779b97f4a7c15

// mix scatters the bits of x: two rounds of a finalizer of the kind that MurmurHash has.
func mix(x uint64) uint64 {
	for range 2 {
		x += odd
		x ^= x >> 30
		x *= 0xbf58476d1ce4e5b9
		x ^= x >> 27
		x *= 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

// Table is an alias table whose columns are compared with whole numbers.
type Table struct {
	weights []float64
	largest float64
	sum     float64 // of the weights divided by the largest
	columns []column
}

type column struct {
	cut  uint64 // 1<<64 of them would be all
	a, b uint32
}

// NewTable makes a Table.
func NewTable(weights []float64) (*Table, error) {
	possible, err := check(weights)
	if err != nil {
		return nil, err
	}
	t := &Table{weights: append([]float64(nil), weights...)}
	for _, w := range weights {
		t.largest = math.Max(t.largest, w)
	}
	for _, w := range weights {
		t.sum += w / t.largest
	}
	t.columns = make([]column, 0, possible)
	t.fill(float64(possible))
	return t, nil
}

// fill goes through the weights with two fingers: one looks for small ones, one for a
// large one to fill their columns with.
func (t *Table) fill(n float64) {
	part := func(i int) float64 { return t.weights[i] / t.largest / t.sum * n }
	next := func(i int, large bool) int {
		for i++; i < len(t.weights); i++ {
			if t.weights[i] > 0 && part(i) >= 1 == large {
				break
			}
		}
		return i
	}
	small, large := next(-1, false), next(-1, true)
	rest := 0.0
	if large < len(t.weights) {
		rest = part(large)
	}
	for large < len(t.weights) {
		if rest >= 1 && small < len(t.weights) {
			p := part(small)
			t.columns = append(t.columns, column{uint64(p * (1 << 63) * 2), uint32(small), uint32(large)})
			rest -= 1 - p
			small = next(small, false)
			continue
		}
		before := large
		if large = next(large, true); large == len(t.weights) || rest >= 1 {
			t.columns = append(t.columns, column{1<<64 - 1, uint32(before), uint32(before)})
			if large < len(t.weights) {
				rest = part(large)
			}
			continue
		}
		t.columns = append(t.columns, column{uint64(math.Max(rest, 0) * (1 << 63) * 2), uint32(before), uint32(large)})
		rest = part(large) - (1 - math.Max(rest, 0))
	}
	for ; small < len(t.weights); small = next(small, false) {
		t.columns = append(t.columns, column{1<<64 - 1, uint32(small), uint32(small)})
	}
}

// Len returns how many weights there are.
func (t *Table) Len() int { return len(t.weights) }

// Prob returns a probability.
func (t *Table) Prob(i int) float64 {
	if uint(i) >= uint(len(t.weights)) {
		return 0
	}
	return t.weights[i] / t.largest / t.sum
}

// Draw draws an index.
func (t *Table) Draw(r *rand.Rand) int { return t.pick(r.Uint64()) }

// pick takes the column from the high bits of x, and where in it from the low ones.
func (t *Table) pick(x uint64) int {
	k, within := bits.Mul64(x, uint64(len(t.columns)))
	c := &t.columns[k]
	if within <= c.cut {
		return int(c.a)
	}
	return int(c.b)
}

// check counts the weights above 0.
func check(weights []float64) (possible int, err error) {
	for _, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return 0, ErrWeights
		}
		if w > 0 {
			possible++
		}
	}
	if possible == 0 {
		err = ErrWeights
	}
	return possible, err
}

// Distinct takes leaves out of a tree of sums. What is taken is 0 from then on, and the
// sums above it are added up anew: a subtraction would leave what was rounded.
func Distinct(weights []float64, k int, r *rand.Rand) ([]int, error) {
	possible, err := check(weights)
	if err != nil {
		return nil, err
	}
	if k < 0 || k > possible {
		return nil, ErrSamples
	}
	size := 1 << bits.Len(uint(len(weights)-1))
	tree := make([]float64, 2*size)
	for i, w := range weights {
		tree[size+i] = w / float64(2*size)
	}
	for i := size - 1; i > 0; i-- {
		tree[i] = tree[2*i] + tree[2*i+1]
	}
	indices := make([]int, 0, k)
	for range k {
		indices = append(indices, take(tree, size, r))
	}
	return indices, nil
}

// take walks from the root to a leaf, with a random number for each fork.
func take(tree []float64, size int, r *rand.Rand) int {
	i := 1
	for i < size {
		left, right := tree[2*i], tree[2*i+1]
		i *= 2
		if left == 0 || right > 0 && r.Float64() >= left/(left+right) {
			i++
		}
	}
	leaf := i
	tree[leaf] = 0
	for i /= 2; i > 0; i /= 2 {
		tree[i] = tree[2*i] + tree[2*i+1]
	}
	return leaf - size
}
