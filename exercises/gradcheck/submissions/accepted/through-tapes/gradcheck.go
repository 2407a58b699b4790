// Package gradcheck checks a Function where it is used: on a tape, with one for each output.
package gradcheck

import "math"

type Context struct {
	in    []*Var
	saved *[][]float64
}

func (c *Context) Save(values ...[]float64) { *c.saved = append(*c.saved, values...) }

func (c *Context) Saved() ([][]float64, error) {
	if c.saved == nil {
		return nil, ErrFreed
	}
	return *c.saved, nil
}

func (c *Context) Needs(i int) bool {
	return uint(i) < uint(len(c.in)) && c.in[i].Tape() != nil
}

func Apply(f Function, in ...*Var) (*Var, error) {
	in = append([]*Var(nil), in...)
	var tape *Tape
	var data [][]float64
	for _, v := range in {
		switch {
		case v.Tape() == nil || v.Tape() == tape:
		case tape == nil:
			tape = v.Tape()
		default:
			return nil, ErrTape
		}
		data = append(data, v.Data)
	}
	c := &Context{in, new([][]float64)}
	out, err := f.Forward(c, data)
	if err != nil || tape == nil {
		c.saved = nil
	}
	if err != nil {
		return nil, err
	}
	if tape == nil {
		return Const(out), nil
	}
	return tape.Record(out, func(grad []float64) error {
		if c.saved == nil {
			return ErrFreed
		}
		grads, err := f.Backward(c, grad)
		c.saved = nil
		if err != nil {
			return err
		}
		if len(grads) != len(in) {
			return ErrGradients
		}
		for i, g := range grads {
			if c.Needs(i) && g != nil && len(g) != len(in[i].Data) {
				return ErrGradients
			}
		}
		for i, g := range grads {
			if c.Needs(i) && g != nil {
				in[i].AddGrad(g)
			}
		}
		return nil
	}), nil
}

// pass returns the output, and the gradient of one of its elements.
func pass(f Function, in [][]float64, j int) ([]float64, [][]float64, error) {
	tape := NewTape()
	vars := make([]*Var, len(in))
	for i, x := range in {
		vars[i] = tape.Leaf(x)
	}
	out, err := Apply(f, vars...)
	if err != nil {
		return nil, nil, err
	}
	if out.Tape() == nil || j < 0 || j >= len(out.Data) {
		return out.Data, nil, nil
	}
	unit := make([]float64, len(out.Data))
	unit[j] = 1
	err = tape.Backward(out, unit)
	grads := make([][]float64, len(in))
	for i, v := range vars {
		if grads[i] = v.Grad(); grads[i] == nil {
			grads[i] = make([]float64, len(in[i]))
		}
	}
	return out.Data, grads, err
}

func differ(x, y []float64) bool {
	if len(x) != len(y) {
		return true
	}
	for i := range x {
		if x[i] != y[i] && !(math.IsNaN(x[i]) && math.IsNaN(y[i])) {
			return true
		}
	}
	return false
}

func biggest(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = math.Max(m, math.Abs(v))
	}
	return m
}

func Check(f Function, given ...[]float64) (*Report, error) {
	in := make([][]float64, len(given))
	for i, x := range given {
		in[i] = append([]float64{}, x...)
	}
	out, _, err := pass(f, in, -1)
	if err != nil {
		return nil, err
	}
	out = append([]float64{}, out...)
	unstable := false
	slopes := make([][][]float64, len(out))
	for j := range out {
		for range 2 {
			again, grads, err := pass(f, in, j)
			if err != nil {
				return nil, err
			}
			unstable = unstable || differ(out, again)
			for k := range grads {
				unstable = unstable || slopes[j] != nil && differ(slopes[j][k], grads[k])
			}
			slopes[j] = grads
		}
	}
	if unstable {
		return &Report{Unstable: true}, nil
	}
	for _, y := range out {
		if math.IsNaN(y - y) {
			return nil, ErrFinite
		}
	}
	r := new(Report)
	for k, x := range in {
		s := biggest(x)
		if s == 0 {
			s = 1
		}
		h, ratio := s/131072, biggest(out)/s
		for i, at := range x {
			x[i] = at + h
			up, _, err := pass(f, in, -1)
			if err != nil {
				return nil, err
			}
			up = append([]float64{}, up...)
			x[i] = at - h
			down, _, err := pass(f, in, -1)
			if err != nil {
				return nil, err
			}
			down = append([]float64{}, down...)
			x[i] = at
			var wrong, kinked bool
			for j, y := range out {
				a := slopes[j][k][i]
				left, right := (y-down[j])/h, (up[j]-y)/h
				both := math.Max(math.Abs(left), math.Abs(right))
				if math.Abs(left-right) > both/100+ratio/1e4 {
					kinked = true
					slack := both/1e4 + ratio/1e6
					if !(a >= math.Min(left, right)-slack && a <= math.Max(left, right)+slack) {
						wrong = true
					}
				} else if d := (up[j] - down[j]) / (2 * h); math.IsInf(a, 0) || !(math.Abs(a-d) <= math.Max(math.Abs(a), math.Abs(d))/1e4+ratio/1e6) {
					wrong = true
				}
			}
			if wrong {
				r.Wrong = append(r.Wrong, Place{k, i})
			}
			if kinked {
				r.Kinks = append(r.Kinks, Place{k, i})
			}
		}
	}
	return r, nil
}
