// Package variance computes the variance of numbers. README.md says what is wanted.
package variance

// Variance returns the mean of the squared distances of xs from their mean, and 0 of none.
func Variance(xs []float64) float64 {
	return 0 // write your solution here
}
