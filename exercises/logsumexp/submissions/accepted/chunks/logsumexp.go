// Package logsumexp sums numbers in chunks, each beside the maximum of its own.
package logsumexp

import (
	"iter"
	"math"
)

const size = 128

// partial is the sum of exp(x - shift) of some numbers: shift is their maximum, or 0
// where that is not finite.
type partial struct{ shift, sum float64 }

// of sums a chunk. An infinity needs no shift: exp(+Inf) is +Inf, and exp(-Inf) is 0.
func of(xs []float64) partial {
	p := partial{shift: math.Inf(-1)}
	for _, x := range xs {
		if x > p.shift {
			p.shift = x
		}
	}
	if math.IsInf(p.shift, 0) {
		p.shift = 0
	}
	for _, x := range xs {
		p.sum += math.Exp(x - p.shift)
	}
	return p
}

// plus adds two sums. One that is 0, infinite or NaN has no shift to agree on.
func (p partial) plus(q partial) partial {
	switch {
	case p.sum == 0:
		return q
	case q.sum == 0:
		return p
	case math.IsNaN(p.sum + q.sum):
		return partial{sum: math.NaN()}
	case math.IsInf(p.sum+q.sum, 1):
		return partial{sum: math.Inf(1)}
	case p.shift < q.shift:
		p, q = q, p
	}
	p.sum += q.sum * math.Exp(q.shift-p.shift)
	return p
}

func (p partial) value() float64 { return p.shift + math.Log(p.sum) }

type Acc struct {
	all partial
	n   int
}

func (a *Acc) Len() int { return a.n }

func (a *Acc) Add(x float64) {
	a.all = a.all.plus(one(x))
	a.n++
}

func one(x float64) partial {
	if x-x != 0 {
		return partial{sum: math.Exp(x)}
	}
	return partial{x, 1}
}

func (a *Acc) Merge(b Acc) {
	a.all = a.all.plus(b.all)
	a.n += b.n
}

func (a *Acc) Value() float64 {
	return a.all.value()
}

func whole(xs []float64) (all partial) {
	for len(xs) > size {
		all = all.plus(of(xs[:size]))
		xs = xs[size:]
	}
	return all.plus(of(xs))
}

func LogSumExp(xs []float64) float64 { return whole(xs).value() }

func Of(seq iter.Seq[float64]) float64 {
	var (
		all   partial
		chunk [size]float64
		n     int
	)
	for x := range seq {
		if n == size {
			all, n = all.plus(of(chunk[:])), 0
		}
		chunk[n] = x
		n++
	}
	return all.plus(of(chunk[:n])).value()
}

func LogSoftmax(dst, xs []float64) {
	if len(dst) != len(xs) {
		panic("logsumexp: lengths")
	}
	all := whole(xs)
	log := math.Log(all.sum)
	if math.IsInf(log, 0) {
		log = math.NaN()
	}
	for i := range xs {
		dst[i] = xs[i] - all.shift - log
	}
}
