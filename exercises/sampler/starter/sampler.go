// Package sampler decides which samples a training sees: by weight, with and without
// replacement, and shared out over the ranks of a distributed training. README.md says
// what is wanted.
package sampler

import (
	"errors"
	"iter"
	"math/rand/v2"
)

// What the errors of this package are, for errors.Is.
var (
	ErrPower   = errors.New("sampler: bad power")
	ErrWeights = errors.New("sampler: bad weights")
	ErrSamples = errors.New("sampler: bad number of samples")
	ErrRanks   = errors.New("sampler: no such rank")
)

// Balance returns a weight for each sample, so that a class of n samples is drawn in
// proportion to n to the power of q. All weights add up to 1.
func Balance[L comparable](labels []L, q float64) ([]float64, error) { return nil, nil }

// Table draws indices with replacement, each in proportion to its weight.
type Table struct {
	// TODO: your fields.
}

// NewTable makes a Table of weights, or returns ErrWeights.
func NewTable(weights []float64) (*Table, error) { return nil, nil }

// Len returns the number of weights.
func (t *Table) Len() int { return 0 }

// Prob returns the probability of index i, which is 0 if there is no such index.
func (t *Table) Prob(i int) float64 { return 0 }

// Draw returns an index, in a time that does not depend on the number of weights.
func (t *Table) Draw(r *rand.Rand) int { return 0 }

// Distinct draws k different indices, each in proportion to its weight among those
// that are left, and returns them in the order in which they were drawn.
func Distinct(weights []float64, k int, r *rand.Rand) ([]int, error) { return nil, nil }

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

// Sampler makes the epochs of one rank.
type Sampler struct {
	// TODO: your fields.
}

// New returns a Sampler, or an error.
func New(cfg Config) (*Sampler, error) { return nil, nil }

// Len returns how many indices of an epoch are this rank's, as many as any other's.
func (s *Sampler) Len() int { return 0 }

// Epoch returns this rank's share of an epoch.
func (s *Sampler) Epoch(epoch int) iter.Seq[int] { return func(yield func(int) bool) {} }
