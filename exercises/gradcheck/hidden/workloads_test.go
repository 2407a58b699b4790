package hidden

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"grade/observe"
	"grade/reference/gradcheck"
)

// faulty is gather, but for the first output, which is a number and its neighbour times sign, added
// up. Backward leaves out this one and the first of the places, and has a number of its own for some
// others. Who moves blocks of elements by the same step finds that neighbours who cancel do nothing.
func faulty(r *rand.Rand, x []float64, sign float64) fake {
	n, pair := len(x), neighbours(r, x)
	at, others := drawn(r, 11, n), drawn(r, below(r, 1, 5), n)
	missing := below(r, 3, 6)
	f, rest, of := gather(at, -1, 0), gather(at[missing:], -1, 0), r.IntN(len(at))
	forward := f.forward
	f.forward = func(in [][]float64) []float64 {
		out := forward(in)
		out[0] = in[0][pair] + sign*in[0][pair+1]
		return out
	}
	f.backward = func(in [][]float64, grad []float64) [][]float64 {
		grads := rest.backward(in, grad[missing:])
		for _, i := range others {
			grads[0][i] += grad[of]
		}
		return grads
	}
	return f
}

// neighbours draws the first of two that are both above 1: a step for both of them leaves their
// difference as it was, to the last bit.
func neighbours(r *rand.Rand, x []float64) int {
	for {
		if i := r.IntN(len(x) - 1); min(x[i], x[i+1]) > 1 {
			return i
		}
	}
}

// drawn draws numbers below n.
func drawn(r *rand.Rand, count, n int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = r.IntN(n)
	}
	return list
}

// An input of 60,000 elements of which a function uses a few, checked. Time: that of two calls of
// Forward for each element, and no pass over all of them for one.
func BenchmarkCheck(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	n := below(r, 59_000, 61_000)
	x := positive(r, n, 1)
	functions := []fake{faulty(r, x, -1), faulty(r, x, 1), faulty(r, x, -1)}
	reports := make([]*gradcheck.Report, len(functions))
	for o.Loop() {
		for i, f := range functions {
			reports[i], _ = gradcheck.Check(f, x)
		}
	}
	for _, report := range reports {
		o.Bool("a report", report != nil)
		if report != nil {
			places(o, "wrong, among 60,000", report.Wrong)
			places(o, "kinks, among 60,000", report.Kinks)
		}
	}
}

// softmax is a pass of a Softmax forward and backward, of numbers that are others in each pass.
func softmax(b *testing.B, x, seed []float64) (output, gradient []float64) {
	b.Helper()
	tape := gradcheck.NewTape()
	leaf := tape.Leaf(x)
	v := apply(b, gradcheck.Softmax{}, leaf)
	if tape.Backward(v, seed) != nil {
		b.Fatal("Backward fails")
	}
	if len(v.Data) != len(x) || len(leaf.Grad()) != len(x) {
		b.Fatal("an output or a gradient has another length than the input")
	}
	return v.Data, leaf.Grad()
}

// 3,000 Softmaxes of 1,000 elements, forward and backward. Time: that of a few passes over the
// elements, and no matrix of all derivatives.
func BenchmarkSoftmax(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	numbers, seeds := signed(r, 3_000, 2), signed(r, 3_000, 1)
	var outputs, gradients float64
	for o.Loop() {
		outputs, gradients = 0, 0
		for i := range below(r, 2_950, 3_050) {
			n, at := below(r, 980, 1_020), r.IntN(1_980)
			output, gradient := softmax(b, numbers[at:at+n], seeds[at:at+n])
			for range 8 { // places that nobody knows before
				k := r.IntN(n)
				weight := float64(1 + (i+k)%101)
				outputs += weight * output[k]
				gradients += weight * gradient[k]
			}
		}
	}
	o.Float("outputs of all calls at drawn places, added up with weights", outputs, relative)
	o.Float("gradients of all calls at drawn places, added up with weights", gradients, relative)
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
	n := below(r, 99_000, 101_000)
	x, y := gradcheck.Const(positive(r, n, 1)), gradcheck.Const(positive(r, n, 0.64)) // their mean product is about 1
	start := positive(r, 1, 1)
	var v, leaf *gradcheck.Var
	for o.Loop() {
		tape := gradcheck.NewTape()
		leaf = tape.Leaf(start)
		v = leaf
		for range below(r, 58, 62) {
			v = apply(b, dot{}, v, x, y)
		}
		if tape.Backward(v, []float64{1}) != nil {
			b.Fatal("Backward fails")
		}
	}
	o.Floats("output of all applications", v.Data, relative)
	o.Floats("gradient through all applications", leaf.Grad(), relative)
}

// 150 passes on one tape, of which each saves 100,000 numbers. Memory: those of a pass, for what
// was saved for those before is freed.
func BenchmarkRelease(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	start := positive(r, 1, 1)
	var leaf *gradcheck.Var
	outputs := 0.0
	for o.Loop() {
		tape := gradcheck.NewTape()
		leaf = tape.Leaf(start)
		outputs = 0
		for i := range below(r, 148, 152) {
			if i%5 == 0 {
				runtime.GC()
			}
			v := apply(b, fresh{step: 1 + r.Float64(), at: drawn(r, 16, 100_000)}, leaf)
			if tape.Backward(v, positive(r, 1, 1)) != nil {
				b.Fatal("Backward fails")
			}
			outputs += float64(1+i%101) * v.Data[0]
		}
	}
	o.Float("outputs of all passes, added up with weights", outputs, relative)
	o.Floats("gradients of all passes, added up", leaf.Grad(), relative)
}

// fresh saves a long list of its own.
type fresh struct {
	step float64 // of the list
	at   []int   // the places in it that count
}

func (f fresh) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	list := make([]float64, 100_000)
	for i := range list {
		list[i] = in[0][0] + float64(i%101)*f.step
	}
	c.Save(list)
	return []float64{list[f.at[0]]}, nil
}

func (f fresh) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil || len(saved) != 1 {
		return nil, err
	}
	sum := 0.0
	for _, i := range f.at {
		sum += saved[0][i]
	}
	return [][]float64{{grad[0] * sum / float64(len(f.at))}}, nil
}
