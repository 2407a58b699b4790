package hidden

import (
	"math"
	"testing"

	"grade/observe"
	"grade/reference/autograd"
)

// Backward adds to the gradients that are there: after k calls without ZeroGrad
// every node has k times its gradient, results of operations too, also if k is
// large. What one call passes down must not start from what earlier calls left in
// Grad (rules 3 and 6).
func TestBackwardAgain(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	leaves := leavesOf(r, 4)
	a := leaves[0].Add(leaves[1])
	b := a.AddScalar(positive(r)).Add(leaves[2])
	root := b.Add(leaves[3])
	results := []node{a, b} // TestRootGetsOne looks at roots
	for range 3 + r.IntN(5) {
		root.Backward()
		o.Floats("gradients of leaves after k calls", grads(leaves))
		o.Floats("gradients of results after k calls", grads(results))
	}
	o.Floats("values after Backward", data(append(leaves, results...)), rough)
	roots := []node{root, a.Add(autograd.New(positive(r)))}
	for _, which := range []int{1, 0, r.IntN(2), r.IntN(2), r.IntN(2)} {
		roots[which].Backward()
	}
	o.Floats("gradients of leaves after calls on several roots", grads(leaves))
	o.Floats("gradients of results after calls on several roots", grads(results))
	for _, cs := range [][]float64{{math.Pow(10, between(r, 18, 25))}, {math.Inf(1)}, {math.Inf(1), math.Inf(-1)}} {
		x := autograd.New(positive(r))
		y := x.AddScalar(positive(r))
		for _, c := range cs { // both make NaN
			y.MulScalar(c).Backward()
		}
		x.ZeroGrad()
		y.AddScalar(positive(r)).Backward()
		o.Float("gradient of a leaf below a result that has a far larger one, an infinite one or NaN from before", x.Grad())
	}

	for _, steps := range stepsOfGraphs(r) {
		nodes := largeGraph(r, steps)
		for range 3 {
			nodes[len(nodes)-1].Backward()
			recordLarge(o, "after k calls", nodes[:len(nodes)-1]) // without the root
		}
		weights := draws(len(nodes), func() float64 { return positive(r) })
		o.Float(large+"values after k calls, weighted and added up", weighed(weights, data(nodes)), rough)
	}
	manyCalls(o)
}

// manyCalls makes so many calls that a count of them in 8 or 16 bits comes round:
// each on a new graph, and a few on one that has rested for just so many calls.
func manyCalls(o *observe.Observer) {
	rests := []int{127, 128, 255, 256, 1<<15 - 1, 1 << 15, 1<<16 - 1, 1 << 16}
	c := between(o.Rand(), 0.5, 1.5)
	type graph struct{ x, root node }
	resting := map[int]graph{} // by the call that they wait for
	rested, sum := []float64{}, 0.0
	for call := range rests[len(rests)-1] + 2*len(rests) {
		g, again := resting[call]
		if !again {
			x := autograd.New(c)
			g = graph{x, x.AddScalar(c).AddScalar(c).Mul(autograd.New(c))}
		}
		g.root.Backward()
		if again {
			rested = append(rested, g.x.Grad())
		} else {
			sum += g.x.Grad()
		}
		if call < len(rests) {
			resting[call+rests[call]] = g
		}
	}
	o.Float("sum of the gradients of many graphs, one call on each", sum)
	o.Floats("gradients after a call long before and one now", rested)
}

// Any node may be the root. Backward reaches what its root was computed from and
// nothing else: neither results computed from the root nor branches that other
// roots have in common with it (rule 4).
func TestSeveralRoots(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i, name := range []string{"a leaf", "a trunk", "a branch", "a branch of the branch"} {
		vs := leavesOf(r, 5)
		trunk := vs[0].Add(vs[1])
		first := trunk.Add(vs[2])
		second := first.Add(vs[3])
		unused := trunk.Add(vs[4])
		chain := []node{vs[0], trunk, first, second}
		chain[i].Backward()
		o.Floats("gradients of leaves where the root is "+name, grads(vs))
		o.Floats("gradients of results out of reach where the root is "+name, grads(append(chain[i+1:], unused)))
	}
	for _, steps := range stepsOfGraphs(r)[2:] {
		nodes := largeGraph(r, steps)
		nodes[len(nodes)-2].Backward() // an operand of the last
		recordLarge(o, "where the root is an operand", nodes)
	}
}

// The root of a Backward is a node like any other: it gets 1 added to its
// gradient, whatever is in there, also if it is a leaf (rules 1 and 4).
func TestRootGetsOne(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	leaf := autograd.New(away(r))
	leaf.Backward()
	o.Float("gradient of a leaf that is the root", leaf.Grad())
	leaf.Backward()
	o.Float("gradient of a leaf that was the root twice", leaf.Grad())

	for _, name := range []string{"leaf", "result in between", "last result"} {
		x := autograd.New(away(r))
		y := x.AddScalar(away(r))
		z := y.AddScalar(away(r))
		map[string]node{"leaf": x, "result in between": y, "last result": z}[name].Backward()
		o.Floats("gradients in a chain whose root is its "+name, grads([]node{x, y, z}))
	}
	x := autograd.New(away(r))
	y := x.AddScalar(away(r))
	y.AddScalar(away(r)).Backward()
	y.Backward()
	o.Float("gradient of a root that had one before", y.Grad())
}

// A graph may grow after Backward: a root becomes an operand, leaves get new
// uses. Gradients from before stay and the new ones are added (rule 5).
func TestGrowth(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x := autograd.New(positive(r))
	root := x
	leaves := []node{x}
	for range 3 + r.IntN(5) {
		w := autograd.New(positive(r))
		root = root.Add(w)
		leaves = append(leaves, w)
		root.Backward()
		o.Float("gradient of the newest leaf", w.Grad())
		o.Floats("added up: gradients of old and new leaves", grads(leaves))
	}
	for _, old := range []node{x, root} {
		late := autograd.New(positive(r))
		use := old.Add(late)
		use.Backward()
		o.Float("value of a new use of an old node", use.Data(), rough)
		o.Float("gradient of a leaf in a new use of an old node", late.Grad())
	}
	o.Floats("added up: gradients of leaves in the end", grads(leaves))

	for _, steps := range stepsOfGraphs(r)[2:] {
		nodes := largeGraph(r, steps)
		nodes[len(nodes)-1].Backward()
		late := autograd.New(away(r))
		use := nodes[len(nodes)-1].Add(late).Add(nodes[0])
		use.Backward()
		o.Float(large+"value of a new use", use.Data(), rough)
		o.Float(large+"gradient of the newest leaf", late.Grad())
		recordLarge(o, "of old nodes, added up", nodes)
	}
}

// ZeroGrad, as a method, clears one node; as a function it clears those that it
// is given, whatever their gradients are. No other gradient changes, no value
// changes, and a Backward after it starts from 0 in the cleared nodes only (rule 7).
func TestZeroGrad(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	vs := leavesOf(r, 4)
	x, y := vs[0], vs[1]
	a := x.Add(y)
	b := a.Add(vs[2])
	root := b.Add(vs[3])
	nodes := append(vs, a, b, root)
	root.Backward()
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"the method on a result", b.ZeroGrad},
		{"the method on the root", root.ZeroGrad}, // whose own gradient comes last
		{"the function on nothing", func() { autograd.ZeroGrad() }},
		{"the function on a leaf and a result", func() { autograd.ZeroGrad(x, a) }},
		{"the function on all", func() { autograd.ZeroGrad(nodes...) }},
		{"the function on all, and a Backward", root.Backward},
		{"the method on a leaf", y.ZeroGrad},
	} {
		step.do()
		o.Floats("gradients after ZeroGrad, "+step.name, grads(nodes[:len(nodes)-1]))
	}
	root.Backward()
	o.Floats("added up: gradients after ZeroGrad of a leaf and a Backward", grads(nodes[:len(nodes)-1]))
	root.ZeroGrad()
	o.Float("gradient of the root after ZeroGrad", root.Grad())
	o.Floats("values after ZeroGrad", data(nodes), rough)

	for _, steps := range stepsOfGraphs(r)[2:] {
		nodes := largeGraph(r, steps)
		nodes[len(nodes)-1].Backward()
		autograd.ZeroGrad(nodes[len(nodes)/3:]...)
		recordLarge(o, "after ZeroGrad of most", nodes)
		nodes[len(nodes)-1].ZeroGrad()
		autograd.ZeroGrad(nodes...)
		nodes[len(nodes)-1].Backward()
		recordLarge(o, "after ZeroGrad of all and a call", nodes)
	}

	for _, cs := range [][]float64{{math.Inf(1)}, {math.Inf(-1)}, {math.Inf(1), math.Inf(-1)}} {
		a, b := autograd.New(positive(r)), autograd.New(positive(r))
		for _, c := range cs { // both make NaN
			a.MulScalar(c).Backward()
			b.MulScalar(c).Backward()
		}
		a.ZeroGrad()
		autograd.ZeroGrad(b)
		o.Float("gradient after the method ZeroGrad, infinite or NaN before", a.Grad())
		o.Float("gradient after the function ZeroGrad, infinite or NaN before", b.Grad())
	}
}
