package judge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/observe/wire"
)

var (
	nan     = math.NaN()
	inf     = math.Inf(1)
	negZero = math.Copysign(0, -1)
	tiny    = math.SmallestNonzeroFloat64

	exact  = wire.Comparison{Op: wire.Exact}
	within = wire.Comparison{Op: wire.Within, A: 1e-9, B: 1e-9}
	ulps4  = wire.Comparison{Op: wire.ULPs, N: 4}
	atmost = wire.Comparison{Op: wire.AtMost, A: 2, B: 1}

	comparisons = []wire.Comparison{exact, within, ulps4, atmost,
		{Op: wire.Within, A: math.MaxFloat64, B: 0.99},
		{Op: wire.ULPs, N: math.MaxUint64},
		{Op: wire.AtMost, A: math.MaxFloat64, B: math.MaxFloat64},
	}
)

func multiset(c wire.Comparison) wire.Comparison {
	c.Multiset = true
	return c
}

func float(x float64) wire.Value     { return wire.Value{Kind: wire.Float, Float: x} }
func floats(x ...float64) wire.Value { return wire.Value{Kind: wire.Floats, Floats: x} }
func integer(x int64) wire.Value     { return wire.Value{Kind: wire.Int, Int: x} }
func ints(x ...int64) wire.Value     { return wire.Value{Kind: wire.Ints, Ints: x} }
func texts(x ...string) wire.Value   { return wire.Value{Kind: wire.Strings, Strings: x} }
func text(x string) wire.Value       { return wire.Value{Kind: wire.String, String: x} }
func failure(x string) wire.Value    { return wire.Value{Kind: wire.Error, String: x} }
func boolean(x bool) wire.Value      { return wire.Value{Kind: wire.Bool, Bool: x} }
func matrix(rows, cols int, x ...float64) wire.Value {
	return wire.Value{Kind: wire.Matrix, Rows: rows, Cols: cols, Floats: x}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		name      string
		c         wire.Comparison
		want, got wire.Value
		class     class
	}{
		{"bools", exact, boolean(true), boolean(true), agree},
		{"bools that differ", exact, boolean(true), boolean(false), valueDiffers},
		{"ints", exact, integer(-3), integer(-3), agree},
		{"neighbours above 2^53", exact, integer(1<<53 + 1), integer(1 << 53), valueDiffers},
		{"a float for an int", exact, integer(3), float(3), kindDiffers},
		{"a text for an error", exact, failure("nil"), text("nil"), kindDiffers},
		{"an invalid kind", exact, wire.Value{}, wire.Value{}, kindDiffers},

		{"within, on the edge", wire.Comparison{Op: wire.Within, A: 0.5}, float(1), float(1.5), agree},
		{"within, just off", wire.Comparison{Op: wire.Within, A: 0.5}, float(1), float(math.Nextafter(1.5, 2)), valueDiffers},
		{"within, relative", wire.Comparison{Op: wire.Within, B: 0.1}, float(100), float(110), agree},
		{"within, relative to the larger", wire.Comparison{Op: wire.Within, B: 0.1}, float(-100), float(-112), valueDiffers},
		{"within, ints", wire.Comparison{Op: wire.Within, A: 1}, integer(1 << 60), integer(1<<60 + 1), agree},
		{"within, ints off by two", wire.Comparison{Op: wire.Within, A: 1}, integer(1 << 60), integer(1<<60 + 2), valueDiffers},
		{"within, ints at both ends", within, integer(math.MinInt64), integer(math.MaxInt64), valueDiffers},
		{"within, a distance that overflows", wire.Comparison{Op: wire.Within, A: math.MaxFloat64, B: 0.9}, float(math.MaxFloat64), float(-math.MaxFloat64), valueDiffers},

		{"ulps", ulps4, float(1), float(1 + 4*0x1p-52), agree},
		{"ulps, one too many", ulps4, float(1), float(1 + 5*0x1p-52), valueDiffers},
		{"ulps across zero", ulps4, float(2 * tiny), float(-2 * tiny), agree},
		{"ulps across zero, one too many", ulps4, float(3 * tiny), float(-2 * tiny), valueDiffers},
		{"ulps do not reach infinity", ulps4, float(math.MaxFloat64), float(inf), isInfinite},
		{"ulps from end to end", wire.Comparison{Op: wire.ULPs, N: 1 << 62}, float(math.MaxFloat64), float(-math.MaxFloat64), valueDiffers},

		{"at most, below", atmost, integer(100), integer(3), agree},
		{"at most, the bound itself", atmost, integer(100), integer(201), agree},
		{"at most, above", atmost, integer(100), integer(202), aboveBound},
		{"at most, above 2^53", wire.Comparison{Op: wire.AtMost, A: 1}, integer(1 << 53), integer(1<<53 + 1), aboveBound},
		{"at most, a bound above all ints", wire.Comparison{Op: wire.AtMost, A: 1e300}, integer(1), integer(math.MaxInt64), agree},
		{"at most, a bound below all ints", wire.Comparison{Op: wire.AtMost, A: 1e300}, integer(-1), integer(math.MinInt64), aboveBound},
		{"at most, floats", atmost, float(100), float(201), agree},
		{"at most, floats above", atmost, float(100), float(201.5), aboveBound},
		{"at most, less than the reference", wire.Comparison{Op: wire.AtMost, A: 0.5}, float(100), float(100), aboveBound},
		{"at most, -Inf is below no bound", atmost, float(100), float(-inf), isInfinite},
		{"at most, lists element by element", atmost, floats(1, 2), floats(3, 6), aboveBound},

		{"the zeros are one", exact, float(0), float(negZero), agree},
		{"the zeros are one, in ulps", wire.Comparison{Op: wire.ULPs}, float(negZero), float(0), agree},
		{"NaN and NaN", exact, float(nan), float(nan), agree},
		{"NaN and another NaN", exact, float(nan), float(math.Float64frombits(0x7ff8dead00000001)), agree},
		{"infinities", within, float(inf), float(inf), agree},
		{"infinities of two signs", within, float(inf), float(-inf), isInfinite},
		{"finite for infinite", within, float(inf), float(math.MaxFloat64), isFinite},

		{"nil and empty", exact, ints(), wire.Value{Kind: wire.Ints, Ints: []int64{}}, agree},
		{"a shorter list", exact, ints(1, 2, 3), ints(1, 2), lengthDiffers},
		{"an order that counts", exact, ints(1, 2), ints(2, 1), valueDiffers},
		{"an order that does not", multiset(exact), ints(1, 2, 2), ints(2, 1, 2), agree},
		{"a multiset is no set", multiset(exact), ints(1, 2, 2), ints(2, 1, 1), valueDiffers},
		{"a multiset of texts", multiset(exact), texts("b", "a"), texts("a", "b"), agree},
		{"a multiset of floats, NaNs last", multiset(within), floats(nan, 1, -inf), floats(1+1e-12, -inf, nan), agree},
		{"a NaN too many", multiset(within), floats(nan, 1), floats(nan, nan), isNaN},
		{"a multiset with bounds", multiset(atmost), ints(10, 1), ints(3, 21), agree},
		{"texts by bytes", exact, text("é"), text("e\u0301"), valueDiffers},

		{"matrices", within, matrix(2, 1, 1, 2), matrix(2, 1, 1, 2), agree},
		{"a matrix turned", within, matrix(2, 1, 1, 2), matrix(1, 2, 1, 2), shapeDiffers},
		{"empty matrices have shapes", within, matrix(0, 3), matrix(3, 0), shapeDiffers},
		{"an element of a matrix", within, matrix(1, 2, 1, 2), matrix(1, 2, 1, 3), valueDiffers},

		{"errors", exact, failure("EOF"), failure("EOF"), agree},
		{"no error", exact, failure("EOF"), failure("nil"), noError},
		{"an error", exact, failure("nil"), failure("other"), someError},
		{"another error", exact, failure("EOF"), failure("other"), otherError},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.class, compare(test.c, test.want, test.got).class)
		})
	}
}

// Attack B01: a comparison written as |x-y| > eps lets NaN through.
func TestOnlyNaNAgreesWithNaN(t *testing.T) {
	others := []float64{0, negZero, 1, -1, tiny, math.MaxFloat64, -math.MaxFloat64, inf, -inf}
	for _, c := range comparisons {
		assert.Equal(t, agree, compare(c, float(nan), float(nan)).class, "%+v", c)
		for _, x := range others {
			for _, v := range []difference{
				compare(c, float(nan), float(x)),
				compare(c, float(x), float(nan)),
				compare(c, floats(0, x), floats(0, nan)),
				compare(multiset(c), floats(nan, x), floats(nan, nan)),
				compare(c, matrix(1, 1, nan), matrix(1, 1, x)),
			} {
				assert.NotEqual(t, agree, v.class, "%+v and %v", c, x)
			}
		}
	}
}

func TestOnlyAnInfinityAgreesWithItself(t *testing.T) {
	for _, c := range comparisons {
		for _, i := range []float64{inf, -inf} {
			assert.Equal(t, agree, compare(c, float(i), float(i)).class, "%+v", c)
			for _, x := range []float64{0, 1, math.MaxFloat64, -math.MaxFloat64, -i} {
				assert.NotEqual(t, agree, compare(c, float(i), float(x)).class, "%+v, want %v, got %v", c, i, x)
				assert.NotEqual(t, agree, compare(c, float(x), float(i)).class, "%+v, want %v, got %v", c, x, i)
			}
		}
	}
}

// If some matching of the elements is within the tolerance, the sorted one is.
func TestSortedPairsFindEveryMatching(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		c := multiset(wire.Comparison{Op: wire.Within, A: r.Float64(), B: r.Float64() / 2})
		want := make([]float64, 1+r.IntN(5))
		for i := range want {
			want[i] = math.Round(8*r.NormFloat64()) / 4
		}
		got := slices.Clone(want)
		for i := range got {
			got[i] += c.A * (2*r.Float64() - 1) * 1.2
		}
		r.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		d := compare(c, floats(want...), floats(got...))
		assert.Equal(t, matching(c, want, got), d.class == agree, "%+v %v %v", c, want, got)
	}
}

// matching tries every order.
func matching(c wire.Comparison, want, got []float64) bool {
	if len(want) == 0 {
		return true
	}
	for i := range got {
		if floatRule(c)(want[0], got[i]) == agree &&
			matching(c, want[1:], slices.Delete(slices.Clone(got), i, i+1)) {
			return true
		}
	}
	return false
}

func TestCompareLeavesItsArgumentsAlone(t *testing.T) {
	want, got := floats(3, 1, 2), floats(2, 3, 1)
	compare(multiset(exact), want, got)
	assert.Equal(t, []float64{3, 1, 2}, want.Floats)
	assert.Equal(t, []float64{2, 3, 1}, got.Floats)
}
