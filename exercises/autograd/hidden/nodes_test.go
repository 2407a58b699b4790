package hidden

import (
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// SetData changes a leaf. What was computed from it before keeps its value, what
// is computed afterwards sees the new one. On the result of an operation, whichever
// it is, and whatever the number, it panics and changes nothing (rule 8).
func TestSetData(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x := autograd.New(positive(r))
	before := x.Add(autograd.New(positive(r)))
	x.SetData(positive(r))
	z := autograd.New(positive(r))
	after := x.Mul(z)
	o.Float("value of the leaf", x.Data())
	o.Float("value of what was computed before", before.Data(), rough)
	o.Float("value of what was computed afterwards", after.Data(), rough)
	after.Backward()
	o.Float("gradient of the other factor of what was computed afterwards", z.Grad())
	u := autograd.New(positive(r))
	u.AddScalar(positive(r)).Backward()
	u.SetData(positive(r))
	o.Float("gradient of the leaf, which SetData does not touch", u.Grad())
	x.SetData(positive(r))
	o.Float("value after the second SetData", x.Mul(z).Data(), rough)

	for _, op := range slices.Concat(operations(r), withItself(r), farOut(), constants()) {
		a, b := op.operands()
		result := op.f(a, b)
		value := result.Data()
		result.Backward()
		slopes := grads([]node{a, b, result})
		o.SelfReported().Panics("SetData on the result of "+op.name, func() { result.SetData(away(r)) })
		o.SelfReported().Panics("SetData of the number that it holds on the result of "+op.name, func() { result.SetData(value) })
		for _, x := range []float64{0, math.NaN(), math.Inf(1)} {
			o.SelfReported().Panics("SetData of 0, NaN or Inf on the result of "+op.name, func() { result.SetData(x) })
		}
		o.SelfReported().Bool("value as before SetData on the result of "+op.name, alike(result.Data(), value))
		o.SelfReported().Bool("gradient as before SetData on the result of "+op.name, slices.EqualFunc(grads([]node{a, b, result}), slopes, alike))
	}
	for _, op := range operations(r) {
		a, b := op.operands()
		before, same := op.f(a, b), op.f(op.operands()).Data()
		a.SetData(between(r, 0.5, 2))
		b.SetData(between(r, 0.5, 2))
		o.Bool("result of "+op.name+" computed before SetData keeps its value", before.Data() == same)
		fresh := op.f(autograd.New(a.Data()), autograd.New(b.Data()))
		o.Bool("after SetData "+op.name+" gives what it gives of new leaves", op.f(a, b).Data() == fresh.Data())
		if nan := op.f(autograd.New(math.NaN()), autograd.New(op.b)); nan.Data() != nan.Data() {
			o.SelfReported().Panics("SetData of NaN on the NaN of "+op.name, func() { nan.SetData(math.NaN()) })
		}
	}
	v := autograd.New(positive(r))
	sum := v.Add(autograd.New(positive(r)))
	o.SelfReported().Panics("SetData on a sum", func() { sum.SetData(positive(r)) })
	sum.Backward()
	o.Float("gradient of the operand after SetData on the result", v.Grad())
}

// alike reports whether x and y are the same number, or both NaN: what a result holds is the
// subject of other tests.
func alike(x, y float64) bool { return x == y || x != x && y != y }

// Every operation makes a node of its own, also where the result equals an
// operand (adding 0, multiplying by 1, power 1, a sum of one term or of none) or the
// same was computed before, and of whatever operation the operand is the result (Nodes, in
// the README).
func TestOwnNode(t *testing.T) {
	o := observe.New(t)
	ownOfOwn(o)
	for _, op := range append(operations(o.Rand()), farOut()...) {
		a, b := op.operands()
		first, second := op.f(a, b), op.f(a, b)
		first.Backward()
		autograd.ZeroGrad(a, b) // which would clear the result, if it were an operand
		o.Float("gradient of the result of "+op.name+", a root", first.Grad())
		o.Float("gradient of another result of "+op.name+", not reached", second.Grad())
	}
	first, second := autograd.Sum(), autograd.Sum()
	first.Backward()
	o.Float("gradient of a sum of nothing, a root", first.Grad())
	o.Float("gradient of another sum of nothing, not reached", second.Grad())
	o.Float("gradient of a sum of nothing that is made later", autograd.Sum().Grad())
}

// ownOfOwn tries every operation on the results of every operation.
func ownOfOwn(o *observe.Observer) {
	ops := operations(o.Rand())
	for _, op := range ops {
		var roots []float64
		var arrived, second []int // 1 where the operand gets a gradient
		for _, below := range ops {
			a, b := below.operands()
			under, c := below.f(a, b), autograd.New(op.b)
			result := op.f(under, c)
			result.Backward()
			arrived = append(arrived, reached(under, op))
			autograd.ZeroGrad(a, b, c, under)
			roots = append(roots, result.Grad())
			op.f(c, under).Backward()
			second = append(second, reached(under, op))
		}
		o.Floats("gradients of roots, results of "+op.name+" on results of all operations", roots)
		o.Ints("results of all operations that get a gradient from "+op.name, arrived)
		o.Ints("second operand: results of all operations that get a gradient from "+op.name, second)
	}
}

// reached is 1 where a gradient has arrived at an operand of op, and can be told from none.
func reached(under node, op operation) int {
	if x := under.Data(); under.Grad() != 0 && (x > 0 || x < 0 && op.name != "Log") {
		return 1
	}
	return 0
}

// Sum neither changes nor keeps the slice it is given: what the caller does with
// it later changes nothing. A sum of nothing is 0 (rule 9).
func TestSumCopies(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 65, 129, 257, 1025, 3000} {
		vs, others := leaves(r, n+1), leaves(r, n+1)
		terms := append([]node(nil), vs...)
		s := autograd.Sum(terms[:n]...) // the slice goes on behind them
		o.SelfReported().Bool("slice as before", slices.Equal(terms, vs))
		copy(terms, others)
		root := s.AddScalar(away(r))
		root.Backward()
		o.Float("sum", s.Data(), rough)
		o.Floats("gradients of the terms", grads(vs))
		o.Floats("gradients of what came into the slice later", grads(others))
	}

	none := autograd.Sum()
	x := autograd.New(away(r))
	more := none.Add(x)
	more.Backward()
	o.Float("value of a sum of nothing", none.Data())
	o.Float("value of what was added to a sum of nothing", more.Data(), rough)
	o.Float("gradient of what was added to a sum of nothing", x.Grad())
}
