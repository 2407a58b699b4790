// Package lora goes over the rank first.
package lora

import (
	"cmp"
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
	by := float64(a.Rank)
	if a.RankStabilized {
		by = math.Sqrt(by)
	}
	return a.Alpha / by
}

type entry struct {
	Adapter
	name  string
	order int
	mu    sync.Mutex
}

type Layer struct {
	base    *Linear
	entries map[string]*entry
	count   int
	now     *entry
	inside  bool
}

func New(base *Linear) (*Layer, error) {
	if base == nil || base.In < 1 || base.Out < 1 {
		return nil, ErrShape
	}
	if len(base.W)%base.In > 0 || len(base.W)/base.In != base.Out {
		return nil, ErrShape
	}
	if base.B != nil && len(base.B) != base.Out {
		return nil, ErrShape
	}
	return &Layer{base: base, entries: make(map[string]*entry)}, nil
}

func (l *Layer) Add(name string, cfg Config, r *rand.Rand) error {
	if _, taken := l.entries[name]; taken {
		return ErrExists
	}
	if cfg.Rank < 1 || math.IsNaN(cfg.Alpha) || math.IsInf(cfg.Alpha, 0) || cfg.Alpha <= 0 || name == "" || r == nil {
		return ErrConfig
	}
	e := &entry{name: name, order: l.count}
	e.Config = cfg
	for range cfg.Rank * l.base.In {
		e.A = append(e.A, (r.Float64()-0.5)*2/math.Sqrt(float64(l.base.In)))
	}
	e.B = make([]float64, l.base.Out*cfg.Rank)
	e.GradA = make([]float64, len(e.A))
	e.GradB = make([]float64, len(e.B))
	l.count++
	l.entries[name] = e
	return nil
}

func (l *Layer) Remove(name string) error {
	e, ok := l.entries[name]
	if !ok {
		return ErrUnknown
	}
	if l.now == e {
		if l.inside {
			return ErrMerged
		}
		l.now = nil
	}
	delete(l.entries, name)
	return nil
}

func (l *Layer) Names() (names []string) {
	for name := range l.entries {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(l.entries[a].order, l.entries[b].order) })
	return names
}

func (l *Layer) Adapter(name string) *Adapter {
	if e, ok := l.entries[name]; ok {
		return &e.Adapter
	}
	return nil
}

func (l *Layer) Use(name string) error {
	if l.inside {
		return ErrMerged
	}
	e := l.entries[name]
	if e == nil && name != "" {
		return ErrUnknown
	}
	l.now = e
	return nil
}

func (l *Layer) Active() string {
	if l.now == nil {
		return ""
	}
	return l.now.name
}

func (l *Layer) Params() []Param {
	if l.now == nil || l.inside {
		return nil
	}
	return []Param{{l.now.A, l.now.GradA}, {l.now.B, l.now.GradB}}
}

func (l *Layer) ZeroGrad() {
	if l.now != nil {
		for _, g := range [][]float64{l.now.GradA, l.now.GradB} {
			for i := range g {
				g[i] = 0
			}
		}
	}
}

func (l *Layer) Forward(x []float64) ([]float64, error) {
	if len(x)%l.base.In != 0 {
		return nil, ErrShape
	}
	y := l.base.Forward(x)
	if l.now == nil || l.inside {
		return y, nil
	}
	a, in, out := &l.now.Adapter, l.base.In, l.base.Out
	column := make([]float64, out)
	for k := range a.Rank {
		for o := range column {
			column[o] = a.Scale() * a.B[o*a.Rank+k]
		}
		for i := range len(x) / in {
			axpy(row(y, i, out), dot(row(a.A, k, in), row(x, i, in)), column)
		}
	}
	return y, nil
}

func (l *Layer) Backward(x, dy []float64) ([]float64, error) {
	in, out := l.base.In, l.base.Out
	if l.inside {
		return nil, ErrMerged
	}
	if len(x)%in+len(dy)%out != 0 || len(x)/in-len(dy)/out != 0 {
		return nil, ErrShape
	}
	dx := l.base.InputGrad(dy)
	if l.now == nil {
		return dx, nil
	}
	a := l.now
	a.mu.Lock()
	defer a.mu.Unlock()
	column, grad := make([]float64, out), make([]float64, out)
	for k := range a.Rank {
		down, gradDown := row(a.A, k, in), row(a.GradA, k, in)
		for o := range column {
			column[o] = a.B[o*a.Rank+k]
			grad[o] = 0
		}
		for i := range len(x) / in {
			g := a.Scale() * dot(column, row(dy, i, out))
			axpy(grad, a.Scale()*dot(down, row(x, i, in)), row(dy, i, out))
			axpy(gradDown, g, row(x, i, in))
			axpy(row(dx, i, in), g, down)
		}
		for o, v := range grad {
			a.GradB[o*a.Rank+k] += v
		}
	}
	return dx, nil
}

// change adds sign·scale·B·A to the weights. A row is summed before it is added.
func (l *Layer) change(sign float64) {
	a, sum := l.now, make([]float64, l.base.In)
	for o := range l.base.Out {
		clear(sum)
		for k := range a.Rank {
			axpy(sum, a.B[o*a.Rank+k], row(a.A, k, l.base.In))
		}
		axpy(row(l.base.W, o, l.base.In), sign*a.Scale(), sum)
	}
}

func (l *Layer) Merge() error {
	if l.inside {
		return ErrMerged
	}
	if l.now == nil {
		return ErrUnknown
	}
	l.change(1)
	l.inside = true
	return nil
}

func (l *Layer) Unmerge() error {
	if !l.inside {
		return ErrNotMerged
	}
	l.change(-1)
	l.inside = false
	return nil
}

func (l *Layer) Merged() bool { return l.inside }
