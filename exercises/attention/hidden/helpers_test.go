// Package hidden holds what students do not see. The tests record what the package
// answers, and compare nothing: grade compares it with what the reference answered.
package hidden

import (
	"math"
	"math/rand/v2"
	"testing"

	"grade/observe"
	"grade/reference/attention"
)

type (
	matrix  = attention.Matrix
	options = attention.Options
	heads   = attention.Heads
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
	one = heads{Query: 1, KV: 1}
)

// draw makes a matrix of ordinary numbers.
func draw(r *rand.Rand, rows, cols int) matrix {
	m := matrix{Rows: rows, Cols: cols, Data: make([]float64, rows*cols)}
	for i := range m.Data {
		m.Data[i] = r.NormFloat64()
	}
	return m
}

// whole makes a matrix of whole numbers from -n to n, times unit. Their products and sums
// are exact in any order, if unit is a power of 2.
func whole(r *rand.Rand, rows, cols, n int, unit float64) matrix {
	m := draw(r, rows, cols)
	for i := range m.Data {
		m.Data[i] = unit * float64(r.IntN(2*n+1)-n)
	}
	return m
}

// scaled is the default scale of dim columns, said aloud: a solution with a wrong default
// fails in TestScale and nowhere else, and so does one that does not look at Scale.
func scaled(dim int) options { return options{Scale: 1 / math.Sqrt(float64(dim))} }

// with is opt with a mask of its own.
func (i inputs) with(mask []bool) options {
	opt := scaled(i.q.Cols)
	opt.Mask = mask
	return opt
}

// inputs are queries, keys and values that fit each other.
type inputs struct{ q, k, v matrix }

// single makes inputs of one head, of any sizes.
func single(r *rand.Rand, queries, keys int) inputs {
	d := 1 + r.IntN(6)
	return inputs{draw(r, queries, d), draw(r, keys, d), draw(r, keys, 1+r.IntN(6))}
}

// several makes inputs of several heads.
func several(r *rand.Rand, h heads, queries, keys, keyDim, valueDim int) inputs {
	return inputs{draw(r, queries, h.Query*keyDim), draw(r, keys, h.KV*keyDim), draw(r, keys, h.KV*valueDim)}
}

// somewhere is a mask that hides about half, and nothing of the key in place i % keys from
// query i, so that no row is hidden wholly.
func somewhere(r *rand.Rand, queries, keys int) []bool {
	mask := make([]bool, queries*keys)
	for i := range mask {
		mask[i] = r.IntN(2) == 0
	}
	for i := range queries {
		mask[i*keys+i%keys] = true
	}
	return mask
}

// manyKeys are numbers of keys of which whoever goes by blocks makes several.
func manyKeys(r *rand.Rand) []int {
	return []int{280 + r.IntN(60), 1100 + r.IntN(200), 4200 + r.IntN(400)}
}

// long makes inputs of many keys, and a mask of long stretches: one for each query.
func long(r *rand.Rand, n int) (inputs, []bool) {
	third := n/3 + r.IntN(n/4)
	sees := []func(j int) bool{
		func(j int) bool { return j == n-1 },
		func(j int) bool { return j == third },
		func(j int) bool { return j == 0 },
		func(j int) bool { return j >= n-1-n/10 },                             // hidden at the beginning,
		func(j int) bool { return j < n/10+1 },                                // at the end
		func(j int) bool { return j < n/20 || j >= n-1-n/20 },                 // and between
		func(j int) bool { return j/(n/7+1)%2 == 1 },                          // and by turns
		func(j int) bool { return j >= third && r.IntN(20) == 0 || j == n-2 }, // and here and there
	}
	mask := make([]bool, len(sees)*n)
	for i := range mask {
		mask[i] = sees[i/n](i % n)
	}
	return inputs{draw(r, len(sees), 2), draw(r, n, 2), draw(r, n, 2)}, mask
}

// stretched makes inputs of one query, 1, and n keys of one column, which lie around the
// bases: a stretch around each.
func stretched(r *rand.Rand, n int, bases []float64) inputs {
	in := inputs{matrix{Rows: 1, Cols: 1, Data: []float64{1}}, draw(r, n, 1), draw(r, n, 2)}
	for j := range in.k.Data {
		in.k.Data[j] += bases[j*len(bases)/n]
	}
	return in
}

// record writes down a result: whether there is one, its size and its numbers.
func record(o *observe.Observer, name string, m matrix, err error) {
	o.Error("error", err, attention.ErrShape, attention.ErrOption)
	o.Ints("size", []int{m.Rows, m.Cols, len(m.Data)})
	o.Floats(name, m.Data)
}

// attend records what Attend answers.
func attend(o *observe.Observer, name string, in inputs, opt options) {
	m, err := attention.Attend(in.q, in.k, in.v, opt)
	record(o, name, m, err)
}

// weigh records what Weights answers.
func weigh(o *observe.Observer, name string, in inputs, opt options) {
	m, err := attention.Weights(in.q, in.k, opt)
	record(o, name, m, err)
}

// multi records what MultiHead answers.
func multi(o *observe.Observer, name string, in inputs, h heads, opt options) {
	m, err := attention.MultiHead(in.q, in.k, in.v, h, opt)
	record(o, name, m, err)
}

// newCache makes a cache with the default scale, said aloud.
func newCache(t testing.TB, h heads, keyDim, valueDim int) *attention.Cache {
	t.Helper()
	return newCacheScaled(t, h, keyDim, valueDim, scaled(keyDim).Scale)
}

// newCacheScaled makes a cache with a scale of its own.
func newCacheScaled(t testing.TB, h heads, keyDim, valueDim int, scale float64) *attention.Cache {
	t.Helper()
	c, err := attention.NewCache(attention.CacheConfig{Heads: h, KeyDim: keyDim, ValueDim: valueDim, Scale: scale})
	if err != nil || c == nil {
		t.Fatalf("NewCache returns %v", err)
	}
	return c
}

// step records what Step answers, and the length afterwards.
func step(o *observe.Observer, name string, c *attention.Cache, in inputs) {
	m, err := c.Step(in.q, in.k, in.v)
	record(o, name, m, err)
	o.Int("length", c.Len())
}

// rows are some rows, from one up to another, in arrays of their own.
func (i inputs) rows(from, to int) inputs {
	cut := func(m matrix) matrix {
		return matrix{Rows: to - from, Cols: m.Cols, Data: append([]float64{}, m.Data[from*m.Cols:to*m.Cols]...)}
	}
	return inputs{cut(i.q), cut(i.k), cut(i.v)}
}

// layouts are one head and some.
func layouts(r *rand.Rand) []heads {
	n := 2 + r.IntN(3)
	return []heads{one, grouped(n, n), grouped(n+1, n+1)}
}

// total is one number for many, in which each has a weight of its own.
func total(m matrix) (sum float64) {
	for i, x := range m.Data {
		sum += x * float64(1+i%7)
	}
	return sum
}

// grouped is a number of heads of queries, and of keys and values.
func grouped(query, kv int) heads { return heads{Query: query, KV: kv} }

// narrow is a matrix of the first numbers of m, as many rows of cols columns.
func narrow(m matrix, cols int) matrix {
	return matrix{Rows: m.Rows, Cols: cols, Data: m.Data[:m.Rows*cols]}
}
