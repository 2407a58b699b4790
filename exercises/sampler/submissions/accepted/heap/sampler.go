// Package sampler draws samples by weight.
package sampler

import (
	"iter"
	"math/rand/v2"
)

type Config struct {
	Weights     []float64
	Samples     int
	Replacement bool
	Seed        uint64
	Ranks       int
	Rank        int
	DropLast    bool
}

type Sampler struct {
	Config
	table *Table
}

func New(cfg Config) (*Sampler, error) {
	if cfg.Ranks <= 0 || cfg.Rank < 0 || cfg.Rank > cfg.Ranks-1 {
		return nil, ErrRanks
	}
	s := &Sampler{Config: cfg}
	s.Weights = append([]float64{}, cfg.Weights...)
	var err error
	if s.table, err = NewTable(s.Weights); err != nil {
		return nil, err
	}
	some := 0
	for _, w := range s.Weights {
		if w > 0 {
			some++
		}
	}
	if cfg.Samples < 0 || cfg.Samples > some && !cfg.Replacement {
		return nil, ErrSamples
	}
	return s, nil
}

func (s *Sampler) Len() int {
	if s.DropLast || s.Samples == 0 {
		return s.Samples / s.Ranks
	}
	return (s.Samples-1)/s.Ranks + 1
}

// place returns place j of this rank, in a list that goes on for ever.
func (s *Sampler) place(j int) int {
	p := uint64(s.Rank) + uint64(j)*uint64(s.Ranks)
	return int(p % uint64(s.Samples))
}

func (s *Sampler) Epoch(epoch int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if s.Len() == 0 {
			return
		}
		next, at := s.draws(epoch), 0
		for j := range s.Len() {
			p := s.place(j)
			if p < at { // back to the beginning
				next, at = s.draws(epoch), 0
			}
			for ; at < p; at++ {
				next()
			}
			at++
			if !yield(next()) {
				return
			}
		}
	}
}

// draws returns a function that returns one index of the list after the other.
func (s *Sampler) draws(epoch int) func() int {
	r := rand.New(rand.NewPCG(s.Seed, uint64(epoch)))
	if s.Replacement {
		return func() int { return s.table.Draw(r) }
	}
	list := earliest(s.Weights, s.Samples, r)
	return func() int {
		i := list[0]
		list = list[1:]
		return i
	}
}
