// Package mean moves a mean towards each number.
package mean

func Mean(xs []float64) (mean float64) {
	for i, x := range xs {
		mean += (x - mean) / float64(i+1)
	}
	return mean
}
