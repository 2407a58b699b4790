// Package logsumexp looks at a slice twice, and sets what is not finite aside.
package logsumexp

import (
	"iter"
	"math"
)

func LogSumExp(xs []float64) float64 {
	top, nan := math.Inf(-1), false
	for _, x := range xs {
		nan = nan || math.IsNaN(x)
		top = max(top, x)
	}
	if nan {
		return math.NaN()
	}
	if math.IsInf(top, 0) {
		return top
	}
	sum := 0.0
	for _, x := range xs {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}

func Of(seq iter.Seq[float64]) float64 {
	a := &Acc{}
	seq(func(x float64) bool {
		a.Add(x)
		return true
	})
	return a.Value()
}

func LogSoftmax(dst, xs []float64) {
	if len(dst) != len(xs) {
		panic("lengths differ")
	}
	whole := LogSumExp(xs)
	if math.IsInf(whole, 0) || math.IsNaN(whole) {
		for i := range dst {
			dst[i] = math.NaN()
		}
		return
	}
	top := xs[0]
	for _, x := range xs {
		top = math.Max(top, x)
	}
	for i, x := range xs {
		dst[i] = x - top
	}
	whole = LogSumExp(dst)
	for i := range dst {
		dst[i] -= whole
	}
}

// Acc counts what is not finite, and sums the rest.
type Acc struct {
	nans, infs, zeros, finite int

	top, sum float64 // of the finite ones
}

func (a *Acc) Add(x float64) {
	switch {
	case math.IsNaN(x):
		a.nans++
	case math.IsInf(x, 1):
		a.infs++
	case math.IsInf(x, -1):
		a.zeros++
	default:
		a.weigh(x, 1)
		a.finite++
	}
}

// weigh adds weight times exp(top).
func (a *Acc) weigh(top, weight float64) {
	if a.finite == 0 {
		a.top, a.sum = top, weight
	} else if top > a.top {
		a.sum = a.sum*math.Exp(a.top-top) + weight
		a.top = top
	} else {
		a.sum += weight * math.Exp(top-a.top)
	}
}

func (a *Acc) Merge(b Acc) {
	if b.finite > 0 {
		a.weigh(b.top, b.sum)
	}
	a.nans += b.nans
	a.infs += b.infs
	a.zeros += b.zeros
	a.finite += b.finite
}

func (a *Acc) Value() float64 {
	switch {
	case a.nans > 0:
		return math.NaN()
	case a.infs > 0:
		return math.Inf(1)
	case a.finite > 0:
		return a.top + math.Log(a.sum)
	}
	return math.Inf(-1)
}

func (a *Acc) Len() int { return a.nans + a.infs + a.zeros + a.finite }
