// Package variance computes the variance of numbers.
package variance

// Variance returns the mean of the squared distances of xs from their mean.
func Variance(xs []float64) float64 {
	mean := Mean(xs)
	sum := 0
	for _, x := range xs {
		sum += (x - mean) * (x - mean)
	}
	return sum / float64(len(xs))
}

// Mean returns the mean of xs.
func Mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}
