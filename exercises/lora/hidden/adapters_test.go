package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/lora"
)

// A new adapter has a B of 0 and no gradients, and the Layer answers as its base does, to
// the last bit (rules 3 and 8).
func TestFresh(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range [][3]int{{}, {}, {}, {}, {}, {}, {}, {}, {40, 3, 9}, {3, 40, 17}, {20, 30, 70}, {70, 5, 2}, {1500, 2, 1}, {2, 3, 600}} {
		base, n := anyBase(r), 6
		if size[0] > 0 { // what is large may be computed in blocks
			base, n = newBase(r, size[0]+r.IntN(9), size[1]+r.IntN(9), true), size[2]+r.IntN(9)
		}
		l := newLayer(t, base)
		a := fresh(t, r, l, base, "a", scaled(r, 1+r.IntN(9+size[1])))
		o.Floats("B", a.B, exact)
		o.Floats("gradients of a new adapter", grads(a), exact)
		o.Bool("A has numbers that are not 0", slices.ContainsFunc(a.A, func(x float64) bool { return x != 0 }))
		use(t, l, "a")
		x := numbers(r, n*base.In)
		y := forward(t, l, x)
		o.Int("length of the outputs", len(y))
		o.Floats("what a new adapter adds", less(y, base.Forward(x)), exact)
		was := slices.Clone(base.W)
		merge(t, l)
		o.Floats("what its Merge adds", less(base.W, was), exact)
		unmerge(t, l)
		o.Floats("what is left of it", less(base.W, was), exact)
	}
	toTheLastBit(t, o, r)
}

// toTheLastBit is about the order in which a Forward adds up, for every small number of rows, one
// too, and inputs from few to many: with a B of 0, new or written, it is that of the base (rule 8).
func toTheLastBit(t *testing.T, o *observe.Observer, r *rand.Rand) {
	for i, in := range []int{3, 5, 8, 20, 70, 300, 1100} {
		base := newBase(r, in+r.IntN(in), 4+r.IntN(9), i%2 == r.IntN(2))
		l := newLayer(t, base)
		cfg := scaled(r, 1+r.IntN(9))
		cfg.RankStabilized = r.IntN(2) == 0
		fresh(t, r, l, base, "new", cfg)
		clear(add(t, r, l, base, "written", cfg).B)
		for n := 1; n <= 9; n++ {
			for _, name := range []string{"new", "written"} {
				use(t, l, name)
				x := numbers(r, n*base.In)
				o.Floats("what an adapter whose B is 0 adds", less(forward(t, l, x), base.Forward(x)), exact)
			}
		}
	}
}

// A is drawn from the generator, uniformly between ±1/√In (rule 3).
func TestDrawn(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, in := range []int{1, 16 + r.IntN(20), 400 + r.IntN(100)} {
		base := newBase(r, in, 1+r.IntN(3), false)
		l := newLayer(t, base)
		rank := (70_000+r.IntN(9000))/in + 1
		seed := r.Uint64()
		for i, name := range []string{"a", "again", "other"} {
			// "again" comes of the same numbers as "a", "other" of others.
			if l.Add(name, plain(rank), rand.New(rand.NewPCG(seed, uint64(i/2)))) != nil || l.Adapter(name) == nil {
				t.Fatal("Add refuses a valid adapter")
			}
		}
		a := l.Adapter("a").A
		o.Int("numbers in A", len(a))
		o.Bool("uniform between the bounds", uniform(a, 1/math.Sqrt(float64(in))))
		o.Bool("neighbours go together", together(a, 1) || together(a, 2) || in > 1 && together(a, in))
		o.Bool("nearly all are different", distinct(a) > len(a)*99/100)
		o.Bool("nearly all have more digits than a float32", wide(a) > len(a)*9/10)
		if in == 1 { // the bound is 1
			o.Bool("nearly all have more than 40 digits of 2", digits(a, 40) > len(a)*9/10)
		}
		o.Bool("the same generator, the same A", slices.Equal(a, l.Adapter("again").A))
		o.Bool("another generator, the same A", slices.Equal(a, l.Adapter("other").A))
	}
	base := newBase(r, 50, 3, false)
	l := newLayer(t, base)
	one := rand.New(rand.NewPCG(r.Uint64(), 1))
	for _, name := range []string{"a", "b"} {
		if l.Add(name, plain(20), one) != nil || l.Adapter(name) == nil {
			t.Fatal("Add refuses a valid adapter")
		}
	}
	o.Bool("two adapters from one generator are different", distinct(slices.Concat(l.Adapter("a").A, l.Adapter("b").A)) > 1900)
}

// uniform says whether no number is beyond ±bound and each of eight parts of the range has
// its share, to 6 standard deviations: one right solution in 10⁷ gradings has another answer.
func uniform(xs []float64, bound float64) bool {
	var parts [8]int
	for _, x := range xs {
		part := int(math.Floor((x/bound + 1) * 4))
		if !(math.Abs(x) <= bound) {
			return false
		}
		parts[min(part, 7)]++
	}
	n := float64(len(xs))
	for _, count := range parts {
		if math.Abs(float64(count)-n/8) > 6*math.Sqrt(n*7)/8 {
			return false
		}
	}
	return true
}

// together says whether numbers that stand so far from each other go together: whether their
// correlation is beyond 6 standard deviations, as of one list of independent ones in 10⁹.
func together(xs []float64, apart int) bool {
	products, squares := 0.0, 0.0
	for i, x := range xs {
		squares += x * x
		if i >= apart {
			products += x * xs[i-apart]
		}
	}
	return !(math.Abs(products/squares) <= 6/math.Sqrt(float64(len(xs))))
}

// digits counts the numbers from -1 to 1 that need more than so many binary digits.
func digits(xs []float64, bits int) (n int) {
	for _, x := range xs {
		if y := math.Ldexp(x+1, bits); y != math.Floor(y) {
			n++
		}
	}
	return n
}

func distinct(xs []float64) int {
	set := map[float64]bool{}
	for _, x := range xs {
		set[x] = true
	}
	return len(set)
}

// Forward and Backward change nothing in the base: neither weights and bias nor its own
// gradients (rule 11).
func TestFrozen(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for i := range 6 {
		base := newBase(r, 3+r.IntN(3), 7+r.IntN(3), i%3 > 0)
		if i%2 == 0 {
			base.GradW, base.GradB = nil, nil
		}
		w, b, gw, gb := slices.Clone(base.W), slices.Clone(base.B), slices.Clone(base.GradW), slices.Clone(base.GradB)
		l := newLayer(t, base)
		a := active(t, r, l, base, "a", plain(2))
		for range 3 {
			x, dy := numbers(r, 4*base.In), numbers(r, 4*base.Out)
			forward(t, l, x)
			backward(t, l, x, dy)
			for _, p := range l.Params() {
				descend(p)
			}
			l.ZeroGrad()
			use(t, l, "")
			backward(t, l, x, dy)
			use(t, l, "a")
		}
		o.Floats("what changes in W and B", append(less(base.W, w), less(base.B, b)...), exact)
		o.Floats("what changes in GradW and GradB", append(less(base.GradW, gw), less(base.GradB, gb)...), exact)
		merge(t, l)
		o.Floats("what Merge changes in B, GradW and GradB", slices.Concat(less(base.B, b), less(base.GradW, gw), less(base.GradB, gb)), exact)
		unmerge(t, l)
		o.Floats("what Unmerge changes in B, GradW and GradB", slices.Concat(less(base.B, b), less(base.GradW, gw), less(base.GradB, gb)), exact)
		o.Ints("lengths", []int{len(base.W), len(base.B), len(base.GradW), len(base.GradB)})
		x := numbers(r, base.In)
		forward(t, l, x)
		backward(t, l, x, numbers(r, base.Out))
		o.Bool("A has gradients", slices.ContainsFunc(a.GradA, func(x float64) bool { return x != 0 }))
	}
}

// descend is a step of an optimizer.
func descend(p lora.Param) {
	for i := range min(len(p.Data), len(p.Grad)) {
		p.Data[i] -= p.Grad[i] / 64
	}
}

// Of several adapters the active one counts and learns, and no other, also after a Use that was
// refused (rules 5, 6, 7, 10 and 21).
func TestSwitch(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	base := anyBase(r)
	l := newLayer(t, base)
	names := []string{"a", "b", "c", "d"}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var all []*lora.Adapter
	for i, name := range names {
		all = append(all, add(t, r, l, base, name, plain(1+i)))
		o.String("active after Add", l.Active())
	}
	x, dy := numbers(r, 2*base.In), numbers(r, 2*base.Out)
	for range 10 {
		at := r.IntN(len(names))
		use(t, l, names[at])
		o.String("active", l.Active())
		var was [][]float64
		for _, a := range all {
			was = append(was, mark(r, a))
		}
		o.Floats("outputs", forward(t, l, x))
		o.Floats("gradients of x", backward(t, l, x, dy))
		for i, a := range all {
			o.Bool("the gradients are others now", !slices.Equal(grads(a), was[i]))
			o.Bool("it is the same adapter", l.Adapter(names[i]) == a)
		}
		if r.IntN(3) == 0 {
			use(t, l, "")
			o.String("active after Use of none", l.Active())
			o.Floats("what is added by none", less(forward(t, l, x), base.Forward(x)))
			was := mark(r, all[at])
			backward(t, l, x, dy)
			o.Floats("what is learnt by none", less(grads(all[at]), was), exact)
		}
		sentinels(o, "Use of an unknown one", l.Use("e"))
		o.String("active afterwards", l.Active())
		o.Floats("outputs, after Use of an unknown one", forward(t, l, x))
	}
}

// Removed is forgotten, the active one as well, and an adapter of the same name begins anew
// (rules 3 and 6).
func TestRemove(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	base := anyBase(r)
	l := newLayer(t, base)
	o.Strings("names of none", l.Names())
	names := []string{"z", "a", "Z", " a", "x.y"}
	for _, name := range names {
		add(t, r, l, base, name, plain(2))
	}
	o.Strings("names", l.Names())
	if got := l.Names(); len(got) > 0 {
		got[0] = "not theirs"
		o.Strings("names, after a change of what Names returned", l.Names())
	}
	use(t, l, names[2])
	mark(r, l.Adapter(names[1]))
	mark(r, l.Adapter(names[4]))
	for _, i := range []int{1, 2, 4} { // before, at and after the active one
		sentinels(o, "Remove", l.Remove(names[i]))
		sentinels(o, "Remove again", l.Remove(names[i]))
		o.Strings("names afterwards", l.Names())
		o.Floats("outputs", forward(t, l, numbers(r, 2*base.In)))
		o.String("active", l.Active())
		o.Bool("it is still there", l.Adapter(names[i]) != nil)
		sentinels(o, "Use", l.Use(names[i]))
	}
	x := numbers(r, base.In)
	o.Floats("what is added without an active one", less(forward(t, l, x), base.Forward(x)))
	sentinels(o, "Remove of no name", l.Remove(""))
	for i, name := range []string{names[1], names[4]} { // of another rank, and of the same one
		a := fresh(t, r, l, base, name, plain(3-i))
		o.Floats("B of a new one of the same name", a.B, exact)
		o.Floats("gradients of a new one of the same name", grads(a), exact)
	}
	add(t, r, l, base, names[2], plain(2)) // which was active when it was removed
	o.String("active, after Add of that name", l.Active())
	o.Floats("what is added after Add of that name", less(forward(t, l, x), base.Forward(x)))
	o.Int("matrices after Add of that name", len(l.Params()))
	o.Strings("names in the end", l.Names())
	kept := l.Adapter(names[0])
	o.Bool("another one is kept", kept != nil && slices.ContainsFunc(kept.B, func(x float64) bool { return x != 0 }))
}

// Params are A and B of the active adapter with their gradients, in the storage that the
// adapter keeps (rules 5, 12 and 13).
func TestParams(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	base := newBase(r, 4, 3, true)
	l := newLayer(t, base)
	a := add(t, r, l, base, "a", plain(2))
	add(t, r, l, base, "b", plain(5))
	o.Int("matrices, none active", len(l.Params()))
	use(t, l, "b")
	o.Int("matrices of another", len(l.Params()))
	use(t, l, "a")
	held := *a // the storage of the beginning
	params := l.Params()
	use(t, l, "b")
	o.Int("matrices of another, later", len(l.Params()))
	o.Bool("the matrices of before are its own", len(params) == 2 && len(params[0].Data) == len(a.A) && &params[0].Data[0] == &a.A[0] && &params[1].Grad[0] == &a.GradB[0])
	use(t, l, "a")
	o.Int("matrices of the active one", len(params))
	if len(params) != 2 {
		t.Fatal("Params are not two matrices")
	}
	x, dy := numbers(r, 2*base.In), numbers(r, 2*base.Out)
	backward(t, l, x, dy)
	l.ZeroGrad()
	merge(t, l)
	o.Int("matrices while merged", len(l.Params()))
	unmerge(t, l)
	use(t, l, "b")
	use(t, l, "a")
	mark(r, a)
	copy(a.A, numbers(r, len(a.A)))
	copy(a.B, numbers(r, len(a.B)))
	held.A[0], held.B[0], held.GradA[0], held.GradB[0] = 3, 5, 7, 9
	o.Floats("A and B", slices.Concat(a.A, a.B), exact)
	o.Floats("gradients", grads(a), exact)
	for _, p := range append(params, l.Params()...) {
		o.Floats("numbers of a matrix of Params", p.Data, exact)
		o.Floats("its gradients", p.Grad, exact)
	}
}

// Add refuses a rank below 1, an alpha that is not finite and above 0, no name, no
// generator, and a name that is taken; and then nothing has changed (rules 2 and 21).
func TestAddRefuses(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	base := anyBase(r)
	l := newLayer(t, base)
	a := active(t, r, l, base, "a", plain(2))
	was := slices.Concat(a.A, a.B)
	for _, c := range []struct {
		name string
		cfg  lora.Config
		r    *rand.Rand
	}{
		{"b", lora.Config{Rank: 0, Alpha: 1}, r}, {"b", lora.Config{Rank: -1 - r.IntN(9), Alpha: 1}, r},
		{"b", lora.Config{Rank: 1, Alpha: 0}, r}, {"b", lora.Config{Rank: 1, Alpha: -r.Float64()}, r},
		{"b", lora.Config{Rank: 1, Alpha: nan}, r}, {"b", lora.Config{Rank: 1, Alpha: inf}, r}, {"b", lora.Config{Rank: 1, Alpha: -inf}, r},
		{"", plain(1), r}, {"b", plain(1), nil}, {"a", plain(3), r},
	} {
		seed := r.Uint64()
		src, same := rand.NewPCG(seed, 1), rand.NewPCG(seed, 1)
		if c.r != nil {
			c.r = rand.New(src)
		}
		sentinels(o, "Add", l.Add(c.name, c.cfg, c.r))
		o.Bool("nothing was drawn", src.Uint64() == same.Uint64())
		o.Strings("names", l.Names())
		o.String("active", l.Active())
		o.Bool("there is one", l.Adapter("b") != nil)
	}
	o.Bool("the one that was there is the same", l.Adapter("a") == a && slices.Equal(was, slices.Concat(a.A, a.B)))
	sentinels(o, "Add of the smallest alpha", l.Add("b", lora.Config{Rank: 1, Alpha: math.SmallestNonzeroFloat64}, r))
	sentinels(o, "Add of the largest alpha", l.Add("c", lora.Config{Rank: 1, Alpha: math.MaxFloat64}, r))
	for _, name := range []string{" ", "\t", " a", "A", "\x00", "ä"} {
		sentinels(o, "Add of another name", l.Add(name, plain(1), r))
	}
	o.Strings("names in the end", l.Names())
}

// Lengths that do not fit are refused, and nothing has changed (rules 1, 18 and 21).
func TestLengths(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, base := range []*lora.Linear{
		nil, {}, {In: 0, Out: 2, B: make([]float64, 2)}, {In: 2, Out: 0, B: []float64{}}, {In: -2, Out: -3, W: make([]float64, 6)},
		{In: 2, Out: 3, W: make([]float64, 5)}, {In: 2, Out: 3, W: make([]float64, 7)}, {In: 2, Out: 3}, {In: 2, Out: 3, W: make([]float64, 8)},
		{In: 2, Out: 3, W: make([]float64, 6), B: make([]float64, 2)}, {In: 2, Out: 3, W: make([]float64, 6), B: make([]float64, 4)},
		{In: 2, Out: 3, W: make([]float64, 6), B: []float64{}}, {In: 1 << 32, Out: 1 << 32},
	} {
		l, err := lora.New(base)
		sentinels(o, "New", err)
		o.Bool("there is a Layer", l != nil)
	}
	base := anyBase(r)
	l := newLayer(t, base)
	a := active(t, r, l, base, "a", plain(2))
	was := mark(r, a)
	for _, name := range []string{"a", ""} {
		use(t, l, name)
		for _, n := range []int{1, base.In - 1, base.In + 1, 3*base.In - 1} {
			_, err := l.Forward(numbers(r, n))
			sentinels(o, "Forward", err)
		}
		for _, c := range [][2]int{{base.In - 1, base.Out}, {base.In, base.Out - 1}, {base.In + 1, base.Out}, {base.In, base.Out + 1},
			{2 * base.In, base.Out}, {base.In, 2 * base.Out}, {0, base.Out}, {base.In, 0}, {base.In - 1, 0}, {base.In + 1, 0}, {2*base.In - 1, 2 * base.Out}, {base.Out, base.In}} {
			_, err := l.Backward(numbers(r, c[0]), numbers(r, c[1]))
			sentinels(o, "Backward", err)
		}
	}
	o.Floats("what is added to the gradients", less(grads(a), was), exact)
	wide := newBase(r, 2, 4, false)
	l4 := newLayer(t, wide)
	active(t, r, l4, wide, "a", plain(2))
	for _, c := range [][2]int{{1, 2}, {3, 6}, {2, 4}} { // in proportion, but no whole rows
		_, err := l4.Backward(numbers(r, c[0]), numbers(r, c[1]))
		sentinels(o, "Backward of parts of rows", err)
	}
	use(t, l, "a")
	o.Int("length of the outputs", len(forward(t, l, numbers(r, 2*base.In))))
}
