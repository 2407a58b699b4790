package sampler

import (
	"errors"
	"math"
)

var (
	ErrPower   = errors.New("q is not in [0, 1]")
	ErrWeights = errors.New("weights are not allowed")
	ErrSamples = errors.New("so many cannot be drawn")
	ErrRanks   = errors.New("there is no such rank")
)

func Balance[L comparable](labels []L, q float64) ([]float64, error) {
	if math.IsNaN(q) || q < 0 || q > 1 {
		return nil, ErrPower
	}
	sizes := map[L]int{}
	var order []L // of the classes, by their first sample
	for _, l := range labels {
		if sizes[l] == 0 {
			order = append(order, l)
		}
		sizes[l]++
	}
	var total float64
	parts := map[L]float64{}
	for _, l := range order {
		parts[l] = math.Pow(float64(sizes[l]), q)
		total += parts[l]
	}
	weights := make([]float64, 0, len(labels))
	for _, l := range labels {
		weights = append(weights, parts[l]/total/float64(sizes[l]))
	}
	return weights, nil
}
