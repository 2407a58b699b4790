package logsumexp_test

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/reference/logsumexp"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

// agree is == but for NaN, which agrees with itself, and for last digits.
func agree(x, y float64) bool {
	return x == y || x != x && y != y || math.Abs(x-y) <= 1e-12*max(1, math.Abs(x))
}

// All ways to the value of a list give the same one: at once, as a sequence, and from
// two accumulators, wherever the list is cut.
func ways(t *testing.T, xs []float64, want float64) {
	t.Helper()
	before := slices.Clone(xs)
	if got := logsumexp.LogSumExp(xs); !agree(got, want) {
		t.Errorf("LogSumExp(%v) = %v, want %v", xs, got, want)
	}
	if got := logsumexp.Of(single(t, xs)); !agree(got, want) {
		t.Errorf("Of(%v) = %v, want %v", xs, got, want)
	}
	for cut := range len(xs) + 1 {
		a, b := holding(xs[:cut]), holding(xs[cut:])
		left := b.Len()
		a.Merge(b)
		if got := a.Value(); !agree(got, want) || a.Len() != len(xs) || b.Len() != left {
			t.Errorf("%v merged with %v = %v of %d numbers, want %v of %d", xs[:cut], xs[cut:], got, a.Len(), want, len(xs))
		}
	}
	for i := range xs {
		if math.Float64bits(xs[i]) != math.Float64bits(before[i]) {
			t.Errorf("%v became %v", before, xs)
		}
	}
}

func holding(xs []float64) (a logsumexp.Acc) {
	for _, x := range xs {
		a.Add(x)
	}
	return a
}

// single is a sequence that fails the test when it is ranged over again.
func single(t *testing.T, xs []float64) iter.Seq[float64] {
	used := false
	return func(yield func(float64) bool) {
		if used {
			t.Error("ranged over twice")
		}
		used = true
		slices.Values(xs)(yield)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		want float64
	}{
		{nil, -inf},
		{[]float64{-inf}, -inf},
		{[]float64{-inf, -inf}, -inf},
		{[]float64{0.1}, 0.1},
		{[]float64{-inf, 0.1, -inf}, 0.1},
		{[]float64{0, 0}, math.Ln2},
		{[]float64{1000, 1000, 1000, 1000}, 1000 + 2*math.Ln2},
		{[]float64{-1000, -1000}, -1000 + math.Ln2},
		{[]float64{math.MaxFloat64, -math.MaxFloat64}, math.MaxFloat64},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
		{[]float64{inf, 1}, inf},
		{[]float64{-inf, inf, inf}, inf},
		{[]float64{1, nan}, nan},
		{[]float64{nan, 1}, nan},
		{[]float64{inf, nan, -inf}, nan},
		{[]float64{nan, inf, inf}, nan},
	} {
		ways(t, c.xs, c.want)
	}
}

// The value against the same sum in 2000 bits, where nothing overflows.
func TestExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		xs := make([]float64, 1+r.IntN(10))
		center := 1000 * r.NormFloat64()
		sum := new(big.Float).SetPrec(2000)
		for i := range xs {
			xs[i] = center + float64(1+r.IntN(20))*r.NormFloat64()
			// exp(x) = exp(f) * 2**k, whose parts a float64 and an exponent hold.
			k := math.Floor(xs[i] / math.Ln2)
			term := new(big.Float).SetPrec(2000).SetFloat64(math.Exp(xs[i] - k*math.Ln2))
			sum.Add(sum, term.SetMantExp(term, int(k)))
		}
		mantissa := new(big.Float)
		exponent := sum.MantExp(mantissa)
		m, _ := mantissa.Float64()
		ways(t, xs, math.Log(m)+float64(exponent)*math.Ln2)
	}
}

func TestCopyIsItsOwn(t *testing.T) {
	a := holding([]float64{1, 2})
	b := a
	a.Add(3)
	if b.Len() != 2 || b.Value() != logsumexp.LogSumExp([]float64{1, 2}) {
		t.Errorf("the copy holds %d numbers of value %v", b.Len(), b.Value())
	}
}

func TestLogSoftmax(t *testing.T) {
	for _, c := range []struct{ xs, want []float64 }{
		{nil, nil},
		{[]float64{5}, []float64{0}},
		{[]float64{-inf, 1e15, 1e15}, []float64{-inf, -math.Ln2, -math.Ln2}},
		{[]float64{-inf, -inf}, []float64{nan, nan}},
		{[]float64{1, inf}, []float64{nan, nan}},
		{[]float64{-inf, 1, nan}, []float64{nan, nan, nan}},
		{[]float64{nan, 1}, []float64{nan, nan}},
	} {
		dst := make([]float64, len(c.xs))
		logsumexp.LogSoftmax(dst, c.xs)
		if !slices.EqualFunc(dst, c.want, agree) {
			t.Errorf("LogSoftmax(%v) = %v, want %v", c.xs, dst, c.want)
		}
		logsumexp.LogSoftmax(c.xs, c.xs)
		if !slices.EqualFunc(c.xs, c.want, agree) {
			t.Errorf("LogSoftmax in place = %v, want %v", c.xs, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("lengths 1 and 2: no panic")
		}
	}()
	logsumexp.LogSoftmax(make([]float64, 1), make([]float64, 2))
}

func ExampleAcc() {
	var left, right logsumexp.Acc // of two machines, say
	left.Add(1000)
	left.Add(1001)
	right.Add(1002)
	left.Merge(right)
	fmt.Printf("%.4f of %d numbers\n", left.Value(), left.Len())
	// Output: 1002.4076 of 3 numbers
}
