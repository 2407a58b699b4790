package sampler

import (
	"fmt"
	"math"
)

// Balance returns a weight for each sample, so that a class of n samples is drawn with
// a probability in proportion to n to the power of q, and the samples of a class
// equally often: q 1 leaves all as it is, 0 makes all classes equal, 1/2 is the
// square-root sampling between them (Kang et al., Decoupling Representation and
// Classifier for Long-Tailed Recognition, 2020, equation 1). The weights add up to 1.
// A q that is not in [0, 1] is ErrPower.
func Balance[L comparable](labels []L, q float64) ([]float64, error) {
	if !(0 <= q && q <= 1) { // NaN is neither
		return nil, fmt.Errorf("%w: %v is not between 0 and 1", ErrPower, q)
	}
	classes, of := count(labels)
	total := 0.0
	for _, n := range classes {
		total += math.Pow(n, q)
	}
	weights := make([]float64, len(labels))
	for i, class := range of {
		weights[i] = math.Pow(classes[class], q-1) / total
	}
	return weights, nil
}

// count returns how many samples each class has, and the class of each sample. Classes
// are numbered as they are met: in the order of a map, the sum of Balance would have
// other last digits each time, and no two ranks the same weights.
func count[L comparable](labels []L) (classes []float64, of []int) {
	numbers := map[L]int{}
	of = make([]int, len(labels))
	for i, label := range labels {
		class, ok := numbers[label]
		if !ok {
			class = len(classes)
			numbers[label] = class
			classes = append(classes, 0)
		}
		classes[class]++
		of[i] = class
	}
	return classes, of
}
