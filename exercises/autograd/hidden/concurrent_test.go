package hidden

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// Many goroutines may compute with the same nodes at the same time: an operation
// only reads its operands, at whatever place each of them stands. Backward, called once
// they are done, sees all uses (rule 19).
func TestConcurrentBuild(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	shared := leavesOf(r, 80)
	ops := operations(r)
	roots := make([]node, 8)
	used := make([][][]int, len(roots)) // by part: which of the shared nodes, in order
	for i := range used {
		for range 15 {
			used[i] = append(used[i], r.Perm(400))
		}
	}
	operands := append(shared[:3:3], shared[0].Mul(shared[1]), autograd.Sum(shared[2], shared[3]), shared[4].Tanh())
	orders := draws(len(roots), func() []int { return r.Perm(len(ops)) })
	sums := make([][]node, len(roots))
	var wg sync.WaitGroup
	for i := range roots {
		wg.Go(func() {
			for _, which := range orders[i] {
				everyPlace(ops[which], operands)
			}
			for _, terms := range [][]node{operands, shared, slices.Repeat(shared, 20)} {
				sums[i] = append(sums[i], autograd.Sum(terms...))
			}
			for j, part := range used[i] {
				sum := shared[i].AddScalar(0.5)
				for k, which := range part {
					a, b := shared[which%len(shared)], shared[(which+1)%len(shared)]
					if k%50 == i {
						runtime.Gosched()
						ops[(j+k/50)%len(ops)].f(a, b) // which is not part of the graph
					}
					sum = sum.Add(a)
				}
				if j == 0 {
					roots[i] = sum
				} else {
					roots[i] = roots[i].Add(sum)
				}
			}
		})
	}
	wg.Wait()
	o.Floats("values of sums of nodes that all goroutines used", data(slices.Concat(sums...)), rough)
	addUp(roots).Backward()
	o.Floats("values of what was built at the same time", data(roots), rough)
	o.Floats("gradients of the leaves that all of it used", grads(shared))
}

// everyPlace computes with leaves and results at all places of op, which are not part of
// the graph.
func everyPlace(op operation, operands []node) {
	for i, a := range operands {
		for _, b := range operands[:i+1] {
			op.f(a, b)
			op.f(b, a)
		}
		autograd.Sum(append(operands[i:len(operands):len(operands)], operands[:i]...)...)
	}
}

// Backward, ZeroGrad and SetData may run at the same time on graphs that have no node in
// common: no node, list, mark or counter may be shared between calls (rule 20).
func TestConcurrentBackward(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const graphs, leaves = 4, 20
	values := make([]float64, graphs)
	sums := make([][]float64, graphs)   // of the gradients of leaves
	terms := make([][]int, graphs)      // which leaf is added in each step
	starts := make([][]float64, graphs) // what the leaves hold
	for i := range graphs {
		starts[i] = draws(leaves, func() float64 { return positive(r) })
		large := []int{20_000, 40_000}[i%2] + r.IntN(5000)
		terms[i] = draws(large, func() int { return r.IntN(leaves) })
		sums[i] = make([]float64, leaves)
	}
	backwardOfEach(r)
	autograd.Sum(leavesOf(r, 45_000)...).Backward() // scratch of that size may be kept, but not shared
	var wg sync.WaitGroup
	for i := range graphs {
		wg.Go(func() {
			// Together longer than a time slice, so that calls overlap on one CPU too.
			for _, some := range oneLarge(terms[i], 180_000) {
				vs := make([]node, leaves)
				for j, x := range starts[i] {
					vs[j] = autograd.New(x)
				}
				y := vs[0].AddScalar(0.5)
				for _, term := range some {
					y = y.Add(vs[term])
				}
				y.Backward()
				values[i] = y.Data()
				for j, g := range grads(vs) {
					sums[i][j] += g
				}
			}
		})
	}
	wg.Wait()
	o.Floats("values of graphs beside others", values, rough)
	for _, sum := range sums {
		o.Floats("gradients of the leaves of a graph beside others, added up", sum)
	}
}

// oneLarge lists all of the terms, for a large graph at the same time as others, and then
// the first 3000 of them again and again: total of them or so together.
func oneLarge(terms []int, total int) (list [][]int) {
	return append([][]int{terms}, slices.Repeat([][]int{terms[:3000]}, (total-len(terms))/3000)...)
}

// backwardOfEach differentiates small graphs of every operation at the same time, before
// anything else is: what their nodes, or first calls, share shows in a race.
func backwardOfEach(r *rand.Rand) {
	ops := operations(r)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, op := range slices.Concat(ops, ops, ops) {
				a, b := op.operands()
				op.f(a, b).Backward()
				a.ZeroGrad()
				autograd.ZeroGrad(a, b)
				a.SetData(b.Data())
			}
		})
	}
	wg.Wait()
}
