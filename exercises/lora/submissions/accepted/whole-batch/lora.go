// Package lora multiplies whole batches.
package lora

import (
	"errors"
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

// Param is one matrix for an optimizer: Data is changed by what is in Grad.
type Param struct{ Data, Grad []float64 }

func (a *Adapter) Scale() float64 {
	if a.RankStabilized {
		return a.Alpha * math.Pow(float64(a.Rank), -0.5)
	}
	return a.Alpha / float64(a.Rank)
}

type named struct {
	name    string
	adapter *Adapter
}

type Layer struct {
	base   *Linear
	list   []named
	active *Adapter
	merged *Adapter

	mu sync.Mutex
}

func New(base *Linear) (*Layer, error) {
	if base == nil || base.In <= 0 || base.Out <= 0 || base.In > len(base.W) || base.Out > len(base.W) ||
		base.In*base.Out != len(base.W) || base.B != nil && len(base.B) != base.Out {
		return nil, ErrShape
	}
	return &Layer{base: base}, nil
}

func (l *Layer) index(name string) int {
	return slices.IndexFunc(l.list, func(n named) bool { return n.name == name })
}

func (l *Layer) Add(name string, cfg Config, r *rand.Rand) error {
	if l.index(name) >= 0 {
		return ErrExists
	}
	if name == "" || r == nil || cfg.Rank <= 0 || !(cfg.Alpha > 0 && cfg.Alpha <= math.MaxFloat64) {
		return ErrConfig
	}
	in, out := cfg.Rank*l.base.In, cfg.Rank*l.base.Out
	all := make([]float64, 2*in+2*out)
	a := &Adapter{Config: cfg, A: all[:in:in], B: all[in : in+out : in+out],
		GradA: all[in+out : in+out+in : in+out+in], GradB: all[in+out+in:]}
	limit := math.Sqrt(1 / float64(l.base.In))
	for i := range a.A {
		a.A[i] = limit - 2*limit*r.Float64()
	}
	l.list = append(l.list, named{name, a})
	return nil
}

func (l *Layer) Remove(name string) error {
	i := l.index(name)
	if i < 0 {
		return ErrUnknown
	}
	a := l.list[i].adapter
	if a == l.merged {
		return ErrMerged
	}
	if a == l.active {
		l.active = nil
	}
	l.list = slices.Delete(l.list, i, i+1)
	return nil
}

func (l *Layer) Names() []string {
	names := make([]string, len(l.list))
	for i, n := range l.list {
		names[i] = n.name
	}
	return names
}

func (l *Layer) Adapter(name string) *Adapter {
	if i := l.index(name); i >= 0 {
		return l.list[i].adapter
	}
	return nil
}

func (l *Layer) Use(name string) error {
	a := l.Adapter(name)
	switch {
	case l.merged != nil:
		return ErrMerged
	case a == nil && name != "":
		return ErrUnknown
	}
	l.active = a
	return nil
}

func (l *Layer) Active() string {
	for _, n := range l.list {
		if n.adapter == l.active {
			return n.name
		}
	}
	return ""
}

func (l *Layer) Params() []Param {
	if a := l.active; a != nil && l.merged == nil {
		return []Param{{Data: a.A, Grad: a.GradA}, {Data: a.B, Grad: a.GradB}}
	}
	return nil
}

func (l *Layer) ZeroGrad() {
	if l.active != nil {
		clear(l.active.GradA)
		clear(l.active.GradB)
	}
}

// timesTransposed adds c·x·wᵀ to dst: x is n×in, w is out×in.
func timesTransposed(dst []float64, c float64, x, w []float64, in, out int) {
	for i := range len(x) / in {
		for o := range out {
			dst[i*out+o] += c * dot(w[o*in:][:in], x[i*in:][:in])
		}
	}
}

// times adds c·y·w to dst: y is n×out, w is out×in.
func times(dst []float64, c float64, y, w []float64, in, out int) {
	for i := range len(y) / out {
		for o := range out {
			axpy(dst[i*in:][:in], c*y[i*out+o], w[o*in:][:in])
		}
	}
}

// outer adds c·yᵀ·x to dst: y is n×out, x is n×in.
func outer(dst []float64, c float64, y, x []float64, in, out int) {
	for i := range len(x) / in {
		for o := range out {
			axpy(dst[o*in:][:in], c*y[i*out+o], x[i*in:][:in])
		}
	}
}

func (l *Layer) Forward(x []float64) ([]float64, error) {
	in, out := l.base.In, l.base.Out
	if len(x)%in != 0 {
		return nil, ErrShape
	}
	y := l.base.Forward(x)
	if a := l.active; a != nil && l.merged == nil {
		h := make([]float64, len(x)/in*a.Rank)
		timesTransposed(h, 1, x, a.A, in, a.Rank)
		timesTransposed(y, a.Scale(), h, a.B, a.Rank, out)
	}
	return y, nil
}

func (l *Layer) Backward(x, dy []float64) ([]float64, error) {
	in, out := l.base.In, l.base.Out
	if l.merged != nil {
		return nil, ErrMerged
	}
	if len(x)%in != 0 || len(dy)%out != 0 || len(x)/in != len(dy)/out {
		return nil, ErrShape
	}
	dx := l.base.InputGrad(dy)
	a := l.active
	if a == nil {
		return dx, nil
	}
	h, g := make([]float64, len(x)/in*a.Rank), make([]float64, len(x)/in*a.Rank)
	timesTransposed(h, 1, x, a.A, in, a.Rank)
	times(g, a.Scale(), dy, a.B, a.Rank, out)
	times(dx, 1, g, a.A, in, a.Rank)
	l.mu.Lock()
	outer(a.GradA, 1, g, x, in, a.Rank)
	outer(a.GradB, a.Scale(), dy, h, a.Rank, out)
	l.mu.Unlock()
	return dx, nil
}

func (l *Layer) Merge() error {
	switch {
	case l.merged != nil:
		return ErrMerged
	case l.active == nil:
		return ErrUnknown
	}
	l.merged = l.active
	times(l.base.W, l.merged.Scale(), l.merged.B, l.merged.A, l.base.In, l.merged.Rank)
	return nil
}

func (l *Layer) Unmerge() error {
	a := l.merged
	if a == nil {
		return ErrNotMerged
	}
	times(l.base.W, -a.Scale(), a.B, a.A, l.base.In, a.Rank)
	l.merged = nil
	return nil
}

func (l *Layer) Merged() bool { return l.merged != nil }
