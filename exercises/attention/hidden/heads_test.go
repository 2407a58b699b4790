package hidden

import (
	"testing"

	"grade/observe"
	"grade/reference/attention"
)

// Each head has its own columns of queries, keys and values, and its results stand side
// by side in the same order (rule 11).
func TestHeads(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		for _, n := range []int{1, 2, 3, 4 + r.IntN(5)} {
			h := heads{Query: n, KV: n}
			in := several(r, h, 1+r.IntN(6), 1+r.IntN(6), 1+r.IntN(4), 1+r.IntN(4))
			opt := scaled(in.q.Cols / n)
			multi(o, "values", in, h, opt)
			opt.Mask = somewhere(r, in.q.Rows, in.k.Rows)
			multi(o, "masked: values", in, h, opt)
		}
	}
	for _, h := range []heads{grouped(260, 1), grouped(260, 130), grouped(300, 300)} { // more than 8 bits count
		in := several(r, h, 2, 3, 1, 1)
		multi(o, "many: values", in, h, scaled(1))
	}
	n := 1<<16 + 1 + r.IntN(4000)
	multi(o, "values, more than 65,536 keys", inputs{draw(r, 1, 2), draw(r, n, 1), draw(r, n, 1)}, grouped(2, 1), scaled(1))
}

// Heads of queries that are neighbours share a head of keys and values (rule 12).
func TestGroups(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		for _, h := range []heads{grouped(2+r.IntN(4), 1), grouped(4, 2), grouped(6, 2), grouped(6, 3), grouped(4*(1+r.IntN(3)), 4)} {
			in := several(r, h, 1+r.IntN(6), 2+r.IntN(6), 1+r.IntN(4), 1+r.IntN(4))
			opt := scaled(in.q.Cols / h.Query)
			multi(o, "values", in, h, opt)
			opt.Mask = somewhere(r, in.q.Rows, in.k.Rows)
			multi(o, "masked: values", in, h, opt)
		}
	}
	in, mask := long(r, 300+r.IntN(1000))
	opt := scaled(1) // two heads of queries of one column
	opt.Mask = mask
	multi(o, "masked: values, long stretches hidden", inputs{in.q, narrow(in.k, 1), in.v}, grouped(2, 1), opt)
}

// largeInHeads asks several heads, and caches of one head and of several, for logits of any
// size: they may have a loop of their own, which has to take out the largest as well. Values
// are of one head and as wide as keys, so that nothing else counts.
func largeInHeads(t *testing.T, o *observe.Observer, d int, unit float64) {
	r := o.Rand()
	for _, h := range []heads{one, grouped(3, 1)} {
		in := inputs{bothEnds(whole(r, 6, h.Query*d, 8, unit), d), whole(r, 6, d, 8, unit), draw(r, 6, d)}
		below := -scaled(d).Scale
		multi(o, "several: logits of any size", in, h, scaled(d))
		multi(o, "several: logits of any size, by a scale below 0", in, h, options{Scale: below})
		for _, n := range []int{1, 6} {
			lastToken(o, "cache: logits of any size", newCache(t, h, d, d), in.rows(0, n))
			lastToken(o, "cache below 0: logits of any size", newCacheScaled(t, h, d, d, below), in.rows(0, n))
		}
	}
}

// bothEnds has the last d columns of queries equal the first: in which order their heads come
// is of no matter.
func bothEnds(q matrix, d int) matrix {
	for i := range q.Rows {
		row := q.Data[i*q.Cols:][:q.Cols]
		copy(row[q.Cols-d:], row[:d])
	}
	return q
}

// lastToken records the last row of a Step: it sees all tokens, whatever is thought of earlier ones.
func lastToken(o *observe.Observer, name string, c *attention.Cache, in inputs) {
	m, err := c.Step(in.q, in.k, in.v)
	o.Error("error", err, attention.ErrShape, attention.ErrOption)
	o.Floats(name, part(m, in.q.Rows-1))
}

// What does not fit is an error, and what fits is none: in each function, for each
// matrix, on both sides (rule 9, 13).
func TestShapes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	// All of them fit; change breaks one thing.
	changes := []func(in *inputs, h *heads, opt *options){
		func(in *inputs, h *heads, opt *options) {},
		func(in *inputs, h *heads, opt *options) { in.q.Data = in.q.Data[1:] },
		func(in *inputs, h *heads, opt *options) { in.q.Data = append(in.q.Data, 1) },
		func(in *inputs, h *heads, opt *options) { in.k.Data = in.k.Data[1:] },
		func(in *inputs, h *heads, opt *options) { in.k.Data = append(in.k.Data, 1) },
		func(in *inputs, h *heads, opt *options) { in.q.Rows, in.q.Cols = -in.q.Rows, -in.q.Cols },
		func(in *inputs, h *heads, opt *options) { in.k.Rows, in.k.Cols = -in.k.Rows, -in.k.Cols },
		func(in *inputs, h *heads, opt *options) { in.q = matrix{Rows: -1} }, // as many numbers as Rows times Cols
		func(in *inputs, h *heads, opt *options) { in.k = matrix{Rows: -5} },
		func(in *inputs, h *heads, opt *options) { in.q, in.k = matrix{Cols: -2}, matrix{Cols: -2} },
		func(in *inputs, h *heads, opt *options) { in.q = draw(r, 3, in.q.Cols+h.Query) },
		func(in *inputs, h *heads, opt *options) { in.k = draw(r, 5, in.k.Cols+h.KV) },
		func(in *inputs, h *heads, opt *options) { in.q, in.k = draw(r, 3, 0), draw(r, 5, 0) },
		func(in *inputs, h *heads, opt *options) { opt.Mask = make([]bool, 3*5-1) },
		func(in *inputs, h *heads, opt *options) { opt.Mask = make([]bool, 3*5+1) },
		func(in *inputs, h *heads, opt *options) { opt.Mask = []bool{} },
		func(in *inputs, h *heads, opt *options) { opt.Mask = make([]bool, 5*3) },
		func(in *inputs, h *heads, opt *options) { opt.Scale = nan },
		func(in *inputs, h *heads, opt *options) { opt.Scale = inf },
		func(in *inputs, h *heads, opt *options) { opt.Scale = -inf },
		func(in *inputs, h *heads, opt *options) { opt.Scale = -1e-300 },
		// Where there are no queries or no keys, the rest has to fit all the same.
		func(in *inputs, h *heads, opt *options) {
			in.k, in.v, opt.Scale = draw(r, 0, in.k.Cols), draw(r, 0, in.v.Cols), nan
		},
		func(in *inputs, h *heads, opt *options) { in.q, opt.Scale = draw(r, 0, in.q.Cols), inf },
		func(in *inputs, h *heads, opt *options) { in.q, opt.Mask = draw(r, 0, in.q.Cols), []bool{true} },
		func(in *inputs, h *heads, opt *options) {
			in.k, in.v, opt.Mask = draw(r, 0, in.k.Cols), draw(r, 0, in.v.Cols), []bool{true}
		},
		func(in *inputs, h *heads, opt *options) {
			in.q, in.k = draw(r, 0, in.q.Cols), draw(r, 5, in.k.Cols+h.KV)
		},
		func(in *inputs, h *heads, opt *options) {
			in.k, in.v = draw(r, 0, in.k.Cols+h.KV), draw(r, 0, in.v.Cols)
		},
		func(in *inputs, h *heads, opt *options) { in.q, in.k, in.v = matrix{}, matrix{}, matrix{} },
		func(in *inputs, h *heads, opt *options) { in.q, in.k = draw(r, 0, 0), draw(r, 5, 0) },
		func(in *inputs, h *heads, opt *options) { in.q, opt.Mask = draw(r, 0, in.q.Cols), []bool{} },
	}
	ofValues := []func(in *inputs, h *heads, opt *options){
		func(in *inputs, h *heads, opt *options) { in.v.Data = in.v.Data[1:] },
		func(in *inputs, h *heads, opt *options) { in.v.Data = append(in.v.Data, 1) },
		func(in *inputs, h *heads, opt *options) { in.v.Rows, in.v.Cols = -in.v.Rows, -in.v.Cols },
		func(in *inputs, h *heads, opt *options) { in.v = matrix{Rows: -5} },
		func(in *inputs, h *heads, opt *options) { in.k.Rows, in.v = 0, matrix{Cols: -4}; in.k.Data = nil },
		func(in *inputs, h *heads, opt *options) { in.v = draw(r, 4, in.v.Cols) },
		func(in *inputs, h *heads, opt *options) { in.v = draw(r, 6, in.v.Cols) },
		func(in *inputs, h *heads, opt *options) { in.k, in.v = draw(r, 0, in.k.Cols), draw(r, 0, in.v.Cols) }, // no keys: that fits
		func(in *inputs, h *heads, opt *options) {
			in.k, in.v = draw(r, 0, in.k.Cols), draw(r, 0, in.v.Cols)
			in.v.Cols *= -1
		},
		// Where there are no queries or no keys, the values have to fit all the same.
		func(in *inputs, h *heads, opt *options) { in.k = draw(r, 0, in.k.Cols) },
		func(in *inputs, h *heads, opt *options) { in.q, in.v = draw(r, 0, in.q.Cols), draw(r, 4, in.v.Cols) },
		func(in *inputs, h *heads, opt *options) { in.q, in.v.Data = draw(r, 0, in.q.Cols), in.v.Data[1:] },
	}
	ofHeads := []func(in *inputs, h *heads, opt *options){
		func(in *inputs, h *heads, opt *options) { h.Query = 0 },
		func(in *inputs, h *heads, opt *options) { h.KV = 0 },
		func(in *inputs, h *heads, opt *options) { *h = grouped(-h.Query, -h.KV) },
		func(in *inputs, h *heads, opt *options) { h.Query, h.KV = h.KV, h.Query }, // fewer heads of queries
		func(in *inputs, h *heads, opt *options) {
			*h, *in = grouped(3, 2), several(r, grouped(3, 2), 3, 5, 2, 2)
		}, // not in groups
		func(in *inputs, h *heads, opt *options) { in.q = draw(r, 3, in.q.Cols+1) },
		func(in *inputs, h *heads, opt *options) { in.k = draw(r, 5, in.k.Cols-1) },
		func(in *inputs, h *heads, opt *options) { in.k = draw(r, 5, in.k.Cols+1) },
		func(in *inputs, h *heads, opt *options) { in.q, in.k = draw(r, 3, 4*2+2), draw(r, 5, 2*2+1) },
		func(in *inputs, h *heads, opt *options) { in.v = draw(r, 5, in.v.Cols+1) },
	}
	for i, change := range append(append(changes, ofValues...), ofHeads...) {
		in, h, opt := several(r, one, 3, 5, 2, 2), one, scaled(2)
		if i < len(changes)+len(ofValues) {
			change(&in, &h, &opt)
			_, err := attention.Attend(in.q, in.k, in.v, opt)
			o.Error("error of Attend", err, attention.ErrShape, attention.ErrOption)
		}
		if i < len(changes) {
			_, err := attention.Weights(in.q, in.k, opt)
			o.Error("error of Weights", err, attention.ErrShape, attention.ErrOption)
		}
		h, opt = heads{Query: 4, KV: 2}, scaled(2)
		in = several(r, h, 3, 5, 2, 2)
		change(&in, &h, &opt)
		_, err := attention.MultiHead(in.q, in.k, in.v, h, opt)
		o.Error("error of MultiHead", err, attention.ErrShape, attention.ErrOption)
	}
	in := single(r, 2, 3) // and after all that, a call is as ever
	attend(o, "values", in, scaled(in.q.Cols))
}
