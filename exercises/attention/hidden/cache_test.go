package hidden

import (
	"testing"

	"grade/observe"
	"grade/reference/attention"
)

// Token by token and in pieces of any length, each token has what it would have if all
// were given at once (rules 14 and 15).
func TestCache(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, h := range layouts(r) {
		keyDim, valueDim := 1+r.IntN(4), 1+r.IntN(4)
		n := 10 + r.IntN(10)
		in := several(r, h, n, n, keyDim, valueDim)
		single, pieces := newCache(t, h, keyDim, valueDim), newCache(t, h, keyDim, valueDim)
		o.Int("length", single.Len())
		for i := range n {
			step(o, "values, token by token", single, in.rows(i, i+1))
		}
		for i := 0; i < n; {
			j := min(n, i+1+r.IntN(4))
			step(o, "values, in pieces", pieces, in.rows(i, j))
			i = j
		}
		step(o, "values, at once", newCache(t, h, keyDim, valueDim), in)
	}
	c := newCache(t, one, 2, 2)
	for range 300 + r.IntN(100) {
		step(o, "values, many tokens", c, several(r, one, 1, 1, 2, 2))
	}
	n := 1<<12 + 1 + r.IntN(100) // thousands at once, and some more
	in := several(r, one, n, n, 1, 1)
	m, err := newCache(t, one, 1, 1).Step(in.q, in.k, in.v)
	o.Error("error of a Step of thousands", err)
	o.Float("values, thousands of tokens", total(m), observe.Within(1e-6, 1e-9))
}

// A Step without tokens changes nothing, nor does one that is refused: the length is as
// before, and so is what comes next. That holds in a cache without tokens as well (rules 15
// and 16).
func TestCacheErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	h := heads{Query: 4, KV: 2}
	changes := []func(in *inputs){
		func(in *inputs) { *in = in.rows(0, 0) },
		func(in *inputs) { in.q = draw(r, 1, in.q.Cols) },
		func(in *inputs) { in.q = draw(r, 3, in.q.Cols) },
		func(in *inputs) { in.k = draw(r, 3, in.k.Cols) },
		func(in *inputs) { in.k = draw(r, 1, in.k.Cols) },
		func(in *inputs) { in.v = draw(r, 1, in.v.Cols) },
		func(in *inputs) { in.v = draw(r, 3, in.v.Cols) },
		func(in *inputs) { in.q = draw(r, 0, in.q.Cols) },
		func(in *inputs) { in.k, in.v = draw(r, 0, in.k.Cols), draw(r, 0, in.v.Cols) },
		func(in *inputs) { in.v = draw(r, 0, in.v.Cols) },
		func(in *inputs) { in.q = draw(r, 2, in.q.Cols+4) },
		func(in *inputs) { in.q, in.k = draw(r, 2, 2*in.q.Cols), draw(r, 2, 2*in.k.Cols) }, // fit each other
		func(in *inputs) { in.q, in.k = draw(r, 2, in.q.Cols/2), draw(r, 2, in.k.Cols/2) },
		func(in *inputs) { *in = several(r, h, 2, 2, 3, 2) },
		func(in *inputs) { *in = several(r, h, 0, 0, 3, 2) },
		func(in *inputs) { in.k = draw(r, 2, in.k.Cols-1) },
		func(in *inputs) { in.v = draw(r, 2, in.v.Cols+2) },
		func(in *inputs) { in.v = draw(r, 2, in.v.Cols-2) },
		func(in *inputs) { in.q.Data = in.q.Data[1:] },
		func(in *inputs) { in.k.Data = append(in.k.Data, 1) },
		func(in *inputs) { in.v.Data = in.v.Data[1:] },
		func(in *inputs) { in.v.Rows, in.v.Cols = -in.v.Rows, -in.v.Cols },
		func(in *inputs) {
			in.q.Rows, in.q.Data, in.k.Rows, in.k.Data, in.v = -1, nil, -1, nil, matrix{Rows: -1}
		},
		func(in *inputs) { *in = in.rows(0, 0); in.v.Rows, in.v.Cols = 0, -in.v.Cols },
		func(in *inputs) { *in = in.rows(0, 0); in.q.Cols += 4 },
		func(in *inputs) { *in = in.rows(0, 0); in.k.Cols-- },
		func(in *inputs) { *in = in.rows(0, 0); in.v.Cols += 2 },
	}
	for _, held := range []int{0, 1 + r.IntN(4)} {
		c := newCache(t, h, 2, 3)
		step(o, "values", c, several(r, h, held, held, 2, 3))
		for _, change := range changes {
			changed(o, h, c, change)
		}
	}
	for _, change := range changes {
		for _, c := range withoutTokens(t, o, h) {
			changed(o, h, c, change)
		}
	}
}

// changed gives a cache tokens after a change, which may be refused, and then one as it should be.
func changed(o *observe.Observer, h heads, c *attention.Cache, change func(in *inputs)) {
	in := several(o.Rand(), h, 2, 2, 2, 3)
	change(&in)
	_, err := c.Step(in.q, in.k, in.v)
	o.Error("error of Step", err, attention.ErrShape, attention.ErrOption)
	o.Int("length after a refused Step", c.Len())
	for _, n := range []int{-1, c.Len() + 1, c.Len() + 100} {
		o.Error("error of Truncate", c.Truncate(n), attention.ErrShape, attention.ErrOption)
		o.Int("length after a refused Truncate", c.Len())
	}
	step(o, "values", c, several(o.Rand(), h, 1, 1, 2, 3))
}

// withoutTokens are a new cache, a fork of one, and one that has forgotten its tokens.
func withoutTokens(t *testing.T, o *observe.Observer, h heads) []*attention.Cache {
	forgetful := newCache(t, h, 2, 3)
	step(o, "values", forgetful, several(o.Rand(), h, 2, 2, 2, 3))
	o.Error("error of Truncate", forgetful.Truncate(0), attention.ErrShape, attention.ErrOption)
	return []*attention.Cache{newCache(t, h, 2, 3), newCache(t, h, 2, 3).Fork(), forgetful}
}

// NewCache refuses heads that are not in groups, sizes and scales that are not allowed,
// and nothing else (rule 14).
func TestCacheConfig(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	config := func(query, kv, keyDim, valueDim int, scale float64) {
		c, err := attention.NewCache(attention.CacheConfig{Heads: grouped(query, kv), KeyDim: keyDim, ValueDim: valueDim, Scale: scale})
		o.Error("error", err, attention.ErrShape, attention.ErrOption)
		if err == nil && c != nil {
			step(o, "values", c, several(r, grouped(query, kv), 2, 2, keyDim, valueDim))
		}
	}
	for _, h := range [][2]int{{1, 1}, {4, 2}, {2, 4}, {3, 2}, {0, 1}, {1, 0}, {0, 0}, {-2, -1}, {2, -1}, {-2, 2}, {6, 6}} {
		config(h[0], h[1], 2, 2, 0.5)
	}
	for _, dim := range [][2]int{{1, 1}, {0, 1}, {-1, 1}, {1, 0}, {1, -1}, {3, 1}} {
		config(2, 1, dim[0], dim[1], 0.5)
	}
	for _, scale := range []float64{1, -1, 1e-300, nan, inf, -inf} {
		config(2, 1, 2, 2, scale)
	}
}

// Truncate forgets all tokens but the first, and the next one stands in their place
// (rule 17).
func TestTruncate(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, h := range layouts(r) {
		c := newCache(t, h, 2, 3)
		for range 6 {
			step(o, "values", c, several(r, h, 3, 3, 2, 3))
			n := []int{c.Len(), c.Len() - 1, 0, r.IntN(c.Len() + 1)}[r.IntN(4)]
			o.Error("error", c.Truncate(n), attention.ErrShape, attention.ErrOption)
			o.Int("length", c.Len())
			step(o, "values", c, several(r, h, 1, 1, 2, 3))
		}
		for _, n := range []int{c.Len(), c.Len() - 1, 1, 0, 0} {
			o.Error("error", c.Truncate(n), attention.ErrShape, attention.ErrOption)
			o.Int("length", c.Len())
		}
		step(o, "values", c, several(r, h, 2, 2, 2, 3))
	}
}

// A fork begins with the same tokens; after that, what is done with one does not show in
// the other (rule 18).
func TestFork(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, h := range layouts(r) {
		c := newCacheScaled(t, h, 2, 3, 1.5+r.Float64())
		step(o, "scaled: values", c, several(r, h, 3, 3, 2, 3))
		if fork := c.Fork(); fork != nil {
			step(o, "scaled: values of a fork", fork, several(r, h, 2, 2, 2, 3))
		}
		step(o, "scaled: values after a fork", c, several(r, h, 2, 2, 2, 3))
		for held := range 12 { // of which some leave room in an array
			token := func() inputs { return several(r, h, 1, 1, 2, 3) }
			c := newCache(t, h, 2, 3)
			for range held {
				step(o, "values", c, token())
			}
			emptied(t, o, h, held)
			a := c.Fork()
			if a == nil {
				t.Fatal("Fork returns nil")
			}
			b := a.Fork()
			o.Ints("lengths", []int{c.Len(), a.Len(), b.Len()})
			shorten(t, o, h, held, held/2, true)
			shorten(t, o, h, held, held/2, false)
			for range 2 {
				for _, one := range []*attention.Cache{a, c, b} {
					step(o, "values", one, token())
				}
			}
			o.Error("error", a.Truncate(held/2), attention.ErrShape, attention.ErrOption)
			o.Ints("lengths", []int{c.Len(), a.Len(), b.Len()})
			for _, one := range []*attention.Cache{a, b, c, a, c} {
				step(o, "values", one, token())
			}
			for _, one := range []*attention.Cache{c, b, a} { // each in turn has others in the place of what they share
				o.Error("error", one.Truncate(min(one.Len(), held/3)), attention.ErrShape, attention.ErrOption)
				for range held/2 + 1 {
					step(o, "values", one, token())
				}
				for _, other := range []*attention.Cache{a, b, c} {
					step(o, "values", other, token())
				}
			}
		}
	}
	for _, held := range []int{40 + r.IntN(100), 260 + r.IntN(60)} { // whoever has pages has filled some
		for _, parent := range []bool{true, false} {
			shorten(t, o, one, held, 1+2*r.IntN(held/3), parent) // within one that was full
		}
	}
	for _, h := range layouts(r) {
		for range 10 {
			anyOrder(t, o, h)
		}
	}
}

// anyOrder has caches that are forks of each other, and of forks, take tokens, none or some, forget
// some and be forked, in any order.
func anyOrder(t *testing.T, o *observe.Observer, h heads) {
	r := o.Rand()
	caches := []*attention.Cache{newCache(t, h, 2, 3)}
	var c *attention.Cache
	for range 50 {
		if r.IntN(3) == 0 || c == nil { // else the same one goes on
			c = caches[r.IntN(len(caches))]
		}
		switch r.IntN(8) {
		case 0, 1:
			if f := c.Fork(); len(caches) < 4 {
				caches = append(caches, f)
			} else {
				caches[r.IntN(len(caches))] = f // and one is gone
			}
		case 2, 3: // one token, or some, or none
			o.Error("error", c.Truncate(max(0, c.Len()-r.IntN(4)*r.IntN(3))), attention.ErrShape, attention.ErrOption)
		case 4, 5: // what comes of it is for TestCacheErrors
			none := several(r, h, 0, 0, 2, 3)
			c.Step(none.q, none.k, none.v)
		default:
			n := 1 + r.IntN(3)*r.IntN(2)
			step(o, "values in any order", c, several(r, h, n, n, 2, 3))
		}
	}
	for _, c := range caches {
		step(o, "values in any order", c, several(r, h, 1, 1, 2, 3))
	}
}

// emptied forks a cache that holds nothing any more: what comes of the two is apart.
func emptied(t *testing.T, o *observe.Observer, h heads, held int) {
	r := o.Rand()
	c := newCache(t, h, 2, 3)
	for range held {
		step(o, "values", c, several(r, h, 1, 1, 2, 3))
	}
	o.Error("error", c.Truncate(0), attention.ErrShape, attention.ErrOption)
	f := c.Fork()
	for range 2 {
		for _, one := range []*attention.Cache{c, f} {
			step(o, "values of two that were empty", one, several(r, h, 1, 1, 2, 3))
		}
	}
}

// shorten forks a cache at once, shortens one of the two to some tokens and has it go on: the
// other has its tokens still. A Step without tokens before that changes nothing.
func shorten(t *testing.T, o *observe.Observer, h heads, held, left int, parent bool) {
	token := func() inputs { return several(o.Rand(), h, 1, 1, 2, 3) }
	c := newCache(t, h, 2, 3)
	for range held {
		step(o, "values", c, token())
	}
	changed, other := c.Fork(), c
	if parent {
		changed, other = c, changed
	}
	none := several(o.Rand(), h, 0, 0, 2, 3)
	for _, one := range [][]*attention.Cache{{}, {changed}, {other}, {changed, other}}[o.Rand().IntN(4)] {
		one.Step(none.q, none.k, none.v) // which parts nothing
	}
	o.Error("error", changed.Truncate(left), attention.ErrShape, attention.ErrOption)
	for range held/2 + 1 {
		step(o, "values of the shortened one", changed, token())
	}
	step(o, "values of the other one", other, token())
}

// A thousand caches at a time, each with its own tokens (rule 20).
func TestThousand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	all := append(layouts(r), grouped(4, 2), grouped(6, 3), grouped(3, 1))
	caches := make([]*attention.Cache, 1000)
	for i := range caches {
		caches[i] = newCache(t, all[i%len(all)], 2, 3)
	}
	for range 5 {
		sum, length := 0.0, 0
		for i, c := range caches {
			in := several(r, all[i%len(all)], 1, 1, 2, 3)
			m, _ := c.Step(in.q, in.k, in.v)
			sum += total(m) * float64(1+i%13)
			length += c.Len()
			if r.IntN(4) == 0 {
				c.Truncate(c.Len() - 1)
			}
		}
		o.Float("values, added up", sum, observe.Within(1e-6, 1e-9))
		o.Int("lengths, added up", length)
	}
}
