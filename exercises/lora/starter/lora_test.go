package lora

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// example is a base of 3 inputs and 2 outputs with an adapter of rank 1 and scale 2, whose
// A is (1 0 1) and whose B is (1 -1).
func example(t *testing.T) (*Linear, *Layer) {
	t.Helper()
	base := &Linear{In: 3, Out: 2, W: []float64{1, 2, 3, 4, 5, 6}, B: []float64{10, 20}}
	l, err := New(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Add("a", Config{Rank: 1, Alpha: 2}, rand.New(rand.NewPCG(1, 2))); err != nil {
		t.Fatal(err)
	}
	a := l.Adapter("a")
	if a == nil || len(a.A) != 3 || len(a.B) != 2 {
		t.Fatal("there is no adapter of the shape that was added")
	}
	copy(a.A, []float64{1, 0, 1})
	copy(a.B, []float64{1, -1})
	return base, l
}

func same(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// An example of rules 2 and 7: A·x is 3, so that the adapter adds 6 and -6.
func TestForward(t *testing.T) {
	_, l := example(t)
	y, err := l.Forward([]float64{1, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "no adapter is active", y, []float64{19, 41})
	if err := l.Use("a"); err != nil {
		t.Fatal(err)
	}
	y, _ = l.Forward([]float64{1, 1, 2})
	same(t, "with the adapter", y, []float64{25, 35})
}

// An example of rules 9 to 11.
func TestBackward(t *testing.T) {
	base, l := example(t)
	l.Use("a")
	dx, err := l.Backward([]float64{1, 1, 2}, []float64{1, 3})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "gradient of x", dx, []float64{13 - 4, 17, 21 - 4})
	same(t, "gradient of A", l.Adapter("a").GradA, []float64{-4, -4, -8})
	same(t, "gradient of B", l.Adapter("a").GradB, []float64{6, 18})
	if base.GradW != nil || base.GradB != nil {
		t.Error("the base has gradients")
	}
}

// An example of rules 14 and 16.
func TestMerge(t *testing.T) {
	base, l := example(t)
	l.Use("a")
	if err := l.Merge(); err != nil {
		t.Fatal(err)
	}
	same(t, "merged weights", base.W, []float64{3, 2, 5, 2, 5, 4})
	if err := l.Unmerge(); err != nil {
		t.Fatal(err)
	}
	same(t, "weights afterwards", base.W, []float64{1, 2, 3, 4, 5, 6})
}
