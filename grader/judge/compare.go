package judge

import (
	"math"
	"slices"

	"grade/observe/wire"
)

// class names a kind of difference between two values in words that reveal neither
// of them. The zero value means that they agree.
type class string

// The classes.
const (
	agree         class = ""
	valueDiffers  class = "value differs"
	kindDiffers   class = "a different kind of value"
	lengthDiffers class = "length differs"
	shapeDiffers  class = "shape differs"
	aboveBound    class = "more than is allowed"
	isNaN         class = "not a number"
	isInfinite    class = "infinite"
	isFinite      class = "finite where it should be NaN or infinite"
	noError       class = "no error where one is expected"
	someError     class = "an error where none is expected"
	otherError    class = "a different error"
)

// difference describes how a submission's value differs from the reference's. The
// zero value means that they agree.
type difference struct {
	class class
	index int // of the first element that differs; -1 where the value is no list
	// want and got are that element, or the lengths, or the shapes ([2]int):
	// bool, int, int64, float64 or string. They are nil for another kind.
	want, got any
}

// compare compares got, the submission's value, with want, the reference's, under
// the comparison in the reference's record.
//
// These rules hold under every comparison: NaN agrees with NaN and nothing else;
// an infinity agrees with itself and nothing else, a bound included; -0 agrees
// with +0; a nil list and an empty one are the same on the wire; texts are
// compared by their bytes. A multiset of numbers with a tolerance is compared
// by pairs after sorting, NaNs last: if any matching is within the tolerance, the
// sorted one is too, because each number accepts an interval whose two ends rise
// with the number.
func compare(c wire.Comparison, want, got wire.Value) difference {
	if want.Kind != got.Kind {
		return difference{class: kindDiffers, index: -1}
	}
	switch want.Kind {
	case wire.Bool:
		return compareOne(want.Bool, got.Bool, sameClass[bool])
	case wire.Int:
		return compareOne(want.Int, got.Int, intRule(c))
	case wire.Ints:
		return compareList(want.Ints, got.Ints, order(c, slices.Sort[[]int64]), intRule(c))
	case wire.Float:
		return compareOne(want.Float, got.Float, floatRule(c))
	case wire.Floats:
		return compareList(want.Floats, got.Floats, order(c, sortFloats), floatRule(c))
	case wire.Matrix:
		if w, g := [2]int{want.Rows, want.Cols}, [2]int{got.Rows, got.Cols}; w != g {
			return difference{class: shapeDiffers, index: -1, want: w, got: g}
		}
		return compareList(want.Floats, got.Floats, nil, floatRule(c))
	case wire.String:
		return compareOne(want.String, got.String, sameClass[string])
	case wire.Strings:
		return compareList(want.Strings, got.Strings, order(c, slices.Sort[[]string]), sameClass[string])
	case wire.Error:
		return compareOne(want.String, got.String, errorClass)
	}
	return difference{class: kindDiffers, index: -1}
}

// A rule classifies the difference of got from want.
type rule[T any] func(want, got T) class

func compareOne[T any](want, got T, r rule[T]) difference {
	if c := r(want, got); c != agree {
		return difference{class: c, index: -1, want: want, got: got}
	}
	return difference{}
}

// compareList compares element by element; with a sort, it sorts copies first.
func compareList[T any](want, got []T, sort func([]T), r rule[T]) difference {
	if len(want) != len(got) {
		return difference{class: lengthDiffers, index: -1, want: len(want), got: len(got)}
	}
	if sort != nil {
		want, got = slices.Clone(want), slices.Clone(got)
		sort(want)
		sort(got)
	}
	for i := range want {
		if c := r(want[i], got[i]); c != agree {
			return difference{class: c, index: i, want: want[i], got: got[i]}
		}
	}
	return difference{}
}

// order returns sort for a multiset, whose order is free, and nil for a list.
func order[T any](c wire.Comparison, sort func([]T)) func([]T) {
	if !c.Multiset {
		return nil
	}
	return sort
}

func sortFloats(s []float64) {
	slices.SortFunc(s, func(a, b float64) int {
		switch nanA, nanB := math.IsNaN(a), math.IsNaN(b); {
		case nanA && nanB:
			return 0
		case nanA:
			return 1
		case nanB:
			return -1
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
}

func sameClass[T comparable](want, got T) class {
	if want == got {
		return agree
	}
	return valueDiffers
}

// errorClass compares errors by the names that package observe gives them: "nil",
// the name of a sentinel, or "other".
func errorClass(want, got string) class {
	const none = "nil"
	switch {
	case want == got:
		return agree
	case got == none:
		return noError
	case want == none:
		return someError
	}
	return otherError
}

// intRule compares integers. An operation that is not for integers lets nothing
// agree; the decoder already refuses it.
func intRule(c wire.Comparison) rule[int64] {
	return func(want, got int64) class {
		var ok bool
		bad := valueDiffers
		switch c.Op {
		case wire.Exact:
			ok = want == got
		case wire.Within:
			ok = distance(want, got) <= c.A+c.B*math.Max(math.Abs(float64(want)), math.Abs(float64(got)))
		case wire.AtMost:
			ok, bad = atMost(got, c.A*float64(want)+c.B), aboveBound
		}
		if ok {
			return agree
		}
		return bad
	}
}

// distance returns |a-b| without overflow, rounded only above 2^53.
func distance(a, b int64) float64 {
	if a < b {
		a, b = b, a
	}
	return float64(uint64(a) - uint64(b))
}

// atMost compares in integers, which tell 2^53+1 from 2^53.
func atMost(x int64, bound float64) bool {
	switch {
	case bound >= 1<<63:
		return true
	case bound >= -1<<63:
		return x <= int64(math.Floor(bound))
	}
	return false // also for NaN
}

func floatRule(c wire.Comparison) rule[float64] {
	return func(want, got float64) class {
		switch {
		case want == got, math.IsNaN(want) && math.IsNaN(got):
			// A finite number under AtMost goes on: the bound may be lower than the
			// reference's own value.
			if c.Op != wire.AtMost || !finite(want) {
				return agree
			}
		case math.IsNaN(got):
			return isNaN
		case math.IsInf(got, 0):
			return isInfinite
		case !finite(want):
			return isFinite
		}
		return finiteClass(c, want, got)
	}
}

// finiteClass compares two finite numbers.
func finiteClass(c wire.Comparison, want, got float64) class {
	var ok bool
	bad := valueDiffers
	switch c.Op {
	case wire.Within:
		// The distance of two finite numbers may overflow, and so may the
		// tolerance; an overflowing distance counts as too far.
		d := math.Abs(want - got)
		ok = finite(d) && d <= c.A+c.B*math.Max(math.Abs(want), math.Abs(got))
	case wire.ULPs:
		ok = ulps(want, got) <= c.N
	case wire.AtMost:
		ok, bad = got <= c.A*want+c.B, aboveBound
	}
	if ok {
		return agree
	}
	return bad
}

// ulps counts the steps from a to b along the representable numbers; the two zeros
// are one number.
func ulps(a, b float64) uint64 {
	i, j := ordinal(a), ordinal(b)
	if i < j {
		i, j = j, i
	}
	return uint64(i) - uint64(j)
}

// ordinal numbers the finite floats in their order; both zeros are 0.
func ordinal(x float64) int64 {
	if bits := int64(math.Float64bits(x)); bits >= 0 {
		return bits
	}
	return -int64(math.Float64bits(-x))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// loose says why a comparison accepts almost any value although the wire format
// allows it; "" if it does not.
func loose(c wire.Comparison) string {
	switch {
	case c.Op == wire.Within && c.B >= 1:
		return "a relative tolerance of 1 or more accepts any number that is large enough"
	case c.Op == wire.ULPs && c.N >= 1<<52:
		return "2^52 ULPs are a factor of two"
	}
	return ""
}
