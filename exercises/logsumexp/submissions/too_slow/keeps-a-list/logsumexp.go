// Package logsumexp keeps all numbers until somebody asks.
package logsumexp

import (
	"iter"
	"math"
	"slices"
)

func LogSumExp(xs []float64) float64 {
	if len(xs) == 0 {
		return math.Inf(-1)
	}
	top := slices.Max(xs)
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	sum := 0.0
	for _, x := range xs {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
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
	if len(xs) == 0 {
		return
	}
	top := slices.Max(xs)
	for i, x := range xs {
		dst[i] = x - top
	}
	whole := LogSumExp(dst)
	if math.IsInf(top, 0) {
		whole = math.NaN()
	}
	for i := range dst {
		dst[i] -= whole
	}
}

type Acc struct{ xs []float64 }

func (a *Acc) Add(x float64) {
	a.xs = append(a.xs, x)
}

func (a *Acc) Merge(b Acc) {
	a.xs = slices.Concat(a.xs, b.xs)
}

func (a *Acc) Value() float64 { return LogSumExp(a.xs) }

func (a *Acc) Len() int { return len(a.xs) }
