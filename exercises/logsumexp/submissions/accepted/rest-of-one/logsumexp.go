// Package logsumexp keeps the largest number apart, and sums all others beside it: the
// value is that number and log1p of the rest.
package logsumexp

import (
	"iter"
	"math"
)

// Acc has a top from the first weight on. NaN and +Inf are tops that nothing replaces,
// and -Inf is only counted.
type Acc struct {
	count   int
	weighed bool
	top     float64
	rest    float64 // of exp(x - top) of all numbers but the top
}

func (a *Acc) Len() int { return a.count }

func (a *Acc) Add(x float64) {
	a.count++
	a.put(x, 0)
}

// put adds exp(top) * (1 + rest).
func (a *Acc) put(top, rest float64) {
	switch {
	case math.IsInf(top, -1):
	case !a.weighed:
		a.weighed, a.top, a.rest = true, top, rest
	case math.IsNaN(a.top) || math.IsNaN(top):
		a.top, a.rest = math.NaN(), 0
	case math.IsInf(a.top, 1) || math.IsInf(top, 1):
		a.top, a.rest = math.Inf(1), 0
	case top > a.top:
		a.rest = rest + math.Exp(a.top-top)*(1+a.rest)
		a.top = top
	default:
		a.rest += math.Exp(top-a.top) * (1 + rest)
	}
}

func (a *Acc) Merge(b Acc) {
	a.count += b.count
	if b.weighed {
		a.put(b.top, b.rest)
	}
}

func (a *Acc) Value() float64 {
	if !a.weighed {
		return math.Inf(-1)
	}
	return a.top + math.Log1p(a.rest)
}

func LogSumExp(xs []float64) float64 {
	a := Acc{}
	for i := range xs {
		a.put(xs[i], 0)
	}
	return a.Value()
}

func Of(seq iter.Seq[float64]) float64 {
	a := Acc{}
	for x := range seq {
		a.put(x, 0)
	}
	return a.Value()
}

func LogSoftmax(dst, xs []float64) {
	if len(dst) != len(xs) {
		panic("logsumexp: as many results as numbers are wanted")
	}
	a := Acc{}
	for _, x := range xs {
		a.Add(x)
	}
	if !a.weighed || math.IsNaN(a.top) || math.IsInf(a.top, 1) {
		for i := range dst {
			dst[i] = math.NaN()
		}
		return
	}
	below := math.Log1p(a.rest)
	for i, x := range xs {
		dst[i] = (x - a.top) - below
	}
}
