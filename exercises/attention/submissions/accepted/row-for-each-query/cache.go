package attention

import (
	"fmt"
	"slices"
)

// CacheConfig is what a Cache is made for.
type CacheConfig struct {
	Heads    Heads
	KeyDim   int     // columns of a query and a key, of one head
	ValueDim int     // columns of a value, of one head
	Scale    float64 // as in Options
}

// Cache holds the keys and values of the tokens so far, so that a new token costs one
// row of attention and not all of them.
type Cache struct {
	cfg          CacheConfig
	keys, values Matrix
}

// NewCache returns a Cache without tokens.
func NewCache(cfg CacheConfig) (*Cache, error) {
	if !cfg.Heads.valid() || cfg.KeyDim < 1 || cfg.ValueDim < 0 {
		return nil, fmt.Errorf("%w: a cache of %+v", ErrShape, cfg)
	}
	if err := checkScale(cfg.Scale); err != nil {
		return nil, err
	}
	return &Cache{
		cfg:    cfg,
		keys:   Matrix{Cols: cfg.Heads.KV * cfg.KeyDim},
		values: Matrix{Cols: cfg.Heads.KV * cfg.ValueDim},
	}, nil
}

// Step adds tokens, a row each, and returns what MultiHead with Causal would return for
// them, if it were given all tokens so far.
func (c *Cache) Step(q, k, v Matrix) (Matrix, error) {
	if err := c.check(q, k, v); err != nil {
		return Matrix{}, err
	}
	opt := Options{Scale: c.cfg.Scale, Causal: true, Offset: c.Len()}
	c.keys.add(k)
	c.values.add(v)
	return multiHead(q, c.keys, c.values, c.cfg.Heads, opt), nil
}

// check returns an error unless q, k and v are tokens for c.
func (c *Cache) check(q, k, v Matrix) error {
	switch {
	case !q.valid() || !k.valid() || !v.valid():
		return fmt.Errorf("%w: numbers are missing, or there are too many", ErrShape)
	case q.Rows != k.Rows || k.Rows != v.Rows:
		return fmt.Errorf("%w: %d queries, %d keys and %d values", ErrShape, q.Rows, k.Rows, v.Rows)
	case q.Cols != c.cfg.Heads.Query*c.cfg.KeyDim || k.Cols != c.keys.Cols || v.Cols != c.values.Cols:
		return fmt.Errorf("%w: %d, %d and %d columns in a cache of %+v", ErrShape, q.Cols, k.Cols, v.Cols, c.cfg)
	}
	return nil
}

// add appends a copy of the rows of other.
func (m *Matrix) add(other Matrix) {
	m.Rows += other.Rows
	m.Data = append(m.Data, other.Data...)
}

// Len returns how many tokens the Cache holds.
func (c *Cache) Len() int { return c.keys.Rows }

// Truncate forgets all tokens but the first n.
func (c *Cache) Truncate(n int) error {
	if n < 0 || n > c.Len() {
		return fmt.Errorf("%w: truncate %d tokens to %d", ErrOption, c.Len(), n)
	}
	c.keys.cut(n)
	c.values.cut(n)
	return nil
}

// cut leaves the first n rows.
func (m *Matrix) cut(n int) {
	m.Rows = n
	m.Data = m.Data[:n*m.Cols]
}

// Fork returns a Cache of its own that holds the same tokens. It copies them: both would
// otherwise append to the same array.
func (c *Cache) Fork() *Cache {
	fork := *c
	fork.keys.Data = slices.Clone(c.keys.Data)
	fork.values.Data = slices.Clone(c.values.Data)
	return &fork
}
