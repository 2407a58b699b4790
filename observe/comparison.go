package observe

import "grade/observe/wire"

// Comparison says how a value is held against the reference's. The one that
// counts is in the reference's record.
type Comparison struct{ wire wire.Comparison }

// Exact asks for equality.
func Exact() Comparison { return Comparison{wire.Comparison{Op: wire.Exact}} }

// Within asks for |x-y| <= abs + rel*max(|x|, |y|). Neither may be negative.
func Within(abs, rel float64) Comparison {
	return Comparison{wire.Comparison{Op: wire.Within, A: abs, B: rel}}
}

// ULPs asks for floats at most n representable numbers apart.
func ULPs(n uint64) Comparison { return Comparison{wire.Comparison{Op: wire.ULPs, N: n}} }

// AtMost asks for numbers x <= factor*y + plus, where y is the reference's. It
// is for costs that a submission reports: steps, calls, allocations.
func AtMost(factor, plus float64) Comparison {
	return Comparison{wire.Comparison{Op: wire.AtMost, A: factor, B: plus}}
}

// Multiset frees a list's order: both lists are sorted, and the pairs compared
// by c, or exactly without one.
func Multiset(c ...Comparison) Comparison {
	m := pick(Exact(), c)
	if m.Multiset {
		panic("observe: a multiset of multisets")
	}
	m.Multiset = true
	return Comparison{m}
}

func defaultFloat() Comparison { return Within(1e-9, 1e-9) }

func pick(byDefault Comparison, c []Comparison) wire.Comparison {
	switch len(c) {
	case 0:
		return byDefault.wire
	case 1:
		return c[0].wire
	}
	panic("observe: more than one comparison")
}
