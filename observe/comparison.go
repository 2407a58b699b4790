package observe

import "grade/observe/wire"

// Comparison says how the grader compares a value with the reference's. It takes
// the Comparison from the reference's record, so a submission cannot change it.
type Comparison struct{ wire wire.Comparison }

// Exact requires equality.
func Exact() Comparison { return Comparison{wire.Comparison{Op: wire.Exact}} }

// Within requires |x-y| <= abs + rel*max(|x|, |y|). Neither abs nor rel may be
// negative.
func Within(abs, rel float64) Comparison {
	return Comparison{wire.Comparison{Op: wire.Within, A: abs, B: rel}}
}

// ULPs requires floats that are at most n representable numbers apart.
func ULPs(n uint64) Comparison { return Comparison{wire.Comparison{Op: wire.ULPs, N: n}} }

// AtMost requires x <= factor*y + plus, where y is the reference's number. Use it
// for costs that a submission reports: steps, calls, allocations.
func AtMost(factor, plus float64) Comparison {
	return Comparison{wire.Comparison{Op: wire.AtMost, A: factor, B: plus}}
}

// Multiset ignores a list's order: the grader sorts both lists and compares the
// pairs by c, or exactly without c.
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
