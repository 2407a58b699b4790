// Package logsumexp keeps the state of an Acc elsewhere.
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
	if len(xs) == 0 {
		return
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
		dst[i] = x - a.max - norm
	}
}

type state struct {
	n        int
	max, sum float64
}

type Acc struct{ *state }

func (a *Acc) Add(x float64) {
	a.Merge(Acc{&state{1, x, 1}})
}

func (a *Acc) Merge(b Acc) {
	if b.state == nil {
		return
	}
	if a.state == nil {
		a.state = b.state
		return
	}
	switch {
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
	if a.state == nil {
		return math.Inf(-1)
	}
	return a.max + math.Log(a.sum)
}

func (a *Acc) Len() int {
	if a.state == nil {
		return 0
	}
	return a.n
}
