// Package hidden has the tests that students do not see. The tests only record results;
// grade compares them with the reference's.
package hidden

import (
	"testing"

	"grade/observe"

	"example.com/course/reference/mean"
)

// TestMean covers lists of any length (rules 1 and 2).
func TestMean(t *testing.T) {
	o := observe.New(t)
	r := o.Rand() // has another seed in every grading
	for _, n := range []int{1, 0, 2, 3, 4, 5, 100} {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = r.NormFloat64()
		}
		o.Float("mean", mean.Mean(xs))
	}
}
