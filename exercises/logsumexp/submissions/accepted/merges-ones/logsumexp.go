// Package logsumexp adds a number as an accumulator of one: adding is merging.
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
	a.Merge(Acc{1, x, 1})
}

func (a *Acc) Merge(b Acc) {
	switch {
	case b.n == 0:
		return
	case a.n == 0:
		*a = b
		return
	case a.max == b.max:
		a.sum += b.sum
	case a.max < b.max:
		a.sum = a.sum*math.Exp(a.max-b.max) + b.sum
		a.max = b.max
	default:
		a.sum += b.sum * math.Exp(b.max-a.max)
	}
	a.n += b.n
}

func (a *Acc) Value() float64 {
	return a.max + math.Log(a.sum)
}

func (a *Acc) Len() int { return a.n }
