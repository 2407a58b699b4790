package hidden

import (
	"math/rand/v2"
	"testing"

	"grade/observe"
	"grade/reference/attention"
)

// around draws a size that is about n.
func around(r *rand.Rand, n int) int { return n - n/100 + r.IntN(n/50+1) }

// change gives some numbers of a matrix, anywhere, new values.
func change(r *rand.Rand, m matrix) {
	for range 16 {
		m.Data[r.IntN(len(m.Data))] = r.NormFloat64()
	}
}

// Attend of about 512 queries and 8,192 keys, twice. Time: one exponential and two short
// loops for each pair. Memory: no number for each pair.
func BenchmarkLong(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	n, keys := around(r, 512), around(r, 8192)
	qs := []matrix{draw(r, n, 8), draw(r, n, 8)}
	k, v := draw(r, keys, 8), draw(r, keys, 8)
	results := make([]matrix, len(qs))
	for o.Loop() {
		for i, q := range qs {
			change(r, k) // no result is good for the next round
			change(r, v)
			results[i], _ = attention.Attend(q, k, v, scaled(8))
		}
	}
	for _, m := range results {
		o.Floats("values", m.Data)
	}
}

// MultiHead of 16 heads of queries that share one head of about 4,096 keys and values.
// Time: as above. Memory: no copy of the keys for each head.
func BenchmarkHeads(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	h := heads{Query: 16, KV: 1}
	in := several(r, h, 8, around(r, 4096), 32, 32)
	qs := []matrix{in.q, draw(r, in.q.Rows, in.q.Cols)}
	results := make([]matrix, len(qs))
	for o.Loop() {
		for i, q := range qs {
			change(r, in.k)
			change(r, in.v)
			results[i], _ = attention.MultiHead(q, in.k, in.v, h, scaled(32))
		}
	}
	for _, m := range results {
		o.Floats("values", m.Data)
	}
}

// weighted is one number for many. Nobody but the test knows the weights, so that nothing
// but all of the numbers will do.
func weighted(m matrix, weights []float64) (sum float64) {
	for i, x := range m.Data {
		sum += x * weights[i%len(weights)]
	}
	return sum
}

// About 1,200 tokens, one by one. Time: a new token costs one row of attention, and not all
// of them again.
func BenchmarkDecode(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	h := heads{Query: 4, KV: 2}
	n := around(r, 1200)
	tokens := several(r, h, n, n, 8, 8)
	weights := draw(r, 1, h.Query*8).Data
	values, sizes := make([]float64, n), make([]int, n)
	for o.Loop() {
		c := newCache(b, h, 8, 8)
		for i := range values {
			token := tokens.rows(i, i+1)
			m, err := c.Step(token.q, token.k, token.v)
			if err != nil {
				b.Fatal(err)
			}
			values[i], sizes[i] = weighted(m, weights), len(m.Data)
		}
	}
	o.Floats("values of each token, weighted and added up", values)
	o.Ints("how many", sizes)
}

// Attend of 16,384 queries and as many keys, of which most see nothing: 256 MiB of memory
// are enough; 16,384 times 16,384 numbers would be 2 GiB, and as many bools 256 MiB.
func TestSquare(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const n = 16_384
	in := inputs{draw(r, n, 2), draw(r, n, 2), draw(r, n, 2)}
	opt := scaled(2)
	opt.Causal, opt.Offset = true, -n+100+r.IntN(100)
	m, err := attention.Attend(in.q, in.k, in.v, opt)
	o.Error("error", err, attention.ErrShape, attention.ErrOption)
	o.Ints("size", []int{m.Rows, m.Cols, len(m.Data)})
	o.Float("values, added up", total(m))
	o.Floats("the last ones", part(m, n-1))
}
