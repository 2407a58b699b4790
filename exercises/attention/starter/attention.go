// Package attention is scaled dot-product attention: with masks, with several heads,
// and token by token with a key-value cache. README.md says what is wanted.
package attention

import "errors"

var (
	// ErrShape says that matrices, a mask or heads do not fit each other.
	ErrShape = errors.New("attention: shapes do not fit")

	// ErrOption says that a scale or a length is not one that is allowed.
	ErrOption = errors.New("attention: option not allowed")
)

// Matrix is a matrix of Rows times Cols numbers, row by row: the number in row i and
// column j is Data[i*Cols+j].
type Matrix struct {
	Rows, Cols int
	Data       []float64
}

// Options say which keys a query sees, and how logits are scaled. The zero Options let
// every query see every key.
type Options struct {
	// Scale is what each product of a query and a key is multiplied by. 0 stands for
	// 1/√d, where d is the number of columns of a query (of one head).
	Scale float64

	// Causal hides the future: query i sees key j only if j ≤ i + Offset.
	Causal bool

	// Offset is the place of query 0 among the keys. Without Causal it means nothing.
	Offset int

	// Mask has one bool for each query and key, query by query: query i sees key j only
	// if Mask[i*keys+j] is true. A nil Mask hides nothing.
	Mask []bool
}

// Attend returns, for each row of q, the average of the rows of v, each weighted by how
// well the row of k in the same place fits the query.
func Attend(q, k, v Matrix, opt Options) (Matrix, error) {
	return Matrix{}, nil // write your solution here
}

// Weights returns the weights by which Attend averages: a row for each query, a column
// for each key.
func Weights(q, k Matrix, opt Options) (Matrix, error) {
	return Matrix{}, nil // write your solution here
}

// Heads says how many heads there are: of queries, and of keys and values. If there are
// fewer of the latter, neighbouring heads of queries share one.
type Heads struct {
	Query, KV int
}

// MultiHead attends with each head by itself, and puts the results side by side.
func MultiHead(q, k, v Matrix, h Heads, opt Options) (Matrix, error) {
	return Matrix{}, nil // write your solution here
}

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
	// yours
}

// NewCache returns a Cache without tokens.
func NewCache(cfg CacheConfig) (*Cache, error) {
	return &Cache{}, nil // write your solution here
}

// Step adds tokens, a row each, and returns what MultiHead with Causal would return for
// them, if it were given all tokens so far.
func (c *Cache) Step(q, k, v Matrix) (Matrix, error) {
	return Matrix{}, nil // write your solution here
}

// Len returns how many tokens the Cache holds.
func (c *Cache) Len() int {
	return 0 // write your solution here
}

// Truncate forgets all tokens but the first n.
func (c *Cache) Truncate(n int) error {
	return nil // write your solution here
}

// Fork returns a Cache of its own that holds the same tokens.
func (c *Cache) Fork() *Cache {
	return &Cache{} // write your solution here
}
