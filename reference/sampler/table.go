package sampler

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Table draws indices with replacement, each with a probability in proportion to its
// weight. It never changes: any number of goroutines may use it.
type Table struct {
	probs   []float64
	columns []column // as many as there are weights above 0
}

// column is a part of the probability, as large as every other: up to cut it is own's,
// and the rest of it other's.
type column struct {
	cut        float64
	own, other int
}

// NewTable makes a Table of weights, which it copies. Weights that are NaN, infinite or
// below 0, and none above 0, are ErrWeights.
func NewTable(weights []float64) (*Table, error) {
	largest, err := check(weights)
	if err != nil {
		return nil, err
	}
	probs := normalized(weights, largest)
	return &Table{probs: probs, columns: alias(probs, weights)}, nil
}

// Len returns the number of weights.
func (t *Table) Len() int { return len(t.probs) }

// Prob returns the probability of index i, which is 0 if there is no such index.
func (t *Table) Prob(i int) float64 {
	if i < 0 || i >= len(t.probs) {
		return 0
	}
	return t.probs[i]
}

// Draw returns an index that depends on nothing but the weights and r. It takes the same
// time however many weights there are.
func (t *Table) Draw(r *rand.Rand) int {
	c := &t.columns[r.IntN(len(t.columns))]
	if r.Float64() < c.cut {
		return c.own
	}
	return c.other
}

// check returns the largest weight, or ErrWeights.
func check(weights []float64) (largest float64, err error) {
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			return 0, fmt.Errorf("%w: weight %d is %v", ErrWeights, i, w)
		}
		largest = max(largest, w)
	}
	if largest == 0 {
		return 0, fmt.Errorf("%w: none of %d is above 0", ErrWeights, len(weights))
	}
	return largest, nil
}

// normalized returns the weights divided by their sum. The largest is divided out
// first, because the sum itself may be too large for a float64, or so small that its
// inverse is.
func normalized(weights []float64, largest float64) []float64 {
	probs := make([]float64, len(weights))
	sum := 0.0
	for i, w := range weights {
		probs[i] = w / largest
		sum += probs[i]
	}
	for i := range probs {
		probs[i] /= sum
	}
	return probs
}

// alias makes the columns, by Vose's method (A linear algorithm for generating random
// numbers with a given distribution, 1991): a column that its own index does not fill is
// filled up by one that has too much. An index of weight 0 has no column, so that no
// rounding can give it one.
func alias(probs, weights []float64) []column {
	columns := make([]column, 0, len(weights))
	for i, w := range weights {
		if w > 0 {
			columns = append(columns, column{own: i, other: i})
		}
	}
	var small, large []int
	for k := range columns {
		c := &columns[k]
		if c.cut = probs[c.own] * float64(len(columns)); c.cut < 1 {
			small = append(small, k)
		} else {
			large = append(large, k)
		}
	}
	fill(columns, small, large)
	return columns
}

// fill takes what the small columns lack from the large ones. What is left over of
// either at the end is full but for rounding, and has no other index than its own.
func fill(columns []column, small, large []int) {
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		columns[s].other = columns[l].own
		if columns[l].cut -= 1 - columns[s].cut; columns[l].cut < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
}
