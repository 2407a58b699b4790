// Package autograd differentiates scalar expressions, by a graph that records
// how every number was computed. README.md says what is wanted.
package autograd

// Value is a node of the graph: a number, its gradient, and where it came from.
type Value struct {
	// TODO: your fields.
}

// New returns a leaf that holds x.
func New(x float64) *Value { return nil }

// Data returns the number that v holds.
func (v *Value) Data() float64 { return 0 }

// SetData makes the leaf v hold x; it panics if v is the result of an operation.
func (v *Value) SetData(x float64) {}

// Grad returns the gradient that Backward has added up in v.
func (v *Value) Grad() float64 { return 0 }

// ZeroGrad sets the gradient of v, and of no other node, to 0.
func (v *Value) ZeroGrad() {}

// ZeroGrad sets the gradients of vs, and of no other nodes, to 0.
func ZeroGrad(vs ...*Value) {}

// Add returns v + o.
func (v *Value) Add(o *Value) *Value { return nil }

// Sub returns v - o.
func (v *Value) Sub(o *Value) *Value { return nil }

// Mul returns v · o.
func (v *Value) Mul(o *Value) *Value { return nil }

// Div returns v / o.
func (v *Value) Div(o *Value) *Value { return nil }

// AddScalar returns v + c.
func (v *Value) AddScalar(c float64) *Value { return nil }

// MulScalar returns c · v.
func (v *Value) MulScalar(c float64) *Value { return nil }

// Neg returns -v.
func (v *Value) Neg() *Value { return nil }

// Pow returns v to the power p.
func (v *Value) Pow(p float64) *Value { return nil }

// Exp returns e to the power v.
func (v *Value) Exp() *Value { return nil }

// Log returns the natural logarithm of v.
func (v *Value) Log() *Value { return nil }

// Tanh returns the hyperbolic tangent of v.
func (v *Value) Tanh() *Value { return nil }

// Sigmoid returns 1 / (1 + e^-v).
func (v *Value) Sigmoid() *Value { return nil }

// ReLU returns v where v is positive, and 0 elsewhere.
func (v *Value) ReLU() *Value { return nil }

// Sum returns the sum of vs.
func Sum(vs ...*Value) *Value { return nil }

// Backward adds the derivative of v with respect to n to the gradient of every
// node n that v was computed from, and 1 to its own.
func (v *Value) Backward() {}
