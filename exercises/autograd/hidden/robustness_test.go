package hidden

import (
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// maxStack is how far a goroutine's stack may grow, as the README says.
const maxStack = 64 << 20

// A chain of a million operations: Backward must not recurse as deep as the
// graph, and must not give up at some depth.
func TestDeepChain(t *testing.T) {
	debug.SetMaxStack(maxStack)
	o := observe.New(t)
	x := autograd.New(between(o.Rand(), 0.5, 1))
	y := x
	for range 1_000_000 {
		y = y.Add(x)
	}
	y.Backward()
	o.Float("value", y.Data())
	o.Float("gradient", x.Grad())
}

// Each step uses the step before it twice, so the number of ways from the root to
// the leaf doubles with every step. Each node is to be visited once, not each way;
// and ZeroGrad does not walk the graph at all.
func TestLadder(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x := autograd.New(between(r, 0.5, 1))
	y := x
	var steps []node
	for range 80 {
		c := between(r, 0.2, 1)
		y = y.MulScalar(c).Add(y)
		steps = append(steps, y)
	}
	y.Backward()
	o.Float("value", y.Data())
	o.Floats("gradients", grads(steps))
	y.ZeroGrad()
	o.Floats("after ZeroGrad of the root", grads([]node{x, y}))
}

// The same program gives the same gradients to the last bit, every time: nothing
// may depend on the order in which a map is walked.
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
			shared := a.Mul(b).MulScalar(c).Tanh()
			total = total.Add(shared.Mul(a)).Add(shared.Sub(b).Mul(shared))
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
	o.SelfReported().Bool("same bits", same)
	o.Float("sum of the gradients", sum)
}

// A nil operand is a mistake of the caller's: the operation panics at once, and
// not Backward later. Nodes at hand stay usable.
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
		{"Sum", func() { autograd.Sum(x, nil, x) }},
	} {
		o.SelfReported().Panics(op.name, op.f)
	}
	y := x.Mul(x)
	y.Backward()
	o.Floats("afterwards", []float64{y.Data(), x.Grad()})
}

// Many goroutines may compute with the same nodes at the same time: an operation
// only reads its operands. Backward, called once they are done, sees all uses.
func TestConcurrentBuild(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	shared := leaves(r, 4)
	roots := make([]node, 8)
	coefficients := make([][]float64, len(roots))
	for i := range coefficients {
		coefficients[i] = draws(6000, r.NormFloat64)
	}
	var wg sync.WaitGroup
	for i := range roots {
		wg.Go(func() {
			root := shared[i%len(shared)].Neg()
			for j, c := range coefficients[i] {
				if j%50 == i {
					runtime.Gosched()
				}
				root = root.Add(shared[j%len(shared)].MulScalar(c))
			}
			roots[i] = root
		})
	}
	wg.Wait()
	total := autograd.Sum(roots...)
	total.Backward()
	o.Floats("values", data(roots))
	o.Floats("gradients", grads(shared))
}

// Backward may run at the same time on graphs that have no node in common: no
// list, mark or counter may be shared between calls.
func TestConcurrentBackward(t *testing.T) {
	o := observe.New(t)
	coefficients := draws(16, func() float64 { return between(o.Rand(), 0.999, 1.001) })
	graphs := make([][]node, 4) // some nodes of each, the root last
	for i := range graphs {
		x := autograd.New(between(o.Rand(), 0.5, 1))
		y := x
		for j := range 15_000 {
			y = y.MulScalar(coefficients[j%len(coefficients)]).Add(x)
			if j%1500 == 0 {
				graphs[i] = append(graphs[i], y)
			}
		}
		graphs[i] = append(graphs[i], x, y)
	}
	var wg sync.WaitGroup
	for _, nodes := range graphs {
		wg.Go(func() {
			// Together longer than a time slice, so that calls overlap on one CPU too.
			for range 20 {
				nodes[len(nodes)-1].Backward()
			}
		})
	}
	wg.Wait()
	for _, nodes := range graphs {
		o.Floats("values", data(nodes))
		o.Floats("gradients", grads(nodes))
	}
}
