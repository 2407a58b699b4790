// Package mean computes the mean of numbers. README.md has the rules.
package mean

// Mean returns the mean of xs, or 0 if xs is empty.
func Mean(xs []float64) float64 {
	return 0 // write your solution here
}
