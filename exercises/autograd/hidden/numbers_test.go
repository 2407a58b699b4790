package hidden

import (
	"math"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// Division by 0, logarithm of 0 and of negative numbers, overflow: IEEE 754
// gives ±Inf and NaN, in values and gradients, and a sum with an infinite term is
// infinite. Nothing panics, nothing is clamped, and no small number is added (rule 10).
func TestInfinities(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	edges := []float64{between(r, 0.5, 2), -between(r, 0.5, 2), 0, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, op := range operations(r)[:4] {
		recordPairs(o, op, " at 0, infinities and NaN", edges)
	}
	recordSums(o, edges)
	recordTooLarge(o)
	for i, c := range edges {
		what := []string{"a positive", "a negative", "zero as", "an infinite", "a negative infinite", "NaN as"}[i] + " constant"
		function{"AddScalar at 0, infinities and NaN, with " + what, func(v node) node { return v.AddScalar(c) }, edges}.observeAlone(o)
		function{"MulScalar at 0, infinities and NaN, with " + what, func(v node) node { return v.MulScalar(c) }, edges}.observeAlone(o)
	}
	function{"Neg at 0, infinities and NaN", (node).Neg, edges}.observeAlone(o)
	function{"Log of 0", (node).Log, []float64{0}}.observeAlone(o)
	function{"Log of +Inf", (node).Log, []float64{math.Inf(1)}}.observeAlone(o)
	o.Float("value of Log of a negative number", autograd.New(-between(r, 0.5, 2)).Log().Data())
	far := between(r, 750, 2000)
	function{"Exp of large numbers", (node).Exp, []float64{between(r, 700, 709), between(r, 709.01, 709.3), between(r, 709.71, 709.78), far, math.Inf(1)}}.observeAlone(o)
	function{"Exp of large negative numbers", (node).Exp, []float64{-far, math.Inf(-1)}}.observeAlone(o)
	recordSmall(o)
	recordScaled(o)
	for _, op := range operations(r) {
		if op.name != "Pow(0)" {
			a, b := autograd.New(math.NaN()), autograd.New(1)
			o.Float("value of "+op.name+" of NaN", op.f(a, b).Data())
		}
	}
}

// recordSmall looks at results that are small and at operands that are, by their own size.
func recordSmall(o *observe.Observer) {
	r := o.Rand()
	relative := observe.Within(0, 1e-9)
	exps := []float64{-between(r, 709, 720), -between(r, 701, 708), -between(r, 600, 700), -between(r, 46, 600), -between(r, 20, 46), -between(r, 0, 20)}
	function{"Exp of negative numbers", (node).Exp, exps}.observeAlone(o, relative)
	tiny := append(draws(8, func() float64 { return math.Pow(10, between(r, -300, -3)) }),
		math.Pow(10, between(r, -307, -300)), math.Pow(10, between(r, -307.6, -306)))
	function{"Log of tiny numbers", (node).Log, tiny}.observeAlone(o, relative)
	function{"Log of large numbers", (node).Log, draws(4, func() float64 { return math.Pow(10, between(r, 1.3, 308)) })}.observeAlone(o, relative)
	near := draws(4, func() float64 { return 1 + math.Pow(10, -between(r, 6, 12)) })
	near = append(near, draws(4, func() float64 { return 1 + math.Pow(10, -between(r, 10, 12)) })...)
	near = append(near, draws(4, func() float64 { return 1 - math.Pow(10, -between(r, 6, 12)) })...)
	function{"Log of numbers near 1", (node).Log, near}.observeAlone(o, relative)
	for _, p := range []float64{2, -1, between(r, 1, 3), -between(r, 1, 3)} {
		sizes := draws(8, func() float64 { return math.Pow(10, between(r, -70, 70)) })
		function{"Pow of numbers of all sizes", func(v node) node { return v.Pow(p) }, sizes}.observeAlone(o, relative)
	}
	outside := []float64{math.Pow(10, -between(r, 170, 300)), math.Pow(10, between(r, 160, 300))}
	outside = append(outside, -outside[0], -outside[1])
	function{"Pow of numbers whose square is out of range", func(v node) node { return v.Pow(2) }, outside}.observeAlone(o, relative)
	var values, slopes []float64
	for _, size := range []float64{between(r, -307, -300), between(r, -300, -10), between(r, 10, 300), between(r, 300, 307)} {
		a, b := autograd.New(positive(r)), autograd.New(math.Pow(10, size))
		y := a.Div(b)
		y.Backward()
		values, slopes = append(values, y.Data()), append(slopes, a.Grad())
	}
	o.Floats("value of a/b with b of all sizes", values, relative)
	o.Floats("gradient of a in a/b with b of all sizes", slopes, relative)
	slopes = nil
	for _, size := range []float64{between(r, -140, -3), between(r, 3, 140)} { // b² is in range
		b := autograd.New(math.Pow(10, size))
		autograd.New(positive(r)).Div(b).Backward()
		slopes = append(slopes, b.Grad())
	}
	o.Floats("gradient of b in a/b with b of many sizes", slopes, relative)
}

// recordTooLarge looks at finite operands whose result is too large, by any order of additions.
func recordTooLarge(o *observe.Observer) {
	r := o.Rand()
	for _, sign := range []float64{1, -1} {
		large := func() node { return autograd.New(sign * between(r, 0.95e308, math.MaxFloat64)) }
		var results, slopes []float64
		for _, f := range []func(a, b node) node{
			(node).Add,
			(node).Mul,
			func(a, b node) node { return a.Sub(autograd.New(-b.Data())) },
			func(a, b node) node { return a.Div(autograd.New(between(r, 0.1, 0.5))).Add(b) },
			func(a, b node) node { return a.MulScalar(between(r, 2, 1e6)).Add(b) },
			func(a, b node) node { return a.AddScalar(b.Data()).Add(b) },
			func(a, b node) node { return autograd.Sum(a, b) },
			func(a, b node) node { return autograd.Sum(a, b, large(), b) },
			func(a, b node) node { return autograd.Sum(append(draws(300, large), a, b)...) },
		} {
			a, b := large(), large()
			y := f(a, b)
			y.Backward()
			results, slopes = append(results, y.Data()), append(slopes, a.Grad(), b.Grad())
		}
		o.Floats("values of results that are too large", results)
		o.Floats("gradients of results that are too large", slopes)
	}
}

// recordScaled looks at gradients behind ones of all sizes, which are not to be taken for 0 or
// for infinity.
func recordScaled(o *observe.Observer) {
	r := o.Rand()
	var slopes []float64
	for range 12 {
		x, size := autograd.New(positive(r)), math.Pow(10, between(r, -300, 300))
		x.MulScalar(size).MulScalar(1 / size).Backward()
		slopes = append(slopes, x.Grad())
		x = autograd.New(positive(r))
		x.Mul(autograd.New(size)).Div(autograd.New(size)).Backward()
		slopes = append(slopes, x.Grad())
		x = autograd.New(positive(r))
		x.MulScalar(size).Backward()
		slopes = append(slopes, x.Grad())
	}
	o.Floats("gradients behind gradients of all sizes", slopes, observe.Within(0, 1e-9))
}

// recordSums tries Sum with each of the numbers at in each place, and with each pair.
func recordSums(o *observe.Observer, at []float64) {
	r := o.Rand()
	sum := operation{name: "Sum(a, b)", f: func(a, b node) node { return autograd.Sum(a, b) }}
	recordPairs(o, sum, " at 0, infinities and NaN", at)
	for _, n := range []int{1, 3, 10, 50, 600} {
		var sums []float64
		for _, x := range at {
			for _, place := range []int{0, r.IntN(n), n - 1} {
				vs := leaves(r, n)
				vs[place].SetData(x)
				s := autograd.Sum(vs...)
				s.Backward()
				sums = append(sums, s.Data(), vs[0].Grad(), vs[place].Grad(), vs[n-1].Grad())
			}
		}
		o.Floats("values and gradients of sums with 0, infinities and NaN", sums)
	}
}

// Far from 0 Tanh and Sigmoid are flat: exact limits, gradient 0, no NaN from
// Inf/Inf, wherever the exponential begins to overflow. ReLU has gradient 0 at 0, and NaN in gives NaN out (rules 11 and 12).
func TestFlat(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	size := math.Pow(10, between(r, 3, 300))
	for _, sign := range []float64{1, -1} {
		far := []float64{sign * 1000, sign * between(r, 750, 1e6), sign * size, sign * math.MaxFloat64, math.Inf(int(sign)),
			sign * between(r, 40, 354), sign * between(r, 354.9, 356), sign * between(r, 356, 709), // e^2x overflows at 354.9
			sign * between(r, 709.79, 711), sign * between(r, 711, 744), sign * between(r, 746, 999)} // and e^x at 709.8
		side := map[float64]string{1: "large", -1: "large negative"}[sign]
		function{"Tanh of " + side + " numbers", (node).Tanh, far}.observeAlone(o)
		function{"Sigmoid of " + side + " numbers", (node).Sigmoid, far}.observeAlone(o)
		function{"ReLU of " + side + " numbers", (node).ReLU, far}.observeAlone(o)
		near := []float64{sign * 1e-3 * r.Float64(), sign * math.Pow(10, between(r, -300, -10)), sign * math.SmallestNonzeroFloat64}
		function{"ReLU close to 0", (node).ReLU, near}.observeAlone(o)
	}
	function{"ReLU at 0", (node).ReLU, []float64{0}}.observeAlone(o)
	o.Float("value of ReLU of NaN", autograd.New(math.NaN()).ReLU().Data())
}

// Pow at its edges: the power 0 is the constant 1 with gradient 0 at every base;
// at base 0 the formula p·x^(p-1) holds as math.Pow computes it; a negative base
// with a fraction as exponent is NaN. Exponents may be large, or infinite (rule 13).
func TestPowEdges(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	fraction := between(r, 0.1, 0.9)
	whole, huge := math.Trunc(between(r, 1e15, 4e15)), math.Pow(10, between(r, 20, 300))
	infinities := []float64{math.Inf(1), math.Inf(-1)}
	for _, f := range []function{
		{"power 0", func(v node) node { return v.Pow(0) }, []float64{0, away(r), math.Inf(1), math.Inf(-1), math.NaN()}},
		{"power 1 at 0", func(v node) node { return v.Pow(1) }, []float64{0}},
		{"power 1 of infinities", func(v node) node { return v.Pow(1) }, infinities},
		{"power 2 of infinities", func(v node) node { return v.Pow(2) }, infinities},
		{"power -1 of infinities", func(v node) node { return v.Pow(-1) }, infinities},
		{"a large whole power", func(v node) node { return v.Pow(whole) }, []float64{0, 1, -1, between(r, 0.1, 0.9)}},
		{"a large negative whole power", func(v node) node { return v.Pow(-whole) }, []float64{1, -1, between(r, 1.1, 9)}},
		{"power 2 at 0", func(v node) node { return v.Pow(2) }, []float64{0}},
		{"power -1 at 0", func(v node) node { return v.Pow(-1) }, []float64{0}},
		{"fraction at 0", func(v node) node { return v.Pow(fraction) }, []float64{0}},
		{"fraction of a negative number", func(v node) node { return v.Pow(fraction) }, []float64{-between(r, 0.5, 2)}},
	} {
		f.observeAlone(o)
	}
	// All that math.Pow has a case of its own for.
	bases := []struct {
		name string
		xs   []float64
	}{
		{"0", []float64{0}},
		{"1 and -1", []float64{1, -1}},
		{"positive numbers", []float64{between(r, 0.2, 0.9), between(r, 1.1, 3)}},
		{"negative numbers", []float64{-between(r, 0.2, 0.9), -between(r, 1.1, 3)}},
		{"infinities", infinities},
		{"NaN", []float64{math.NaN()}},
	}
	for _, p := range []struct {
		name string
		p    float64
	}{
		{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}, {"-1", -1}, {"-2", -2}, {"-3", -3}, {"1/2", 0.5}, {"-1/2", -0.5},
		{"a fraction", fraction}, {"a negative fraction", -fraction}, {"more than 1", 1 + fraction}, {"less than -1", -1 - fraction},
		{"+Inf", math.Inf(1)}, {"-Inf", math.Inf(-1)}, {"NaN", math.NaN()}, {"huge", huge}, {"huge and negative", -huge},
		{"close to 0", math.Pow(10, -between(r, 10, 13))}, {"close to 0 and negative", -math.Pow(10, -between(r, 10, 13))}, {"close to 2", 2 + 1e-10},
	} {
		for _, base := range bases {
			function{"powers of " + base.name + ", exponent " + p.name, func(v node) node { return v.Pow(p.p) }, base.xs}.observeAlone(o)
		}
	}
}

// A NaN or an infinity spreads along the graph only: a leaf gets no NaN from a
// branch that does not depend on it, nor from nodes that are not part of the
// root at all (rule 14).
func TestNaNStaysInItsBranch(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x, bad := autograd.New(positive(r)), autograd.New(math.NaN())
	clean := x.Exp()
	root := bad.Exp().Mul(bad).Add(clean)
	root.Backward()
	o.Floats("values beside a NaN", data([]node{bad, clean, root}), rough)
	o.Float("gradient of the leaf beside a NaN", x.Grad(), rough)

	for _, op := range operations(r) {
		a, b := op.operands()
		op.f(a, b).Backward()
		if a.Grad() != 0 { // NaN times 0 is open
			a, b = op.operands()
			op.f(a, b).Div(autograd.New(math.NaN())).Backward()
			o.Float("gradient of a in "+op.name+" where NaN arrives", a.Grad())
		}
	}

	nan := []float64{math.NaN()}
	function{"Tanh of NaN", (node).Tanh, nan}.observeAlone(o)
	function{"Sigmoid of NaN", (node).Sigmoid, nan}.observeAlone(o)
	function{"Exp of NaN", (node).Exp, nan}.observeAlone(o)
	function{"Log of NaN", (node).Log, nan}.observeAlone(o)
	recordBoth(o)

	y, clean := autograd.New(positive(r)), autograd.New(positive(r)).Exp()
	for _, op := range operations(r) { // none of it is part of what follows
		op.f(y, bad).Mul(bad)
		op.f(bad, clean)
		op.f(y, autograd.New(math.Inf(1)))
	}
	other := y.Exp().Add(clean)
	other.Backward()
	o.Float("value after a NaN elsewhere", other.Data(), rough)
	o.Float("gradient of the leaf after a NaN elsewhere", y.Grad(), rough)
}

// recordBoth looks at a leaf where NaN arrives from one use and a number from another, in
// either order.
func recordBoth(o *observe.Observer) {
	for _, first := range []bool{true, false} {
		x, y, bad := autograd.New(positive(o.Rand())), autograd.New(positive(o.Rand())), autograd.New(math.NaN())
		a, b := x.Mul(bad), x.Mul(y)
		if !first {
			a, b = b, a
		}
		a.Add(b).Backward()
		o.Float("gradient of a leaf where NaN and a number arrive", x.Grad())
		o.Float("gradient of the leaf beside one where NaN and a number arrive", y.Grad(), rough)
	}
}
