// Package lora keeps what the active adapter does as two functions.
package lora

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
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
		return a.Alpha * math.Sqrt(1/float64(a.Rank))
	}
	return 1 / (float64(a.Rank) / a.Alpha)
}

type Layer struct {
	base     *Linear
	adapters map[string]*Adapter
	order    []string
	active   string

	// Of the active adapter while it is not merged, else nil.
	forward  func(x, y []float64)
	backward func(x, dy, dx []float64)

	undo func() // of a merge
	turn chan struct{}
}

func New(base *Linear) (*Layer, error) {
	if base == nil || min(base.In, base.Out) < 1 || base.B != nil && len(base.B) != base.Out {
		return nil, ErrShape
	}
	left := len(base.W)
	for range base.Out { // no product that overflows
		if left -= base.In; left < 0 {
			return nil, ErrShape
		}
	}
	if left > 0 {
		return nil, ErrShape
	}
	return &Layer{base: base, adapters: map[string]*Adapter{}, turn: make(chan struct{}, 1)}, nil
}

func (l *Layer) Add(name string, cfg Config, r *rand.Rand) error {
	if !slices.Contains([]bool{name == "", r == nil, cfg.Rank < 1, !(cfg.Alpha > 0), cfg.Alpha-cfg.Alpha != 0}, true) {
		if l.Adapter(name) != nil {
			return ErrExists
		}
		matrix := func(n int) []float64 { return make([]float64, n*cfg.Rank) }
		a := &Adapter{cfg, matrix(l.base.In), matrix(l.base.Out), matrix(l.base.In), matrix(l.base.Out)}
		for i := len(a.A) - 1; i >= 0; i-- {
			sign := float64(1 - 2*r.IntN(2))
			a.A[i] = sign * r.Float64() / math.Sqrt(float64(l.base.In))
		}
		l.adapters[name] = a
		l.order = append(l.order, name)
		return nil
	}
	return ErrConfig
}

func (l *Layer) Remove(name string) error {
	i := slices.Index(l.order, name)
	switch {
	case i < 0:
		return ErrUnknown
	case name == l.active && l.undo != nil:
		return ErrMerged
	case name == l.active:
		l.Use("")
	}
	l.order = append(slices.Clone(l.order[:i]), l.order[i+1:]...)
	delete(l.adapters, name)
	return nil
}

func (l *Layer) Names() []string { return append([]string(nil), l.order...) }

func (l *Layer) Adapter(name string) *Adapter { return l.adapters[name] }

func (l *Layer) Use(name string) error {
	if l.undo != nil {
		return ErrMerged
	}
	a, ok := l.adapters[name]
	if !ok && name != "" {
		return ErrUnknown
	}
	l.active = name
	l.attach(a)
	return nil
}

// attach makes the functions of a, or takes them away if it is nil.
func (l *Layer) attach(a *Adapter) {
	l.forward, l.backward = nil, nil
	if a == nil {
		return
	}
	in, rank := l.base.In, a.Rank
	l.forward = func(x, y []float64) {
		h := make([]float64, rank)
		for k := range h {
			h[k] = a.Scale() * pairwise(a.A[k*in:(k+1)*in], x)
		}
		for o := range y {
			y[o] += pairwise(a.B[o*rank:(o+1)*rank], h)
		}
	}
	l.backward = func(x, dy, dx []float64) {
		h, g := make([]float64, rank), make([]float64, rank)
		for k := range h {
			h[k] = pairwise(a.A[k*in:(k+1)*in], x)
			for o, d := range dy {
				g[k] += d * a.B[o*rank+k]
			}
			g[k] *= a.Scale()
		}
		l.turn <- struct{}{}
		defer func() { <-l.turn }()
		for o, d := range dy {
			axpy(a.GradB[o*rank:(o+1)*rank], d*a.Scale(), h)
		}
		for k := range g {
			axpy(a.GradA[k*in:(k+1)*in], g[k], x)
			axpy(dx, g[k], a.A[k*in:(k+1)*in])
		}
	}
}

// pairwise is the sum of the products, halved until it is short.
func pairwise(a, b []float64) float64 {
	if n := len(a); n > 64 {
		return pairwise(a[:n/2], b[:n/2]) + pairwise(a[n/2:], b[n/2:])
	}
	return dot(a, b)
}

func (l *Layer) Active() string { return l.active }

func (l *Layer) Params() []Param {
	a := l.adapters[l.active]
	if l.undo != nil || a == nil {
		return []Param{}
	}
	return []Param{{Data: a.A, Grad: a.GradA}, {Data: a.B, Grad: a.GradB}}
}

func (l *Layer) ZeroGrad() {
	if a, ok := l.adapters[l.active]; ok {
		clear(a.GradA)
		clear(a.GradB)
	}
}

func (l *Layer) Forward(x []float64) ([]float64, error) {
	in, out := l.base.In, l.base.Out
	if len(x)%in != 0 {
		return nil, ErrShape
	}
	y := l.base.Forward(x)
	if l.forward != nil {
		for i := 0; i*in < len(x); i++ {
			l.forward(x[i*in:(i+1)*in], y[i*out:(i+1)*out])
		}
	}
	return y, nil
}

func (l *Layer) Backward(x, dy []float64) ([]float64, error) {
	in, out := l.base.In, l.base.Out
	if l.undo != nil {
		return nil, ErrMerged
	}
	if len(x)%in != 0 || len(dy)%out != 0 || len(x)/in != len(dy)/out {
		return nil, ErrShape
	}
	dx := l.base.InputGrad(dy)
	if l.backward != nil {
		for i := 0; i*in < len(x); i++ {
			l.backward(x[i*in:(i+1)*in], dy[i*out:(i+1)*out], dx[i*in:(i+1)*in])
		}
	}
	return dx, nil
}

func (l *Layer) Merge() error {
	if l.undo != nil {
		return ErrMerged
	}
	a := l.adapters[l.active]
	if a == nil {
		return ErrUnknown
	}
	add := func(c float64) {
		for i, b := range a.B {
			o, k := i/a.Rank, i%a.Rank
			axpy(l.base.W[o*l.base.In:(o+1)*l.base.In], c*b, a.A[k*l.base.In:(k+1)*l.base.In])
		}
	}
	add(a.Scale())
	l.forward, l.backward = nil, nil
	l.undo = func() {
		add(-a.Scale())
		l.attach(a)
	}
	return nil
}

func (l *Layer) Unmerge() error {
	if l.undo == nil {
		return ErrNotMerged
	}
	l.undo()
	l.undo = nil
	return nil
}

func (l *Layer) Merged() bool { return l.undo != nil }
