package hidden

import (
	"testing"

	"grade/observe"
	"grade/reference/attention"
)

// Attend of 512 queries and 8,192 keys, twice. Time: one exponential and two short loops
// for each pair. Memory: no number for each pair.
func BenchmarkLong(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	qs := []matrix{draw(r, 512, 8), draw(r, 512, 8)}
	k, v := draw(r, 8192, 8), draw(r, 8192, 8)
	results := make([]matrix, len(qs))
	for o.Loop() {
		k.Data[r.IntN(len(k.Data))] += 1e-3 // no result is good for the next round
		for i, q := range qs {
			results[i], _ = attention.Attend(q, k, v, scaled(8))
		}
	}
	for _, m := range results {
		o.Floats("values", m.Data)
	}
}

// MultiHead of 16 heads of queries that share one head of 4,096 keys and values. Time: as
// above. Memory: no copy of the keys for each head.
func BenchmarkHeads(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	h := heads{Query: 16, KV: 1}
	in := several(r, h, 8, 4096, 32, 32)
	results := make([]matrix, 2)
	for o.Loop() {
		for i := range results {
			in.q.Data[r.IntN(len(in.q.Data))] += 0.5
			results[i], _ = attention.MultiHead(in.q, in.k, in.v, h, scaled(32))
		}
	}
	for _, m := range results {
		o.Floats("values", m.Data)
	}
}

// 1,200 tokens, one by one. Time: a new token costs one row of attention, and not all of
// them again.
func BenchmarkDecode(b *testing.B) {
	o := observe.New(b)
	h := heads{Query: 4, KV: 2}
	tokens := several(o.Rand(), h, 1200, 1200, 8, 8)
	values := make([]float64, tokens.q.Rows)
	for o.Loop() {
		c := newCache(b, h, 8, 8)
		for i := range values {
			token := tokens.rows(i, i+1)
			m, err := c.Step(token.q, token.k, token.v)
			if err != nil {
				b.Fatal(err)
			}
			values[i] = total(m)
		}
	}
	o.Floats("values", values)
}

// Attend of 8,192 queries and as many keys, of which most see nothing: 256 MiB of memory
// are enough, and 8,192 times 8,192 numbers would be 512 MiB.
func TestSquare(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const n = 8192
	in := inputs{draw(r, n, 2), draw(r, n, 2), draw(r, n, 2)}
	opt := scaled(2)
	opt.Causal, opt.Offset = true, -n+100+r.IntN(100)
	m, err := attention.Attend(in.q, in.k, in.v, opt)
	o.Error("error", err, attention.ErrShape, attention.ErrOption)
	o.Ints("size", []int{m.Rows, m.Cols, len(m.Data)})
	o.Float("values, added up", total(m))
	o.Floats("the last ones", part(m, n-1))
}
