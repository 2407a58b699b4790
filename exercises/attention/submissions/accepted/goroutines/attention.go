// Package attention is scaled dot-product attention (Vaswani et al., 2017, "Attention Is
// All You Need", section 3.2): with masks, with several heads, and token by token with a
// key-value cache.
//
// All of it is one loop, in row.go: the weights of one query for all keys, in a buffer as
// long as there are keys, and then the average of the values. No matrix of queries times
// keys is ever made, except by Weights, whose result it is.
package attention

import (
	"errors"
	"fmt"
	"math"
)

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

// newMatrix returns a matrix of zeros.
func newMatrix(rows, cols int) Matrix {
	return Matrix{Rows: rows, Cols: cols, Data: make([]float64, rows*cols)}
}

// row returns row i, as a part of m.
func (m Matrix) row(i int) []float64 { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// valid says whether m has as many numbers as its size asks for.
func (m Matrix) valid() bool {
	return m.Rows >= 0 && m.Cols >= 0 && len(m.Data) == m.Rows*m.Cols
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

// scaleFor is the factor for queries of dim columns.
func (opt Options) scaleFor(dim int) float64 {
	if opt.Scale != 0 {
		return opt.Scale
	}
	return 1 / math.Sqrt(float64(dim))
}

// Attend returns, for each row of q, the average of the rows of v, each weighted by how
// well the row of k in the same place fits the query.
func Attend(q, k, v Matrix, opt Options) (Matrix, error) {
	return MultiHead(q, k, v, Heads{Query: 1, KV: 1}, opt)
}

// Weights returns the weights by which Attend averages: a row for each query, a column
// for each key.
func Weights(q, k Matrix, opt Options) (Matrix, error) {
	if err := check(q, k, Matrix{Rows: k.Rows}, Heads{Query: 1, KV: 1}, opt); err != nil {
		return Matrix{}, err
	}
	out := newMatrix(q.Rows, k.Rows)
	scale := opt.scaleFor(q.Cols)
	for i := range q.Rows {
		row := out.row(i)
		see := opt.sight(i, k.Rows)
		total := weigh(row[:see.keys], q.row(i), k.Data, k.Cols, scale, see)
		for j := range row[:see.keys] {
			if see.sees(j) { // else it is 0, also where the sum is NaN
				row[j] /= total
			}
		}
	}
	return out, nil
}

// ratio is weight / total, and 0 where there is no weight at all.
func ratio(weight, total float64) float64 {
	if total == 0 {
		return 0
	}
	return weight / total
}

// check returns an error unless the matrices, heads and options fit each other.
func check(q, k, v Matrix, h Heads, opt Options) error {
	switch {
	case !q.valid() || !k.valid() || !v.valid():
		return fmt.Errorf("%w: numbers are missing, or there are too many", ErrShape)
	case !h.divide(q.Cols, k.Cols, v.Cols):
		return fmt.Errorf("%w: %d, %d and %d columns for %d and %d heads", ErrShape, q.Cols, k.Cols, v.Cols, h.Query, h.KV)
	case k.Rows != v.Rows:
		return fmt.Errorf("%w: %d keys and %d values", ErrShape, k.Rows, v.Rows)
	case opt.Mask != nil && len(opt.Mask) != q.Rows*k.Rows:
		return fmt.Errorf("%w: a mask of %d for %d queries and %d keys", ErrShape, len(opt.Mask), q.Rows, k.Rows)
	}
	return checkScale(opt.Scale)
}

// checkScale returns an error unless scale is finite.
func checkScale(scale float64) error {
	if math.IsNaN(scale) || math.IsInf(scale, 0) {
		return fmt.Errorf("%w: a scale of %v", ErrOption, scale)
	}
	return nil
}
