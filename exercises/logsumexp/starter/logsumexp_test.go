package logsumexp

import (
	"math"
	"slices"
	"testing"
)

// Examples of README.md. The hidden tests check all of it.

// near says whether got is right to 9 digits; two infinities are, if they are equal.
func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))
}

// Rules 1 and 2.
func TestLogSumExp(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		want float64
	}{
		{[]float64{math.Log(1), math.Log(2), math.Log(3)}, math.Log(6)},
		{[]float64{1000, 1000}, 1000 + math.Ln2},
		{[]float64{-1000, math.Inf(-1), -1000}, -1000 + math.Ln2},
		{nil, math.Inf(-1)},
	} {
		if got := LogSumExp(c.xs); !near(got, c.want) {
			t.Errorf("LogSumExp(%v) = %v, want %v", c.xs, got, c.want)
		}
		if got := Of(slices.Values(c.xs)); !near(got, c.want) {
			t.Errorf("Of(%v) = %v, want %v", c.xs, got, c.want)
		}
	}
}

// Rules 7 and 8.
func TestAcc(t *testing.T) {
	var a, b Acc
	a.Add(-5)
	b.Add(1000)
	b.Add(1000)
	a.Merge(b)
	if got, want := a.Value(), 1000+math.Ln2; !near(got, want) || a.Len() != 3 {
		t.Errorf("-5, 1000 and 1000: value %v and %d numbers, want %v and 3", got, a.Len(), want)
	}
}

// Rule 10.
func TestLogSoftmax(t *testing.T) {
	got, want := make([]float64, 2), []float64{-1.3132616875182228, -0.31326168751822286}
	LogSoftmax(got, []float64{1e15, 1e15 + 1})
	if !slices.EqualFunc(got, want, near) {
		t.Errorf("LogSoftmax(1e15, 1e15+1) = %v, want %v", got, want)
	}
}
