// Package attention looks at each key once: it keeps the largest logit so far, and scales
// what it has added up when a larger one comes.
package attention

import (
	"errors"
	"math"
)

var (
	ErrShape  = errors.New("shape")
	ErrOption = errors.New("option")
)

type Matrix struct {
	Rows, Cols int
	Data       []float64
}

func (m Matrix) ok() bool {
	return m.Rows >= 0 && m.Cols >= 0 && m.Rows*m.Cols == len(m.Data)
}

type Options struct {
	Scale  float64
	Causal bool
	Offset int
	Mask   []bool
}

type Heads struct{ Query, KV int }

func (h Heads) ok() bool { return h.Query >= 1 && h.KV >= 1 && h.Query%h.KV == 0 }

func sees(opt Options, i, j, keys int) bool {
	if opt.Causal && j-i > opt.Offset {
		return false
	}
	return opt.Mask == nil || opt.Mask[i*keys+j]
}

func fit(q, k, v Matrix, h Heads, opt Options) error {
	if !q.ok() || !k.ok() || !v.ok() || !h.ok() || k.Rows != v.Rows {
		return ErrShape
	}
	if q.Cols == 0 || q.Cols%h.Query != 0 || k.Cols%h.KV != 0 || v.Cols%h.KV != 0 || q.Cols/h.Query != k.Cols/h.KV {
		return ErrShape
	}
	if opt.Mask != nil && len(opt.Mask) != q.Rows*k.Rows {
		return ErrShape
	}
	if opt.Scale-opt.Scale != 0 {
		return ErrOption
	}
	return nil
}

func defaultScale(scale float64, d int) float64 {
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(d))
	}
	return scale
}

// running is a weighted sum of values, divided by e to the power of top.
type running struct {
	top, total float64
	sum        []float64
}

func (a *running) add(logit float64, value []float64) {
	w := 1.0
	if logit > a.top {
		old := math.Exp(a.top - logit)
		a.top = logit
		a.total *= old
		for c := range a.sum {
			a.sum[c] *= old
		}
	} else {
		w = math.Exp(logit - a.top)
	}
	a.total += w
	for c, x := range value {
		a.sum[c] += w * x
	}
}

func Attend(q, k, v Matrix, opt Options) (Matrix, error) {
	return MultiHead(q, k, v, Heads{1, 1}, opt)
}

func MultiHead(q, k, v Matrix, h Heads, opt Options) (Matrix, error) {
	if err := fit(q, k, v, h, opt); err != nil {
		return Matrix{}, err
	}
	d, w, group := q.Cols/h.Query, v.Cols/h.KV, h.Query/h.KV
	scale := defaultScale(opt.Scale, d)
	out := Matrix{q.Rows, h.Query * w, make([]float64, q.Rows*h.Query*w)}
	for head := range h.Query {
		for i := range q.Rows {
			query := q.Data[i*q.Cols+head*d:][:d]
			a := running{top: math.Inf(-1), sum: out.Data[i*out.Cols+head*w:][:w]}
			for j := range k.Rows {
				if sees(opt, i, j, k.Rows) {
					logit := 0.0
					for c, x := range k.Data[j*k.Cols+head/group*d:][:d] {
						logit += query[c] * x
					}
					a.add(logit*scale, v.Data[j*v.Cols+head/group*w:][:w])
				}
			}
			if a.total != 0 {
				for c := range a.sum {
					a.sum[c] /= a.total
				}
			}
		}
	}
	return out, nil
}

// Weights is Attend with the unit matrix for values, a row at a time.
func Weights(q, k Matrix, opt Options) (Matrix, error) {
	if err := fit(q, k, Matrix{Rows: k.Rows}, Heads{1, 1}, opt); err != nil {
		return Matrix{}, err
	}
	scale := defaultScale(opt.Scale, q.Cols)
	out := Matrix{q.Rows, k.Rows, make([]float64, q.Rows*k.Rows)}
	for i := range q.Rows {
		row := out.Data[i*k.Rows:][:k.Rows]
		a := running{top: math.Inf(-1)}
		for j := range row {
			for c := range q.Cols {
				row[j] += q.Data[i*q.Cols+c] * scale * k.Data[j*k.Cols+c]
			}
			if sees(opt, i, j, k.Rows) {
				a.add(row[j], nil)
			}
		}
		for j := range row {
			if sees(opt, i, j, k.Rows) {
				row[j] = math.Exp(row[j]-a.top) / a.total
			} else {
				row[j] = 0
			}
		}
	}
	return out, nil
}

type CacheConfig struct {
	Heads            Heads
	KeyDim, ValueDim int
	Scale            float64
}

// Cache shares its numbers with forks: they are never written to.
type Cache struct {
	cfg          CacheConfig
	n            int
	keys, values []float64
}

func NewCache(cfg CacheConfig) (*Cache, error) {
	if !cfg.Heads.ok() || cfg.KeyDim < 1 || cfg.ValueDim < 0 {
		return nil, ErrShape
	}
	if cfg.Scale-cfg.Scale != 0 {
		return nil, ErrOption
	}
	return &Cache{cfg: cfg}, nil
}

func (c *Cache) Step(q, k, v Matrix) (Matrix, error) {
	h := c.cfg.Heads
	if !q.ok() || !k.ok() || !v.ok() || q.Rows != k.Rows || q.Rows != v.Rows ||
		q.Cols != h.Query*c.cfg.KeyDim || k.Cols != h.KV*c.cfg.KeyDim || v.Cols != h.KV*c.cfg.ValueDim {
		return Matrix{}, ErrShape
	}
	opt := Options{Scale: c.cfg.Scale, Causal: true, Offset: c.n}
	c.n += q.Rows
	c.keys, c.values = append(c.keys, k.Data...), append(c.values, v.Data...)
	return MultiHead(q, Matrix{c.n, k.Cols, c.keys}, Matrix{c.n, v.Cols, c.values}, h, opt)
}

func (c *Cache) Len() int { return c.n }

// Truncate cuts the capacity too, so that what is added goes into a new array.
func (c *Cache) Truncate(n int) error {
	if n < 0 || n > c.n {
		return ErrOption
	}
	keys, values := n*c.cfg.Heads.KV*c.cfg.KeyDim, n*c.cfg.Heads.KV*c.cfg.ValueDim
	c.n, c.keys, c.values = n, c.keys[:keys:keys], c.values[:values:values]
	return nil
}

// Fork shares the numbers; whoever adds one first needs a new array.
func (c *Cache) Fork() *Cache {
	c.Truncate(c.n)
	fork := *c
	return &fork
}
