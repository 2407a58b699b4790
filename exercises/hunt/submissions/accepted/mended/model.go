package hunt

import (
	"math"
)

// Model is a softmax regression. Any number of goroutines may use it.
type Model struct {
	features int
	classes  int
	weights  []float64 // a row for each feature, with a number for each class
	bias     []float64
}

func newModel(features, classes int) *Model {
	return &Model{features: features, classes: classes, weights: make([]float64, features*classes), bias: make([]float64, classes)}
}

// row has the weights of a feature.
func (m *Model) row(feature int) []float64 {
	return m.weights[feature*m.classes : (feature+1)*m.classes]
}

// Probabilities returns the probability of each class.
func (m *Model) Probabilities(x Vector) []float64 {
	p := make([]float64, m.classes)
	m.probabilities(p, x)
	return p
}

// probabilities writes them into p.
func (m *Model) probabilities(p []float64, x Vector) {
	copy(p, m.bias)
	for _, e := range x {
		for c, w := range m.row(e.Index) {
			p[c] += float64(e.Value * w)
		}
	}
	largest := p[0]
	for _, z := range p {
		if z > largest {
			largest = z
		}
	}
	sum := 0.0
	for c, z := range p {
		p[c] = math.Exp(z - largest)
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
}

// Predict returns the class with the highest probability, of equal ones the first.
func (m *Model) Predict(x Vector) int { return best(m.Probabilities(x)) }

// best returns the index of the largest number, of equal ones the first.
func best(p []float64) int {
	first := 0
	for i := range p {
		if p[i] > p[first] {
			first = i
		}
	}
	return first
}

// Tally counts pairs: row t, column p of the result is how often p was predicted where t
// is the truth.
func Tally(truth, predicted []int, classes int) [][]int {
	table := [][]int{}
	for range classes {
		table = append(table, make([]int, classes))
	}
	for i := range min(len(truth), len(predicted)) {
		t, p := truth[i], predicted[i]
		if t >= 0 && t < classes && p >= 0 && p < classes {
			table[t][p]++
		}
	}
	return table
}
