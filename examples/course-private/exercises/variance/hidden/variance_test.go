// Package hidden holds what students do not see. The tests record what the package
// answers, and compare nothing: grade compares it with what the reference answered.
package hidden

import (
	"testing"

	"grade/observe"

	"example.com/course/reference/variance"
)

// numbers are n of them, at random around a centre.
func numbers(o *observe.Observer, n int, center float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = center + o.Rand().NormFloat64()
	}
	return xs
}

// The variance of some numbers (rule 1).
func TestVariance(t *testing.T) {
	o := observe.New(t)
	for _, n := range []int{3, 10, 100} {
		o.Float("variance", variance.Variance(numbers(o, n, 0)))
	}
}

// The variance of two numbers, of one and of none (rules 1 and 2).
func TestFew(t *testing.T) {
	o := observe.New(t)
	for _, n := range []int{2, 1, 0} {
		o.Float("variance", variance.Variance(numbers(o, n, 0)))
	}
}

// The variance of very many numbers (rules 1 and 3).
func TestLong(t *testing.T) {
	o := observe.New(t)
	o.Float("variance", variance.Variance(numbers(o, 100_000, 0)))
}

// Numbers that are far from zero: their squares are so large that what they differ by
// is lost in the difference of squares (rules 1 and 4).
func TestOffset(t *testing.T) {
	o := observe.New(t)
	for _, n := range []int{10, 20, 40} {
		o.Float("variance", variance.Variance(numbers(o, n, 1e6)), observe.Within(1e-6, 1e-6))
	}
}
