package hunt

import (
	"fmt"
	"math"
	"sort"
	"sync"
)

// Model is a softmax regression. Any number of goroutines may use it.
type Model struct {
	mu       sync.RWMutex
	features int
	classes  int
	weights  []float64 // a row for each feature, with a number for each class
	bias     []float64
}

func newModel(features, classes int) *Model {
	return &Model{features: features, classes: classes, weights: make([]float64, features*classes), bias: make([]float64, classes)}
}

// weight returns the weight of a feature for a class.
func (m *Model) weight(feature, class int) float64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.weights[feature*m.classes+class]
}

// add adds to the weight of a feature for a class.
func (m *Model) add(feature, class int, by float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.weights[feature*m.classes+class] += by
}

// addBias adds to the bias of a class.
func (m *Model) addBias(class int, by float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bias[class] += by
}

// descend moves all weights against their gradients.
func (m *Model) descend(gradient *Model, rate float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, g := range gradient.weights {
		m.weights[i] -= float64(rate * g)
	}
	for i, g := range gradient.bias {
		m.bias[i] -= float64(rate * g)
	}
}

// Probabilities returns the probability of each class.
func (m *Model) Probabilities(x Vector) []float64 {
	scores := []float64{}
	for c := range m.classes {
		scores = append(scores, m.score(x, c))
	}
	p := []float64{}
	for c := range m.classes {
		p = append(p, softmax(scores, c))
	}
	return p
}

// score is what speaks for a class.
func (m *Model) score(x Vector, class int) float64 {
	sum := m.bias[class]
	for _, e := range x {
		sum += float64(e.Value * m.weight(e.Index, class))
	}
	return sum
}

// softmax is the probability of a class. The largest score is taken off first, so that no
// exponential overflows.
func softmax(scores []float64, class int) float64 {
	largest := scores[0]
	for _, z := range scores {
		if z > largest {
			largest = z
		}
	}
	sum := 0.0
	for _, z := range scores {
		sum += math.Exp(z - largest)
	}
	return math.Exp(scores[class]-largest) / sum
}

// Predict returns the class with the highest probability, of equal ones the first.
func (m *Model) Predict(x Vector) int { return best(m.Probabilities(x)) }

// best returns the index of the largest number, of equal ones the first.
func best(p []float64) int {
	order := []int{}
	for i := range p {
		order = append(order, i)
	}
	sort.SliceStable(order, func(i, j int) bool { return p[order[i]] > p[order[j]] })
	return order[0]
}

// Tally counts pairs: row t, column p of the result is how often p was predicted where t
// is the truth.
func Tally(truth, predicted []int, classes int) [][]int {
	counts := map[string]int{}
	for i := range min(len(truth), len(predicted)) {
		counts[fmt.Sprintf("%d/%d", truth[i], predicted[i])]++
	}
	table := [][]int{}
	for t := range classes {
		row := []int{}
		for p := range classes {
			row = append(row, counts[fmt.Sprintf("%d/%d", t, p)])
		}
		table = append(table, row)
	}
	return table
}
