// Package hidden has the tests that students do not see. The tests only record results;
// grade compares them with the reference's.
package hidden

import (
	"testing"

	"grade/observe"

	"example.com/course/reference/variance"
)

// numbers returns n random numbers around a center.
func numbers(o *observe.Observer, n int, center float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = center + o.Rand().NormFloat64()
	}
	return xs
}

// TestVariance covers lists of some numbers (rule 1).
func TestVariance(t *testing.T) {
	o := observe.New(t)
	for _, n := range []int{3, 10, 100} {
		o.Float("variance", variance.Variance(numbers(o, n, 0)))
	}
}

// TestFew covers two numbers, one and none (rules 1 and 2).
func TestFew(t *testing.T) {
	o := observe.New(t)
	for _, n := range []int{2, 1, 0} {
		o.Float("variance", variance.Variance(numbers(o, n, 0)))
	}
}

// TestLong covers very many numbers (rules 1 and 3).
func TestLong(t *testing.T) {
	o := observe.New(t)
	o.Float("variance", variance.Variance(numbers(o, 100_000, 0)))
}

// TestOffset covers numbers far from zero: their squares are so large that rounding
// hides the differences between the numbers (rules 1 and 4).
func TestOffset(t *testing.T) {
	o := observe.New(t)
	for _, n := range []int{10, 20, 40} {
		o.Float("variance", variance.Variance(numbers(o, n, 1e6)), observe.Within(1e-6, 1e-6))
	}
}
