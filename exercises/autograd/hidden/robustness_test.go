package hidden

import (
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// How far a goroutine's stack may grow in a chain of a million operations, and in one
// of shortChain, as the README says.
const (
	maxStack      = 64 << 20
	shortChain    = 50_000
	maxShortStack = 1 << 20
)

// A chain of a million operations, or a shorter one through either operand and through
// the terms of Sum: Backward must not recurse as deep as the graph, and must not
// give up at some depth, nor in a second call (rules 3 and 16).
func TestDeepChain(t *testing.T) {
	debug.SetMaxStack(maxStack)
	o := observe.New(t)
	deepChain(o)
	debug.SetMaxStack(maxShortStack)
	shortChains(o)
}

// shortChains makes a chain of every operation.
func shortChains(o *observe.Observer) {
	r := o.Rand()
	c := autograd.New(between(r, 0.999999, 1))
	factor, power := between(r, 0.999999, 1), between(r, 0.999999, 1)
	for _, step := range []struct {
		name string
		f    func(y node) node
	}{
		{"c + y", func(y node) node { return c.Add(y) }},
		{"c - y", func(y node) node { return c.Sub(y) }},
		{"c · y", func(y node) node { return c.Mul(y) }},
		{"c / y", func(y node) node { return c.Div(y) }},
		{"y + c", func(y node) node { return y.Add(c) }},
		{"y - c", func(y node) node { return y.Sub(c) }},
		{"y · c", func(y node) node { return y.Mul(c) }},
		{"y / c", func(y node) node { return y.Div(c) }},
		{"(y + y) / 2", func(y node) node { return y.Add(y).MulScalar(0.5) }},
		{"Sum(y)", func(y node) node { return autograd.Sum(y) }},
		{"Sum(y, c)", func(y node) node { return autograd.Sum(y, c) }},
		{"Sum(c, y)", func(y node) node { return autograd.Sum(c, y) }},
		{"Sum(c, y, c)", func(y node) node { return autograd.Sum(c, y, c) }},
		{"MulScalar", func(y node) node { return y.MulScalar(factor) }},
		{"Neg", (node).Neg},
		{"Pow", func(y node) node { return y.Pow(power) }},
		{"Exp and Log", func(y node) node { return y.Exp().Log() }},
		{"Tanh", (node).Tanh},
		{"Sigmoid", func(y node) node { return y.Sigmoid().MulScalar(4).AddScalar(-2) }},
		{"ReLU", (node).ReLU},
	} {
		x := autograd.New(between(r, 0.5, 1))
		y := x
		for range shortChain {
			y = step.f(y)
		}
		c.ZeroGrad()
		y.Backward()
		o.Float("value of a deep chain of "+step.name, y.Data())
		o.Floats("gradients of the leaves of a deep chain of "+step.name, grads([]node{x, c}))
	}
}

func deepChain(o *observe.Observer) {
	x := autograd.New(between(o.Rand(), 0.5, 1))
	y := x
	c := between(o.Rand(), 1e-6, 2e-6)
	some := []node{x}
	for i := range 1_000_000 {
		if y = y.AddScalar(c); i%100_000 == 0 {
			some = append(some, y)
		}
	}
	y.Backward()
	o.Float("value of a deep chain", y.Data())
	o.Float("gradient of its leaf", x.Grad())
	y.Backward()
	o.Floats("after a second call: gradients of some nodes", grads(some))
}

// Each step uses the step before it twice, so the number of ways from the root to
// the leaf doubles with every step. Each node is to be visited once, not each way;
// and ZeroGrad does not walk the graph at all (rules 7 and 17).
func TestLadder(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x := autograd.New(between(r, 0.5, 1))
	y := x
	var steps []node
	for range 80 {
		c := between(r, 0.2, 1)
		y = y.Mul(autograd.New(c)).Add(y)
		steps = append(steps, y)
	}
	y.Backward()
	o.Float("value of the ladder", y.Data())
	o.Floats("gradients of all steps", grads(steps))
	y.ZeroGrad()
	o.Floats("gradients of leaf and root after ZeroGrad of the root", grads([]node{x, y}))
}

// The same program gives the same gradients to the last bit, every time: nothing
// may depend on the order in which a map is walked (rule 18).
func TestReproducible(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	xs := draws(40, r.NormFloat64)
	cs := draws(400, func() float64 { return away(r) })
	program := func() (bits []uint64, sum float64) {
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
		autograd.Sum(total, autograd.Sum(vs...)).Backward()
		for _, v := range vs {
			bits = append(bits, math.Float64bits(v.Grad()))
			sum += math.Abs(v.Grad())
		}
		return bits, sum
	}
	first, sum := program()
	same := true
	for range 20 {
		again, _ := program()
		for i := range first {
			same = same && first[i] == again[i]
		}
	}
	o.SelfReported().Bool("gradients have the same bits every time", same)
	for _, n := range []int{40, 300, 1100, 5000, 20_000} {
		same := true
		seed := r.Float64()
		first := fanIn(seed, n)
		for range 6 {
			same = same && slices.Equal(first, fanIn(seed, n))
		}
		o.SelfReported().Bool("gradients of many terms have the same bits every time", same)
	}
	o.Float("sum of the absolute gradients", sum)
}

// fanIn returns the bits of the gradients of some leaves that are used in n terms, of
// one Sum and of a chain, and those of both sums.
func fanIn(seed float64, n int) (bits []uint64) {
	for _, chain := range []bool{false, true} {
		vs := make([]node, 8)
		for i := range vs {
			vs[i] = autograd.New(seed + float64(i)/8)
		}
		terms := make([]node, n)
		for i := range terms {
			terms[i] = vs[i%len(vs)].MulScalar(1 / float64(i+3)).Exp()
		}
		var root node
		if chain {
			root = terms[0]
			for _, term := range terms[1:] {
				root = root.Add(term)
			}
		} else {
			root = autograd.Sum(terms...)
		}
		root.Backward()
		for _, x := range append(grads(vs), root.Data()) {
			bits = append(bits, math.Float64bits(x))
		}
	}
	return bits
}

// A nil operand is a mistake of the caller's: the operation panics at once, and
// not Backward later. Nodes at hand stay usable (rule 15).
func TestNilOperand(t *testing.T) {
	o := observe.New(t)
	x := autograd.New(away(o.Rand()))
	for _, op := range []struct {
		name string
		f    func()
	}{
		{"Add", func() { x.Add(nil) }},
		{"Sub", func() { x.Sub(nil) }},
		{"Mul", func() { x.Mul(nil) }},
		{"Div", func() { x.Div(nil) }},
		{"Sum, as its only term", func() { autograd.Sum(nil) }},
		{"Sum, in the first place", func() { autograd.Sum(nil, x, x) }},
		{"Sum, in between", func() { autograd.Sum(x, nil, x) }},
		{"Sum, in the last place", func() { autograd.Sum(x, x, nil) }},
	} {
		o.SelfReported().Panics("panic of a nil in "+op.name, op.f)
	}
	y := x.AddScalar(away(o.Rand()))
	y.Backward()
	o.Float("value of what is computed afterwards", y.Data())
	o.Float("gradient of what is computed afterwards", x.Grad())
}

// Many goroutines may compute with the same nodes at the same time: an operation
// only reads its operands. Backward, called once they are done, sees all uses (rule 19).
func TestConcurrentBuild(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	shared := leaves(r, 4)
	ops := operations(r)
	roots := make([]node, 8)
	used := make([][]int, len(roots)) // which of the shared nodes, in order
	for i := range used {
		for range 6000 {
			used[i] = append(used[i], r.IntN(len(shared)))
		}
	}
	var wg sync.WaitGroup
	for i := range roots {
		wg.Go(func() {
			root := shared[i%len(shared)].AddScalar(0)
			for j, which := range used[i] {
				a, b := shared[which], shared[(which+1)%len(shared)]
				if j%50 == i {
					runtime.Gosched()
					ops[j%len(ops)].f(a, b) // which is not part of the graph
				}
				root = root.Add(a)
			}
			roots[i] = root
		})
	}
	wg.Wait()
	total := roots[0]
	for _, root := range roots[1:] {
		total = total.Add(root)
	}
	total.Backward()
	o.Floats("values of what was built at the same time", data(roots))
	o.Floats("gradients of the leaves that all of it used", grads(shared))
}

// Backward may run at the same time on graphs that have no node in common: no
// list, mark or counter may be shared between calls (rule 20).
func TestConcurrentBackward(t *testing.T) {
	o := observe.New(t)
	graphs := make([][]node, 4)          // all nodes of each
	shown := make([][]node, len(graphs)) // some of them, the root last
	sums := make([][]float64, len(graphs))
	for i := range graphs {
		y := autograd.New(between(o.Rand(), 0.5, 1))
		graphs[i] = []node{y}
		shown[i] = []node{y}
		for j := range 15_000 {
			factor := autograd.New(between(o.Rand(), 0.9995, 1)) // no gradient becomes denormal
			y = y.Mul(factor)
			graphs[i] = append(graphs[i], factor, y)
			if j%1500 == 1499 {
				shown[i] = append(shown[i], factor, y)
			}
		}
	}
	var wg sync.WaitGroup
	for i, nodes := range graphs {
		sums[i] = make([]float64, len(shown[i]))
		wg.Go(func() {
			// Together longer than a time slice, so that calls overlap on one CPU too.
			for range 20 {
				shown[i][len(shown[i])-1].Backward()
				for j, n := range shown[i] {
					sums[i][j] += n.Grad()
				}
				autograd.ZeroGrad(nodes...)
			}
		})
	}
	wg.Wait()
	for i, nodes := range shown {
		o.Floats("values of a graph beside others", data(nodes))
		o.Floats("gradients of a graph beside others", sums[i])
	}
}
