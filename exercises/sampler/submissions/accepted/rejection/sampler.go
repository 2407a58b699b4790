// Package sampler draws samples by weight.
package sampler

import (
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

var (
	ErrPower   = errors.New("sampler: q")
	ErrWeights = errors.New("sampler: weights")
	ErrSamples = errors.New("sampler: samples")
	ErrRanks   = errors.New("sampler: ranks")
)

type class struct {
	n      int
	weight float64
}

func Balance[L comparable](labels []L, q float64) ([]float64, error) {
	if q < 0 || q > 1 || q != q {
		return nil, ErrPower
	}
	classes := map[L]*class{}
	for _, l := range labels {
		if classes[l] == nil {
			classes[l] = &class{}
		}
		classes[l].n++
	}
	// The sum over sizes, in their order: classes of one size are alike.
	var sizes []int
	for _, c := range classes {
		sizes = append(sizes, c.n)
	}
	slices.Sort(sizes)
	sum := 0.0
	for _, n := range sizes {
		sum += math.Pow(float64(n), q)
	}
	weights := make([]float64, len(labels))
	for i, l := range labels {
		c := classes[l]
		if c.weight == 0 {
			c.weight = math.Exp((q-1)*math.Log(float64(c.n))) / sum
		}
		weights[i] = c.weight
	}
	return weights, nil
}

type Config struct {
	Weights     []float64
	Samples     int
	Replacement bool
	Seed        uint64
	Ranks, Rank int
	DropLast    bool
}

type Sampler struct {
	cfg   Config
	table *Table
	n     int // of a share
}

func New(cfg Config) (*Sampler, error) {
	t, err := NewTable(cfg.Weights)
	if err != nil {
		return nil, err
	}
	if cfg.Ranks < 1 || cfg.Rank < 0 || cfg.Rank >= cfg.Ranks {
		return nil, ErrRanks
	}
	if cfg.Samples < 0 || !cfg.Replacement && cfg.Samples > len(t.own) {
		return nil, ErrSamples
	}
	s := &Sampler{cfg, t, cfg.Samples / cfg.Ranks}
	s.cfg.Weights = nil
	if !cfg.DropLast && s.n*cfg.Ranks < cfg.Samples {
		s.n++
	}
	return s, nil
}

func (s *Sampler) Len() int { return s.n }

func (s *Sampler) Epoch(epoch int) iter.Seq[int] {
	return func(yield func(int) bool) {
		var row []int // the first of the list, which a padded one ends with
		n, c := 0, s.cfg
		for i := range s.places(epoch) {
			if n == s.n {
				return
			}
			if len(row) < c.Ranks && len(row) <= c.Samples && !c.DropLast && c.Samples%c.Ranks != 0 {
				row = append(row, i)
			}
			// The places of the rank are those that leave it as a remainder.
			if c.Rank--; c.Rank < 0 {
				c.Rank = c.Ranks - 1
				if n++; !yield(i) {
					return
				}
			}
		}
		if n < s.n {
			yield(row[c.Rank%len(row)])
		}
	}
}

// places yields the list of an epoch.
func (s *Sampler) places(epoch int) iter.Seq[int] {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(s.cfg.Seed >> (8 * i))
		key[8+i] = byte(epoch >> (8 * i))
	}
	r := rand.New(rand.NewChaCha8(key))
	if s.cfg.Replacement {
		return func(yield func(int) bool) {
			for n := s.cfg.Samples; n > 0 && yield(s.table.Draw(r)); n-- {
			}
		}
	}
	return slices.Values(without(s.table.weights, s.table, s.cfg.Samples, r))
}

type Table struct {
	weights []float64
	own     []int // indices of the columns, and what else is in each
	other   []int
	cut     []float64
	scale   float64
	sum     float64
}

func NewTable(weights []float64) (*Table, error) {
	t := &Table{weights: slices.Clone(weights)}
	for i, w := range weights {
		if w < 0 || w-w != 0 { // the difference of infinities is NaN
			return nil, ErrWeights
		}
		if w > 0 {
			t.own = append(t.own, i)
		}
	}
	if len(t.own) == 0 {
		return nil, ErrWeights
	}
	t.fill(func(i int) float64 { return weights[i] })
	return t, nil
}

// fill makes the columns of t.own.
func (t *Table) fill(weight func(i int) float64) {
	n := len(t.own)
	t.other, t.cut = slices.Clone(t.own), make([]float64, n)
	top := 0.0
	for _, i := range t.own {
		top = max(top, weight(i))
	}
	_, exp := math.Frexp(top)
	t.scale = math.Ldexp(1, -exp/2)
	for _, i := range t.own {
		t.sum += weight(i) * t.scale * t.scale
	}
	var less, more []int
	for k, i := range t.own {
		t.cut[k] = weight(i) * t.scale * t.scale / t.sum * float64(n)
		if t.cut[k] > 1 {
			more = append(more, k)
		} else {
			less = append(less, k)
		}
	}
	for len(more) > 0 && len(less) > 0 {
		m, l := more[0], less[0]
		less = less[1:]
		t.other[l] = t.own[m]
		if t.cut[m] -= 1 - t.cut[l]; t.cut[m] <= 1 {
			more, less = more[1:], append(less, m)
		}
	}
}

func (t *Table) Len() int { return len(t.weights) }

func (t *Table) Prob(i int) float64 {
	if i >= 0 && i < len(t.weights) {
		return t.weights[i] * t.scale * t.scale / t.sum
	}
	return 0
}

func (t *Table) Draw(r *rand.Rand) int {
	k := r.IntN(len(t.own))
	if r.Float64() < t.cut[k] {
		return t.own[k]
	}
	return t.other[k]
}

func Distinct(weights []float64, k int, r *rand.Rand) ([]int, error) {
	t, err := NewTable(weights)
	if err != nil {
		return nil, err
	}
	if k < 0 || k > len(t.own) {
		return nil, ErrSamples
	}
	return without(weights, t, k, r), nil
}

// without draws until it has k. When it was in vain too often, it leaves out what is gone.
func without(weights []float64, t *Table, k int, r *rand.Rand) []int {
	gone := map[int]bool{}
	indices := make([]int, 0, k)
	vain := 0
	for len(indices) < k {
		if i := t.Draw(r); !gone[i] {
			gone[i] = true
			indices = append(indices, i)
		} else if vain++; vain > 8+len(t.own)/2 || vain > 8+2*len(indices) {
			vain = 0
			t = &Table{own: slices.DeleteFunc(slices.Clone(t.own), func(i int) bool { return gone[i] })}
			t.fill(func(i int) float64 { return weights[i] })
		}
	}
	return indices
}
