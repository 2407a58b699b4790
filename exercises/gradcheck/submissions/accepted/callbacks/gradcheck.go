// Package gradcheck is made of closures: an application is a function that can be called once.
package gradcheck

import (
	"math"
	"slices"
)

// Context has functions for methods.
type Context struct {
	save  func([][]float64)
	saved func() ([][]float64, error)
	needs func(int) bool
}

func (c *Context) Save(values ...[]float64)    { c.save(values) }
func (c *Context) Saved() ([][]float64, error) { return c.saved() }
func (c *Context) Needs(i int) bool            { return c.needs(i) }
func always(n int) func(int) bool              { return func(i int) bool { return 0 <= i && i < n } }
func finite(x float64) bool                    { return x-x == 0 }
func alike(x, y float64) bool                  { return x == y || x != x && y != y }
func magnitude(x []float64) float64 {
	return fold(x, func(m, v float64) float64 { return max(m, math.Abs(v)) })
}
func fold(x []float64, f func(m, v float64) float64) (m float64) {
	for _, v := range x {
		m = f(m, v)
	}
	return m
}

// start calls Forward. back calls Backward, as often as free was not called.
func start(f Function, in [][]float64, needs func(int) bool) (out []float64, back func([]float64) ([][]float64, error), free func(), err error) {
	var kept [][]float64
	gone := false
	c := &Context{
		save: func(values [][]float64) { kept = append(kept, values...) },
		saved: func() ([][]float64, error) {
			if gone {
				return nil, ErrFreed
			}
			return kept, nil
		},
		needs: needs,
	}
	free = func() { kept, gone = nil, true }
	sizes := make([]int, len(in))
	for i, x := range in {
		sizes[i] = len(x)
	}
	if out, err = f.Forward(c, in); err != nil {
		free()
	}
	back = func(grad []float64) ([][]float64, error) {
		if gone {
			return nil, ErrFreed
		}
		grads, err := f.Backward(c, grad)
		if err == nil && len(grads) != len(sizes) {
			err = ErrGradients
		}
		if err != nil {
			return nil, err
		}
		wanted := make([][]float64, len(grads))
		for i, g := range grads {
			if g == nil || !needs(i) {
				continue
			}
			if len(g) != sizes[i] {
				return nil, ErrGradients
			}
			wanted[i] = g
		}
		return wanted, nil
	}
	return out, back, free, err
}

func Apply(f Function, in ...*Var) (*Var, error) {
	in = slices.Clone(in)
	data := make([][]float64, len(in))
	var tape *Tape
	for i, v := range in {
		data[i] = v.Data
		if v.Tape() != nil && tape != nil && tape != v.Tape() {
			return nil, ErrTape
		}
		if v.Tape() != nil {
			tape = v.Tape()
		}
	}
	inside := always(len(in))
	out, back, free, err := start(f, data, func(i int) bool { return inside(i) && in[i].Tape() != nil })
	if err != nil {
		return nil, err
	}
	if tape == nil {
		free()
		return Const(out), nil
	}
	return tape.Record(out, func(grad []float64) error {
		defer free()
		grads, err := back(grad)
		for i, g := range grads {
			if g != nil {
				in[i].AddGrad(g)
			}
		}
		return err
	}), nil
}

func Check(f Function, in ...[]float64) (*Report, error) {
	needs := always(len(in))
	base := make([][]float64, len(in))
	for i := range in {
		base[i] = slices.Clone(in[i])
	}
	var outs [2][]float64
	var rows [2][][][]float64
	for n := range outs {
		out, back, _, err := start(f, base, needs)
		if err != nil {
			return nil, err
		}
		outs[n] = slices.Clone(out)
		for j := range out {
			unit := make([]float64, len(out))
			unit[j] = 1
			grads, err := back(unit)
			if err != nil {
				return nil, err
			}
			rows[n] = append(rows[n], grads)
		}
	}
	out := outs[0]
	if !slices.EqualFunc(out, outs[1], alike) || !slices.EqualFunc(rows[0], rows[1], func(a, b [][]float64) bool {
		return slices.EqualFunc(a, b, func(a, b []float64) bool { return slices.EqualFunc(a, b, alike) })
	}) {
		return &Report{Unstable: true}, nil
	}
	if !finite(fold(out, func(m, v float64) float64 { return m + v - v })) {
		return nil, ErrFinite
	}
	// Moved elements are those of a second copy.
	work := make([][]float64, len(in))
	for i := range in {
		work[i] = slices.Clone(in[i])
	}
	evaluate := func() ([]float64, error) {
		out, _, _, err := start(f, work, needs)
		return slices.Clone(out), err
	}
	r := &Report{}
	top := magnitude(out)
	for k := range work {
		s := magnitude(work[k])
		if s == 0 {
			s = 1
		}
		h := math.Ldexp(s, -17)
		for i := range work[k] {
			work[k][i] = base[k][i] + h
			plus, err := evaluate()
			if err != nil {
				return nil, err
			}
			work[k][i] = base[k][i] - h
			minus, err := evaluate()
			if err != nil {
				return nil, err
			}
			work[k][i] = base[k][i]
			place, bad, kinked := Place{Input: k, Index: i}, false, false
			for j, y := range out {
				a := 0.0
				if g := rows[0][j][k]; g != nil {
					a = g[i]
				}
				left, right, mid := (y-minus[j])/h, (plus[j]-y)/h, (plus[j]-minus[j])/(2*h)
				if m := max(math.Abs(left), math.Abs(right)); math.Abs(left-right) > 1e-2*m+1e-4*top/s {
					kinked = true
					e := 1e-4*m + 1e-6*top/s
					bad = bad || !(a >= min(left, right)-e) || !(a <= max(left, right)+e)
				} else {
					bad = bad || !finite(a) || math.Abs(a-mid) > 1e-4*max(math.Abs(a), math.Abs(mid))+1e-6*top/s
				}
			}
			if bad {
				r.Wrong = append(r.Wrong, place)
			}
			if kinked {
				r.Kinks = append(r.Kinks, place)
			}
		}
	}
	return r, nil
}
