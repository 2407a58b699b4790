package logsumexp

import "math"

// Acc is the log-sum-exp of the numbers added to it so far. The zero Acc holds none.
// It has a fixed size, and a copy is an Acc of its own.
type Acc struct {
	// The numbers' exponentials sum to exp(max) * sum. max is the largest number, so
	// that one term of sum is 1 and none is larger. A NaN makes max or sum NaN, from
	// which neither comes back. The zero Acc is exp(0) * 0, which is right for no
	// numbers, and needs no case of its own in Value.
	max, sum float64
	n        int
}

// Add adds x, which is an accumulator of one number.
func (a *Acc) Add(x float64) {
	a.Merge(Acc{max: x, sum: 1, n: 1})
}

// Merge adds all numbers that b holds.
func (a *Acc) Merge(b Acc) {
	if b.n == 0 {
		return
	}
	if a.n == 0 {
		*a = b
		return
	}
	n := a.n + b.n
	// From here on a is the one with the larger maximum: its terms keep their scale.
	if b.max > a.max {
		*a, b = b, *a
	}
	if b.max == a.max {
		a.sum += b.sum // of two infinities the difference would be NaN
	} else {
		a.sum += b.sum * math.Exp(b.max-a.max) // NaN for good, if one of them is
	}
	a.n = n
}

// Value returns the log-sum-exp of all numbers so far, which of none is -Inf.
func (a *Acc) Value() float64 {
	return a.max + math.Log(a.sum)
}

// Len returns how many numbers there are, of whatever value.
func (a *Acc) Len() int {
	return a.n
}
