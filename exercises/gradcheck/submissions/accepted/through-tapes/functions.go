package gradcheck

import "math"

func only(in [][]float64) ([]float64, error) {
	if len(in) == 1 {
		return in[0], nil
	}
	return nil, ErrShape
}

type Mul struct{}

func (Mul) Forward(c *Context, in [][]float64) ([]float64, error) {
	if len(in) != 2 || len(in[0]) != len(in[1]) {
		return nil, ErrShape
	}
	c.Save(in[0], in[1])
	out := make([]float64, len(in[0]))
	for i := range out {
		out[i] = in[0][i] * in[1][i]
	}
	return out, nil
}

func (Mul) Backward(c *Context, grad []float64) ([][]float64, error) {
	s, err := c.Saved()
	if err != nil {
		return nil, err
	}
	a, b := make([]float64, len(grad)), make([]float64, len(grad))
	for i, g := range grad {
		a[i], b[i] = g*s[1][i], g*s[0][i]
	}
	return [][]float64{a, b}, nil
}

type Softplus struct{}

func (Softplus) Forward(c *Context, in [][]float64) ([]float64, error) {
	x, err := only(in)
	if err != nil {
		return nil, err
	}
	out, slope := make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		e := math.Exp(-math.Abs(v))
		out[i], slope[i] = math.Log1p(e), e/(1+e)
		if v > 0 {
			out[i], slope[i] = v+math.Log1p(e), 1/(1+e)
		}
	}
	c.Save(slope)
	return out, nil
}

func (Softplus) Backward(c *Context, grad []float64) ([][]float64, error) {
	s, err := c.Saved()
	if err != nil {
		return nil, err
	}
	g := append([]float64{}, grad...)
	for i := range g {
		g[i] *= s[0][i]
	}
	return [][]float64{g}, nil
}

type ReLU struct{}

func (ReLU) Forward(c *Context, in [][]float64) ([]float64, error) {
	x, err := only(in)
	if err != nil {
		return nil, err
	}
	c.Save(x)
	out := make([]float64, len(x))
	for i, v := range x {
		if v > 0 {
			out[i] = v
		}
	}
	return out, nil
}

func (ReLU) Backward(c *Context, grad []float64) ([][]float64, error) {
	s, err := c.Saved()
	if err != nil {
		return nil, err
	}
	g := append([]float64{}, grad...)
	for i, v := range s[0] {
		if v <= 0 {
			g[i] = 0
		}
	}
	return [][]float64{g}, nil
}

type Softmax struct{}

func (Softmax) Forward(c *Context, in [][]float64) ([]float64, error) {
	x, err := only(in)
	if err != nil {
		return nil, err
	}
	out := append([]float64{}, x...)
	c.Save(out)
	if len(x) == 0 {
		return out, nil
	}
	top, sum := x[0], 0.0
	for _, v := range x {
		if v > top {
			top = v
		}
	}
	for i, v := range x {
		out[i] = math.Exp(v - top)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out, nil
}

func (Softmax) Backward(c *Context, grad []float64) ([][]float64, error) {
	s, err := c.Saved()
	if err != nil {
		return nil, err
	}
	dot := 0.0
	for i, g := range grad {
		dot += g * s[0][i]
	}
	out := make([]float64, len(grad))
	for i, y := range s[0] {
		out[i] = y*grad[i] - y*dot
	}
	return [][]float64{out}, nil
}
