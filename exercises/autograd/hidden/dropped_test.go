package hidden

import (
	"runtime"
	"testing"
	"weak"

	"grade/observe"
	"grade/reference/autograd"
)

// A graph that the program drops is garbage, with a Backward or without one, and if its
// leaves or other operands live on: neither they nor a list may hold results, of whatever
// operation (rule 21).
func TestDropped(t *testing.T) {
	o := observe.New(t)
	ops := operations(o.Rand())
	results := make([]map[string][]result, len(ops)) // by what was done with them
	ofResults := make([]map[string][]result, len(ops))
	var alive []node
	for i, op := range ops {
		results[i], ofResults[i] = map[string][]result{}, map[string][]result{}
		// All leaves come first, so that memory that is taken in pieces may be.
		fillPieces()
		leaves := make([]node, 0, 240)
		for range cap(leaves) / 6 {
			a, b := op.operands()
			leaves = append(leaves, a, b, autograd.New(1), autograd.New(-1), autograd.New(2), autograd.New(-2))
		}
		under := copies(leaves[:len(leaves)/2])
		fillPieces()
		for j := 0; j < len(leaves); j += 6 {
			dropped(op, leaves[j:][:6], j%12 == 0, results[i])
		}
		for j := 0; j < len(under); j += 6 {
			dropped(op, under[j:][:6], j%12 == 0, ofResults[i])
		}
		alive = append(append(alive, leaves...), under...)
	}
	fillPieces()
	runtime.GC()
	runtime.GC() // what a sync.Pool holds goes with the second
	for i, op := range ops {
		for _, how := range []string{withBackward, withoutBackward, afterBackward} {
			o.SelfReported().Bool("most results "+how+", of "+op.name+", are garbage when they are dropped", mostGarbage(results[i][how]))
			o.SelfReported().Bool("most results "+how+", of "+op.name+" of results that live on, are garbage when they are dropped", mostGarbage(ofResults[i][how]))
		}
	}
	runtime.KeepAlive(alive)
	for _, n := range []int{100, 3000} {
		recordLast(o, n)
	}
	x := autograd.New(positive(o.Rand()))
	y := x.AddScalar(positive(o.Rand()))
	y.Backward()
	o.Float("value of a graph that is not dropped", y.Data(), rough)
	o.Float("gradient of the leaf of a graph that is not dropped", x.Grad())
}

// What was done with a result before it was dropped.
const (
	withBackward    = "with a Backward"
	withoutBackward = "without a Backward"
	afterBackward   = "after a Backward" // on the same leaves
)

// result is a node that is not held by the test.
type result = weak.Pointer[autograd.Value]

// mostGarbage reports whether few of the results are there still.
func mostGarbage(results []result) bool {
	held := 0
	for _, r := range results {
		if r.Value() != nil {
			held++
		}
	}
	return held < len(results)/3
}

// copies makes a result of each leaf that holds the same number.
func copies(leaves []node) []node {
	results := make([]node, len(leaves))
	for i, leaf := range leaves {
		if results[i] = leaf.MulScalar(1); i%4 > 1 {
			results[i] = leaf.AddScalar(0)
		}
	}
	return results
}

// recordLast drops a graph of n results after which there is no other: no Backward takes the
// place of its own in what is kept from call to call.
func recordLast(o *observe.Observer, n int) {
	leaf := autograd.New(positive(o.Rand()))
	fillPieces()
	last := lastGraph(leaf, n)
	fillPieces()
	runtime.GC()
	runtime.GC()
	o.SelfReported().Bool("most results of the last graph are garbage when it is dropped", mostGarbage(last))
	runtime.KeepAlive(leaf)
}

// fillPieces makes leaves and drops them: where memory is taken in pieces, what is made before
// and what is made afterwards are not in the same one.
func fillPieces() {
	for range 2000 {
		autograd.New(1)
	}
}

// lastGraph makes a chain of n results of leaf and differentiates it.
func lastGraph(leaf node, n int) (all []result) {
	y := leaf
	for range n {
		y = y.AddScalar(0.5)
		all = append(all, weak.Make(y))
	}
	y.Backward()
	return all
}

// dropped makes a graph on a result of op of two leaves, which the others join on either side,
// and in the end another result of the two. It holds nothing of them, and adds the first and
// the last of the graph to results, and the other one.
func dropped(op operation, leaves []node, backward bool, results map[string][]result) {
	first := op.f(leaves[0], leaves[1])
	root := first
	for range 200 {
		root = root.AddScalar(0.5)
	}
	root = leaves[2].Mul(root.Add(leaves[3]))
	root = autograd.Sum(leaves[4], root, leaves[5])
	how := withoutBackward
	if backward {
		how = withBackward
		root.Backward()
		results[afterBackward] = append(results[afterBackward], weak.Make(op.f(leaves[0], leaves[1])))
	}
	results[how] = append(results[how], weak.Make(first), weak.Make(root))
}
