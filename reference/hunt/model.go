package hunt

import (
	"math"
	"slices"
)

// Model is a trained softmax regression. It does not change, so any number of goroutines
// may use it.
type Model struct {
	classes int
	weights []float64 // a row for each feature, with a number for each class
	bias    []float64
}

// Probabilities returns the probability of each class.
func (m *Model) Probabilities(x Vector) []float64 {
	p := make([]float64, m.classes)
	m.into(p, x)
	return p
}

// Predict returns the class with the highest probability, of equal ones the first.
func (m *Model) Predict(x Vector) int { return highest(m.Probabilities(x)) }

// into writes the probabilities into p.
func (m *Model) into(p []float64, x Vector) {
	copy(p, m.bias)
	for _, e := range x {
		row := m.weights[e.Index*m.classes:][:len(p)]
		for c, w := range row {
			p[c] += float64(e.Value * w)
		}
	}
	softmax(p)
}

// softmax turns scores into probabilities in place. The largest score is taken off first,
// so that no exponential overflows.
func softmax(z []float64) {
	largest, sum := z[highest(z)], 0.0
	for c, x := range z {
		z[c] = math.Exp(x - largest)
		sum += z[c]
	}
	for c := range z {
		z[c] /= sum
	}
}

// highest returns the index of the largest number, of equal ones the first. Nothing is
// larger than a NaN, and a NaN is larger than nothing.
func highest(xs []float64) (best int) {
	for i, x := range xs {
		if x > xs[best] {
			best = i
		}
	}
	return best
}

// Tally counts pairs: row t, column p of the result is how often p was predicted where t
// is the truth.
func Tally(truth, predicted []int, classes int) [][]int {
	table := make([][]int, max(0, classes))
	counts := make([]int, len(table)*len(table))
	for t := range table {
		table[t], counts = slices.Clip(counts[:classes]), counts[classes:]
	}
	in := func(c int) bool { return 0 <= c && c < classes }
	for i := range min(len(truth), len(predicted)) {
		if t, p := truth[i], predicted[i]; in(t) && in(p) {
			table[t][p]++
		}
	}
	return table
}
