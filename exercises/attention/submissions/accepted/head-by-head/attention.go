// Package attention cuts matrices into heads, and each head into rows.
package attention

import (
	"errors"
	"math"
)

var ErrShape, ErrOption = errors.New("shape"), errors.New("option")

type Matrix struct {
	Rows, Cols int
	Data       []float64
}

type Options struct {
	Scale  float64
	Causal bool
	Offset int
	Mask   []bool
}

type Heads struct{ Query, KV int }

type rows [][]float64

// cut is columns from to from+width of m, without a copy of numbers.
func cut(m Matrix, from, width int) rows {
	all := make(rows, m.Rows)
	for i := range all {
		all[i] = m.Data[i*m.Cols+from : i*m.Cols+from+width]
	}
	return all
}

// seen lists the keys that query i sees.
func seen(list []int, opt Options, i, keys int) []int {
	list = list[:0]
	for j := 0; j < keys; j++ {
		if opt.Causal && j > i+opt.Offset {
			break
		}
		if opt.Mask == nil || opt.Mask[i*keys+j] {
			list = append(list, j)
		}
	}
	return list
}

// softmax of the logits of the keys in list, in place.
func softmax(logits []float64) {
	if len(logits) == 0 {
		return
	}
	top := logits[0]
	for _, x := range logits {
		if x > top {
			top = x
		}
	}
	sum := 0.0
	for n, x := range logits {
		logits[n] = math.Exp(x - top)
		sum += logits[n]
	}
	for n := range logits {
		logits[n] /= sum
	}
}

func logits(to []float64, q []float64, k rows, list []int, scale float64) []float64 {
	to = to[:0]
	for _, j := range list {
		sum := 0.0
		for c, x := range k[j] {
			sum += q[c] * x
		}
		to = append(to, sum*scale)
	}
	return to
}

// head writes the attention of one head into out.
func head(out, q, k, v rows, opt Options) {
	list, weights := make([]int, 0, len(k)), make([]float64, 0, len(k))
	for i := range q {
		list = seen(list, opt, i, len(k))
		weights = logits(weights, q[i], k, list, opt.Scale)
		softmax(weights)
		for n, j := range list {
			for c, x := range v[j] {
				out[i][c] += weights[n] * x
			}
		}
	}
}

func bad(ms ...Matrix) bool {
	for _, m := range ms {
		if m.Rows < 0 || m.Cols < 0 || len(m.Data) != m.Rows*m.Cols {
			return true
		}
	}
	return false
}

func badHeads(h Heads) bool { return h.Query < 1 || h.KV < 1 || h.Query%h.KV > 0 }

func badScale(scale float64) bool { return math.IsNaN(scale) || math.IsInf(scale, 0) }

func Attend(q, k, v Matrix, opt Options) (Matrix, error) {
	return MultiHead(q, k, v, Heads{1, 1}, opt)
}

func prepare(q, k, v Matrix, h Heads, opt *Options) error {
	if bad(q, k, v) || badHeads(h) || q.Cols == 0 || k.Rows != v.Rows ||
		q.Cols*h.KV != k.Cols*h.Query || q.Cols%h.Query > 0 || v.Cols%h.KV > 0 ||
		opt.Mask != nil && len(opt.Mask) != q.Rows*k.Rows {
		return ErrShape
	}
	if badScale(opt.Scale) {
		return ErrOption
	}
	if opt.Scale == 0 {
		opt.Scale = math.Pow(float64(q.Cols/h.Query), -0.5)
	}
	return nil
}

func MultiHead(q, k, v Matrix, h Heads, opt Options) (Matrix, error) {
	if err := prepare(q, k, v, h, &opt); err != nil {
		return Matrix{}, err
	}
	d, w := q.Cols/h.Query, v.Cols/h.KV
	out := Matrix{Rows: q.Rows, Cols: h.Query * w}
	out.Data = make([]float64, out.Rows*out.Cols)
	for kv := 0; kv < h.KV; kv++ {
		keys, values := cut(k, kv*d, d), cut(v, kv*w, w)
		for g := 0; g < h.Query/h.KV; g++ {
			n := kv*(h.Query/h.KV) + g
			head(cut(out, n*w, w), cut(q, n*d, d), keys, values, opt)
		}
	}
	return out, nil
}

func Weights(q, k Matrix, opt Options) (Matrix, error) {
	if err := prepare(q, k, Matrix{Rows: k.Rows}, Heads{1, 1}, &opt); err != nil {
		return Matrix{}, err
	}
	out := Matrix{Rows: q.Rows, Cols: k.Rows, Data: make([]float64, q.Rows*k.Rows)}
	queries, keys := cut(q, 0, q.Cols), cut(k, 0, k.Cols)
	for i := range queries {
		list := seen(nil, opt, i, k.Rows)
		weights := logits(nil, queries[i], keys, list, opt.Scale)
		softmax(weights)
		for n, j := range list {
			out.Data[i*k.Rows+j] = weights[n]
		}
	}
	return out, nil
}

type CacheConfig struct {
	Heads            Heads
	KeyDim, ValueDim int
	Scale            float64
}

// Cache has a list of rows for each head of keys and values.
type Cache struct {
	cfg          CacheConfig
	n            int
	keys, values []rows
}

func NewCache(cfg CacheConfig) (*Cache, error) {
	switch {
	case badHeads(cfg.Heads), cfg.KeyDim <= 0, cfg.ValueDim < 0:
		return nil, ErrShape
	case badScale(cfg.Scale):
		return nil, ErrOption
	}
	if cfg.Scale == 0 {
		cfg.Scale = 1 / math.Sqrt(float64(cfg.KeyDim))
	}
	n := cfg.Heads.KV
	return &Cache{cfg: cfg, keys: make([]rows, n), values: make([]rows, n)}, nil
}

func (c *Cache) Step(q, k, v Matrix) (Matrix, error) {
	h, d, w := c.cfg.Heads, c.cfg.KeyDim, c.cfg.ValueDim
	if bad(q, k, v) || q.Rows != k.Rows || k.Rows != v.Rows || q.Cols != h.Query*d || k.Cols != h.KV*d || v.Cols != h.KV*w {
		return Matrix{}, ErrShape
	}
	k.Data, v.Data = append([]float64(nil), k.Data...), append([]float64(nil), v.Data...)
	opt := Options{Scale: c.cfg.Scale, Causal: true, Offset: c.n}
	c.n += q.Rows
	out := Matrix{Rows: q.Rows, Cols: h.Query * w, Data: make([]float64, q.Rows*h.Query*w)}
	for kv := range c.keys {
		c.keys[kv] = append(c.keys[kv], cut(k, kv*d, d)...)
		c.values[kv] = append(c.values[kv], cut(v, kv*w, w)...)
		for n := kv * h.Query / h.KV; n < (kv+1)*h.Query/h.KV; n++ {
			head(cut(out, n*w, w), cut(q, n*d, d), c.keys[kv], c.values[kv], opt)
		}
	}
	return out, nil
}

func (c *Cache) Len() int { return c.n }

func (c *Cache) Truncate(n int) error {
	if n < 0 || c.n < n {
		return ErrOption
	}
	c.n = n
	for kv := range c.keys {
		c.keys[kv], c.values[kv] = c.keys[kv][:n], c.values[kv][:n]
	}
	return nil
}

// Fork copies the lists. The numbers are shared, and never written to.
func (c *Cache) Fork() *Cache {
	fork := Cache{cfg: c.cfg, n: c.n}
	for kv := range c.keys {
		fork.keys = append(fork.keys, append(rows(nil), c.keys[kv]...))
		fork.values = append(fork.values, append(rows(nil), c.values[kv]...))
	}
	return &fork
}
