// Package sampler decides which samples a training sees: by weight, with and without
// replacement, and shared out over the ranks of a distributed training. It knows nothing
// of the samples but their labels and weights.
//
// Balance makes weights of labels. A Table draws indices by weight, one at a time;
// Distinct draws several that differ. A Sampler makes epochs of either, the same on
// every rank, of which each rank takes its share.
package sampler

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
)

// What the errors of this package are, for errors.Is.
var (
	ErrPower   = errors.New("sampler: bad power")
	ErrWeights = errors.New("sampler: bad weights")
	ErrSamples = errors.New("sampler: bad number of samples")
	ErrRanks   = errors.New("sampler: no such rank")
)

// Config says what an epoch is, and whose share of it is wanted.
type Config struct {
	Weights     []float64 // one for each sample of the data set
	Samples     int       // indices in an epoch, all ranks together
	Replacement bool      // an index may come more than once
	Seed        uint64
	Ranks       int  // processes that share an epoch
	Rank        int  // which of them this one is, from 0
	DropLast    bool // leave out what cannot be shared equally, instead of padding
}

// Sampler makes the epochs of one rank. It never changes: any number of goroutines may
// use it.
type Sampler struct {
	cfg   Config
	table *Table // of the weights, with Replacement
}

// New returns a Sampler, or one of the errors of this package. It copies the weights.
func New(cfg Config) (*Sampler, error) {
	if cfg.Ranks < 1 || cfg.Rank < 0 || cfg.Rank >= cfg.Ranks {
		return nil, fmt.Errorf("%w: %d of %d", ErrRanks, cfg.Rank, cfg.Ranks)
	}
	if cfg.Replacement {
		return withReplacement(cfg)
	}
	if err := checkDistinct(cfg.Weights, cfg.Samples); err != nil {
		return nil, err
	}
	cfg.Weights = slices.Clone(cfg.Weights)
	return &Sampler{cfg: cfg}, nil
}

// withReplacement is New for a cfg that needs a Table, and no weights beside it.
func withReplacement(cfg Config) (*Sampler, error) {
	if cfg.Samples < 0 {
		return nil, fmt.Errorf("%w: %d", ErrSamples, cfg.Samples)
	}
	table, err := NewTable(cfg.Weights)
	if err != nil {
		return nil, err
	}
	cfg.Weights = nil
	return &Sampler{cfg, table}, nil
}

// Len returns how many indices of an epoch are this rank's, as many as any other's.
func (s *Sampler) Len() int {
	n := s.cfg.Samples / s.cfg.Ranks
	if !s.cfg.DropLast && s.cfg.Samples%s.cfg.Ranks > 0 {
		n++
	}
	return n
}

// Epoch returns this rank's share of an epoch, dealt out as by torch's
// DistributedSampler: of the list that all ranks have in common the places Rank,
// Rank + Ranks, Rank + 2·Ranks and so on. A place behind the end of the list is one
// at its beginning.
func (s *Sampler) Epoch(epoch int) iter.Seq[int] {
	return func(yield func(int) bool) {
		left, again := s.Len(), 0
		if left == 0 {
			return
		}
		last := (s.cfg.Rank + (left-1)*s.cfg.Ranks) % s.cfg.Samples
		for place, index := range s.list(epoch) {
			if place == last {
				again = index // in case that there is no other one for this place
			}
			if place%s.cfg.Ranks != s.cfg.Rank {
				continue
			}
			if left--; !yield(index) || left == 0 {
				return
			}
		}
		yield(again)
	}
}

// list returns the places and indices that all ranks share. With replacement they are
// drawn as they are asked for, so that an epoch may be longer than memory.
func (s *Sampler) list(epoch int) iter.Seq2[int, int] {
	r := generator(s.cfg.Seed, epoch)
	if !s.cfg.Replacement {
		return slices.All(distinct(s.cfg.Weights, s.cfg.Samples, r))
	}
	return func(yield func(place, index int) bool) {
		for place := range s.cfg.Samples {
			if !yield(place, s.table.Draw(r)) {
				return
			}
		}
	}
}

// generator returns the random numbers of an epoch. Seed and epoch are parts of one key:
// by their sum, epoch 1 of one seed would be epoch 0 of the next.
func generator(seed uint64, epoch int) *rand.Rand {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(epoch))
	return rand.New(rand.NewChaCha8(key))
}
