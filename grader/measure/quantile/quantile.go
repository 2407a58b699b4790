// Package quantile computes medians and other quantiles of sorted figures, the same way
// for verdicts, reports and benchmarks. It sorts nothing and knows no unit.
package quantile

// Number is a figure: a ratio, a score, a duration.
type Number interface{ ~int64 | ~float64 }

// Of returns the quantile q, from 0 to 1, of sorted figures. It interpolates linearly
// between two of them (type 7 of Hyndman and Fan, 1996), and panics without a figure.
func Of[T Number](sorted []T, q float64) T {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	below, above := float64(sorted[i]), float64(sorted[i+1])
	return T(below + (at-float64(i))*(above-below))
}

// Median returns the middle one of sorted figures, or the mean of the middle two.
func Median[T Number](sorted []T) T { return Of(sorted, 0.5) }
