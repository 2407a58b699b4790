package gradcheck

// This file is given. The grader puts its own copy in the place of yours, so
// what you change or add here is lost: write in gradcheck.go, or in further files.

import "errors"

// What the errors of this package are, for errors.Is.
var (
	ErrTape      = errors.New("gradcheck: not all on one tape")
	ErrShape     = errors.New("gradcheck: wrong number or length of inputs")
	ErrGradients = errors.New("gradcheck: wrong number or length of gradients")
	ErrFreed     = errors.New("gradcheck: the saved values are freed")
	ErrFinite    = errors.New("gradcheck: an output is not finite")
)

// Function is an operation that knows its own gradient.
type Function interface {
	// Forward computes the output. What Backward will need it saves in c.
	Forward(c *Context, in [][]float64) ([]float64, error)
	// Backward gets the gradient of the output and returns one for each input, in
	// their order. A nil one is 0.
	Backward(c *Context, grad []float64) ([][]float64, error)
}

// Place is an element of an input: number Index of input number Input.
type Place struct{ Input, Index int }

// Report is what Check found. Both lists are sorted, by Input and then by Index, and have no
// place twice.
type Report struct {
	Unstable bool    // equal calls gave results that differ; the lists are empty then
	Wrong    []Place // where the gradient is wrong
	Kinks    []Place // where the function has a kink, be its gradient right or wrong
}

// Var is a vector, and its gradient if it is on a tape.
type Var struct {
	Data []float64
	grad []float64
	tape *Tape
}

// Const returns a vector on no tape, which needs no gradient.
func Const(data []float64) *Var { return &Var{Data: data} }

// Tape returns the tape that v is on, and nil if it needs no gradient.
func (v *Var) Tape() *Tape { return v.tape }

// Grad returns what was added to the gradient of a leaf so far, and nil if nothing
// was. That of a recorded vector goes on to its inputs and is nil after Backward.
func (v *Var) Grad() []float64 { return v.grad }

// AddGrad adds g to the gradient of v. It copies g, and panics if the length is wrong.
func (v *Var) AddGrad(g []float64) {
	if len(g) != len(v.Data) {
		panic("gradcheck: AddGrad: wrong length")
	}
	if v.grad == nil {
		v.grad = make([]float64, len(g))
	}
	for i, x := range g {
		v.grad[i] += x
	}
}

// Tape remembers in which order vectors were made. It never forgets a step.
type Tape struct{ steps []step }

type step struct {
	out  *Var
	back func(grad []float64) error
}

// NewTape returns an empty tape.
func NewTape() *Tape { return &Tape{} }

// Leaf returns a vector that needs a gradient.
func (t *Tape) Leaf(data []float64) *Var { return &Var{Data: data, tape: t} }

// Record returns a vector that was made of others. Each Backward that comes to it calls
// back once, with the whole gradient of the vector; back adds to those of the others.
func (t *Tape) Record(data []float64, back func(grad []float64) error) *Var {
	v := &Var{Data: data, tape: t}
	t.steps = append(t.steps, step{v, back})
	return v
}

// Backward adds seed to the gradient of root and goes through the steps, last to first.
// It stops at the first error and returns it.
func (t *Tape) Backward(root *Var, seed []float64) (err error) {
	root.AddGrad(seed)
	for i := len(t.steps) - 1; i >= 0; i-- {
		s := t.steps[i]
		grad := s.out.grad
		s.out.grad = nil
		if grad != nil && err == nil {
			err = s.back(grad)
		}
	}
	return err
}
