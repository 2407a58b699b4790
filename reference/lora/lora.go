// Package lora adds low-rank adapters to linear layers.
//
// A layer with In inputs and Out outputs has In·Out weights. An adapter leaves them as they
// are and adds the product of two thin matrices, scale·B·A, with Rank·(In+Out) numbers that
// are trained in their place (Hu et al., "LoRA: Low-Rank Adaptation of Large Language
// Models", arXiv:2106.09685). The product itself has as many numbers as the layer and is
// never made: x goes through A first and then through B, and a merge adds it row by row.
//
// Names and shapes are those of PEFT, Hugging Face's library: A is Rank×In, B is Out×Rank.
package lora

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
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
	if a.RankStabilized {
		return a.Alpha / math.Sqrt(float64(a.Rank))
	}
	return a.Alpha / float64(a.Rank)
}

// Param is one matrix for an optimizer: Data is changed by what is in Grad.
type Param struct{ Data, Grad []float64 }

// Layer is a linear layer with adapters, of which one at most is active. Forward and
// Backward may be called by several goroutines at a time, all else by one alone.
type Layer struct {
	base     *Linear
	names    []string // in the order of Add
	adapters map[string]*Adapter
	active   string // "" for none
	merged   bool   // the active one is in the base's weights

	grads sync.Mutex // of all adapters
}

// New returns a Layer without adapters. The base stays the caller's: what changes in it
// changes in the Layer.
func New(base *Linear) (*Layer, error) {
	switch {
	case base == nil:
		return nil, fmt.Errorf("%w: no base", ErrShape)
	case base.In < 1 || base.Out < 1:
		return nil, fmt.Errorf("%w: a base of %d inputs and %d outputs", ErrShape, base.In, base.Out)
	case len(base.W)%base.In != 0 || len(base.W)/base.In != base.Out: // In·Out may overflow
		return nil, fmt.Errorf("%w: %d weights for %d inputs and %d outputs", ErrShape, len(base.W), base.In, base.Out)
	case base.B != nil && len(base.B) != base.Out:
		return nil, fmt.Errorf("%w: a bias of %d for %d outputs", ErrShape, len(base.B), base.Out)
	}
	return &Layer{base: base, adapters: map[string]*Adapter{}}, nil
}

// Add adds an adapter, which is not active yet. B is 0, so that the layer begins as its
// base; A is uniform between ±1/√In, as PEFT draws it (Kaiming with a = √5).
func (l *Layer) Add(name string, cfg Config, r *rand.Rand) error {
	switch {
	case name == "" || r == nil:
		return fmt.Errorf("%w: a name and a generator are needed", ErrConfig)
	case cfg.Rank < 1 || !(cfg.Alpha > 0) || math.IsInf(cfg.Alpha, 1):
		return fmt.Errorf("%w: rank %d, alpha %v", ErrConfig, cfg.Rank, cfg.Alpha)
	case l.adapters[name] != nil:
		return fmt.Errorf("%w: %q", ErrExists, name)
	}
	a := newAdapter(cfg, l.base)
	bound := 1 / math.Sqrt(float64(l.base.In))
	for i := range a.A {
		a.A[i] = bound * (2*r.Float64() - 1)
	}
	l.names = append(l.names, name)
	l.adapters[name] = a
	return nil
}

// newAdapter returns an adapter of zeros.
func newAdapter(cfg Config, base *Linear) *Adapter {
	return &Adapter{
		Config: cfg,
		A:      make([]float64, cfg.Rank*base.In),
		B:      make([]float64, base.Out*cfg.Rank),
		GradA:  make([]float64, cfg.Rank*base.In),
		GradB:  make([]float64, base.Out*cfg.Rank),
	}
}

// Remove forgets an adapter. If it is active, none is afterwards.
func (l *Layer) Remove(name string) error {
	if l.adapters[name] == nil {
		return fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	if l.active == name {
		if l.merged {
			return ErrMerged
		}
		l.active = ""
	}
	delete(l.adapters, name)
	l.names = slices.DeleteFunc(l.names, func(s string) bool { return s == name })
	return nil
}

// Names returns the names of all adapters, in the order in which they were added.
func (l *Layer) Names() []string { return slices.Clone(l.names) }

// Adapter returns the adapter of this name, nil if there is none.
func (l *Layer) Adapter(name string) *Adapter { return l.adapters[name] }

// Use makes an adapter the active one, and none if name is "".
func (l *Layer) Use(name string) error {
	if l.merged {
		return ErrMerged
	}
	if name != "" && l.adapters[name] == nil {
		return fmt.Errorf("%w: %q", ErrUnknown, name)
	}
	l.active = name
	return nil
}

// Active returns the name of the active adapter, "" if none is.
func (l *Layer) Active() string { return l.active }

// Params returns what an optimizer trains: A and B of the active adapter, in this order.
// There is nothing to train where none is active or it is merged.
func (l *Layer) Params() []Param {
	a := l.apart()
	if a == nil {
		return nil
	}
	return []Param{{a.A, a.GradA}, {a.B, a.GradB}}
}

// ZeroGrad sets the gradients of the active adapter to 0.
func (l *Layer) ZeroGrad() {
	if a := l.adapters[l.active]; a != nil {
		clear(a.GradA)
		clear(a.GradB)
	}
}

// apart returns the active adapter while it is not in the weights, else nil.
func (l *Layer) apart() *Adapter {
	if l.merged {
		return nil
	}
	return l.adapters[l.active]
}
