package hidden

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// How far a goroutine's stack may grow in a chain of a million operations, and in one
// of shortChain, as the README says.
const (
	maxStack      = 64 << 20
	shortChain    = 25_000
	maxShortStack = 1 << 19
)

// A chain of a million operations, or a shorter one through either operand and through
// the terms of Sum: Backward must not recurse as deep as the graph, and must not
// give up at some depth, nor in a second call (rules 3 and 16).
func TestDeepChain(t *testing.T) {
	debug.SetMaxStack(maxStack)
	o := observe.New(t)
	inLittleMemory(func() { deepChain(o) })
	debug.SetMaxStack(maxShortStack)
	done := make(chan bool)
	go func() { // whose stack has not grown yet
		defer close(done)
		shortChains(o)
	}()
	<-done
}

// inLittleMemory calls f while garbage may be no more than what is in use: a million
// nodes of a kind that is large, and four times as much garbage, would meet the limit.
func inLittleMemory(f func()) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	f()
}

// shortChains makes a chain of every operation.
func shortChains(o *observe.Observer) {
	r := o.Rand()
	factor, power := between(r, 0.999999, 1), between(r, 0.999999, 1)
	for _, step := range append(withResults(r), []step{
		{"c+y", func(y, c node) node { return c.Add(y) }},
		{"c-y", func(y, c node) node { return c.Sub(y) }},
		{"c·y", func(y, c node) node { return c.Mul(y) }},
		{"c/y", func(y, c node) node { return c.Div(y) }},
		{"y+c", (node).Add},
		{"y-c", (node).Sub},
		{"y·c", (node).Mul},
		{"y/c", (node).Div},
		{"y+y", func(y, _ node) node { return y.Add(y) }},
		{"y + result", func(y, c node) node { return y.Add(c.AddScalar(factor)) }},
		{"result + y", func(y, c node) node { return c.AddScalar(factor).Add(y) }},
		{"Sum(y, result)", func(y, c node) node { return autograd.Sum(y, c.AddScalar(factor)) }},
		{"Sum(result, y)", func(y, c node) node { return autograd.Sum(c.AddScalar(factor), y) }},
		{"AddScalar", func(y, _ node) node { return y.AddScalar(factor) }},
		{"Exp", one((node).Exp)},
		{"Log", one((node).Log)},
		{"Sigmoid", one((node).Sigmoid)},
		{"Add and MulScalar", func(y, _ node) node { return y.Add(y).MulScalar(0.5) }},
		{"Sum(y)", func(y, _ node) node { return autograd.Sum(y) }},
		{"Sum(y, c)", func(y, c node) node { return autograd.Sum(y, c) }},
		{"Sum(c, y)", func(y, c node) node { return autograd.Sum(c, y) }},
		{"Sum(c, y, c)", func(y, c node) node { return autograd.Sum(c, y, c) }},
		{"Sum(c, c, c, y)", func(y, c node) node { return autograd.Sum(c, c, c, y) }},
		{"Sum of ten terms", func(y, c node) node { return autograd.Sum(c, c, c, c, c, y, c, c, c, c) }},
		{"MulScalar", func(y, _ node) node { return y.MulScalar(factor) }},
		{"Neg", one((node).Neg)},
		{"Pow", func(y, _ node) node { return y.Pow(power) }},
		{"Exp and Log", func(y, _ node) node { return y.Exp().Log() }},
		{"Tanh", one((node).Tanh)},
		{"Sigmoid and MulScalar", func(y, _ node) node { return y.Sigmoid().MulScalar(4).AddScalar(-2) }},
		{"ReLU", one((node).ReLU)},
	}...) {
		x, c := autograd.New(between(r, 0.5, 1)), autograd.New(between(r, 0.999999, 1))
		y := x
		for range shortChain {
			y = step.f(y, c)
		}
		y.Backward()
		o.Float(step.name+": value of a deep chain", y.Data())
		if step.name != "Log" { // of negative numbers it is open
			o.Floats(step.name+": gradients of the leaves of a deep chain", grads([]node{x, c}))
		}
	}
}

// step makes the next node of a chain from y, the one before, and the leaf c, which holds nearly 1.
type step struct {
	name string
	f    func(y, c node) node
}

// withResults are the operations on two nodes of which y is either one and the other one is a result
// as well: of the leaf, a new one in each step or one that all steps use, or of y.
func withResults(r *rand.Rand) (steps []step) {
	for _, op := range operations(r)[:4] {
		factor := between(r, 0.999999, 1)
		results := []func(y, c node) node{
			func(y, _ node) node { return y.MulScalar(0).AddScalar(factor) },
			func(_, c node) node { return c.MulScalar(factor) },
			func(_, c node) node { return c.AddScalar(factor - 1) },
			func(_, c node) node { return c.Mul(c) },
			func(_, c node) node { return c.Neg() },
		}
		var leaf, used node
		results = append(results, func(_, c node) node {
			if leaf != c {
				leaf, used = c, c.MulScalar(factor)
			}
			return used
		})
		for _, i := range []int{0, 1 + r.IntN(len(results)-1)} {
			result := results[i]
			steps = append(steps,
				step{"result + y: " + op.name + " of a result and y", func(y, c node) node { return op.f(result(y, c), y) }},
				step{"y + result: " + op.name + " of y and a result", func(y, c node) node { return op.f(y, result(y, c)) }})
		}
	}
	return steps
}

// deepChain makes a chain of a million additions, in which one result is used more often
// than 16 bits count.
func deepChain(o *observe.Observer) {
	x, late := autograd.New(between(o.Rand(), 0.5, 1)), autograd.New(between(o.Rand(), 1e-6, 2e-6))
	used := late.AddScalar(1e-6)
	y := x
	c, often := between(o.Rand(), 1e-6, 2e-6), 7+o.Rand().IntN(5)
	some := []node{x, late}
	for i := range 1_000_000 {
		if y = y.AddScalar(c); i%often == 0 {
			y = y.Add(used)
		}
		if i%100_000 == 0 {
			some = append(some, y)
		}
	}
	y.Backward()
	o.Float("value of a deep chain", y.Data(), rough)
	o.Float("gradient of its leaf", x.Grad())
	o.Float("gradient of the leaf below a result that is used very often", late.Grad())
	y.Backward()
	o.Floats("after a second call: gradients of some nodes", grads(some))
	z := autograd.New(between(o.Rand(), 0.5, 1))
	terms := slices.Repeat([]node{z}, 1<<16+1+o.Rand().IntN(5000))
	autograd.Sum(terms...).Backward()
	o.Float("Sum of one node: gradient of a term that is listed very often", z.Grad())
	z.ZeroGrad()
	for i := range terms {
		terms[i] = z.AddScalar(c)
	}
	autograd.Sum(terms...).Backward()
	o.Float("Sum of many results: gradient of their leaf", z.Grad())
}

// Each step uses the step before it twice, so the number of ways from the root to
// the leaf doubles with every step. Each node is to be visited once, not each way;
// how many others wait makes a visit no more expensive; and ZeroGrad does not walk the
// graph at all (rules 7 and 17).
func TestLadder(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x := autograd.New(between(r, 0.5, 1))
	y := x
	for range 80 {
		y = y.MulScalar(between(r, -0.2, 0.2)).Add(y)
	}
	y.Backward()
	o.Float("value of the ladder", y.Data(), rough)
	o.Float("gradient of the leaf below the ladder", x.Grad(), rough)
	y.ZeroGrad()
	o.Floats("gradients of leaf and root after ZeroGrad of the root", grads([]node{x, y}), rough)
	recordOld(o)
	inLittleMemory(func() { recordWide(o) })
}

// recordWide makes a tree of additions that is wide and not deep: very many of its nodes wait for
// their turn at once, and are not to be moved whenever one has it.
func recordWide(o *observe.Observer) {
	r := o.Rand()
	own := leavesOf(r, 250_000)
	level := own
	for len(level) > 1 {
		var next []node
		for pair := range slices.Chunk(level, 2) {
			next = append(next, addUp(pair))
		}
		level = next
	}
	root := level[0].MulScalar(away(r))
	root.Backward()
	o.Float("value of a wide tree", root.Data(), rough)
	o.Floats("gradients of some leaves of a wide tree", grads(someOf(o, own)), rough)
}

// recordOld makes many small graphs on a leaf that is far older than they are. What a Backward
// costs depends on its graph, and not on how many nodes there have been.
func recordOld(o *observe.Observer) {
	old := autograd.New(positive(o.Rand()))
	for range 1_000_000 {
		autograd.New(1)
	}
	for range 400_000 {
		old.ZeroGrad()
		old.AddScalar(1).Backward()
	}
	o.Float("gradient of a leaf that is older than a million other nodes", old.Grad())
}

// The same program gives the same gradients to the last bit, every time: nothing
// may depend on the order in which a map is walked (rule 18).
func TestReproducible(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	xs := draws(40, r.NormFloat64)
	cs := draws(400, func() float64 { return away(r) })
	program := func() (bits []uint64, value float64) {
		vs := make([]node, len(xs))
		for i, x := range xs {
			vs[i] = autograd.New(x)
		}
		total := autograd.New(0)
		for i, c := range cs {
			a, b := vs[i%len(vs)], vs[(i*7+3)%len(vs)]
			shared := a.Mul(b).Mul(autograd.New(c))
			total = total.Add(shared.Mul(a)).Add(shared.Add(b).Mul(shared))
		}
		root := autograd.Sum(total, autograd.Sum(vs...))
		root.Backward()
		return bitsOf(grads(vs)), root.Data()
	}
	first, value := program()
	same := true
	for range 20 {
		again, _ := program()
		same = same && slices.Equal(first, again)
	}
	o.SelfReported().Bool("gradients have the same bits every time", same)
	for _, n := range []int{40, 300, 1100, 3000} {
		same := true
		seed := r.Float64()
		first := fanIn(seed, n)
		for range 4 {
			same = same && slices.Equal(first, fanIn(seed, n))
		}
		o.SelfReported().Bool("gradients of many terms have the same bits every time", same)
	}
	o.Float("value of the root", value, rough)
}

func bitsOf(xs []float64) []uint64 {
	bits := make([]uint64, len(xs))
	for i, x := range xs {
		bits[i] = math.Float64bits(x)
	}
	return bits
}

// fanIn returns the bits of the gradients of some leaves that are used in many terms, n
// of one Sum, n of a chain and, in a large graph that is not deep, 7 times n of several
// Sums; and those of the sums.
func fanIn(seed float64, n int) (bits []uint64) {
	sums := func(terms []node) node {
		var parts []node
		for part := range slices.Chunk(terms, n) {
			parts = append(parts, autograd.Sum(part...))
		}
		return addUp(parts)
	}
	for _, graph := range []struct {
		terms int
		add   func(terms []node) node
	}{
		{n, func(terms []node) node { return autograd.Sum(terms...) }},
		{n, addUp},
		{7 * n, sums},
	} {
		vs := make([]node, 8)
		for i := range vs {
			vs[i] = autograd.New(seed + float64(i)/8)
		}
		terms := make([]node, graph.terms)
		for i := range terms {
			terms[i] = vs[i%len(vs)].MulScalar(1 / float64(i+3)).Exp()
		}
		root := graph.add(terms)
		root.Backward()
		bits = append(bits, bitsOf(append(grads(vs), root.Data()))...)
	}
	return bits
}

// addUp adds the terms up one by one.
func addUp(terms []node) node {
	sum := terms[0]
	for _, term := range terms[1:] {
		sum = sum.Add(term)
	}
	return sum
}

// A nil operand is a mistake of the caller's: the operation panics at once, and
// not Backward later. All nodes stay usable, the other operand too (rule 15).
func TestNilOperand(t *testing.T) {
	o := observe.New(t)
	x, nan := autograd.New(positive(o.Rand())), autograd.New(math.NaN())
	for _, op := range []struct {
		name string
		f    func()
	}{
		{"Add", func() { x.Add(nil) }},
		{"Sub", func() { x.Sub(nil) }},
		{"Mul", func() { x.Mul(nil) }},
		{"Div", func() { x.Div(nil) }},
		{"Sum, behind NaN", func() { autograd.Sum(nan, nan, nil) }},
		{"Sum, as its only term", func() { autograd.Sum(nil) }},
		{"Sum, in the first place", func() { autograd.Sum(nil, x, x) }},
		{"Sum, in between", func() { autograd.Sum(x, nil, x) }},
		{"Sum, in the last place", func() { autograd.Sum(x, x, nil) }},
	} {
		o.SelfReported().Panics("panic of a nil in "+op.name, op.f)
	}
	var given []node
	for _, op := range operations(o.Rand())[:4] {
		for _, a := range []float64{0, 1, -1, math.Inf(1), math.NaN()} {
			v := autograd.New(a)
			given = append(given, v)
			o.SelfReported().Panics("panic of a nil as b in "+op.name+", with a special number as a", func() { op.f(v, nil) })
		}
	}
	for _, op := range operations(o.Rand()) {
		op.f(x, autograd.New(1))
		op.f(autograd.New(1), x)
	}
	for _, v := range append(given, x) {
		v.SetData(positive(o.Rand()))
		autograd.ZeroGrad(v)
	}
	y := x.AddScalar(away(o.Rand()))
	y.Backward()
	o.Float("value of what is computed afterwards", y.Data(), rough)
	o.Float("gradient of what is computed afterwards", x.Grad())
}
