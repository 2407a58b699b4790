package sampler

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBalanceOfTwoClasses(t *testing.T) {
	labels := []string{"a", "a", "a", "a", "b"}
	for q, want := range map[float64][2]float64{0: {1. / 8, 1. / 2}, 0.5: {1. / 6, 1. / 3}, 1: {1. / 5, 1. / 5}} {
		weights, err := Balance(labels, q)
		require.NoError(t, err)
		assert.InDeltaSlice(t, []float64{want[0], want[0], want[0], want[0], want[1]}, weights, 1e-12)
	}
	_, err := Balance([]int{}, math.NaN())
	assert.ErrorIs(t, err, ErrPower)
}

// The columns together hold of each index what its probability is.
func TestColumnsHoldTheProbabilities(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		weights := make([]float64, 1+r.IntN(50))
		for i := range weights {
			weights[i] = max(0, r.NormFloat64())
		}
		weights[r.IntN(len(weights))] = 1
		table, err := NewTable(weights)
		require.NoError(t, err)
		held := make([]float64, len(weights))
		for _, c := range table.columns {
			held[c.own] += min(c.cut, 1) / float64(len(table.columns))
			held[c.other] += (1 - min(c.cut, 1)) / float64(len(table.columns))
		}
		assert.InDeltaSlice(t, table.probs, held, 1e-12)
	}
}

func TestWeightsThatAreRefused(t *testing.T) {
	for _, weights := range [][]float64{nil, {0}, {1, -1}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		_, err := NewTable(weights)
		assert.ErrorIs(t, err, ErrWeights)
		_, err = Distinct(weights, 0, nil)
		assert.ErrorIs(t, err, ErrWeights)
		_, err = New(Config{Weights: weights, Ranks: 1})
		assert.ErrorIs(t, err, ErrWeights)
	}
}

// Of weights whose sum is infinite, and of such as vanish beside others, each comes as
// often as it should.
func TestExtremeWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	table, err := NewTable([]float64{math.MaxFloat64, math.MaxFloat64, 1})
	require.NoError(t, err)
	assert.Equal(t, []float64{0.5, 0.5}, table.probs[:2])
	first := 0
	for range 10_000 {
		indices, err := Distinct([]float64{1e300, 2e-300, 1e-300}, 3, r)
		require.NoError(t, err)
		require.Equal(t, 0, indices[0])
		first += indices[1]
	}
	assert.InDelta(t, 4./3, float64(first)/10_000, 0.03)
}

// Ranks deal out the list of a single one.
func TestRanksShareOneList(t *testing.T) {
	for _, replacement := range []bool{false, true} {
		for samples := range 20 {
			cfg := Config{Weights: slices.Repeat([]float64{2, 1}, 10), Samples: samples, Replacement: replacement, Ranks: 1}
			whole := epoch(t, cfg)
			for ranks := 1; ranks < 50; ranks++ {
				cfg.Ranks = ranks
				for rank := range ranks {
					cfg.Rank, cfg.DropLast = rank, false
					for j, index := range epoch(t, cfg) {
						require.Equal(t, whole[(rank+j*ranks)%samples], index)
					}
					cfg.DropLast = true
					require.Len(t, epoch(t, cfg), samples/ranks)
				}
			}
		}
	}
}

func epoch(t *testing.T, cfg Config) []int {
	t.Helper()
	s, err := New(cfg)
	require.NoError(t, err)
	indices := slices.Collect(s.Epoch(3))
	require.Len(t, indices, s.Len())
	return indices
}

func TestConfigsThatAreRefused(t *testing.T) {
	weights := []float64{1, 0, 2}
	for want, cfgs := range map[error][]Config{
		ErrRanks:   {{}, {Ranks: -1}, {Ranks: 2, Rank: 2}, {Ranks: 2, Rank: -1}},
		ErrSamples: {{Ranks: 1, Samples: -1}, {Ranks: 1, Samples: -1, Replacement: true}, {Ranks: 1, Samples: 3}},
	} {
		for _, cfg := range cfgs {
			cfg.Weights = weights
			_, err := New(cfg)
			assert.ErrorIs(t, err, want)
		}
	}
}
