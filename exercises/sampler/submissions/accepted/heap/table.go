package sampler

import (
	"math"
	"math/rand/v2"
)

type Table struct {
	probs []float64 // of the indices
	keep  []float64 // of a column: the probability that its own index is drawn
	alias []int32   // of a column: the other one
}

func NewTable(weights []float64) (*Table, error) {
	if err := allowed(weights); err != nil {
		return nil, err
	}
	n := len(weights)
	t := &Table{make([]float64, n), make([]float64, n), make([]int32, n)}
	// Half as large by n, no sum is too large.
	var sum float64
	for _, w := range weights {
		sum += w / 2 / float64(n)
	}
	for i, w := range weights {
		t.probs[i] = w / 2 / float64(n) / sum
		t.keep[i] = t.probs[i] * float64(n)
	}
	t.pair()
	return t, nil
}

// pair moves what large columns have too much to small ones. Indices of both kinds are in
// one list, the small ones at its front.
func (t *Table) pair() {
	work := make([]int32, len(t.keep))
	small, large := 0, len(work)
	for i, k := range t.keep {
		if k < 1 {
			work[small] = int32(i)
			small++
		} else {
			large--
			work[large] = int32(i)
		}
	}
	for small > 0 && large < len(work) {
		small--
		s, l := work[small], work[large]
		t.alias[s] = l
		t.keep[l] = t.keep[l] + t.keep[s] - 1
		if t.keep[l] < 1 {
			large++
			work[small] = l
			small++
		}
	}
	for _, i := range work[:small] {
		t.keep[i] = 1
	}
	for _, i := range work[large:] {
		t.keep[i] = 1
	}
}

func (t *Table) Len() int { return len(t.probs) }

func (t *Table) Prob(i int) float64 {
	if i < 0 || i >= len(t.probs) {
		return 0
	}
	return t.probs[i]
}

func (t *Table) Draw(r *rand.Rand) int {
	i := r.IntN(len(t.keep))
	if r.Float64() >= t.keep[i] {
		i = int(t.alias[i])
	}
	return i
}

func allowed(weights []float64) error {
	some := false
	for _, w := range weights {
		if math.IsNaN(w) || math.IsInf(w, 0) || w < 0 {
			return ErrWeights
		}
		some = some || w > 0
	}
	if !some {
		return ErrWeights
	}
	return nil
}
