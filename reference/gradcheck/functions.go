package gradcheck

import (
	"fmt"
	"math"
)

// lengths returns ErrShape unless there are n inputs, all of one length.
func lengths(in [][]float64, n int) error {
	if len(in) != n {
		return fmt.Errorf("%w: %d inputs, want %d", ErrShape, len(in), n)
	}
	for _, x := range in {
		if len(x) != len(in[0]) {
			return fmt.Errorf("%w: %d and %d numbers", ErrShape, len(in[0]), len(x))
		}
	}
	return nil
}

// mapped returns f of each pair.
func mapped(x, y []float64, f func(x, y float64) float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = f(x[i], y[i])
	}
	return out
}

func product(x, y float64) float64 { return x * y }

// Mul multiplies two vectors, element by element.
type Mul struct{}

// Forward saves the factors: the gradient of each is the other.
func (Mul) Forward(c *Context, in [][]float64) ([]float64, error) {
	if err := lengths(in, 2); err != nil {
		return nil, err
	}
	c.Save(in...)
	return mapped(in[0], in[1], product), nil
}

// Backward returns the gradients of both factors, where they are needed.
func (Mul) Backward(c *Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil {
		return nil, err
	}
	grads := make([][]float64, 2)
	for i := range grads {
		if c.Needs(i) {
			grads[i] = mapped(grad, saved[1-i], product)
		}
	}
	return grads, nil
}

// unary is Forward of a function of one vector, of which save returns what to save.
func unary(c *Context, in [][]float64, f func(x []float64) []float64, save func(x, out []float64) []float64) ([]float64, error) {
	if err := lengths(in, 1); err != nil {
		return nil, err
	}
	out := f(in[0])
	c.Save(save(in[0], out))
	return out, nil
}

func first(x, _ []float64) []float64    { return x }
func second(_, out []float64) []float64 { return out }

// elementwise is Backward of a function whose elements have nothing to do with each other.
func elementwise(c *Context, grad []float64, f func(g, saved float64) float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil {
		return nil, err
	}
	return [][]float64{mapped(grad, saved[0], f)}, nil
}

// Softplus is log(1 + exp(x)), a smooth ReLU.
type Softplus struct{}

// Forward computes it as max(x, 0) + log1p(exp(-|x|)), in which nothing overflows.
func (Softplus) Forward(c *Context, in [][]float64) ([]float64, error) {
	return unary(c, in, func(x []float64) []float64 {
		return mapped(x, x, func(x, _ float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) })
	}, first)
}

// Backward multiplies by the derivative, the logistic function.
func (Softplus) Backward(c *Context, grad []float64) ([][]float64, error) {
	return elementwise(c, grad, func(g, x float64) float64 { return g / (1 + math.Exp(-x)) })
}

// ReLU is max(x, 0).
type ReLU struct{}

// Forward saves the output, which is above 0 where the input is.
func (ReLU) Forward(c *Context, in [][]float64) ([]float64, error) {
	return unary(c, in, func(x []float64) []float64 {
		return mapped(x, x, func(x, _ float64) float64 { return max(x, 0) })
	}, second)
}

// Backward takes 0 for the derivative at 0, as PyTorch does.
func (ReLU) Backward(c *Context, grad []float64) ([][]float64, error) {
	return elementwise(c, grad, func(g, out float64) float64 {
		if out > 0 {
			return g
		}
		return 0
	})
}

// Softmax is exp(x) divided by its sum.
type Softmax struct{}

// Forward subtracts the largest element first, so that no exponential is above 1. It
// saves the output.
func (Softmax) Forward(c *Context, in [][]float64) ([]float64, error) {
	return unary(c, in, softmax, second)
}

func softmax(x []float64) []float64 {
	largest := math.Inf(-1)
	for _, v := range x {
		largest = max(largest, v)
	}
	sum := 0.0
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Exp(v - largest)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// Backward is the product of grad and the Jacobian y_i (δ_ij - y_j), which is never made:
// y_i (g_i - Σ g_j y_j).
func (Softmax) Backward(c *Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err != nil {
		return nil, err
	}
	mean := 0.0
	for i, y := range saved[0] {
		mean += grad[i] * y
	}
	return elementwise(c, grad, func(g, y float64) float64 { return y * (g - mean) })
}
