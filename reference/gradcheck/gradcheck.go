// Package gradcheck puts functions with gradients of their own on a tape, and finds out
// whether these gradients are right. It knows vectors of float64 only.
//
// Apply calls a Function and records it; its Context holds what is saved from the one
// pass for the other. Check compares a Function's gradient with differences of its
// outputs. Mul, Softplus, Softmax and ReLU are Functions.
package gradcheck

import (
	"fmt"
	"slices"
)

// Context belongs to one application of a Function. It is what torch.autograd.Function
// calls ctx.
type Context struct {
	needs []bool
	saved [][]float64
	freed bool
}

// Save keeps values for Backward, behind those that were saved before: the slices
// themselves, not copies.
func (c *Context) Save(values ...[]float64) { c.saved = append(c.saved, values...) }

// Saved returns what was saved, or ErrFreed.
func (c *Context) Saved() ([][]float64, error) {
	if c.freed {
		return nil, ErrFreed
	}
	return c.saved, nil
}

// Needs reports whether a gradient of input i is wanted.
func (c *Context) Needs(i int) bool { return i >= 0 && i < len(c.needs) && c.needs[i] }

// free lets go of what was saved, also where someone has the Context still.
func (c *Context) free() { c.saved, c.freed = nil, true }

// Apply calls f with the data of the inputs and returns its output, which is on their
// tape if one of them is on one.
func Apply(f Function, in ...*Var) (*Var, error) {
	in = slices.Clone(in) // the list is the caller's, who may write to it before Backward
	tape, c, err := contextOf(in)
	if err != nil {
		return nil, err
	}
	data := make([][]float64, len(in))
	for i, v := range in {
		data[i] = v.Data
	}
	out, err := f.Forward(c, data)
	if err != nil {
		c.free()
		return nil, fmt.Errorf("forward: %w", err)
	}
	if tape == nil {
		c.free()
		return Const(out), nil
	}
	return tape.Record(out, func(grad []float64) error { return backward(f, c, in, grad) }), nil
}

// contextOf returns the tape that the inputs are on, which is nil if none is.
func contextOf(in []*Var) (tape *Tape, c *Context, err error) {
	c = &Context{needs: make([]bool, len(in))}
	for i, v := range in {
		t := v.Tape()
		if t == nil {
			continue
		}
		if tape != nil && t != tape {
			return nil, nil, ErrTape
		}
		tape, c.needs[i] = t, true
	}
	return tape, c, nil
}

// backward is the step of an application on the tape. It frees what was saved,
// whatever comes of it: as in PyTorch, a graph is good for one backward pass.
func backward(f Function, c *Context, in []*Var, grad []float64) error {
	if c.freed {
		return ErrFreed
	}
	defer c.free()
	lengths := make([]int, len(in))
	for i, v := range in {
		lengths[i] = len(v.Data)
	}
	grads, err := gradients(f, c, grad, lengths)
	if err != nil {
		return err
	}
	for i, v := range in {
		if c.needs[i] && grads[i] != nil {
			v.AddGrad(grads[i])
		}
	}
	return nil
}

// gradients calls Backward and looks at the lengths of what is needed.
func gradients(f Function, c *Context, grad []float64, lengths []int) ([][]float64, error) {
	grads, err := f.Backward(c, grad)
	if err != nil {
		return nil, fmt.Errorf("backward: %w", err)
	}
	if len(grads) != len(lengths) {
		return nil, fmt.Errorf("%w: %d for %d inputs", ErrGradients, len(grads), len(lengths))
	}
	for i, g := range grads {
		if c.needs[i] && g != nil && len(g) != lengths[i] {
			return nil, fmt.Errorf("%w: %d numbers for input %d, which has %d", ErrGradients, len(g), i, lengths[i])
		}
	}
	return grads, nil
}
