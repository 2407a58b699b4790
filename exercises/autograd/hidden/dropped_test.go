package hidden

import (
	"runtime"
	"slices"
	"testing"
	"weak"

	"grade/observe"
	"grade/reference/autograd"
)

// A graph that the program drops is garbage, also after a Backward and if its leaves live
// on: neither they nor a list may hold results, of whatever operation (rule 21).
func TestDropped(t *testing.T) {
	o := observe.New(t)
	ops := operations(o.Rand())
	results := make([][]weak.Pointer[autograd.Value], len(ops))
	var alive []node
	for i, op := range ops {
		// All leaves come first, so that memory that is taken in pieces may be.
		leaves := make([]node, 0, 240)
		for range cap(leaves) / 6 {
			a, b := op.operands()
			leaves = append(leaves, a, b, autograd.New(1), autograd.New(-1), autograd.New(2), autograd.New(-2))
		}
		for some := range slices.Chunk(leaves, 6) {
			first, last := dropped(op, some)
			results[i] = append(results[i], first, last)
		}
		alive = append(alive, leaves...)
	}
	runtime.GC()
	runtime.GC() // what a sync.Pool holds goes with the second
	for i, op := range ops {
		held := 0
		for _, r := range results[i] {
			if r.Value() != nil {
				held++
			}
		}
		o.SelfReported().Bool("most graphs on results of "+op.name+" are garbage when they are dropped", held < len(results[i])/4)
	}
	runtime.KeepAlive(alive)
	x := autograd.New(positive(o.Rand()))
	y := x.AddScalar(positive(o.Rand()))
	y.Backward()
	o.Float("value of a graph that is not dropped", y.Data(), rough)
	o.Float("gradient of the leaf of a graph that is not dropped", x.Grad())
}

// dropped makes a graph on a result of op of two leaves, which the others join on either side,
// and holds nothing of it.
func dropped(op operation, leaves []node) (first, last weak.Pointer[autograd.Value]) {
	result := op.f(leaves[0], leaves[1])
	root := result
	for range 200 {
		root = root.AddScalar(0.5)
	}
	root = leaves[2].Mul(root.Add(leaves[3]))
	root = autograd.Sum(leaves[4], root, leaves[5])
	root.Backward()
	return weak.Make(result), weak.Make(root)
}
