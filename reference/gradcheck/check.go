package gradcheck

import (
	"fmt"
	"math"
	"slices"
)

// stepSize is how far Check goes from an element, in parts of the scale of its input. The
// error of a central difference is of the order of step² by truncation and 1e-16 / step by
// rounding, and least near the third root of 1e-16 (Press et al., Numerical Recipes, 5.7).
const stepSize = 1.0 / (1 << 17)

// tolerance is how far two numbers may be apart: relative times the larger one, and
// absolute times what an output is to its input.
type tolerance struct{ relative, absolute float64 }

var (
	agree = tolerance{1e-4, 1e-6}
	kink  = tolerance{1e-2, 1e-4}
)

func (t tolerance) of(x, y, ratio float64) float64 {
	return t.relative*max(math.Abs(x), math.Abs(y)) + t.absolute*ratio
}

// Check compares the gradient of f at some inputs with differences of its outputs. It
// returns an error of f, or one of this package where there is nothing to compare.
func Check(f Function, in ...[]float64) (*Report, error) {
	own := make([][]float64, len(in))
	for i, x := range in {
		own[i] = slices.Clone(x)
	}
	c := &checker{f: f, in: own}
	out, jacobian, err := c.jacobian()
	if err != nil {
		return nil, err
	}
	outAgain, jacobianAgain, err := c.jacobian()
	if err != nil {
		return nil, err
	}
	if !same(out, outAgain) || !slices.EqualFunc(jacobian, jacobianAgain, same) {
		return &Report{Unstable: true}, nil
	}
	for j, y := range out {
		if math.IsNaN(y) || math.IsInf(y, 0) {
			return nil, fmt.Errorf("%w: number %d is %v", ErrFinite, j, y)
		}
	}
	return c.compare(out, jacobian)
}

// same reports whether two lists are equal, NaN and NaN too.
func same(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(x, y float64) bool { return x == y || x != x && y != y })
}

// checker is a call of Check. Its inputs are its own, and what they are only while no
// element is being moved.
type checker struct {
	f  Function
	in [][]float64
}

// forward calls Forward, with a Context that wants all gradients.
func (c *checker) forward() ([]float64, *Context, error) {
	ctx := &Context{needs: make([]bool, len(c.in))}
	for i := range ctx.needs {
		ctx.needs[i] = true
	}
	out, err := c.f.Forward(ctx, c.in)
	if err != nil {
		return nil, nil, fmt.Errorf("forward: %w", err)
	}
	return out, ctx, nil
}

// jacobian returns the output and a row for each of its elements: the gradients of all
// inputs, one after the other.
func (c *checker) jacobian() (out []float64, rows [][]float64, err error) {
	out, ctx, err := c.forward()
	if err != nil {
		return nil, nil, err
	}
	out = slices.Clone(out)
	lengths := make([]int, len(c.in))
	for i, x := range c.in {
		lengths[i] = len(x)
	}
	for j := range out {
		unit := make([]float64, len(out))
		unit[j] = 1
		grads, err := gradients(c.f, ctx, unit, lengths)
		if err != nil {
			return nil, nil, err
		}
		row := []float64{}
		for i, g := range grads {
			if g == nil {
				g = make([]float64, lengths[i])
			}
			row = append(row, g...)
		}
		rows = append(rows, row)
	}
	return out, rows, nil
}

// compare moves one element after the other.
func (c *checker) compare(out []float64, jacobian [][]float64) (*Report, error) {
	report := &Report{}
	size, column := largest(out), 0
	for k, x := range c.in {
		scale := largest(x)
		if scale == 0 {
			scale = 1
		}
		for i := range x {
			before, after, err := c.moved(&x[i], scale*stepSize)
			if err != nil {
				return nil, err
			}
			wrong, bent := false, false
			for j := range out {
				d := differences{(out[j] - before[j]) / (scale * stepSize), (after[j] - out[j]) / (scale * stepSize), size / scale}
				bent = bent || d.kink()
				wrong = wrong || !d.agree(jacobian[j][column])
			}
			if bent {
				report.Kinks = append(report.Kinks, Place{k, i})
			}
			if wrong {
				report.Wrong = append(report.Wrong, Place{k, i})
			}
			column++
		}
	}
	return report, nil
}

// moved returns the outputs for *x - h and *x + h.
func (c *checker) moved(x *float64, h float64) (before, after []float64, err error) {
	at := *x
	defer func() { *x = at }()
	*x = at - h
	if before, _, err = c.forward(); err != nil {
		return nil, nil, err
	}
	before = slices.Clone(before)
	*x = at + h
	after, _, err = c.forward()
	return before, slices.Clone(after), err // it may be the input itself
}

func largest(x []float64) (abs float64) {
	for _, v := range x {
		abs = max(abs, math.Abs(v))
	}
	return abs
}

// differences are the quotients to the left and to the right of an element, and the ratio of
// the outputs' size to the input's.
type differences struct{ left, right, ratio float64 }

// kink reports whether the function bends here.
func (d differences) kink() bool {
	return math.Abs(d.left-d.right) > kink.of(d.left, d.right, d.ratio)
}

// agree reports whether a is the derivative; at a kink, whether it is a subgradient or the
// like: between both sides.
func (d differences) agree(a float64) bool {
	if d.kink() {
		tol := agree.of(d.left, d.right, d.ratio)
		return min(d.left, d.right)-tol <= a && a <= max(d.left, d.right)+tol
	}
	central := (d.left + d.right) / 2
	return !math.IsInf(a, 0) && math.Abs(a-central) <= agree.of(a, central, d.ratio)
}
