// Package variance computes the variance of numbers. README.md has the rules.
package variance

// Variance returns the mean of the squared distances of xs from their mean, or 0 if xs is empty.
func Variance(xs []float64) float64 {
	return 0 // write your solution here
}
