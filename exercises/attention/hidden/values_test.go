package hidden

import (
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/attention"
)

// Each row of the result is the average of the values, weighted by the softmax of the
// scaled products of its query with all keys (rules 1 and 2).
func TestAttend(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 10 {
		n := 2 + r.IntN(7)
		for _, size := range [][2]int{{1, n}, {n, n}, {n, n + 1 + r.IntN(9)}, {n + 1 + r.IntN(9), n}, {n, 1}} {
			in := single(r, size[0], size[1])
			attend(o, "values", in, scaled(in.q.Cols))
		}
	}
	for _, n := range []int{63, 64, 65, 127, 128, 129, 255 + r.IntN(3), 500 + r.IntN(600)} {
		in := single(r, 3, n)
		attend(o, "values, many keys", in, scaled(in.q.Cols))
		in = single(r, n, 3)
		attend(o, "values, many queries", in, scaled(in.q.Cols))
		in = inputs{draw(r, 2, n), draw(r, 3, n), draw(r, 3, n+1)}
		attend(o, "values, many columns", in, scaled(n))
	}
	n := 1<<16 + 1 + r.IntN(4000) // the last of so many count as the first do
	in := inputs{draw(r, 2, 1), draw(r, n, 1), draw(r, n, 1)}
	for j := range 40 {
		in.v.Data[n-1-j] = 1e4 * r.Float64()
	}
	attend(o, "values, more than 65,536 keys", in, scaled(1))
	in = inputs{draw(r, n, 1), draw(r, 2, 1), draw(r, 2, 1)}
	m, _ := attention.Attend(in.q, in.k, in.v, scaled(1))
	o.Float("values, more than 65,536 queries", total(m), observe.Within(1e-4, 1e-9))
	o.Floats("the last values, more than 65,536 queries", part(m, n-1))
}

// The scale is 1/√d where it is 0, with d the columns of one head, and what it says
// otherwise, below 0 too, whatever hides keys (rules 2, 11 and 14).
func TestScale(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, scale := range []float64{0, math.Copysign(0, -1), 0.1 + r.Float64(), 1, 2 + r.Float64(), -1 - r.Float64()} {
		keyDim := 2 + r.IntN(6)
		in := several(r, one, 4, 5, keyDim, 3)
		attend(o, "values", in, options{Scale: scale})
		attend(o, "masked: values", in, options{Scale: scale, Mask: somewhere(r, 4, 5)})
		attend(o, "causal: values", in, options{Scale: scale, Causal: true})
		n := 2 + r.IntN(3)
		for _, h := range []heads{grouped(n, 1), grouped(n, n)} { // all heads of queries are wider than one, and of keys too
			in = several(r, h, 4, 4, keyDim, 3)
			multi(o, "heads: values", in, h, options{Scale: scale})
			multi(o, "heads: masked: values", in, h, options{Scale: scale, Mask: somewhere(r, 4, 4)})
			multi(o, "heads: causal: values", in, h, options{Scale: scale, Causal: true})
			step(o, "cache: values", newCacheScaled(t, h, keyDim, 3, scale), in)
		}
	}
}

// With Causal, a query sees the key in its own place and those before (rule 4).
func TestCausal(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{1, 2, 3, 4 + r.IntN(6), 60 + r.IntN(10), 120 + r.IntN(20)} {
		for _, keys := range []int{n, n + 1, n + 5, max(n-1, 1)} {
			in := single(r, n, keys)
			opt := scaled(in.q.Cols)
			opt.Causal = true
			attend(o, "values", in, opt)
		}
	}
	in := single(r, 4, 5) // and without it, Offset means nothing
	opt := scaled(in.q.Cols)
	opt.Offset = -2
	attend(o, "values, not causal", in, opt)
}

// Query 0 stands at Offset among the keys, before the first and behind the last too, in
// each of several heads (rules 4 and 11).
func TestOffset(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		n := 3 + r.IntN(5)
		for _, offset := range []int{-n - 3, -n, -n + 1, -2, -1, 1, 2, n - 1, n, n + 3, 1e9, -1e9} {
			in := single(r, n, n+r.IntN(3))
			opt := scaled(in.q.Cols)
			opt.Causal, opt.Offset = true, offset
			attend(o, "values", in, opt)
			multi(o, "heads: values", in, one, opt)
			h := grouped(4, 2)
			opt.Scale = scaled(2).Scale
			multi(o, "several: values", several(r, h, n, n+2, 2, 3), h, opt)
		}
	}
	for _, n := range manyKeys(r) { // the last key that is seen stands anywhere among many
		in := inputs{draw(r, 4, 2), draw(r, n, 2), draw(r, n, 2)}
		for _, offset := range []int{n - 4, 255, 62, r.IntN(n), n - 1} {
			opt := scaled(2)
			opt.Causal, opt.Offset = true, offset
			attend(o, "values, many keys", in, opt)
		}
	}
}

// A mask has true where a query sees a key: also where long stretches of many keys are
// hidden, at the beginning too, or all keys but one (rule 5).
func TestMask(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 10 {
		for _, size := range [][2]int{{1, 6}, {5, 5}, {3, 8}, {8, 3}} {
			in := single(r, size[0], size[1])
			mask := somewhere(r, size[0], size[1])
			attend(o, "values", in, in.with(mask))
		}
	}
	for _, n := range []int{63 + r.IntN(3), 127 + r.IntN(3), 200 + r.IntN(100)} {
		in := single(r, 4, n)
		mask := make([]bool, 4*n) // long stretches of nothing, also at the beginning
		for i := range 4 {
			mask[i*n+r.IntN(n)], mask[i*n+r.IntN(n)] = true, true
		}
		attend(o, "values, few keys seen", in, in.with(mask))
	}
	for _, n := range manyKeys(r) {
		in, mask := long(r, n)
		attend(o, "values, long stretches hidden", in, in.with(mask))
		multi(o, "heads, long stretches hidden", in, one, in.with(mask))
	}
	n := 300 + r.IntN(400) // and many queries
	in := inputs{draw(r, n, 2), draw(r, 4, 2), draw(r, 4, 2)}
	attend(o, "values, many queries", in, in.with(somewhere(r, n, 4)))
}

// A key is seen if both Causal, with any offset, and the mask let it be seen (rules 4 and 5).
func TestBoth(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 8 {
		n := 3 + r.IntN(6)
		in := single(r, n, n+r.IntN(3))
		opt := in.with(somewhere(r, n, in.k.Rows)) // each query sees at least its own place
		opt.Causal = true
		attend(o, "values", in, opt)
		opt.Offset = 1 + r.IntN(3)
		opt.Mask[1] = true // hidden from the first query but for the offset
		attend(o, "offset: values", in, opt)
		h := grouped(2, 1)
		opt.Scale = scaled(2).Scale
		multi(o, "several: values", several(r, h, n, in.k.Rows, 2, 2), h, opt)
	}
}

// Weights has a row for each query and a column for each key, in which what is not seen has
// weight 0: by the same rules as Attend (rule 3, and 2 and 4 to 8).
func TestWeights(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 10 {
		n := 2 + r.IntN(7)
		for _, size := range [][2]int{{1, n}, {n, n}, {n, n + 3}, {n + 3, n}, {n, 1}} {
			in := single(r, size[0], size[1])
			weigh(o, "weights", in, scaled(in.q.Cols))
			mask := somewhere(r, size[0], size[1])
			weigh(o, "masked: weights", in, in.with(mask))
			clear(mask[:size[1]])
			weigh(o, "masked: weights, a row sees nothing", in, in.with(mask))
			opt := scaled(in.q.Cols)
			opt.Causal = true
			weigh(o, "causal: weights", in, opt)
			opt.Offset = r.IntN(2*n) - n
			weigh(o, "offset: weights", in, opt)
			opt.Mask = mask
			weigh(o, "both: weights", in, opt)
			weigh(o, "scale: weights", in, options{})
			weigh(o, "scale: weights", in, options{Scale: -1 - r.Float64()})
			for _, scale := range []float64{0, -1 - r.Float64()} {
				weigh(o, "scale: masked: weights", in, options{Scale: scale, Mask: mask})
				weigh(o, "scale: causal: weights", in, options{Scale: scale, Causal: true})
			}
		}
	}
	for _, n := range []int{64, 129, 300 + r.IntN(300)} {
		in := single(r, 3, n)
		weigh(o, "weights, many keys", in, scaled(in.q.Cols))
	}
	weights, _ := attention.Weights(draw(r, 2, 1), draw(r, 1<<16+1+r.IntN(4000), 1), scaled(1))
	o.Float("weights, more than 65,536 keys", total(weights), observe.Within(0, 1e-9))
	in, mask := long(r, 300+r.IntN(300))
	weigh(o, "masked: weights, long stretches hidden", in, in.with(mask))
	large := stretched(r, 700+r.IntN(700), []float64{0, -800, 30, 800, -30})
	weigh(o, "large: weights of many keys", large, scaled(1))
	for _, exponent := range []int{6, 10, 20, 40, 500, 980} {
		unit := math.Ldexp(1, exponent/2)
		in := inputs{q: whole(r, 5, 4, 8, unit), k: whole(r, 6, 4, 8, unit)}
		weigh(o, "large: weights", in, scaled(4))
		weigh(o, "large: below 0: weights", in, options{Scale: -scaled(4).Scale})
	}
	for _, at := range []int{0, 1, 4} {
		in := single(r, 4, 5)
		opt := in.with(somewhere(r, 4, 5))
		for i := range 4 {
			opt.Mask[i*5+at] = i%2 == 0
			opt.Mask[i*5+(at+1)%5] = true
		}
		in.k.Data[at*in.k.Cols] = nan
		weigh(o, "not finite: weights, NaN in a key that some see", in, opt)
		causal := scaled(in.q.Cols)
		causal.Causal = true
		weigh(o, "not finite: causal: weights, NaN in a key that some see", in, causal)
		in.k.Data[at*in.k.Cols] = inf
		for i := range 4 {
			opt.Mask[i*5+at] = false
		}
		weigh(o, "not finite: weights, infinity in a hidden key", in, opt)
		in.q.Data[0] = nan
		weigh(o, "not finite: weights, NaN in a query", in, opt)
	}
}

// A query that sees no key gets zeros; the others are as ever (rule 6).
func TestMaskedRow(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		n := 3 + r.IntN(5)
		in := single(r, n, n+r.IntN(3))
		keys := in.k.Rows
		for _, hidden := range [][]int{{0}, {n - 1}, {r.IntN(n)}, {0, n - 1}} {
			mask := somewhere(r, n, keys)
			for _, i := range hidden {
				clear(mask[i*keys : (i+1)*keys])
			}
			opt := in.with(mask)
			a, _ := attention.Attend(in.q, in.k, in.v, opt)
			m, _ := attention.MultiHead(in.q, in.k, in.v, one, opt)
			for _, result := range []matrix{a, m} {
				o.Ints("size", []int{result.Rows, result.Cols})
			}
			for i := range n {
				name := "seen row: "
				if i == hidden[0] || i == hidden[len(hidden)-1] {
					name = "hidden row: "
				}
				o.Floats(name+"values", part(a, i))
				o.Floats(name+"heads", part(m, i))
			}
		}
		attend(o, "nothing is seen", in, in.with(make([]bool, n*keys)))
		opt := in.with(make([]bool, n*keys)) // which lets each query see the later keys alone
		for i := range opt.Mask {
			opt.Mask[i] = i%keys > i/keys
		}
		opt.Causal = true
		attend(o, "causal: nothing is seen", in, opt)
		in.q.Data[r.IntN(len(in.q.Data))] = nan
		attend(o, "nothing is seen by a NaN", in, in.with(make([]bool, n*keys)))
	}
	for _, keys := range manyKeys(r) {
		in, mask := long(r, keys)
		hidden := r.IntN(in.q.Rows)
		clear(mask[hidden*keys : (hidden+1)*keys])
		m, _ := attention.Attend(in.q, in.k, in.v, in.with(mask))
		o.Ints("size", []int{m.Rows, m.Cols})
		for i := range in.q.Rows {
			name := "seen row: values of many keys"
			if i == hidden {
				name = "hidden row: values of many keys"
			}
			o.Floats(name, part(m, i))
		}
	}
}

// part is row i of m, or nothing if m has no such row.
func part(m matrix, i int) []float64 {
	if m.Cols < 0 || (i+1)*m.Cols > len(m.Data) {
		return nil
	}
	return m.Data[i*m.Cols : (i+1)*m.Cols]
}

// What is in a key or a value that a query does not see makes no difference to it: NaN,
// infinity, or numbers of any size (rule 7).
func TestBehindMask(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, bad := range []float64{nan, inf, -inf, 1e300, -1e300} {
		for _, inKeys := range []bool{true, false} {
			n := 4 + r.IntN(4)
			in := single(r, n, n)
			first := somewhere(r, n, n) // which hides the first key
			for i := range n {
				first[i*n], first[i*n+max(i, 1)] = false, true
			}
			spoil(in, 0, bad, inKeys)
			attend(o, "mask: values, the first key hidden", in, in.with(first))

			in = single(r, n, n)
			at := 1 + r.IntN(n-1)
			mask := somewhere(r, n, n)
			for i := range n {
				mask[i*n+at] = false
			}
			mask[at*n] = true // the query that only saw that key
			spoil(in, at, bad, inKeys)
			opt := in.with(mask)
			attend(o, "mask: values", in, opt)
			multi(o, "mask: heads", in, one, opt)
			clear(mask[:n])
			attend(o, "mask: values and a row that sees nothing", in, opt)

			later(t, o, at, n, bad, inKeys)
			hiddenStretch(o, bad, inKeys)

			before := scaled(in.q.Cols) // the queries before see nothing of it
			before.Causal, before.Offset = true, at-n
			attend(o, "causal: values", in, before)
			multi(o, "causal: heads", in, one, before)
			weigh(o, "causal: weights", in, before)
			before.Mask = somewhere(r, n, n) // which shows it, and the first key too
			for i := range n {
				before.Mask[i*n], before.Mask[i*n+at] = true, true
			}
			attend(o, "causal: under a mask too: values", in, before)
		}
	}
}

// hiddenStretch spoils a long stretch of many keys, or of their values, which no query sees:
// at the beginning, at the end or between.
func hiddenStretch(o *observe.Observer, bad float64, inKeys bool) {
	r := o.Rand()
	n := 1500 + r.IntN(500)
	for _, from := range []int{0, r.IntN(n / 3), n - n/2} {
		in := inputs{draw(r, 2, 2), draw(r, n, 2), draw(r, n, 2)}
		mask := somewhere(r, 2, n)
		for j := from; j < from+n/2; j++ {
			mask[j], mask[n+j] = false, false
			spoil(in, j, bad, inKeys)
		}
		mask[(from+n-1)%n], mask[n+(from+n/2)%n] = true, true
		attend(o, "mask: values, many keys hidden", in, in.with(mask))
	}
}

// later gives a cache several tokens at once, one of which is spoilt: those before it do not
// see it.
func later(t *testing.T, o *observe.Observer, at, n int, bad float64, inKeys bool) {
	c := newCache(t, one, 2, 2)
	step(o, "cache: values", c, several(o.Rand(), one, 2, 2, 2, 2))
	in := several(o.Rand(), one, n, n, 2, 2)
	spoil(in, at, bad, inKeys)
	m, err := c.Step(in.q, in.k, in.v)
	o.Error("error", err)
	for i := range at {
		o.Floats("cache: values before a spoilt token", part(m, i))
	}
}

// spoil puts bad into all of key or value at, and into the other one 0.
func spoil(in inputs, at int, bad float64, inKeys bool) {
	m := in.v
	if inKeys {
		m = in.k
	}
	for j := range m.Cols {
		m.Data[at*m.Cols+j] = bad
	}
}

// NaN in a query spoils its row, in a key the rows of the queries that see it, and in a
// value, as infinity does, one column of them: in its own head, and in those that share
// it, and in no other (rules 8 and 11).
func TestNotFinite(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 3 {
		n := 3 + r.IntN(4)
		for _, at := range []int{0, n - 1, r.IntN(n)} {
			in := single(r, n, n)
			in.q.Data[at*in.q.Cols+r.IntN(in.q.Cols)] = nan
			attend(o, "NaN in a query", in, scaled(in.q.Cols))

			in = single(r, n, n)
			in.k.Data[at*in.k.Cols+r.IntN(in.k.Cols)] = nan
			opt := in.with(somewhere(r, n, n))
			attend(o, "NaN in a key", in, opt)
			for _, i := range []int{0, n / 2, n - 1} { // seen and not seen by turns, for sure
				opt.Mask[i*n+at] = i%2 == 0
				opt.Mask[i*n+(at+1)%n] = true
			}
			attend(o, "NaN in a key that some see", in, opt)

			in = single(r, n, n) // NaN times 0 is NaN
			col := r.IntN(in.q.Cols)
			for i := range n {
				in.q.Data[i*in.q.Cols+col] = 0
			}
			in.k.Data[at*in.k.Cols+col] = nan
			attend(o, "NaN in a key, 0 in all queries", in, scaled(in.q.Cols))
			in = single(r, n, n)
			for j := range n {
				in.k.Data[j*in.k.Cols+col%in.k.Cols] = 0
			}
			in.q.Data[at*in.q.Cols+col%in.q.Cols] = nan
			attend(o, "NaN in a query, 0 in all keys", in, scaled(in.q.Cols))

			for _, inKey := range []bool{false, true} { // with one key, and with one that is seen
				in = single(r, n, 1)
				m := in.q
				if inKey {
					m = in.k
				}
				m.Data[r.IntN(len(m.Data))] = nan
				attend(o, "NaN and a single key", in, scaled(in.q.Cols))
				weigh(o, "weights: NaN and a single key", in, scaled(in.q.Cols))
				in = single(r, n, n)
				m = in.q
				if inKey {
					m = in.k
				}
				m.Data[0] = nan
				opt := scaled(in.q.Cols)
				opt.Causal = true
				attend(o, "NaN and one key that is seen", in, opt)
				opt = in.with(make([]bool, n*n))
				for i := range n {
					opt.Mask[i*n+at] = true
				}
				m.Data[at*m.Cols] = nan
				attend(o, "NaN and one key that is seen", in, opt)
			}

			for _, bad := range []float64{nan, inf, -inf} {
				in = inputs{draw(r, n, 2), draw(r, n, 2), draw(r, n, 3)}
				in.v.Data[at*3+r.IntN(3)] = bad
				attend(o, "NaN or infinity in a value", in, scaled(2))
				in.v.Data[(at+1)%n*3] = inf
				in.v.Data[(at+2)%n*3] = -inf
				attend(o, "infinities of both signs in values", in, scaled(2))
			}
		}
	}
	n := 700 + r.IntN(700) // one of many keys or values, which some queries see
	for _, at := range []int{0, r.IntN(n), n - 1} {
		in := inputs{draw(r, 4, 2), draw(r, n, 2), draw(r, n, 2)}
		opt := in.with(somewhere(r, 4, n))
		for i := range 4 {
			opt.Mask[i*n+at] = i%2 == 0
		}
		in.k.Data[2*at+r.IntN(2)] = nan
		attend(o, "NaN in a key of many", in, opt)
		for _, bad := range []float64{nan, inf, -inf} {
			in = inputs{draw(r, 4, 2), draw(r, n, 2), draw(r, n, 2)}
			in.v.Data[2*at+r.IntN(2)] = bad
			attend(o, "NaN or infinity in a value of many", in, scaled(2))
		}
	}
	for _, n := range []int{1, 4 + r.IntN(3), 300 + r.IntN(300)} {
		for _, bad := range []float64{nan, inf, -inf} {
			badInOneHead(t, o, "heads: ", grouped(3, 3), n, bad)
			badInOneHead(t, o, "groups: ", grouped(4, 2), n, bad)
		}
	}
}

// badInOneHead spoils a query, a key or a value of one head: each of all heads in turn.
func badInOneHead(t *testing.T, o *observe.Observer, name string, h heads, n int, bad float64) {
	r := o.Rand()
	few := min(n, 5) // queries, each of which sees some keys
	spoil := func(m matrix, heads, head int) {
		width := m.Cols / heads
		m.Data[r.IntN(min(m.Rows, few))*m.Cols+head*width+r.IntN(width)] = bad
	}
	each := func(heads int, of func(in inputs) matrix) {
		for head := range heads {
			in := several(r, h, few, n, 2, 3)
			spoil(of(in), heads, head)
			multi(o, name+"NaN or infinity in one head", in, h, scaled(2))
			opt := scaled(2)
			opt.Mask = somewhere(r, few, n)
			multi(o, name+"masked: NaN or infinity in one head", in, h, opt)
			in = several(r, h, few, few, 2, 3)
			spoil(of(in), heads, head)
			c := newCache(t, h, 2, 3)
			step(o, name+"cache: NaN or infinity in one head", c, in)
			step(o, name+"cache: a token after that", c, several(r, h, 1, 1, 2, 3))
		}
	}
	if each(h.KV, func(in inputs) matrix { return in.v }); bad != bad { // infinities in queries and keys are not graded
		each(h.KV, func(in inputs) matrix { return in.k })
		each(h.Query, func(in inputs) matrix { return in.q })
	}
}

// Logits of any size, above and below 0, and close together although they are large: only
// their differences count, in every head and in a cache as well (rules 2, 11, 12 and 15).
func TestLargeLogits(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, d := range []int{1, 4, 16} { // 1/√d is exact
		for _, exponent := range []int{0, 3, 6, 10, 20, 40, 500, 980} {
			unit := math.Ldexp(1, exponent/2)
			q, k := whole(r, 5, d, 8, unit), whole(r, 6, d, 8, unit)
			copy(k.Data[5*d:], k.Data[r.IntN(5)*d:][:d]) // two that are equal
			in := inputs{q, k, draw(r, 6, 3)}
			attend(o, "logits of any size", in, scaled(d))
			multi(o, "heads, logits of any size", in, one, scaled(d))
			below := options{Scale: -scaled(d).Scale}
			attend(o, "logits of any size, by a scale below 0", in, below)
			multi(o, "heads, logits of any size, by a scale below 0", in, one, below)
			largeInHeads(t, o, d, unit)
		}
	}
	for _, base := range []float64{-1 << 40, -1 << 30, -1 << 20, -2048, 2048, 1 << 20, 1 << 30, 1 << 40} {
		// All logits are base/2 and a little.
		q, k := whole(r, 5, 4, 2, 1), whole(r, 6, 4, 2, 1)
		for i := range 5 {
			q.Data[i*4] = 1
		}
		for j := range 6 {
			k.Data[j*4] = base
		}
		in := inputs{q, k, draw(r, 6, 3)}
		attend(o, "logits that are large and close together", in, scaled(4))
		opt := in.with(somewhere(r, 5, 6))
		attend(o, "masked: logits that are large and close together", in, opt)
	}
	for _, gap := range []float64{600, 700, 740, 750, 2000} { // the largest first, last or in between
		for at := range 3 {
			k := draw(r, 3, 1)
			k.Data[at] += gap
			in := inputs{matrix{Rows: 2, Cols: 1, Data: []float64{1, -1}}, k, draw(r, 3, 2)}
			attend(o, "logits far apart", in, scaled(1))
			attend(o, "logits far apart, by a scale below 0", in, options{Scale: -1})
		}
	}
	for _, exponent := range []int{10, 100, 130, 500, 1000} { // all of them far below 0, or far above
		for _, sign := range []float64{-1, 1} {
			unit := math.Ldexp(sign, exponent)
			k := matrix{Rows: 4, Cols: 1, Data: []float64{unit, 2 * unit, unit, 2 * unit}}
			in := inputs{matrix{Rows: 1, Cols: 1, Data: []float64{1}}, k, draw(r, 4, 2)}
			attend(o, "logits on one side of 0", in, scaled(1))
			multi(o, "heads: logits on one side of 0", in, one, scaled(1))
			weigh(o, "weights: logits on one side of 0", in, scaled(1))
		}
	}
	for _, gap := range []float64{10, 20, 36, 37, 50, 100, 200, 400} { // the least weight counts, where its value is large
		in := inputs{matrix{Rows: 1, Cols: 1, Data: []float64{1}}, draw(r, 3, 1), draw(r, 3, 2)}
		at := r.IntN(3)
		in.k.Data[at] -= gap
		in.v.Data[2*at] = (1 + r.Float64()) * math.Exp(gap)
		attend(o, "a small weight of a large value", in, scaled(1))
		multi(o, "heads: a small weight of a large value", in, one, scaled(1))
		in = stretched(r, 600+r.IntN(900), []float64{0})
		at = []int{0, r.IntN(in.k.Rows), in.k.Rows - 1}[r.IntN(3)]
		in.k.Data[at] -= gap
		in.v.Data[2*at] = 100 * (1 + r.Float64()) * math.Exp(gap)
		attend(o, "a small weight of a large value, many keys", in, options{Scale: 1})
	}
	// Many keys: the largest come first, last or between, and all may be far from 0.
	for _, bases := range [][]float64{
		{-800, -30, 0, 30, 800}, {800, 30, 0, -30, -800}, {-1e5, -1e4, -2000, -1000, -900}, {2000, 1e4, 3000, 1e4, 1e5},
		{-30, -60, -90, -120, -150}, {-3e12, -1e12, -2e12, -4e12}, {-1e200, -1e150, -1e100}, {1e100, -1e100, 0, 1e100},
	} {
		for range 2 {
			in := stretched(r, 500+r.IntN(1500), bases)
			attend(o, "many keys: logits far apart", in, options{Scale: 1})
			multi(o, "heads: many keys: logits far apart", in, one, options{Scale: 1})
			attend(o, "many keys: logits far apart, by a scale below 0", in, options{Scale: -1})
			attend(o, "masked: many keys: logits far apart", in, in.with(somewhere(r, 1, in.k.Rows)))
			q := matrix{Rows: 1, Cols: 3, Data: []float64{1, -1, 1}} // the largest of one head is the least of another
			multi(o, "several: many keys: logits far apart", inputs{q, in.k, narrow(in.v, 1)}, grouped(3, 1), options{Scale: 1})
			n := 70 + r.IntN(60)
			in = stretched(r, n, bases)
			in.q = matrix{Rows: n, Cols: 1, Data: slices.Repeat([]float64{1}, n)}
			lastToken(o, "cache: many tokens: logits far apart", newCache(t, one, 1, 2), in)
			bases = slices.Clone(bases)
			r.Shuffle(len(bases), func(i, j int) { bases[i], bases[j] = bases[j], bases[i] })
		}
	}
}

// No queries, no keys or values without columns are no error; without keys there are
// zeros (rule 10).
func TestEmpty(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range [][4]int{{0, 4, 2, 3}, {3, 0, 2, 3}, {0, 0, 2, 3}, {3, 4, 2, 0}, {3, 0, 1, 0}, {2, 3, 2, 2}} {
		for _, h := range []heads{one, grouped(2, 2), grouped(4, 2)} {
			in := several(r, h, size[0], size[1], size[2], size[3])
			for _, opt := range []options{{}, {Causal: true}, {Mask: make([]bool, size[0]*size[1])}} {
				opt.Scale = scaled(size[2]).Scale
				multi(o, "heads: values", in, h, opt)
				if h == one {
					attend(o, "values", in, opt)
					weigh(o, "weights", in, opt)
				}
			}
		}
	}
}
