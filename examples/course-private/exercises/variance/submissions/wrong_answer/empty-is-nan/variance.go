// Package variance forgets that there may be no numbers.
package variance

// Variance returns the mean of the squared distances of xs from their mean.
func Variance(xs []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		sum += (x - mean) * (x - mean)
	}
	return sum / float64(len(xs))
}
