package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/lora"
)

// Merge adds scale·B·A to the weights, in place, and nothing to the bias; what Forward returns stays
// (rules 14 and 15).
func TestMerge(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 12 {
		base := anyBase(r)
		l := newLayer(t, base)
		add(t, r, l, base, "other", plain(1))
		a := uneven(t, r, l, base, scaled(r, 1+r.IntN(5)), i)
		base.W[r.IntN(len(base.W))] = 0
		was, matrices, w := slices.Clone(base.B), slices.Concat(a.A, a.B), base.W
		merge(t, l)
		o.Bool("the weights are where they were", len(base.W) == len(w) && &base.W[0] == &w[0])
		o.Floats("what changes in A and B", less(slices.Concat(a.A, a.B), matrices), exact)
		o.Bool("merged", l.Merged())
		o.String("active", l.Active())
		o.Floats("weights while merged", base.W)
		o.Floats("what is added to the bias", less(base.B, was), exact)
		x := numbers(r, 3*base.In)
		o.Floats("what Forward adds to the merged base", less(forward(t, l, x), base.Forward(x)))
	}
}

// Unmerge gives the weights back, within the bound, however often, and the Layer works as
// before (rule 16).
func TestUnmerge(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range []float64{1, 1, 1e-3, 1e3} {
		base := anyBase(r)
		l := newLayer(t, base)
		cfg := scaled(r, 1+r.IntN(5))
		a := active(t, r, l, base, "a", cfg)
		scale(a.A, size)
		// An input whose weights are next to nothing, and so is what is added to them.
		at, tiny := r.IntN(base.In), math.Ldexp(1, -60-r.IntN(100))
		for i := at; i < len(base.W); i += base.In {
			base.W[i] *= tiny
		}
		for i := at; i < len(a.A); i += base.In {
			a.A[i] *= tiny
		}
		was, matrices, w := slices.Clone(base.W), slices.Concat(a.A, a.B), base.W
		bounds := allowed(base, a, cfg)
		const times = 5
		for range times {
			merge(t, l)
			o.Bool("merged", l.Merged())
			o.Bool("the weights are others while merged", !slices.Equal(base.W, was))
			unmerge(t, l)
			o.Bool("merged afterwards", l.Merged())
		}
		o.Bool("the weights are where they were", len(base.W) == len(w) && &base.W[0] == &w[0])
		left := less(base.W, was)
		for i, bound := range bounds[:len(left)] {
			left[i] /= bound
		}
		o.Floats("what is left in the weights, in parts of what a Merge and its Unmerge may leave", left, observe.Within(times, 0))
		o.Floats("what changes in A and B", less(slices.Concat(a.A, a.B), matrices), exact)
		o.String("active", l.Active())
		x := numbers(r, 2*base.In)
		o.Floats("what the adapter adds, relative to its size", scale(less(forward(t, l, x), base.Forward(x)), 1/size))
	}
}

// allowed is what a Merge and its Unmerge may leave in each weight (rule 16).
func allowed(base *lora.Linear, a *lora.Adapter, cfg lora.Config) []float64 {
	bounds := make([]float64, len(base.W))
	for i, w := range base.W {
		products := 0.0
		for k := range cfg.Rank {
			products += math.Abs(a.B[i/base.In*cfg.Rank+k] * a.A[k*base.In+i%base.In])
		}
		bounds[i] = 1e-12 * (math.Abs(w) + cfg.Alpha/float64(cfg.Rank)*products)
	}
	return bounds
}

func scale(xs []float64, c float64) []float64 {
	for i := range xs {
		xs[i] *= c
	}
	return xs
}

// What cannot be done while merged, or while not, is refused, and nothing has changed. Others
// are added and removed meanwhile as ever, and Unmerge takes out what was merged (rules 13 to 16
// and 21).
func TestMergeRefuses(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	base := anyBase(r)
	l := newLayer(t, base)
	sentinels(o, "Merge of none", l.Merge())
	sentinels(o, "Unmerge of none", l.Unmerge())
	o.Bool("merged", l.Merged())
	a := add(t, r, l, base, "a", plain(2))
	add(t, r, l, base, "b", plain(1))
	sentinels(o, "Merge of one that is not active", l.Merge())
	use(t, l, "a")
	sentinels(o, "Unmerge of one that is not merged", l.Unmerge())
	x, dy := numbers(r, base.In), numbers(r, base.Out)
	was := slices.Clone(base.W)
	merge(t, l)
	first := slices.Clone(base.W)
	marks := mark(r, a)
	for range 2 {
		sentinels(o, "Merge twice", l.Merge())
		sentinels(o, "Use of another", l.Use("b"))
		sentinels(o, "Use of the same", l.Use("a"))
		sentinels(o, "Use of none", l.Use(""))
		sentinels(o, "Use of an unknown one", l.Use("x"))
		sentinels(o, "Remove of what is merged", l.Remove("a"))
		sentinels(o, "Remove of an unknown one", l.Remove("x"))
		_, err := l.Backward(x, dy)
		sentinels(o, "Backward", err)
		_, err = l.Backward(x[1:], dy)
		sentinels(o, "Backward of other lengths", err)
		_, err = l.Forward(x[1:])
		sentinels(o, "Forward of other lengths", err)
		o.String("active", l.Active())
		o.Bool("still merged", l.Merged())
		o.Bool("it is the same adapter", l.Adapter("a") == a)
	}
	o.Floats("what changes in the weights", less(base.W, first), exact)
	o.Floats("what changes in the gradients", less(grads(a), marks), exact)
	sentinels(o, "Remove of another", l.Remove("b"))
	add(t, r, l, base, "c", plain(3)) // allowed, and nothing of it is merged
	o.Strings("names", l.Names())
	o.Floats("what they change in the weights", less(base.W, first), exact)
	l.ZeroGrad()
	o.Floats("gradients after ZeroGrad", grads(a), exact)
	unmerge(t, l)
	o.Floats("what is left in the weights", less(base.W, was), observe.Within(1e-11, 0))
	sentinels(o, "Unmerge twice", l.Unmerge())
	sentinels(o, "Use afterwards", l.Use("c"))
	sentinels(o, "Merge of another", l.Merge())
	comeAndGo(t, o, r)
}

// comeAndGo has adapters go and others come while one is merged, before and after it in the order
// of Add and in that of names.
func comeAndGo(t *testing.T, o *observe.Observer, r *rand.Rand) {
	others := []string{"b", "x", "a", "y"}
	const none, all = -1, 4
	for at := range len(others) + 1 {
		for gone := none; gone <= all; gone++ {
			base := newBase(r, 3, 4, false)
			l := newLayer(t, base)
			for i, name := range slices.Insert(slices.Clone(others), at, "m") {
				add(t, r, l, base, name, plain(1+i%2))
			}
			use(t, l, "m")
			was := slices.Clone(base.W)
			merge(t, l)
			for i, name := range others {
				if i == gone || gone == all {
					sentinels(o, "Remove of one of several others", l.Remove(name))
				}
			}
			for _, name := range []string{"0", "z"} {
				add(t, r, l, base, name, plain(2))
			}
			o.Strings("names, after some came and went", l.Names())
			unmerge(t, l)
			o.Floats("what is left in the weights, after others came and went", less(base.W, was), observe.Within(1e-11, 0))
			o.String("active, after others came and went", l.Active())
		}
	}
}

// What is written into the base, A and B counts from the next call on, and a change of the
// weights while merged is kept (rules 1, 5 and 16).
func TestLive(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 4 {
		base := newBase(r, 4, 6, true)
		l := newLayer(t, base)
		a := active(t, r, l, base, "a", plain(2))
		x, dy := numbers(r, 2*base.In), numbers(r, 2*base.Out)
		for _, m := range [][]float64{base.W, base.B, a.A, a.B} {
			y, dx := forward(t, l, x), backward(t, l, x, dy)
			for range 3 {
				m[r.IntN(len(m))] += 1 + r.Float64()
			}
			l.ZeroGrad()
			o.Floats("what the change changes in the gradients of x", less(backward(t, l, x, dy), dx))
			o.Floats("gradients after the change, without a Forward in between", slices.Concat(a.GradA, a.GradB))
			o.Floats("what the change changes", less(forward(t, l, x), y))
		}
		was := slices.Clone(base.W)
		merge(t, l)
		at := r.IntN(len(base.W))
		beside := at - at%base.In + (at+1)%base.In // in the same row, whose sum stays
		base.W[at] += 2
		base.W[beside] -= 2
		y := forward(t, l, x)
		base.B[0] += 3
		o.Floats("what a change of the bias changes while merged", less(forward(t, l, x), y))
		unmerge(t, l)
		o.Floats("what changed in the weights while merged", less(base.W, was), observe.Within(1.2e-10, 0)) // weights up to 7, and two products up to 49
	}
	for how := range rewritings {
		for _, size := range []int{1 + r.IntN(4), 5 + r.IntN(50)} {
			kept(t, o, newBase(r, size+r.IntN(4), size+2, true), how, r.IntN(2) == 0)
		}
	}
	for _, how := range []int{0, 3, 7} { // above 65,536 weights
		kept(t, o, newBase(r, 256+r.IntN(20), 257, true), how, true)
	}
	for _, size := range [][2]int{{1 + r.IntN(3), 2000 + r.IntN(500)}, {2000 + r.IntN(500), 1 + r.IntN(3)}, {20 + r.IntN(30), 20 + r.IntN(30)}} {
		lonely(t, o, newBase(r, size[0], size[1], true))
	}
}

// kept writes into the weights while they are merged, so that their sum, the XOR of their bits, their
// absolute values or all of them are the same ones still. It is kept whatever it is (rule 16).
// Of numbers of few digits sums and products are exact.
func kept(t *testing.T, o *observe.Observer, base *lora.Linear, how int, few bool) {
	r := o.Rand()
	l := newLayer(t, base)
	a := active(t, r, l, base, "a", plain(1+r.IntN(3)))
	if few {
		for _, m := range [][]float64{base.W, a.A, a.B} {
			for i := range m {
				m[i] = math.Round(m[i]*64) / 64
			}
		}
	}
	was := slices.Clone(base.W)
	merge(t, l)
	merged := slices.Clone(base.W)
	rewrite(r, base, was, how)
	written := slices.Clone(base.W)
	unmerge(t, l)
	lost := 0 // weights that are not what was written, less what Merge added
	for i, w := range base.W {
		if !(math.Abs(written[i]-(merged[i]-was[i])-w) <= 1e-8) {
			lost++
		}
	}
	o.Int("what changed in the weights while merged, and is not there afterwards", lost)
}

const rewritings = 10

// rewrite is one of these ways to write into the weights, of which there are two or more in a column.
func rewrite(r *rand.Rand, base *lora.Linear, was []float64, how int) {
	w, in := base.W, base.In
	two := r.Perm(len(w))[:2]
	i, j := two[0], two[1]
	switch how {
	case 0: // two weights are exchanged
		w[i], w[j] = w[j], w[i]
	case 1: // two rows
		for c, at := range r.Perm(base.Out)[:2] {
			two[c] = at * in
		}
		for c := range in {
			w[two[0]+c], w[two[1]+c] = w[two[1]+c], w[two[0]+c]
		}
	case 2: // all in each row change places
		for row := range slices.Chunk(w, in) {
			slices.Reverse(row)
		}
	case 3: // all change places
		r.Shuffle(len(w), func(i, j int) { w[i], w[j] = w[j], w[i] })
	case 4: // two change their signs
		w[i], w[j] = -w[i], -w[j]
	case 5: // all do
		scale(w, -1)
	case 6: // the sum stays
		w[i], w[j] = w[i]+2, w[j]-2
	case 7: // and so does that of all, each times its place
		i = r.IntN(len(w) - 2)
		w[i], w[i+1], w[i+2] = w[i]+1, w[i+1]-2, w[i+2]+1
	case 8: // the same bit changes in two
		for _, at := range two {
			w[at] = math.Float64frombits(math.Float64bits(w[at]) ^ 1<<50)
		}
	case 9: // one is again what it was before Merge
		w[i] = was[i]
	}
}

// lonely has A or B be 0 but for one number, at the beginning, at the end or anywhere. The other matrix
// is full. A number that is written into a large matrix counts wherever it stands, and so does the 0
// that is written over it (rule 5).
func lonely(t *testing.T, o *observe.Observer, base *lora.Linear) {
	r := o.Rand()
	l := newLayer(t, base)
	a := active(t, r, l, base, "a", plain(8+r.IntN(9)))
	x, dy := numbers(r, 2*base.In), numbers(r, 2*base.Out)
	was := slices.Clone(base.W)
	y, dx := base.Forward(x), base.InputGrad(dy)
	for _, m := range [][]float64{a.A, a.B} {
		full := slices.Clone(m)
		clear(m)
		for _, at := range []int{0, r.IntN(len(m)), len(m) - 1} {
			m[at] = 1 + r.Float64()
			for range 2 {
				l.ZeroGrad()
				o.Floats("what the change changes", []float64{product(less(forward(t, l, x), y))})
				o.Floats("what the change changes in the gradients of x", []float64{product(less(backward(t, l, x, dy), dx))})
				o.Float("gradients after the change, weighted and added up", product(grads(a)))
				merge(t, l)
				o.Bool("what changed in the weights by a Merge is more than rounding", slices.ContainsFunc(less(base.W, was), func(d float64) bool { return math.Abs(d) > 1e-6 }))
				unmerge(t, l)
				copy(base.W, was)
				m[at] = 0
			}
		}
		copy(m, full)
	}
}

// Layers may share a base: what one merges is in the other's weights, and is taken out in
// any order (rule 17).
func TestSharedBase(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 4 {
		base := anyBase(r)
		layers := make([]*lora.Layer, 3)
		for i := range layers {
			layers[i] = newLayer(t, base)
			active(t, r, layers[i], base, "a", plain(1+r.IntN(3)))
		}
		was := slices.Clone(base.W)
		for _, i := range r.Perm(len(layers)) {
			merge(t, layers[i])
		}
		o.Floats("weights while merged", base.W)
		for n, i := range r.Perm(len(layers)) {
			unmerge(t, layers[i])
			if n == 0 {
				o.Floats("weights while some are merged", base.W)
				o.Floats("outputs while others are merged", forward(t, layers[i], numbers(r, base.In)))
			}
		}
		o.Floats("what is left in the weights", less(base.W, was), observe.Within(3e-11, 0)) // of three, each up to 10
		for _, l := range layers {
			o.Bool("merged", l.Merged())
		}
	}
}

// Arguments stay as they are, and are not even changed for a while; results, the list of Params
// too, are the caller's, and no call changes what an earlier one returned (rule 20).
func TestOwnStorage(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, name := range []string{"a", ""} {
		base := anyBase(r)
		l := newLayer(t, base)
		a := active(t, r, l, base, "a", scaled(r, 2)) // by 1 a matrix could be multiplied, and divided again
		use(t, l, name)
		x, dy := numbers(r, 3*base.In), numbers(r, 3*base.Out)
		wasX, wasDY := slices.Clone(x), slices.Clone(dy)
		wasW, wasA := slices.Clone(base.W), slices.Concat(a.A, a.B)
		y, dx := forward(t, l, x), backward(t, l, x, dy)
		o.Floats("what changes in the arguments", append(less(x, wasX), less(dy, wasDY)...), exact)
		wasY, wasDX := slices.Clone(y), slices.Clone(dx)
		forward(t, l, numbers(r, 3*base.In))
		backward(t, l, numbers(r, 3*base.In), numbers(r, 3*base.Out))
		o.Floats("what changes in earlier results", append(less(y, wasY), less(dx, wasDX)...), exact)
		for _, result := range [][]float64{y, dx, forward(t, l, x)} {
			for i := range result[:cap(result)] {
				result[:cap(result)][i] = math.Pi
			}
		}
		o.Floats("what changes in the matrices", append(less(base.W, wasW), less(slices.Concat(a.A, a.B), wasA)...), exact)
		o.Floats("what changes in the outputs", less(forward(t, l, wasX), wasY))
		clear(x)
		clear(dy)
		o.Ints("lengths", []int{len(y), len(dx)})
		ownLists(o, l, a)
	}
	sharedMemory(t, o, r)
}

// ownLists writes into what Params returned, as far as it goes, and looks at what it returns next.
func ownLists(o *observe.Observer, l *lora.Layer, a *lora.Adapter) {
	list := l.Params()
	clear(list[:cap(list)])
	again := l.Params()
	o.Bool("Params are A and B, after a change of what Params returned", len(again) == 2 && isIn(again[0], a.A, a.GradA) && isIn(again[1], a.B, a.GradB))
	o.Bool("what was written into it is changed", slices.ContainsFunc(list, func(p lora.Param) bool { return p.Data != nil || p.Grad != nil }))
	first := append(l.Params(), lora.Param{Data: a.B, Grad: a.GradB})
	second := append(l.Params(), lora.Param{Data: a.A, Grad: a.GradA})
	o.Bool("what is added to one list is in it", isIn(first[len(first)-1], a.B, a.GradB) && isIn(second[len(second)-1], a.A, a.GradA))
}

// isIn says whether p is these two slices themselves.
func isIn(p lora.Param, data, grad []float64) bool {
	return len(p.Data) == len(data) && len(p.Grad) == len(grad) && &p.Data[0] == &data[0] && &p.Grad[0] == &grad[0]
}

// sharedMemory gives arguments that lie in the same memory, or in that of a matrix that the call only
// reads. As nothing is written into them, all is as with copies.
func sharedMemory(t *testing.T, o *observe.Observer, r *rand.Rand) {
	n := 3 + r.IntN(4)
	base := newBase(r, n, n, true)
	l := newLayer(t, base)
	a := active(t, r, l, base, "a", scaled(r, n))
	learnt := func(x, dy []float64) []float64 {
		clear(a.GradA)
		clear(a.GradB)
		return slices.Concat(backward(t, l, x, dy), grads(a))
	}
	all := [][]float64{numbers(r, 2*n), numbers(r, n), numbers(r, n*n), base.W, a.A, a.B}
	for _, x := range all {
		o.Floats("what changes in the outputs where x is another's memory", less(forward(t, l, x), forward(t, l, slices.Clone(x))))
		for _, dy := range all {
			if len(dy) == len(x) {
				o.Floats("what changes in the gradients where x and dy are another's memory", less(learnt(x, dy), learnt(slices.Clone(x), slices.Clone(dy))))
			}
		}
	}
}
