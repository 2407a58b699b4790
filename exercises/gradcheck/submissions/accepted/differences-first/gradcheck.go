// Package gradcheck moves all elements first, and asks for gradients when it has all
// differences.
package gradcheck

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Context is the application itself: function, inputs and what is between them.
type Context struct {
	f     Function
	needs map[int]*Var // nil in Check
	sizes []int
	all   bool
	state [][]float64
	done  bool
}

func (c *Context) Save(values ...[]float64) {
	for _, v := range values {
		c.state = append(c.state, v)
	}
}

func (c *Context) Saved() ([][]float64, error) {
	if c.done {
		return nil, ErrFreed
	}
	return c.state, nil
}

func (c *Context) Needs(i int) bool {
	if c.all {
		return i >= 0 && i < len(c.sizes)
	}
	return c.needs[i] != nil
}

func (c *Context) release() {
	c.done = true
	c.state = nil
}

// gradients is Backward of the Function, with what it returns looked at.
func (c *Context) gradients(grad []float64) ([][]float64, error) {
	list, err := c.f.Backward(c, grad)
	if err != nil {
		return nil, err
	}
	if len(list) != len(c.sizes) {
		return nil, fmt.Errorf("%w: %d", ErrGradients, len(list))
	}
	list = slices.Clone(list) // that of the Function may be kept by it
	for i := range list {
		if !c.Needs(i) {
			list[i] = nil
		}
		if list[i] != nil && len(list[i]) != c.sizes[i] {
			return nil, fmt.Errorf("%w: input %d", ErrGradients, i)
		}
	}
	return list, nil
}

// step is what the tape calls.
func (c *Context) step(grad []float64) error {
	if c.done {
		return ErrFreed
	}
	list, err := c.gradients(grad)
	c.release()
	for i, g := range list {
		if g != nil {
			c.needs[i].AddGrad(g)
		}
	}
	return err
}

func Apply(f Function, in ...*Var) (*Var, error) {
	c := &Context{f: f, needs: map[int]*Var{}}
	tapes := map[*Tape]bool{}
	var tape *Tape
	data := [][]float64{}
	for i, v := range in {
		data = append(data, v.Data)
		c.sizes = append(c.sizes, len(v.Data))
		if t := v.Tape(); t != nil {
			tape, tapes[t], c.needs[i] = t, true, v
		}
	}
	if len(tapes) > 1 {
		return nil, ErrTape
	}
	out, err := f.Forward(c, data)
	switch {
	case err != nil:
		c.release()
		return nil, err
	case tape == nil:
		c.release()
		return Const(out), nil
	}
	return tape.Record(out, c.step), nil
}

// row is what one element does to all outputs.
type row struct {
	place       Place
	ratio       float64
	left, right []float64
}

func size(x []float64) (s float64) {
	for _, v := range x {
		s = max(s, v, -v)
	}
	return s
}

type session struct {
	f     Function
	in    [][]float64
	sizes []int
}

func (s *session) forward() ([]float64, *Context, error) {
	c := &Context{f: s.f, sizes: s.sizes, all: true}
	out, err := s.f.Forward(c, s.in)
	return slices.Clone(out), c, err
}

// differences returns a row for each element.
func (s *session) differences(out []float64) (rows []row, err error) {
	f := size(out)
	for k, x := range s.in {
		scale := cmp.Or(size(x), 1)
		h := scale / (1 << 17)
		for i, at := range x {
			r := row{place: Place{k, i}, ratio: f / scale}
			x[i] = at - h
			if r.left, _, err = s.forward(); err != nil {
				return nil, err
			}
			x[i] = at + h
			if r.right, _, err = s.forward(); err != nil {
				return nil, err
			}
			x[i] = at
			for j, y := range out {
				r.left[j] = (y - r.left[j]) / h
				r.right[j] = (r.right[j] - y) / h
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

func equal(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }

func Check(f Function, in ...[]float64) (*Report, error) {
	s := &session{f: f}
	for _, x := range in {
		s.in = append(s.in, slices.Clone(x))
		s.sizes = append(s.sizes, len(x))
	}
	out, first, err := s.forward()
	if err != nil {
		return nil, err
	}
	again, second, err := s.forward()
	if err != nil {
		return nil, err
	}
	columns := make([][]float64, len(out))
	stable := slices.EqualFunc(out, again, equal)
	for j := range columns {
		for _, c := range []*Context{first, second} {
			unit := make([]float64, len(out))
			unit[j] = 1
			grads, err := c.gradients(unit)
			if err != nil {
				return nil, err
			}
			column := []float64{}
			for i, g := range grads {
				if g == nil {
					g = make([]float64, s.sizes[i])
				}
				column = append(column, g...)
			}
			stable = stable && (c == first || slices.EqualFunc(columns[j], column, equal))
			columns[j] = column
		}
	}
	if !stable {
		return &Report{Unstable: true}, nil
	}
	if slices.ContainsFunc(out, func(y float64) bool { return math.IsInf(y, 0) || math.IsNaN(y) }) {
		return nil, ErrFinite
	}
	rows, err := s.differences(out)
	if err != nil {
		return nil, err
	}
	report := Report{}
	for i, r := range rows {
		wrong, bent := 0, 0
		for j := range out {
			ok, kink := r.judge(j, columns[j][i])
			if !ok {
				wrong++
			}
			if kink {
				bent++
			}
		}
		if wrong > 0 {
			report.Wrong = append(report.Wrong, r.place)
		}
		if bent > 0 {
			report.Kinks = append(report.Kinks, r.place)
		}
	}
	return &report, nil
}

// judge compares a with the differences of output j.
func (r row) judge(j int, a float64) (ok, kink bool) {
	low, high := min(r.left[j], r.right[j]), max(r.left[j], r.right[j])
	most := max(math.Abs(low), math.Abs(high))
	if high-low > 0.01*most+1e-4*r.ratio {
		slack := 1e-4*most + 1e-6*r.ratio
		return low-slack <= a && a <= high+slack, true
	}
	d := low/2 + high/2
	if math.IsInf(a, 0) {
		return false, false
	}
	return math.Abs(a-d) <= 1e-4*max(math.Abs(a), math.Abs(d))+1e-6*r.ratio, false
}
