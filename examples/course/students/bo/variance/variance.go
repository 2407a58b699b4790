// Package variance takes the mean of the squares less the square of the mean.
package variance

// Variance returns the mean of the squared distances of xs from their mean, and 0 of none.
func Variance(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	sum, squares := 0.0, 0.0
	for _, x := range xs {
		sum += x
		squares += x * x
	}
	n := float64(len(xs))
	return squares/n - (sum/n)*(sum/n)
}
