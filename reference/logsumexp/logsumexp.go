// Package logsumexp computes the logarithm of a sum of exponentials in one pass over
// the numbers and without overflow. Partial sums of numbers in several places can be
// merged.
//
// All numbers are logarithms of weights: -Inf is a weight of 0, +Inf an infinite
// weight. The package stores none of the numbers.
package logsumexp

import (
	"iter"
	"math"
)

// LogSumExp returns log(exp(xs[0]) + exp(xs[1]) + ...): -Inf of no numbers, NaN if
// one of them is NaN.
func LogSumExp(xs []float64) float64 {
	var a Acc
	for _, x := range xs {
		a.Add(x)
	}
	return a.Value()
}

// Of is LogSumExp of a sequence, over which it ranges once.
func Of(seq iter.Seq[float64]) float64 {
	var a Acc
	for x := range seq {
		a.Add(x)
	}
	return a.Value()
}

// LogSoftmax sets dst to xs minus its log-sum-exp, which are the logarithms of the
// probabilities in proportion to exp(xs); where there are none because the
// log-sum-exp is not finite, to NaN. dst may be xs. It panics if the lengths differ.
func LogSoftmax(dst, xs []float64) {
	if len(dst) != len(xs) {
		panic("logsumexp: LogSoftmax of slices of different lengths")
	}
	var a Acc
	for _, x := range xs {
		a.Add(x)
	}
	norm := math.Log(a.sum)
	if math.IsInf(a.max, 0) {
		norm = math.NaN()
	}
	for i, x := range xs {
		// Not x - a.Value(): beside a large max all digits of norm would be lost.
		dst[i] = x - a.max - norm
	}
}
