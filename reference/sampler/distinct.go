package sampler

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Distinct draws k different indices, each in proportion to its weight among those that
// are left, and returns them in the order in which they were drawn. The weights are those
// of NewTable, with the same errors; a k below 0 or above the number of weights above 0
// is ErrSamples.
//
// It does so without drawing one after the other. Each index waits for an exponential
// time of rate w: the first to come is i with probability w_i / Σw, and as such times have
// no memory, so it goes on among the rest (Efraimidis and Spirakis, Weighted random
// sampling with a reservoir, 2006).
func Distinct(weights []float64, k int, r *rand.Rand) ([]int, error) {
	if err := checkDistinct(weights, k); err != nil {
		return nil, err
	}
	return distinct(weights, k, r), nil
}

// checkDistinct returns the error of Distinct.
func checkDistinct(weights []float64, k int) error {
	if _, err := check(weights); err != nil {
		return err
	}
	if n := positive(weights); k < 0 || k > n {
		return fmt.Errorf("%w: %d different ones of %d", ErrSamples, k, n)
	}
	return nil
}

// distinct is Distinct without errors.
func distinct(weights []float64, k int, r *rand.Rand) []int {
	all := arrivals(weights, r)
	slices.SortFunc(all, func(a, b arrival) int { return cmp.Compare(a.time, b.time) })
	indices := make([]int, k)
	for j := range indices {
		indices[j] = all[j].index
	}
	return indices
}

// positive counts the weights above 0.
func positive(weights []float64) (n int) {
	for _, w := range weights {
		if w > 0 {
			n++
		}
	}
	return n
}

// arrival is when an index comes, as a logarithm: a time divided by the weight itself
// may be too large or too small for a float64.
type arrival struct {
	time  float64
	index int
}

// arrivals draws a time for each weight above 0.
func arrivals(weights []float64, r *rand.Rand) []arrival {
	all := make([]arrival, 0, len(weights))
	for i, w := range weights {
		if w > 0 {
			exponential := -math.Log1p(-r.Float64())
			all = append(all, arrival{math.Log(exponential) - math.Log(w), i})
		}
	}
	return all
}
