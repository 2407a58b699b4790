package autograd

import (
	"math"
	"sync"
	"testing"
	"unsafe"
)

// A field more and every graph takes a quarter more memory, in silence.
func TestNodeFillsItsSizeClass(t *testing.T) {
	if size := unsafe.Sizeof(Value{}); size > 64 {
		t.Errorf("a Value takes %d bytes, want at most 64", size)
	}
}

func TestChainRule(t *testing.T) {
	x, y := New(3), New(4)
	z := x.Mul(y).Add(x)
	z.Backward()
	if z.Data() != 15 || x.Grad() != 5 || y.Grad() != 3 {
		t.Errorf("z = %v, dz/dx = %v, dz/dy = %v, want 15, 5, 3", z.Data(), x.Grad(), y.Grad())
	}
}

// Every partial derivative that an operation stores, against a central
// difference of the operation itself.
func TestPartialDerivatives(t *testing.T) {
	ops := map[string]func(a, b *Value) *Value{
		"Add":       (*Value).Add,
		"Sub":       (*Value).Sub,
		"Mul":       (*Value).Mul,
		"Div":       (*Value).Div,
		"AddScalar": func(a, _ *Value) *Value { return a.AddScalar(2.5) },
		"MulScalar": func(a, _ *Value) *Value { return a.MulScalar(2.5) },
		"Neg":       func(a, _ *Value) *Value { return a.Neg() },
		"Pow":       func(a, _ *Value) *Value { return a.Pow(2.5) },
		"Pow0":      func(a, _ *Value) *Value { return a.Pow(0) },
		"Exp":       func(a, _ *Value) *Value { return a.Exp() },
		"Log":       func(a, _ *Value) *Value { return a.Log() },
		"Tanh":      func(a, _ *Value) *Value { return a.Tanh() },
		"Sigmoid":   func(a, _ *Value) *Value { return a.Sigmoid() },
		"ReLU":      func(a, _ *Value) *Value { return a.ReLU() },
		"Sum":       func(a, b *Value) *Value { return Sum(a, b, a) },
	}
	const x, y, h = 0.7, 1.9, 1e-5
	for name, op := range ops {
		at := func(x, y float64) float64 { return op(New(x), New(y)).Data() }
		a, b := New(x), New(y)
		op(a, b).Backward()
		da, db := (at(x+h, y)-at(x-h, y))/(2*h), (at(x, y+h)-at(x, y-h))/(2*h)
		if math.Abs(a.Grad()-da) > 1e-8 || math.Abs(b.Grad()-db) > 1e-8 {
			t.Errorf("%s: gradients %v, %v, central differences %v, %v", name, a.Grad(), b.Grad(), da, db)
		}
	}
}

// The next Backward counts on it.
func TestScratchIsBackAtZero(t *testing.T) {
	x := New(0.5)
	nodes := []*Value{x}
	for range 50 {
		last := nodes[len(nodes)-1]
		nodes = append(nodes, last.Mul(last).Sub(x))
	}
	for range 2 {
		nodes[len(nodes)-1].Backward()
		for i, n := range nodes {
			if n.acc != 0 || n.uses != 0 {
				t.Fatalf("node %d: acc %v, uses %d after Backward", i, n.acc, n.uses)
			}
		}
	}
}

// For the race detector.
func TestSharedLeavesAndDisjointGraphs(t *testing.T) {
	shared := New(2)
	roots := make([]*Value, 8)
	var wg sync.WaitGroup
	for i := range roots {
		wg.Go(func() {
			own := New(float64(i))
			for range 100 {
				own.Mul(own).Backward()
			}
			roots[i] = shared.MulScalar(own.Grad())
		})
	}
	wg.Wait()
	Sum(roots...).Backward()
	if want := 100 * 2 * 28.0; shared.Grad() != want {
		t.Errorf("gradient of the shared leaf is %v, want %v", shared.Grad(), want)
	}
}
