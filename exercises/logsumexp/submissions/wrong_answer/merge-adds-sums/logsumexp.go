// Package logsumexp merges the larger maximum and both sums.
package logsumexp

import (
	"iter"
	"math"
)

func LogSumExp(xs []float64) float64 {
	var a Acc
	for _, x := range xs {
		a.Add(x)
	}
	return a.Value()
}

func Of(seq iter.Seq[float64]) float64 {
	var a Acc
	for x := range seq {
		a.Add(x)
	}
	return a.Value()
}

func LogSoftmax(dst, xs []float64) {
	if len(dst) != len(xs) {
		panic("lengths differ")
	}
	var a Acc
	for _, x := range xs {
		a.Add(x)
	}
	norm := math.Log(a.sum)
	if math.IsInf(a.Value(), 0) {
		norm = math.NaN()
	}
	for i, x := range xs {
		dst[i] = x - a.max - norm
	}
}

type Acc struct {
	n        int
	max, sum float64
}

func (a *Acc) Add(x float64) {
	a.n++
	switch {
	case a.n == 1:
		a.max, a.sum = x, 1
	case x == a.max:
		a.sum++
	case x > a.max:
		a.sum = a.sum*math.Exp(a.max-x) + 1
		a.max = x
	default:
		a.sum += math.Exp(x - a.max)
	}
}

func (a *Acc) Merge(b Acc) {
	switch {
	case b.n == 0:
	case a.n == 0:
		*a = b
	default:
		a.max = max(a.max, b.max)
		a.sum += b.sum
		a.n += b.n
	}
}

func (a *Acc) Value() float64 {
	return a.max + math.Log(a.sum)
}

func (a *Acc) Len() int { return a.n }
