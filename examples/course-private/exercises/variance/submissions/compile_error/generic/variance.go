// Package variance leaves open what it returns.
package variance

// Variance returns the mean of the squared distances of xs from their mean.
func Variance[X, Y ~float64](xs []X) (y Y) {
	mean := X(0)
	for _, x := range xs {
		mean += x / X(len(xs))
	}
	for _, x := range xs {
		y += Y((x - mean) * (x - mean))
	}
	return y / Y(max(1, len(xs)))
}
