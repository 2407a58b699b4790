// Package mean computes the mean of numbers. README.md says what is wanted.
package mean

// Mean returns the mean of xs, and 0 of none.
func Mean(xs []float64) float64 {
	return 0 // write your solution here
}
