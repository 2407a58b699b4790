package lora

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// trained returns a Layer whose active adapter has an A and a B that are not 0.
func trained(t testing.TB, in, out, rank int) (*Linear, *Layer, *Adapter, *rand.Rand) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(in), uint64(out)))
	base := &Linear{In: in, Out: out, W: normal(r, in*out), B: normal(r, out)}
	l, err := New(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Add("a", Config{Rank: rank, Alpha: 3}, r), l.Use("a")); err != nil {
		t.Fatal(err)
	}
	copy(l.Adapter("a").B, normal(r, out*rank))
	return base, l, l.Adapter("a"), r
}

func normal(r *rand.Rand, n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = r.NormFloat64()
	}
	return xs
}

// TestGradients compares each gradient with the difference quotient of the loss dy·y, which
// is exact but for rounding: the loss is linear in each number.
func TestGradients(t *testing.T) {
	_, l, a, r := trained(t, 5, 4, 3)
	x, dy := normal(r, 3*5), normal(r, 3*4)
	dx, err := l.Backward(x, dy)
	if err != nil {
		t.Fatal(err)
	}
	loss := func() float64 {
		y, _ := l.Forward(x)
		return dot(y, dy)
	}
	for _, c := range []struct {
		name       string
		data, grad []float64
	}{{"x", x, dx}, {"A", a.A, a.GradA}, {"B", a.B, a.GradB}} {
		for i := range c.data {
			was := c.data[i]
			c.data[i] = was + 0.5
			up := loss()
			c.data[i] = was - 0.5
			if want := up - loss(); math.Abs(want-c.grad[i]) > 1e-10 {
				t.Errorf("gradient %d of %s: %v, want %v", i, c.name, c.grad[i], want)
			}
			c.data[i] = was
		}
	}
}

func TestMergeAndBack(t *testing.T) {
	base, l, _, r := trained(t, 6, 7, 9)
	x, was := normal(r, 2*6), slices.Clone(base.W)
	before, _ := l.Forward(x)
	if err := l.Merge(); err != nil {
		t.Fatal(err)
	}
	merged, _ := l.Forward(x)
	if err := l.Unmerge(); err != nil {
		t.Fatal(err)
	}
	for i := range before {
		if math.Abs(before[i]-merged[i]) > 1e-11 {
			t.Errorf("output %d: %v, merged %v", i, before[i], merged[i])
		}
	}
	for i := range was {
		if math.Abs(was[i]-base.W[i]) > 1e-12 {
			t.Errorf("weight %d: %v, afterwards %v", i, was[i], base.W[i])
		}
	}
}

func TestRefusedWhileMerged(t *testing.T) {
	_, l, _, _ := trained(t, 3, 2, 1)
	if err := l.Unmerge(); !errors.Is(err, ErrNotMerged) {
		t.Error(err)
	}
	l.Merge()
	_, err := l.Backward(nil, nil)
	for _, err := range []error{err, l.Merge(), l.Use(""), l.Remove("a")} {
		if !errors.Is(err, ErrMerged) {
			t.Error(err)
		}
	}
}

func TestTogether(t *testing.T) {
	_, l, a, r := trained(t, 8, 8, 2)
	x, dy := normal(r, 8), normal(r, 8)
	l.Backward(x, dy)
	one := a.GradA[0]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			l.Forward(x)
			l.Backward(x, dy)
		})
	}
	wg.Wait()
	if math.Abs(a.GradA[0]-5*one) > 1e-12 {
		t.Errorf("five times %v is %v", one, a.GradA[0])
	}
}
