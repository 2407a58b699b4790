package gradcheck

import (
	"fmt"
	"math"
)

// pointwise is a Function of one vector, by f and its derivative in terms of x and f(x).
type pointwise struct {
	f     func(x float64) float64
	slope func(x, y float64) float64
}

var (
	softplus = pointwise{
		func(x float64) float64 {
			if x > 40 {
				return x
			}
			return math.Log1p(math.Exp(x))
		},
		func(x, _ float64) float64 { return 1 / (1 + math.Exp(-x)) },
	}
	relu = pointwise{
		func(x float64) float64 { return max(0, x) },
		func(x, _ float64) float64 {
			if x > 0 {
				return 1
			}
			return 0
		},
	}
)

func (p pointwise) forward(c *Context, in [][]float64) ([]float64, error) {
	if len(in) != 1 {
		return nil, fmt.Errorf("%w: %d inputs", ErrShape, len(in))
	}
	out := make([]float64, len(in[0]))
	for i, x := range in[0] {
		out[i] = p.f(x)
	}
	c.Save(in[0])
	c.Save(out)
	return out, nil
}

func (p pointwise) backward(c *Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil {
		return nil, err
	}
	g := make([]float64, len(grad))
	for i := range g {
		g[i] = grad[i] * p.slope(saved[0][i], saved[1][i])
	}
	return [][]float64{g}, nil
}

type Softplus struct{}

func (Softplus) Forward(c *Context, in [][]float64) ([]float64, error) {
	return softplus.forward(c, in)
}
func (Softplus) Backward(c *Context, grad []float64) ([][]float64, error) {
	return softplus.backward(c, grad)
}

type ReLU struct{}

func (ReLU) Forward(c *Context, in [][]float64) ([]float64, error)    { return relu.forward(c, in) }
func (ReLU) Backward(c *Context, grad []float64) ([][]float64, error) { return relu.backward(c, grad) }

type Mul struct{}

func (Mul) Forward(c *Context, in [][]float64) ([]float64, error) {
	if len(in) != 2 || len(in[0]) != len(in[1]) {
		return nil, ErrShape
	}
	c.Save(in[1], in[0])
	return times(in[0], in[1]), nil
}

func (Mul) Backward(c *Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil {
		return nil, err
	}
	return [][]float64{times(saved[0], grad), times(saved[1], grad)}, nil
}

func times(x, y []float64) []float64 {
	out := make([]float64, len(x))
	for i := range out {
		out[i] = x[i] * y[i]
	}
	return out
}

type Softmax struct{}

// Forward takes the logarithm of the sum into the exponent.
func (Softmax) Forward(c *Context, in [][]float64) ([]float64, error) {
	if len(in) != 1 {
		return nil, ErrShape
	}
	x := in[0]
	top := math.Inf(-1)
	for _, v := range x {
		top = max(top, v)
	}
	sum := 0.0
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Exp(v-top) / sum
	}
	c.Save(out)
	return out, nil
}

func (Softmax) Backward(c *Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil {
		return nil, err
	}
	g := times(saved[0], grad)
	sum := 0.0
	for _, v := range g {
		sum += v
	}
	for i := range g {
		g[i] -= sum * saved[0][i]
	}
	return [][]float64{g}, nil
}
