// Package variance goes over the numbers once, as Welford did.
package variance

// Variance returns the mean of the squared distances of xs from their mean, and 0 of none.
func Variance(xs []float64) float64 {
	mean, sum := 0.0, 0.0
	for i, x := range xs {
		before := x - mean
		mean += before / float64(i+1)
		sum += before * (x - mean)
	}
	return sum / float64(max(1, len(xs)))
}
