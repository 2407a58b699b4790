// Package lora adds low-rank adapters to linear layers. README.md says what is wanted.
package lora

import (
	"errors"
	"math/rand/v2"
)

var (
	// ErrShape means that lengths do not fit together.
	ErrShape = errors.New("lora: lengths do not fit")

	// ErrConfig means a Rank, an Alpha, a name or a generator that no adapter can have.
	ErrConfig = errors.New("lora: not a configuration of an adapter")

	// ErrExists means that there is an adapter of this name already.
	ErrExists = errors.New("lora: an adapter of this name exists")

	// ErrUnknown means that there is no adapter of this name, or none that is active.
	ErrUnknown = errors.New("lora: no such adapter")

	// ErrMerged means that the layer is merged, and what was asked needs one that is not.
	ErrMerged = errors.New("lora: an adapter is merged")

	// ErrNotMerged means that there is nothing to take out of the weights.
	ErrNotMerged = errors.New("lora: no adapter is merged")
)

// Config says what adapter to add.
type Config struct {
	Rank  int     // of both matrices: 1 or more, also above In and Out
	Alpha float64 // the numerator of the scale: finite and above 0

	// RankStabilized has the scale be Alpha/√Rank and not Alpha/Rank (Kalajdzievski,
	// arXiv:2312.03732).
	RankStabilized bool
}

// Adapter is what is trained. The four matrices keep their storage, and what is written
// into A and B counts from the next call on.
type Adapter struct {
	Config
	A     []float64 // Rank×In
	B     []float64 // Out×Rank
	GradA []float64 // the sum of the gradients of A since the last ZeroGrad
	GradB []float64 // the same of B
}

// Scale is the factor of the product of B and A.
func (a *Adapter) Scale() float64 {
	return 0 // write your solution here
}

// Param is one matrix for an optimizer: Data is changed by what is in Grad.
type Param struct{ Data, Grad []float64 }

// Layer is a linear layer with adapters, of which one at most is active. Forward and
// Backward may be called by several goroutines at a time, all else by one alone.
type Layer struct {
	base *Linear // and what you need
}

// New returns a Layer without adapters. The base stays the caller's: what changes in it
// changes in the Layer.
func New(base *Linear) (*Layer, error) { return &Layer{base: base}, nil }

// Add adds an adapter, which is not active yet. B is 0, so that the layer begins as its
// base; A is drawn from r, uniform between ±1/√In.
func (l *Layer) Add(name string, cfg Config, r *rand.Rand) error { return nil }

// Remove forgets an adapter. If it is active, none is afterwards.
func (l *Layer) Remove(name string) error { return nil }

// Names returns the names of all adapters, in the order in which they were added.
func (l *Layer) Names() []string { return nil }

// Adapter returns the adapter of this name, nil if there is none.
func (l *Layer) Adapter(name string) *Adapter { return nil }

// Use makes an adapter the active one, and none if name is "".
func (l *Layer) Use(name string) error { return nil }

// Active returns the name of the active adapter, "" if none is.
func (l *Layer) Active() string { return "" }

// Params returns what an optimizer trains: A and B of the active adapter, in this order.
func (l *Layer) Params() []Param { return nil }

// ZeroGrad sets the gradients of the active adapter to 0.
func (l *Layer) ZeroGrad() {}

// Forward returns a row of Out for each row of In in x: W·x + b, and scale·B·A·x of the
// active adapter.
func (l *Layer) Forward(x []float64) ([]float64, error) { return nil, nil }

// Backward returns the gradient of x for the gradient dy of Forward(x), and adds to the
// gradients of the active adapter. The base learns nothing.
func (l *Layer) Backward(x, dy []float64) ([]float64, error) { return nil, nil }

// Merge adds scale·B·A of the active adapter to the base's weights.
func (l *Layer) Merge() error { return nil }

// Unmerge takes out of the weights what Merge added.
func (l *Layer) Unmerge() error { return nil }

// Merged says whether the active adapter is in the base's weights.
func (l *Layer) Merged() bool { return false }
