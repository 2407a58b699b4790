// Package hidden holds what students do not see. The tests record what the package
// answers, and compare nothing: grade compares it with what the reference answered.
package hidden

import (
	"testing"

	"grade/observe"

	"example.com/course/reference/mean"
)

// The mean of any numbers, and 0 of none (rules 1 and 2).
func TestMean(t *testing.T) {
	o := observe.New(t)
	r := o.Rand() // seeded anew for every grading
	for _, n := range []int{1, 0, 2, 100} {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = r.NormFloat64()
		}
		o.Float("mean", mean.Mean(xs))
	}
}
