// Package variance computes the variance of numbers.
package variance

// Variance returns the mean of the squared distances of xs from their mean, or 0 if xs is empty.
func Variance(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	n := float64(len(xs))
	mean := 0.0
	for _, x := range xs {
		mean += x / n
	}
	sum := 0.0
	for _, x := range xs {
		sum += (x - mean) * (x - mean)
	}
	return sum / n
}
