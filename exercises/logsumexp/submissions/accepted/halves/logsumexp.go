// Package logsumexp divides and conquers: the halves of a slice are two accumulators,
// and one that is merged into the other.
package logsumexp

import (
	"iter"
	"math"
)

// Acc sums exp(x - top) of the finite numbers, and only counts the others. The first
// finite one is kept besides, for the value of a single number is exact.
type Acc struct {
	n, finite, infs, nans int

	top, first, sum float64
}

func (a *Acc) Len() int { return a.n }

func (a *Acc) Add(x float64) {
	a.n++
	if x-x != 0 { // not finite
		if x > 0 {
			a.infs++
		} else if x != x {
			a.nans++
		}
		return
	}
	a.finite++
	if a.finite == 1 {
		a.first, a.top, a.sum = x, x, 1
		return
	}
	a.raise(x)
	a.sum += math.Exp(x - a.top)
}

// raise makes top at least x.
func (a *Acc) raise(x float64) {
	if x > a.top {
		a.sum *= math.Exp(a.top - x)
		a.top = x
	}
}

func (a *Acc) Merge(b Acc) {
	a.n += b.n
	a.infs += b.infs
	a.nans += b.nans
	if b.finite == 0 {
		return
	}
	if a.finite == 0 {
		a.finite, a.first, a.top, a.sum = b.finite, b.first, b.top, b.sum
		return
	}
	a.finite += b.finite
	a.raise(b.top)
	b.raise(a.top)
	a.sum += b.sum
}

func (a *Acc) Value() float64 {
	switch {
	case a.nans != 0:
		return math.NaN()
	case a.infs != 0:
		return math.Inf(1)
	case a.finite == 0:
		return math.Inf(-1)
	case a.finite == 1:
		return a.first
	}
	return a.top + math.Log(a.sum)
}

func of(xs []float64) (a Acc) {
	if len(xs) <= 256 {
		for _, x := range xs {
			a.Add(x)
		}
		return a
	}
	a = of(xs[:len(xs)/2])
	a.Merge(of(xs[len(xs)/2:]))
	return a
}

func LogSumExp(xs []float64) float64 {
	a := of(xs)
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
		panic("logsumexp: lengths differ")
	}
	a := of(xs)
	value, norm := a.Value(), math.Log(a.sum)
	for i, x := range xs {
		if value-value != 0 {
			dst[i] = value - value
		} else {
			dst[i] = (x - a.top) - norm
		}
	}
}
