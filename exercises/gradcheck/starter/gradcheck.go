// Package gradcheck puts functions with gradients of their own on a tape, and finds out
// whether these gradients are right. README.md says what is wanted; tape.go is given.
package gradcheck

// Context belongs to one application of a Function.
type Context struct {
	// TODO: your fields.
}

// Save keeps values for Backward.
func (c *Context) Save(values ...[]float64) {}

// Saved returns what was saved, or ErrFreed.
func (c *Context) Saved() ([][]float64, error) { return nil, nil }

// Needs reports whether a gradient of input i is wanted.
func (c *Context) Needs(i int) bool { return false }

// Apply calls f with the data of the inputs and returns its output, on their tape.
func Apply(f Function, in ...*Var) (*Var, error) { return nil, nil }

// Check compares the gradient of f at some inputs with differences of its outputs.
func Check(f Function, in ...[]float64) (*Report, error) { return nil, nil }

// Mul multiplies two vectors, element by element.
type Mul struct{}

func (Mul) Forward(c *Context, in [][]float64) ([]float64, error) { return nil, nil }

func (Mul) Backward(c *Context, grad []float64) ([][]float64, error) { return nil, nil }

// Softplus is log(1 + exp(x)).
type Softplus struct{}

func (Softplus) Forward(c *Context, in [][]float64) ([]float64, error) { return nil, nil }

func (Softplus) Backward(c *Context, grad []float64) ([][]float64, error) { return nil, nil }

// ReLU is max(x, 0).
type ReLU struct{}

func (ReLU) Forward(c *Context, in [][]float64) ([]float64, error) { return nil, nil }

func (ReLU) Backward(c *Context, grad []float64) ([][]float64, error) { return nil, nil }

// Softmax is exp(x) divided by its sum.
type Softmax struct{}

func (Softmax) Forward(c *Context, in [][]float64) ([]float64, error) { return nil, nil }

func (Softmax) Backward(c *Context, grad []float64) ([][]float64, error) { return nil, nil }
