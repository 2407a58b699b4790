// Package hidden holds what students do not see. The tests record what the package
// answers, and compare nothing: grade compares it with what the reference answered.
package hidden

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/gradcheck"
)

// relative is how exactly numbers are compared.
var relative = observe.Within(1e-12, 1e-9)

// below draws from a to b, both included.
func below(r *rand.Rand, a, b int) int { return a + r.IntN(b-a+1) }

// positive draws n numbers between half and twice scale.
func positive(r *rand.Rand, n int, scale float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = scale * (0.5 + 1.5*r.Float64())
	}
	return x
}

// signed draws n numbers of either sign, none near 0.
func signed(r *rand.Rand, n int, scale float64) []float64 {
	x := positive(r, n, scale)
	for i := range x {
		if r.IntN(2) == 0 {
			x[i] = -x[i]
		}
	}
	return x
}

// fake is a Function made of two. It saves its inputs.
type fake struct {
	forward  func(in [][]float64) []float64
	backward func(in [][]float64, grad []float64) [][]float64
}

func (f fake) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	c.Save(in...)
	return f.forward(in), nil
}

func (f fake) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	in, err := c.Saved()
	if err == nil && len(in) == 0 {
		err = errNothing
	}
	if err != nil {
		return nil, err
	}
	return f.backward(in, grad), nil
}

// errNothing is what a fake returns that has saved something and finds nothing.
var errNothing = errors.New("nothing was saved")

// smooth makes of x and y the numbers x_i² y_i / scale + x_(i+1) y_i / 2, where scale is that of
// x. Its gradient is right, and then what broken makes of it.
func smooth(scale float64, broken func(in, grads [][]float64, grad []float64)) fake {
	return fake{
		forward: func(in [][]float64) []float64 {
			x, y := in[0], in[1]
			out := make([]float64, len(x))
			for i := range x {
				out[i] = x[i]*x[i]/scale*y[i] + x[(i+1)%len(x)]*y[i]/2
			}
			return out
		},
		backward: func(in [][]float64, grad []float64) [][]float64 {
			x, y := in[0], in[1]
			grads := [][]float64{make([]float64, len(x)), make([]float64, len(x))}
			for i, g := range grad {
				grads[0][i] += 2 * x[i] / scale * y[i] * g
				grads[0][(i+1)%len(x)] += y[i] / 2 * g
				grads[1][i] += (x[i]*x[i]/scale + x[(i+1)%len(x)]/2) * g
			}
			if broken != nil {
				broken(in, grads, grad)
			}
			return grads
		},
	}
}

// check records what Check finds.
func check(o *observe.Observer, name string, f gradcheck.Function, in ...[]float64) {
	report, err := gradcheck.Check(f, in...)
	o.Error(name+": error", err, gradcheck.ErrGradients, gradcheck.ErrFinite)
	o.Bool(name+": a report", report != nil)
	if report == nil {
		return
	}
	o.Bool(name+": unstable", report.Unstable)
	places(o, name+": wrong", report.Wrong)
	places(o, name+": kinks", report.Kinks)
}

// of names what is wrong in the first input only as it is, and else as a matter of further
// inputs, which does not count in other tests where TestCheckSecond fails.
func of(first bool, name string) string {
	if first {
		return name
	}
	return "further inputs: " + name
}

func places(o *observe.Observer, name string, list []gradcheck.Place) {
	flat := []int{}
	for _, p := range list {
		flat = append(flat, p.Input, p.Index)
	}
	o.Ints(name, flat)
}

// apply is Apply without an error.
func apply(tb testing.TB, f gradcheck.Function, in ...*gradcheck.Var) *gradcheck.Var {
	tb.Helper()
	v, err := gradcheck.Apply(f, in...)
	if err != nil || v == nil {
		tb.Fatal("Apply returns no vector, or an error")
	}
	return v
}

// weighted adds up the squares of its inputs, of each by a factor of its own.
func weighted(factors []float64) fake {
	return fake{
		forward: func(in [][]float64) []float64 {
			out := make([]float64, len(in[0]))
			for k, x := range in {
				for i, v := range x {
					out[i] += factors[k] * v * v
				}
			}
			return out
		},
		backward: func(in [][]float64, grad []float64) [][]float64 {
			grads := make([][]float64, len(in))
			for k, x := range in {
				grads[k] = make([]float64, len(x))
				for i, v := range x {
					grads[k][i] = 2 * factors[k] * v * grad[i]
				}
			}
			return grads
		},
	}
}

// many has n outputs of two inputs, each the sum of two numbers times a factor. Its gradient is
// right, and then what broken makes of it.
func many(n int, broken func(in, grads [][]float64, grad []float64)) fake {
	return fake{
		forward: func(in [][]float64) []float64 {
			out := make([]float64, n)
			for j := range out {
				out[j] = float64(1+j%5)*in[0][0] + float64(1+j%3)*in[1][1]
			}
			return out
		},
		backward: func(in [][]float64, grad []float64) [][]float64 {
			grads := [][]float64{make([]float64, len(in[0])), make([]float64, len(in[1]))}
			for j, g := range grad {
				grads[0][0] += float64(1+j%5) * g
				grads[1][1] += float64(1+j%3) * g
			}
			if broken != nil {
				broken(in, grads, grad)
			}
			return grads
		},
	}
}

// guarded looks whether the gradient of the output stays as it is in Backward.
type guarded struct {
	gradcheck.Function
	changed bool
	grads   [][]float64 // what Backward returned
}

func (g *guarded) Backward(c *gradcheck.Context, grad []float64) (grads [][]float64, err error) {
	was := slices.Clone(grad)
	g.grads, err = g.Function.Backward(c, grad)
	g.changed = g.changed || !slices.Equal(was, grad)
	return g.grads, err
}

// run applies f to leaves, goes backward, and records all that comes of it.
func run(t *testing.T, o *observe.Observer, name string, f gradcheck.Function, in ...[]float64) {
	t.Helper()
	runWith(t, o, name, f, signed(o.Rand(), len(in[0]), 1), in...)
}

// runWith is run with a certain gradient of the output.
func runWith(t *testing.T, o *observe.Observer, name string, f gradcheck.Function, seed []float64, in ...[]float64) {
	t.Helper()
	tape := gradcheck.NewTape()
	vars := make([]*gradcheck.Var, len(in))
	for i, x := range in {
		vars[i] = tape.Leaf(x)
	}
	runOn(t, o, name, tape, f, seed, vars...)
}

// runOn is runWith on a tape, with Vars of which some may be constants.
func runOn(t *testing.T, o *observe.Observer, name string, tape *gradcheck.Tape, f gradcheck.Function, seed []float64, vars ...*gradcheck.Var) {
	t.Helper()
	g := &guarded{Function: f}
	data := func() (all []float64) {
		for _, v := range vars {
			all = append(all, v.Data...)
		}
		return all
	}
	before := data()
	out := apply(t, g, vars...)
	o.Floats(name+": output", thin(out.Data), relative)
	output := slices.Clone(out.Data)
	if len(out.Data) != len(seed) {
		t.Fatal("the output has another length than the input")
	}
	o.Error(name+": error of Backward", tape.Backward(out, seed))
	for _, v := range vars {
		if v.Tape() != nil { // constants are the subject of TestNeeds
			o.Floats(name+": gradient", thin(v.Grad()), relative)
		}
	}
	o.Bool(name+": inputs as they were", slices.Equal(before, data()))
	o.Bool(name+": output as it was", slices.Equal(output, out.Data))
	o.Bool(name+": gradient of the output as it was", !g.changed)
}

// thin leaves of many numbers every 37th and the last ones.
func thin(x []float64) []float64 {
	if len(x) < 5000 {
		return x
	}
	some := []float64{float64(len(x))}
	for i := 0; i < len(x); i += 37 {
		some = append(some, x[i])
	}
	return append(append(some, weighed(x)), x[len(x)-40:]...)
}

// weighed is one number for all, in which each has a weight.
func weighed(x []float64) (sum float64) {
	for i, v := range x {
		sum += math.Abs(v) * float64(1+i%7)
	}
	return sum
}
