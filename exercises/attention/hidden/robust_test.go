package hidden

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"grade/observe"
	"grade/reference/attention"
)

// roomy is m in a larger array, with other numbers behind its own.
func roomy(m matrix) matrix {
	array := slices.Repeat([]float64{77}, 2*len(m.Data)+64)
	m.Data = array[:copy(array, m.Data)]
	return m
}

// kept records whether f leaves the matrices as they are, and what lies behind them.
func kept(o *observe.Observer, in inputs, mask []bool, f func(in inputs, mask []bool) matrix) {
	in = inputs{roomy(in.q), roomy(in.k), roomy(in.v)}
	if mask != nil {
		mask = append(mask, slices.Repeat([]bool{true, false}, len(mask))...)[:len(mask)]
	}
	all := []matrix{in.q, in.k, in.v}
	before := make([][]float64, len(all))
	for i, m := range all {
		before[i] = slices.Clone(m.Data[:cap(m.Data)])
	}
	was := slices.Clone(mask[:cap(mask)])
	m := f(in, mask)
	o.Ints("size", []int{m.Rows, m.Cols, len(m.Data)})
	o.Floats("values", m.Data)
	for i, m := range all {
		same := slices.Equal(before[i], m.Data[:cap(m.Data)])
		o.Bool([]string{"queries are as before", "keys are as before", "values are as before"}[i], same)
	}
	o.Bool("the mask is as before", slices.Equal(was, mask[:cap(mask)]))
}

// Queries, keys, values and masks are left as they are, by every function, and so is what lies
// behind them in the same array (rule 19).
func TestInputs(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, h := range layouts(r) {
		n := 2 + r.IntN(6)
		opt := scaled(2)
		for _, keys := range []int{n + 2, n + 3} { // one of them is no multiple of anything that loops go by
			kept(o, several(r, one, n, keys, 2, 3), somewhere(r, n, keys), func(in inputs, mask []bool) matrix {
				opt.Mask, opt.Causal = mask, r.IntN(2) == 0
				m, _ := attention.Attend(in.q, in.k, in.v, opt)
				return m
			})
			kept(o, several(r, one, n, keys, 2, 3), somewhere(r, n, keys), func(in inputs, mask []bool) matrix {
				opt.Mask, opt.Causal = mask, r.IntN(2) == 0
				m, _ := attention.Weights(in.q, in.k, opt)
				return m
			})
			kept(o, several(r, h, n, keys, 2, 3), somewhere(r, n, keys), func(in inputs, mask []bool) matrix {
				opt.Mask, opt.Causal = mask, r.IntN(2) == 0
				m, _ := attention.MultiHead(in.q, in.k, in.v, h, opt)
				return m
			})
		}
		c := newCache(t, h, 2, 3)
		for range 3 {
			kept(o, several(r, h, n, n, 2, 3), nil, func(in inputs, mask []bool) matrix {
				m, _ := c.Step(in.q, in.k, in.v)
				return m
			})
		}
	}
}

// overwrite puts other numbers into m.
func overwrite(m matrix) {
	for i := range m.Data {
		m.Data[i] = -77
	}
}

// extend has a caller append to results, as far as their arrays have room: to each at once, or
// to all of them in the end. None of it may show in another one, or in what a cache holds.
func extend(o *observe.Observer, name string, call func() matrix) {
	for _, late := range []bool{false, true} {
		var results, rooms []matrix
		for range 5 {
			m := call()
			room := matrix{Data: m.Data[len(m.Data):cap(m.Data)]}
			if !late {
				overwrite(room)
			}
			results, rooms = append(results, m), append(rooms, room)
		}
		changed := 0
		for i, m := range results {
			if late {
				overwrite(rooms[i])
			}
			for _, x := range rooms[i].Data {
				if x != -77 {
					changed++
				}
			}
			o.Ints("size", []int{m.Rows, m.Cols, len(m.Data)})
		}
		for _, m := range results {
			o.Floats(name, m.Data)
		}
		o.Int("numbers that were appended to a result and changed later", changed)
	}
}

// A result is the caller's, who may append to it: it shares no memory with inputs, with other
// results or with a cache, which keeps its own copy of keys and values (rule 19).
func TestBuffers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, h := range layouts(r) {
		calls := []func(in inputs) matrix{
			func(in inputs) matrix { m, _ := attention.MultiHead(in.q, in.k, in.v, h, scaled(2)); return m },
			func(in inputs) matrix {
				m, _ := attention.Attend(narrow(in.q, 2), narrow(in.k, 2), in.v, scaled(2))
				return m
			},
			func(in inputs) matrix {
				m, _ := attention.Weights(narrow(in.q, 2), narrow(in.k, 2), scaled(2))
				return m
			},
		}
		for _, call := range calls {
			for _, n := range []int{1, 4} {
				in, other := several(r, h, n, n, 2, 3), several(r, h, n, n, 2, 3)
				first := call(in)
				call(other)
				overwrite(in.q)
				overwrite(in.k)
				overwrite(in.v)
				o.Ints("size", []int{first.Rows, first.Cols, len(first.Data)})
				o.Floats("values of the first call after a second one", first.Data)
				extend(o, "values of the first calls, appended to", func() matrix { return call(several(r, h, n, n, 2, 3)) })
			}
		}
		extended := newCache(t, h, 2, 3)
		extend(o, "values of all steps, appended to", func() matrix {
			in := several(r, h, 1, 1, 2, 3)
			m, _ := extended.Step(in.q, in.k, in.v)
			return m
		})
		c := newCache(t, h, 2, 3)
		var results []matrix
		for i := range 8 {
			in := several(r, h, 1+i/3%2, 1+i/3%2, 2, 3)
			m, _ := c.Step(in.q, in.k, in.v)
			if i%4 == 2 {
				overwrite(m) // the caller's: no later token may notice
			}
			results = append(results, m)
			overwrite(in.q)
			overwrite(in.k)
			overwrite(in.v)
		}
		o.Int("length", c.Len())
		for _, m := range results {
			o.Floats("values of all steps in the end", m.Data)
		}
		results = results[:0]
		c = newCache(t, h, 2, 1)
		for range 1300 { // as long as a text, and all of it is kept
			in := several(r, h, 1, 1, 2, 1)
			m, _ := c.Step(in.q, in.k, in.v)
			results = append(results, m)
		}
		for _, m := range results {
			o.Float("values of many steps in the end", total(m))
		}
		withoutNumbers(t, o, h)
	}
}

// withoutNumbers has a caller append to results that have no numbers, as far as their arrays have
// room: it shows in no argument, nor in what lies behind it, in no other result and in no cache.
func withoutNumbers(t *testing.T, o *observe.Observer, h heads) {
	r := o.Rand()
	var rooms [][]float64
	call := func(queries, keys, valueDim int, f func(q, k, v matrix) (matrix, error)) {
		in := several(r, h, queries, keys, 2, valueDim)
		args := []matrix{roomy(in.q), roomy(in.k), roomy(in.v)}
		m, _ := f(args[0], args[1], args[2])
		room := m.Data[:cap(m.Data)]
		for i := range room {
			room[i] = float64(len(rooms))
		}
		rooms = append(rooms, room)
		for i, before := range []matrix{roomy(in.q), roomy(in.k), roomy(in.v)} {
			same := slices.Equal(before.Data[:cap(before.Data)], args[i].Data[:cap(args[i].Data)])
			o.Bool("arguments of a result without numbers, which was appended to, are as before", same)
		}
	}
	holds, empty := newCache(t, h, 2, 3), newCache(t, h, 2, 0)
	for range 3 {
		n := 1 + r.IntN(9)
		step(o, "values of all steps", holds, several(r, h, n, n, 2, 3))
		call(0, 0, 3, holds.Step)
		call(0, 0, 0, empty.Step)
		call(n, n, 0, empty.Step)
		for _, size := range [][3]int{{0, n, 3}, {0, 0, 3}, {0, n, 0}, {n, n, 0}, {n, 0, 0}, {n, n + r.IntN(9), 0}} {
			call(size[0], size[1], size[2], func(q, k, v matrix) (matrix, error) {
				return attention.MultiHead(q, k, v, h, scaled(2))
			})
			call(size[0], size[1], size[2], func(q, k, v matrix) (matrix, error) {
				return attention.Attend(narrow(q, 2), narrow(k, 2), v, scaled(2))
			})
		}
		for _, size := range [][2]int{{0, n}, {n, 0}, {0, 0}} {
			call(size[0], size[1], r.IntN(3), func(q, k, _ matrix) (matrix, error) {
				return attention.Weights(narrow(q, 2), narrow(k, 2), scaled(2))
			})
		}
	}
	step(o, "values of all steps", holds, several(r, h, 2, 2, 2, 3))
	changed := 0
	for i, room := range rooms {
		for _, x := range room {
			if x != float64(i) {
				changed++
			}
		}
	}
	o.Int("numbers that were appended to a result without any and changed later", changed)
}

// again calls a function again and again with the same slices, in which the caller
// changes numbers between two calls, all of them or one: no call knows what another one was given.
func again(o *observe.Observer, h heads, queries, keys int, call func(in inputs, opt options)) {
	r := o.Rand()
	in, opt := several(r, h, queries, keys, 4, 4), scaled(4)
	opt.Mask = somewhere(r, queries, keys)
	for what := range 10 {
		call(in, opt)
		fresh := several(r, h, queries, keys, 4, 4)
		switch what % 5 {
		case 0:
			refill(r, in.q.Data, fresh.q.Data)
		case 1:
			refill(r, in.k.Data, fresh.k.Data)
		case 2:
			refill(r, in.v.Data, fresh.v.Data)
		case 3:
			refill(r, opt.Mask, somewhere(r, queries, keys))
		default:
			opt.Causal = !opt.Causal
		}
	}
}

// refill puts what is fresh into a slice: all of it, or in one place.
func refill[T any](r *rand.Rand, old, fresh []T) {
	from, to := 0, len(old)
	if r.IntN(2) == 0 {
		from = r.IntN(len(old))
		to = from + 1
	}
	copy(old[from:to], fresh[from:to])
}

// sameSlices has again call each function by itself, with few numbers and with many.
func sameSlices(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	about := observe.Within(1e-6, 1e-9)
	for _, size := range [][2]int{{1 + r.IntN(4), 2 + r.IntN(9)}, {2, 20 + r.IntN(200)}, {1, 300 + r.IntN(3000)}, {300 + r.IntN(900), 2}} {
		for _, h := range []heads{one, grouped(4, 2), grouped(2, 1)} {
			again(o, h, size[0], size[1], func(in inputs, opt options) {
				m, _ := attention.MultiHead(in.q, in.k, in.v, h, opt)
				o.Float("heads: values of the same slices", total(m), about)
			})
		}
		again(o, one, size[0], size[1], func(in inputs, opt options) {
			m, _ := attention.Attend(in.q, in.k, in.v, opt)
			o.Float("one: values of the same slices", total(m), about)
		})
		again(o, one, size[0], size[1], func(in inputs, opt options) {
			m, _ := attention.Weights(in.q, in.k, opt)
			o.Float("weights", total(m), about)
		})
	}
	for _, n := range []int{1 + r.IntN(4), 70 + r.IntN(40)} {
		again(o, grouped(4, 2), n, n, func(in inputs, _ options) {
			m, _ := newCache(t, grouped(4, 2), 4, 4).Step(in.q, in.k, in.v)
			o.Float("cache: values of the same slices", total(m), about)
		})
	}
}

// Goroutines that call the functions on the same matrices, and that use a cache and its
// forks, each one of them, share nothing. Nor do two calls, one after the other, with the same
// slices and other numbers in them (rule 20).
func TestTogether(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	sameSlices(t, o)
	h := heads{Query: 4, KV: 2}
	in := several(r, h, 12, 12, 4, 4)
	flat := several(r, one, 12, 12, 4, 4)
	opt := scaled(4)
	opt.Mask, opt.Causal = somewhere(r, 12, 12), true
	const goroutines = 8
	var results [goroutines][]matrix
	var caches [goroutines]*attention.Cache
	caches[0] = newCache(t, h, 4, 4)
	caches[0].Step(in.q, in.k, in.v)
	for i := range 5 {
		token := in.rows(i, i+1)
		caches[0].Step(token.q, token.k, token.v)
	}
	var tokens [goroutines]inputs
	for i := range goroutines {
		if i > 0 {
			if caches[i] = caches[i/2].Fork(); caches[i] == nil {
				t.Fatal("Fork returns nil")
			}
		}
		tokens[i] = several(r, h, 10, 10, 4, 4)
	}
	common := several(r, h, 1, 1, 4, 4)
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range goroutines {
		all.Go(func() {
			<-start
			for j := range 10 {
				m, _ := attention.MultiHead(in.q, in.k, in.v, h, opt)
				a, _ := attention.Attend(flat.q, flat.k, flat.v, opt)
				w, _ := attention.Weights(flat.q, flat.k, opt)
				token := tokens[j%2*i].rows(j, j+1)
				if j%2 == 0 { // the same matrices for all of them
					token = common
				}
				attention.NewCache(attention.CacheConfig{Heads: h, KeyDim: 4, ValueDim: 4})
				if f := caches[i].Fork(); f != nil { // whose tokens go another way
					f.Truncate(f.Len() / 2)
					f.Step(common.q, common.k, common.v)
				}
				c, _ := caches[i].Step(token.q, token.k, token.v)
				results[i] = append(results[i], m, a, w, c)
			}
		})
	}
	close(start)
	all.Wait()
	for i, ms := range results {
		o.Int("length", caches[i].Len())
		for j, m := range ms {
			name := []string{"heads: values", "one: values", "weights", "cache: values"}[j%4]
			o.Ints("size", []int{m.Rows, m.Cols})
			o.Float(name, total(m))
		}
	}
}
