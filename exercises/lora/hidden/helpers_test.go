// Package hidden holds what students do not see. The tests record what the package
// answers, and compare nothing: grade compares it with what the reference answered.
//
// Each test rests on as little as it can of what others are about. Where a test is not about
// the scale, Alpha is the Rank and the scale 1; A and B are written by the test, and a
// gradient that has to be left alone holds numbers that the test has put there.
package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/lora"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()

	exact = observe.Exact()
)

// numbers makes n numbers from 1/2 to 1, above and below 0, by one draw each: a sign, and the
// digits of a number of that size.
func numbers(r *rand.Rand, n int) []float64 {
	const sign, digits = 1 << 63, 1<<52 - 1
	xs := make([]float64, n)
	for i := range xs {
		u := r.Uint64()
		xs[i] = math.Float64frombits(u&sign | math.Float64bits(0.5) | u&digits)
	}
	return xs
}

// product is one number for many, in which each has a weight of its own, from 1/2 to 3/2.
func product(xs []float64) (sum float64) {
	for i, x := range xs {
		sum += (0.5 + float64(uint32(i)*2_654_435_769)/(1<<32)) * x
	}
	return sum / math.Sqrt(float64(max(1, len(xs))))
}

// newBase makes a base, with gradients of its own that are none of the package's business.
func newBase(r *rand.Rand, in, out int, bias bool) *lora.Linear {
	base := &lora.Linear{In: in, Out: out, W: numbers(r, in*out), GradW: numbers(r, in*out)}
	if bias {
		base.B, base.GradB = numbers(r, out), numbers(r, out)
	}
	return base
}

// anyBase makes a base of different numbers of inputs and outputs, so that rows and columns
// are told apart.
func anyBase(r *rand.Rand) *lora.Linear {
	in, out := 2+r.IntN(7), 2+r.IntN(7)
	if in == out {
		in += 1 + r.IntN(3)
	}
	return newBase(r, in, out, r.IntN(3) > 0)
}

func newLayer(t testing.TB, base *lora.Linear) *lora.Layer {
	t.Helper()
	l, err := lora.New(base)
	if err != nil || l == nil {
		t.Fatal("New refuses a valid base")
	}
	return l
}

// plain is a configuration whose scale is 1.
func plain(rank int) lora.Config { return lora.Config{Rank: rank, Alpha: float64(rank)} }

// scaled is one whose scale is about 1/5 to 3, and not 1.
func scaled(r *rand.Rand, rank int) lora.Config {
	scale := 0.2 + r.Float64()/2
	if r.IntN(2) == 0 {
		scale = 1.5 + 1.5*r.Float64()
	}
	return lora.Config{Rank: rank, Alpha: scale * float64(rank)}
}

// add adds an adapter and writes numbers into A and B, and into the gradients as well if
// they are to be kept.
func add(t testing.TB, r *rand.Rand, l *lora.Layer, base *lora.Linear, name string, cfg lora.Config) *lora.Adapter {
	t.Helper()
	a := fresh(t, r, l, base, name, cfg)
	copy(a.A, numbers(r, len(a.A)))
	copy(a.B, numbers(r, len(a.B)))
	return a
}

// fresh adds an adapter and leaves it as it is.
func fresh(t testing.TB, r *rand.Rand, l *lora.Layer, base *lora.Linear, name string, cfg lora.Config) *lora.Adapter {
	t.Helper()
	if err := l.Add(name, cfg, rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))); err != nil {
		t.Fatal("Add refuses a valid adapter")
	}
	a := l.Adapter(name)
	if a == nil {
		t.Fatal("there is no adapter after Add")
	}
	if len(a.A) != cfg.Rank*base.In || len(a.B) != base.Out*cfg.Rank || len(a.GradA) != len(a.A) || len(a.GradB) != len(a.B) {
		t.Fatal("matrices of an adapter have other lengths than Rank×In and Out×Rank")
	}
	return a
}

// active is add and Use.
func active(t testing.TB, r *rand.Rand, l *lora.Layer, base *lora.Linear, name string, cfg lora.Config) *lora.Adapter {
	t.Helper()
	a := add(t, r, l, base, name, cfg)
	use(t, l, name)
	return a
}

// uneven is active, where i says which of A, B and the scale is very large or very small, by a power
// of 2. Their product is as large as any.
func uneven(t testing.TB, r *rand.Rand, l *lora.Layer, base *lora.Linear, cfg lora.Config, i int) *lora.Adapter {
	t.Helper()
	size := math.Ldexp(1, 40+r.IntN(60))
	if i%4 == 3 {
		cfg.Alpha /= size
	}
	a := add(t, r, l, base, "a", cfg)
	switch i % 4 {
	case 1:
		scale(a.A, size)
		scale(a.B, 1/size)
	case 2:
		scale(a.A, 1/size)
		scale(a.B, size)
	case 3:
		scale(a.B, size)
	}
	use(t, l, "a")
	return a
}

func use(t testing.TB, l *lora.Layer, name string) {
	t.Helper()
	if l.Use(name) != nil {
		t.Fatal("Use refuses an adapter that was added")
	}
}

// forward returns what Forward does. That it refuses x fails the test.
func forward(t testing.TB, l *lora.Layer, x []float64) []float64 {
	t.Helper()
	y, err := l.Forward(x)
	if err != nil {
		t.Fatal("Forward refuses rows of the right length")
	}
	return y
}

func backward(t testing.TB, l *lora.Layer, x, dy []float64) []float64 {
	t.Helper()
	dx, err := l.Backward(x, dy)
	if err != nil {
		t.Fatal("Backward refuses rows of the right length")
	}
	return dx
}

func merge(t testing.TB, l *lora.Layer) {
	t.Helper()
	if l.Merge() != nil {
		t.Fatal("Merge refuses an active adapter")
	}
}

func unmerge(t testing.TB, l *lora.Layer) {
	t.Helper()
	if l.Unmerge() != nil {
		t.Fatal("Unmerge refuses what is merged")
	}
}

// mark writes numbers into the gradients of an adapter and returns them.
func mark(r *rand.Rand, a *lora.Adapter) []float64 {
	copy(a.GradA, numbers(r, len(a.GradA)))
	copy(a.GradB, numbers(r, len(a.GradB)))
	return grads(a)
}

// grads is a copy of all gradients of an adapter.
func grads(a *lora.Adapter) []float64 { return slices.Concat(a.GradA, a.GradB) }

// less is the difference of two lists, number by number.
func less(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// sentinels records which error it is.
func sentinels(o *observe.Observer, name string, err error) {
	o.Error(name, err, lora.ErrShape, lora.ErrConfig, lora.ErrExists, lora.ErrUnknown, lora.ErrMerged, lora.ErrNotMerged)
}

// gradients records the gradients of an adapter.
func gradients(o *observe.Observer, a *lora.Adapter) {
	o.Floats("gradients of A", a.GradA)
	o.Floats("gradients of B", a.GradB)
}

// wide counts the numbers that no float32 has.
func wide(list []float64) (n int) {
	for _, x := range list {
		if float64(float32(x)) != x {
			n++
		}
	}
	return n
}
