// Package logsumexp sums exponentials as they are.
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
	whole := LogSumExp(xs)
	for i, x := range xs {
		dst[i] = x - whole
	}
}

type Acc struct {
	n   int
	sum float64
}

func (a *Acc) Add(x float64) {
	a.n++
	a.sum += math.Exp(x)
}

func (a *Acc) Merge(b Acc) {
	a.n += b.n
	a.sum += b.sum
}

func (a *Acc) Value() float64 { return math.Log(a.sum) }

func (a *Acc) Len() int { return a.n }
