// Package logsumexp takes any number that is near enough out of the sum, and another
// one only when that is too small.
package logsumexp

import (
	"iter"
	"math"
	"slices"
)

// room is by how much a number may exceed the shift: exp(room) and a sum of many of
// them are far from the largest float64.
const room = 300

type Acc struct {
	started    bool // there was a number above -Inf
	shift, sum float64
	n          int
}

func (a *Acc) Len() int { return a.n }

func (a *Acc) Value() float64 {
	if !a.started {
		return math.Inf(-1)
	}
	return a.shift + math.Log(a.sum)
}

func (a *Acc) Add(x float64) {
	a.n++
	a.include(x, 1)
}

func (a *Acc) include(shift, sum float64) {
	switch {
	case math.IsInf(shift, -1):
	case !a.started:
		a.started, a.shift, a.sum = true, shift, sum
	case a.shift == shift:
		a.sum += sum
	case shift > a.shift+room:
		a.sum = sum + a.sum*math.Exp(a.shift-shift)
		a.shift = shift
	default:
		a.sum += sum * math.Exp(shift-a.shift)
	}
}

func (a *Acc) Merge(b Acc) {
	a.n += b.n
	if b.started {
		// The sum goes into the shift, for it may be as large as exp(room) already.
		a.include(b.shift+math.Log(b.sum), 1)
	}
}

func LogSumExp(xs []float64) float64 {
	a := Acc{}
	for _, x := range xs {
		a.Add(x)
	}
	return a.Value()
}

func Of(seq iter.Seq[float64]) float64 {
	a := Acc{}
	for x := range seq {
		a.Add(x)
	}
	return a.Value()
}

func LogSoftmax(dst, xs []float64) {
	if len(dst) != len(xs) {
		panic(len(dst))
	}
	if len(xs) == 0 {
		return
	}
	top := slices.Max(xs)
	for i, x := range xs {
		dst[i] = x - top
	}
	whole := LogSumExp(dst)
	for i := range dst {
		if math.IsNaN(whole) || math.IsInf(top, 0) {
			dst[i] = math.NaN()
		} else {
			dst[i] -= whole
		}
	}
}
