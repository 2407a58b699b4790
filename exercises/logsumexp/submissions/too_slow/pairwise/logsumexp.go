// Package logsumexp adds two logarithms at a time, and keeps nothing but the value.
package logsumexp

import (
	"iter"
	"math"
	"slices"
)

// add is log(exp(x) + exp(y)).
func add(x, y float64) float64 {
	top := max(x, y)
	if math.IsInf(top, 0) {
		return top
	}
	return top + math.Log(math.Exp(x-top)+math.Exp(y-top))
}

func LogSumExp(xs []float64) float64 {
	value := math.Inf(-1)
	for _, x := range xs {
		value = add(value, x)
	}
	return value
}

func Of(seq iter.Seq[float64]) float64 {
	value := math.Inf(-1)
	for x := range seq {
		value = add(value, x)
	}
	return value
}

func LogSoftmax(dst, xs []float64) {
	if len(dst) != len(xs) {
		panic("logsumexp: dst is not as long as xs")
	}
	if len(xs) == 0 {
		return
	}
	top := slices.Max(xs)
	whole := math.Inf(-1)
	for _, x := range xs {
		whole = add(whole, x-top)
	}
	for i, x := range xs {
		dst[i] = x - top - whole
	}
	if math.IsInf(top, 0) {
		for i := range dst {
			dst[i] = math.NaN()
		}
	}
}

type Acc struct {
	value float64 // of no meaning while n is 0
	n     int
}

func (a *Acc) Add(x float64) {
	a.value = add(a.Value(), x)
	a.n++
}

func (a *Acc) Merge(b Acc) {
	a.value = add(a.Value(), b.Value())
	a.n += b.n
}

func (a *Acc) Value() float64 {
	if a.n == 0 {
		return math.Inf(-1)
	}
	return a.value
}

func (a *Acc) Len() int { return a.n }
