package hidden

import (
	"runtime"
	"testing"

	"grade/observe"
	"grade/reference/gradcheck"
)

// An input of 60,000 elements of which a function uses a few, checked. Time: that of two calls of
// Forward for each element, and no pass over all of them for one.
func BenchmarkCheck(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	n := 60_000
	x := positive(r, n, 1)
	at := make([]int, 12)
	for j := range at {
		at[j] = r.IntN(n)
	}
	wrong := r.IntN(n)
	var reports [3]*gradcheck.Report
	for o.Loop() {
		for i := range reports {
			reports[i], _ = gradcheck.Check(gather(at, (wrong+i)%n, 0), x)
		}
	}
	for _, report := range reports {
		o.Bool("a report", report != nil)
		if report != nil {
			places(o, "wrong", report.Wrong)
		}
	}
}

// 3,000 Softmaxes of 1,000 elements, forward and backward. Time: that of a few passes over the
// elements, and no matrix of all derivatives.
func BenchmarkSoftmax(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x, seed := signed(r, 1000, 2), signed(r, 1000, 1)
	var v, leaf *gradcheck.Var
	for o.Loop() {
		for i := range 3000 {
			x[i%1000] += 0.25
			tape := gradcheck.NewTape()
			leaf = tape.Leaf(x)
			v = apply(b, gradcheck.Softmax{}, leaf)
			if tape.Backward(v, seed) != nil {
				b.Fatal("Backward fails")
			}
		}
	}
	o.Floats("output", v.Data, relative)
	o.Floats("gradient", leaf.Grad(), relative)
}

// dot multiplies two long vectors and adds up. It makes no gradients but one number each.
type dot struct{}

func (dot) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	c.Save(in[1:]...)
	s := 0.0
	for i, x := range in[1] {
		s += x * in[2][i]
	}
	return []float64{in[0][0] * s / float64(len(in[1]))}, nil
}

func (dot) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil || len(saved) != 2 {
		return nil, err
	}
	s := 0.0
	for i, x := range saved[0] {
		s += x * saved[1][i]
	}
	return [][]float64{{grad[0] * s / float64(len(saved[0]))}, nil, nil}, nil
}

// 60 applications save the same two vectors of 100,000 elements. Memory: what is saved is not
// copied.
func BenchmarkSave(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	x, y := gradcheck.Const(positive(r, 100_000, 1)), gradcheck.Const(positive(r, 100_000, 0.5))
	var v, leaf *gradcheck.Var
	for o.Loop() {
		tape := gradcheck.NewTape()
		leaf = tape.Leaf([]float64{1})
		v = leaf
		for range 60 {
			v = apply(b, dot{}, v, x, y)
		}
		if tape.Backward(v, []float64{1}) != nil {
			b.Fatal("Backward fails")
		}
	}
	o.Floats("output", v.Data, relative)
	o.Floats("gradient", leaf.Grad(), relative)
}

// 150 passes on one tape, of which each saves 100,000 numbers. Memory: those of a pass, for what
// was saved for those before is freed.
func BenchmarkRelease(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	start := positive(r, 1, 1)
	var leaf *gradcheck.Var
	f := fresh{}
	for o.Loop() {
		tape := gradcheck.NewTape()
		leaf = tape.Leaf(start)
		for i := range 150 {
			if i%5 == 0 {
				runtime.GC()
			}
			v := apply(b, f, leaf)
			if tape.Backward(v, []float64{1}) != nil {
				b.Fatal("Backward fails")
			}
		}
	}
	o.Floats("gradient", leaf.Grad(), relative)
}

// fresh saves a long list of its own.
type fresh struct{}

func (fresh) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	list := make([]float64, 100_000)
	for i := range list {
		list[i] = in[0][0] + float64(i%3)
	}
	c.Save(list)
	return []float64{list[9]}, nil
}

func (fresh) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil || len(saved) != 1 {
		return nil, err
	}
	return [][]float64{{grad[0] * saved[0][99_999]}}, nil
}
