package hidden

import (
	"errors"
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/gradcheck"
)

// Apply calls Forward once, with the inputs' own data in their order, and records the slice that it
// returns, be it an input itself; Backward gets the gradient of the output, once, and what it
// returns is added to those of the inputs (rules 1 and 2).
func TestApply(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for round := range 10 {
		var calls observe.Transcript
		var own []float64
		n := below(r, 2, 9)
		f := smooth(1, nil)
		forward, backward := f.forward, f.backward
		x, y := signed(r, n, 1), signed(r, n, 1)
		f.forward = func(in [][]float64) []float64 {
			calls.Add("forward of %d, own data %t", len(in), len(in) == 2 && &in[0][0] == &x[0] && &in[1][0] == &y[0])
			own = forward(in)
			return own
		}
		f.backward = func(in [][]float64, grad []float64) [][]float64 {
			calls.Add("backward of %d", len(grad))
			o.Floats("gradient of the output", grad, relative)
			return backward(in, grad)
		}
		tape := gradcheck.NewTape()
		a, b := tape.Leaf(x), tape.Leaf(y)
		out := apply(t, f, a, b)
		o.Bool("on the tape of the inputs", out.Tape() == tape)
		o.Floats("output", out.Data, relative)
		o.Bool("the slice of Forward itself", len(out.Data) == n && &out.Data[0] == &own[0])
		o.Transcript("calls before Backward", &calls)
		a.AddGrad(signed(r, n, 1)) // from elsewhere
		seed := signed(r, len(out.Data), 1)
		switch round % 3 {
		case 1:
			clear(seed) // adds 0, and that is a gradient
		case 2:
			clear(seed[1:])
		}
		o.Error("error", tape.Backward(out, seed))
		o.Floats("gradient of the first", a.Grad(), relative)
		o.Floats("gradient of the second", b.Grad(), relative)
		o.Transcript("calls", &calls)
		fixed := apply(t, f, gradcheck.Const(x), gradcheck.Const(y))
		o.Bool("the slice of Forward itself, of constants", len(fixed.Data) == n && &fixed.Data[0] == &own[0])
	}
	for range 4 { // whatever slice it is that Forward returns: an input, a part of one, with room behind or without
		n := below(r, 3, 9)
		room := signed(r, 2*n, 1)
		x, y, kept := room[:n], signed(r, n, 1), signed(r, n, 1)
		for _, of := range []func(in [][]float64) []float64{
			func(in [][]float64) []float64 { return in[0] },
			func(in [][]float64) []float64 { return in[1] },
			func(in [][]float64) []float64 { return slices.Clone(in[r.IntN(2)]) },
			func(in [][]float64) []float64 { return in[0][:n-1] },
			func(in [][]float64) []float64 { return in[1][1:] },
			func(in [][]float64) []float64 { return in[0][: n-1 : n-1] },
			func(in [][]float64) []float64 { return in[1][:0] },
			func([][]float64) []float64 { return room[n:] },
			func([][]float64) []float64 { return kept },
			func([][]float64) []float64 { return make([]float64, n, n+3) },
			func([][]float64) []float64 { return []float64{} },
			func([][]float64) []float64 { return nil },
		} {
			for k := range 4 { // each input on the tape or not
				tape := gradcheck.NewTape()
				vars := []*gradcheck.Var{gradcheck.Const(x), gradcheck.Const(y)}
				for i := range vars {
					if k>>i&1 == 0 {
						vars[i] = tape.Leaf(vars[i].Data)
					}
				}
				var own []float64
				given := false
				f := fake{
					forward: func(in [][]float64) []float64 {
						given = len(in) == 2 && itself(in[0], x) && itself(in[1], y)
						own = of(in)
						return own
					},
					backward: func(in [][]float64, grad []float64) [][]float64 {
						g := slices.Repeat([]float64{0}, n)
						copy(g, grad)
						return [][]float64{g, in[0]}
					},
				}
				out := apply(t, f, vars...)
				o.Bool("own data", given)
				o.Bool("the slice of Forward itself, be it an input", itself(out.Data, own))
				o.Floats("output that is an input", out.Data, relative)
				if out.Tape() != nil {
					o.Error("error of an output that is an input", tape.Backward(out, signed(r, len(out.Data), 1)))
				}
				for i := range vars {
					o.Floats("gradient beside an output that is an input", vars[i].Grad(), relative)
				}
			}
		}
		tape := gradcheck.NewTape()
		leaf := tape.Leaf(x)
		for _, vars := range [][]*gradcheck.Var{{leaf, leaf}, {leaf, tape.Leaf(x)}, {gradcheck.Const(x), leaf}} {
			f, given := smooth(1, nil), 0
			forward := f.forward
			f.forward = func(in [][]float64) []float64 {
				for _, d := range in {
					if itself(d, x) {
						given++
					}
				}
				return forward(in)
			}
			out := apply(t, f, vars...)
			o.Int("one slice for both: own data", given)
			o.Floats("one slice for both: output", out.Data, relative)
		}
	}
	backwards := 0
	nothing := fake{ // gives a vector without elements
		forward: func([][]float64) []float64 { return []float64{} },
		backward: func(in [][]float64, grad []float64) [][]float64 {
			backwards++
			return [][]float64{slices.Clone(in[0])}
		},
	}
	tape := gradcheck.NewTape()
	x := tape.Leaf(signed(r, 3, 1))
	o.Error("error without elements", tape.Backward(apply(t, nothing, x), nil))
	o.Floats("gradient without elements", x.Grad(), relative)
	o.Int("calls without elements", backwards)
}

// saver saves lists and records what comes back.
type saver struct {
	lists [][]float64
	calls []int // how many are saved by each call of Save
	asks  int   // before which of these it looks at what is saved so far, a bit for each
	got   func(saved [][]float64, err error)
}

func (s *saver) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	rest := s.lists
	for i, n := range s.calls {
		if s.asks>>i&1 == 1 {
			s.got(c.Saved())
		}
		list := append(make([][]float64, 0, n+2), rest[:n]...)
		c.Save(list...)
		clear(list) // the list is the Function's, and what is in it is saved
		rest = rest[n:]
	}
	return slices.Clone(in[0]), nil
}

func (s *saver) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	s.got(c.Saved())
	s.got(c.Saved())
	return [][]float64{grad}, nil
}

// What several calls of Save were given comes back from Saved in that order, the slices
// themselves, as often as it is asked for, between two calls of Save too, and each Context has its
// own (rule 4).
func TestSaved(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	tape := gradcheck.NewTape()
	v := tape.Leaf([]float64{1})
	for asks := range 16 {
		s := &saver{calls: []int{below(r, 1, 3), 0, below(r, 1, 4)}, asks: asks}
		for range s.calls[0] + s.calls[2] {
			s.lists = append(s.lists, signed(r, 4, 1)[:below(r, 1, 4)])
		}
		s.lists = append(s.lists, []float64{}, nil, signed(r, 2, 1)[:0], signed(r, 3, 1)[:1])
		s.calls = append(s.calls, 4)
		s.got = func(saved [][]float64, err error) {
			o.Error("error of Saved", err, gradcheck.ErrFreed)
			o.Int("saved lists", len(saved))
			own := 0
			for i, list := range saved {
				o.Floats("a saved list", list, observe.Exact())
				if i < len(s.lists) && itself(list, s.lists[i]) {
					own++
				}
			}
			o.Int("saved lists that are no copies", own)
		}
		v = apply(t, s, v)
	}
	o.Error("error of Backward", tape.Backward(v, []float64{1 + r.Float64()}))
}

// itself reports whether two slices are one: nil if the other is, and of the same memory.
func itself(x, y []float64) bool {
	return (x == nil) == (y == nil) && len(x) == len(y) && cap(x) == cap(y) && (cap(x) == 0 || &x[:1][0] == &y[:1][0])
}

// A vector that is used several times, by one application too, gets the gradients of all uses, also if
// these are one slice, or in a list that the Function keeps or has got of Saved; and so do the vectors that
// Apply was called with, also if the caller's list has others later (rule 2).
func TestShared(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 10 {
		n := below(r, 2, 9)
		tape := gradcheck.NewTape()
		x, y := tape.Leaf(signed(r, n, 1)), tape.Leaf(signed(r, n, 1))
		square := apply(t, smooth(1, nil), x, x)
		left := apply(t, smooth(2, nil), square, y)
		right := apply(t, smooth(3, nil), y, square)
		out := apply(t, smooth(1, nil), left, right)
		o.Floats("output", out.Data, relative)
		o.Error("error", tape.Backward(out, signed(r, len(out.Data), 1)))
		o.Floats("gradient of the first", x.Grad(), relative)
		o.Floats("gradient of the second", y.Grad(), relative)
		o.Bool("gradient inside", square.Grad() != nil)
	}
	for _, count := range []int{3, 4, below(r, 5, 9), 70, 66_000} {
		for _, among := range []int{1, 2, 3} {
			n := below(r, 1, 3)
			tape := gradcheck.NewTape()
			x, y := tape.Leaf(signed(r, n, 1)), tape.Leaf(signed(r, n, 1))
			vars := []*gradcheck.Var{x, y, apply(t, smooth(1, nil), x, y)}
			list := make([]*gradcheck.Var, count)
			for i := range list {
				list[i] = vars[r.IntN(among)]
			}
			out := apply(t, weighted(positive(r, count, 1)), list...)
			o.Floats("output of many", out.Data, relative)
			o.Error("error of many", tape.Backward(out, positive(r, n, 1)))
			o.Floats("gradient of the first of many", x.Grad(), relative)
			o.Floats("gradient of the second of many", y.Grad(), relative)
		}
	}
	sharedGradients(t, o)
	keptGradients(t, o)
	for _, change := range []func(list []*gradcheck.Var, others []*gradcheck.Var){ // the caller's list
		func(list, _ []*gradcheck.Var) { slices.Reverse(list) },
		func(list, others []*gradcheck.Var) { copy(list, others) },
		func(list, others []*gradcheck.Var) { list[len(list)-1] = others[0] },
		func(list, _ []*gradcheck.Var) { list[0] = list[1] },
	} {
		for _, count := range []int{2, 3, below(r, 4, 9)} {
			for constant := range 2 { // the first of the list
				n := below(r, 2, 5)
				tape := gradcheck.NewTape()
				list, others := make([]*gradcheck.Var, count), make([]*gradcheck.Var, count)
				for i := range list {
					list[i], others[i] = tape.Leaf(signed(r, n, 1)), tape.Leaf(signed(r, n, 1))
				}
				if constant == 1 {
					list[0], others[0] = gradcheck.Const(list[0].Data), gradcheck.Const(others[0].Data)
				}
				vars := append(slices.Clone(list), others...)
				list = append(make([]*gradcheck.Var, 0, count+2), list...)
				out, left := listed(t, weighted(positive(r, count, 1)), list, func(list []*gradcheck.Var) { change(list, others) })
				o.Bool("the list as it was", left)
				now := slices.Clone(list)
				o.Error("error with a list that is changed", tape.Backward(out, positive(r, n, 1)))
				o.Bool("the changed list as it was", slices.Equal(now, list))
				for _, v := range vars {
					o.Floats("gradient with a list that is changed", v.Grad(), relative)
				}
			}
		}
	}
}

// sharedGradients has applications whose Backward returns one slice for all inputs, of which some are
// the same Var.
func sharedGradients(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	for _, count := range []int{3, 4, below(r, 5, 9), 70} {
		n := below(r, 1, 4)
		kept := signed(r, n, 1)
		for _, slice := range []func(in [][]float64, grad []float64) []float64{
			func(_ [][]float64, grad []float64) []float64 { return grad },
			func(_ [][]float64, grad []float64) []float64 { return slices.Clone(grad) },
			func(in [][]float64, _ []float64) []float64 { return in[0] },
			func([][]float64, []float64) []float64 { return kept },
		} {
			f := weighted(positive(r, count, 1))
			f.backward = func(in [][]float64, grad []float64) [][]float64 {
				return slices.Repeat([][]float64{slice(in, grad)}, len(in))
			}
			tape := gradcheck.NewTape()
			x, y := tape.Leaf(signed(r, n, 1)), tape.Leaf(signed(r, n, 1))
			list := []*gradcheck.Var{x, x, y}
			for range count - len(list) {
				list = append(list, []*gradcheck.Var{x, y, gradcheck.Const(signed(r, n, 1))}[r.IntN(3)])
			}
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			mid := apply(t, f, list...)
			list[r.IntN(count)] = mid
			o.Error("error of one slice for all", tape.Backward(apply(t, f, list...), signed(r, n, 1)))
			o.Floats("gradient of the first, of one slice for all", x.Grad(), relative)
			o.Floats("gradient of the second, of one slice for all", y.Grad(), relative)
			o.Floats("data that may be a gradient", slices.Concat(x.Data, y.Data), observe.Exact())
		}
	}
}

// keptGradients has applications whose Backward returns the very list that it got of Saved, or one that
// the Function keeps for all of them, where constants have gradients too.
func keptGradients(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	for _, count := range []int{1, 2, 3, 4, below(r, 5, 9), 70} {
		n := below(r, 1, 4)
		kept := make([][]float64, count, count+2)
		for i := range kept {
			kept[i] = signed(r, n, 1)
		}
		was, numbers := slices.Clone(kept), slices.Concat(kept...)
		for _, list := range []func(saved [][]float64) [][]float64{
			func(saved [][]float64) [][]float64 { return saved },
			func([][]float64) [][]float64 { return kept },
		} {
			f := weighted(positive(r, count, 1))
			f.backward = func(in [][]float64, _ []float64) [][]float64 { return list(in) }
			tape := gradcheck.NewTape()
			for constant := range min(count, 4) { // none, or one of the first
				vars := make([]*gradcheck.Var, count)
				for i := range vars {
					if vars[i] = tape.Leaf(signed(r, n, 1)); i+1 == constant {
						vars[i] = gradcheck.Const(vars[i].Data)
					}
				}
				o.Error("error of a list that is kept", tape.Backward(apply(t, f, vars...), signed(r, n, 1)))
				for _, v := range vars {
					if v.Tape() != nil { // constants are the subject of TestNeeds
						o.Floats("gradient of a list that is kept", v.Grad(), relative)
					}
				}
			}
		}
		o.Bool("the list that is kept as it was", slices.EqualFunc(kept, was, itself))
		o.Floats("numbers in the list that is kept", slices.Concat(kept...), observe.Exact())
		o.Bool("numbers in the list that is kept as they were", slices.Equal(slices.Concat(kept...), numbers))
	}
}

// listed applies f to the Vars of a list, which it changes afterwards. It returns the output,
// and whether Apply has left the list as it was.
func listed(t *testing.T, f gradcheck.Function, list []*gradcheck.Var, change func(list []*gradcheck.Var)) (out *gradcheck.Var, left bool) {
	was := slices.Clone(list)
	out = apply(t, f, list...)
	left = slices.Equal(was, list)
	change(list)
	return out, left
}

// watcher records what Needs says.
type watcher struct {
	fake
	o *observe.Observer
}

func (w watcher) ask(name string, c *gradcheck.Context, n int) {
	for i := range n {
		w.o.Bool(name, c.Needs(i))
	}
	w.o.Bool(name+" that is no input", c.Needs(-1) || c.Needs(n))
	for _, i := range []int{n + 1, 64, 256, 1 << 16, 1 << 32, math.MaxInt, math.MinInt} {
		w.o.Bool(name+" that is no input by far", c.Needs(i))
	}
}

func (w watcher) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	w.ask("needed in Forward", c, len(in))
	return w.fake.Forward(c, in)
}

func (w watcher) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	saved, _ := c.Saved() // all inputs
	w.ask("needed in Backward", c, len(saved))
	return w.fake.Backward(c, grad)
}

// A gradient is needed of an input on a tape and not of a Const, whose gradient is not looked
// at; a nil gradient adds nothing. Of Consts alone comes a Const, and Backward is not called
// (rules 3, 5 and 6).
func TestNeeds(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 8 {
		n := below(r, 2, 9)
		for _, constant := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
			tape := gradcheck.NewTape()
			vars := []*gradcheck.Var{gradcheck.Const(signed(r, n, 1)), gradcheck.Const(signed(r, n, 1))}
			other := 0
			for i := range vars {
				if !constant[i] {
					vars[i] = tape.Leaf(vars[i].Data)
					other = 1 - i
				}
			}
			junk := below(r, 0, 2)
			f := watcher{smooth(1, func(_, grads [][]float64, _ []float64) {
				if vars[other].Tape() == nil {
					grads[other] = [][]float64{nil, {1}, make([]float64, n)}[junk]
				} else if junk == 0 {
					grads[other] = nil
				}
			}), o}
			out := apply(t, f, vars...)
			o.Floats("output", out.Data, relative)
			o.Bool("on a tape", out.Tape() != nil)
			if out.Tape() == nil {
				continue
			}
			o.Error("error", tape.Backward(out, signed(r, n, 1)), gradcheck.ErrGradients)
			for i, v := range vars {
				if i != other {
					o.Floats("gradient", v.Grad(), relative)
				}
				o.Bool("a gradient", v.Grad() != nil)
			}
		}
		tape := gradcheck.NewTape()
		vars := make([]*gradcheck.Var, below(r, 3, 6))
		for i := range vars {
			if vars[i] = gradcheck.Const(signed(r, n, 1)); i == 0 || r.IntN(2) == 0 {
				vars[i] = tape.Leaf(vars[i].Data)
			}
		}
		r.Shuffle(len(vars), func(i, j int) { vars[i], vars[j] = vars[j], vars[i] })
		out := apply(t, watcher{weighted(positive(r, len(vars), 1)), o}, vars...)
		o.Error("error of several", tape.Backward(out, signed(r, n, 1)))
		for _, v := range vars {
			o.Bool("a gradient of several", v.Grad() != nil)
			o.Floats("gradient of several", v.Grad(), relative)
		}
	}
}

// keeper is a Function that gives its Context away.
type keeper struct {
	fake
	contexts *[]*gradcheck.Context
	fail     error // of Backward
	calls    *int
}

func (k keeper) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	*k.contexts = append(*k.contexts, c)
	return k.fake.Forward(c, in)
}

func (k keeper) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	*k.calls++
	if k.fail != nil {
		return nil, k.fail
	}
	return k.fake.Backward(c, grad)
}

// After Backward what was saved is freed, be there an error or not: Saved returns ErrFreed and
// nothing, and so does a second Backward, which calls no Function again (rules 7 and 8).
func TestFreed(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	failure := errors.New("fresh")
	for _, fail := range []error{nil, failure} {
		for range 4 {
			n, calls := below(r, 2, 9), 0
			var contexts []*gradcheck.Context
			tape := gradcheck.NewTape()
			x, y := tape.Leaf(signed(r, n, 1)), tape.Leaf(signed(r, n, 1))
			f := keeper{smooth(1, nil), &contexts, nil, &calls}
			mid := apply(t, f, x, y)
			f.fail = fail
			out := apply(t, f, mid, y)
			for _, c := range contexts {
				saved, err := c.Saved()
				o.Error("error of Saved before", err, gradcheck.ErrFreed)
				o.Int("saved before", len(saved))
			}
			for range 2 {
				o.Error("error of Backward", tape.Backward(out, signed(r, n, 1)), gradcheck.ErrFreed, failure)
				saved, err := contexts[1].Saved()
				o.Error("error of Saved after", err, gradcheck.ErrFreed)
				o.Int("saved after", len(saved))
				o.Bool("saved after is nil", saved == nil)
			}
			o.Floats("gradient", x.Grad(), relative)
			o.Int("calls of Backward", calls)
			again := apply(t, smooth(1, nil), mid, x) // mid's own step is freed, or was never reached
			for i, c := range contexts {
				if i == 1 || fail == nil {
					_, err := c.Saved()
					o.Error("error of Saved beside a new application", err, gradcheck.ErrFreed)
				}
			}
			o.Error("error of a graph that grew", tape.Backward(again, signed(r, n, 1)), gradcheck.ErrFreed)
			o.Floats("gradient of a graph that grew", x.Grad(), relative)
		}
	}
	var contexts []*gradcheck.Context
	calls := 0
	apply(t, keeper{smooth(1, nil), &contexts, nil, &calls}, gradcheck.Const(signed(r, 3, 1)), gradcheck.Const(signed(r, 3, 1)))
	saved, err := contexts[0].Saved()
	o.Error("error of Saved where no gradient is needed", err, gradcheck.ErrFreed)
	o.Bool("saved where no gradient is needed is nil", saved == nil)
	for _, broken := range []int{0, 1} {
		i := &idle{extra: broken}
		tape := gradcheck.NewTape()
		x := tape.Leaf(signed(r, 3, 1))
		out := apply(t, i, x)
		saved, err := i.c.Saved()
		o.Error("error of Saved where nothing is", err, gradcheck.ErrFreed)
		o.Int("saved where nothing is", len(saved))
		for range 2 {
			o.Error("error of Backward where nothing is saved", tape.Backward(out, signed(r, 3, 1)), gradcheck.ErrFreed, gradcheck.ErrGradients)
			_, err = i.c.Saved()
			o.Error("error of Saved after all", err, gradcheck.ErrFreed)
			o.Floats("gradient where nothing is saved", x.Grad(), relative)
		}
		o.Int("calls where nothing is saved", i.calls)
		o.Int("errors of Saved in Backward", i.errors)
		i.fail = failure
		_, err = gradcheck.Apply(i, x)
		o.Error("error of Forward", err, failure)
		saved, err = i.c.Saved()
		o.Error("error of Saved where Forward fails", err, gradcheck.ErrFreed)
		o.Bool("saved where Forward fails is nil", saved == nil)
	}
	long := &idle{longer: 1}
	tape := gradcheck.NewTape()
	out := apply(t, long, tape.Leaf(signed(r, 3, 1)))
	for range 2 { // what it returns, or whether it panics, is for TestGradients
		func() {
			defer func() { _ = recover() }()
			_ = tape.Backward(out, signed(r, 3, 1))
		}()
		_, err = long.c.Saved()
		o.Error("error of Saved after a gradient that is too long", err, gradcheck.ErrFreed)
	}
	o.Int("calls where a gradient is too long", long.calls)
}

// idle saves nothing. It returns some gradients too many, or some numbers too many in the first.
type idle struct {
	c             *gradcheck.Context
	fail          error
	extra, longer int
	calls, errors int
}

func (i *idle) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	i.c = c
	return slices.Clone(in[0]), i.fail
}

func (i *idle) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	i.calls++
	if _, err := c.Saved(); err != nil {
		i.errors++
	}
	first := append(slices.Clone(grad), make([]float64, i.longer)...)
	return append([][]float64{first}, make([][]float64, i.extra)...), nil
}

// failing is a Function whose Forward fails, with an output or without.
type failing struct {
	err error
	out []float64
}

func (f failing) Forward(*gradcheck.Context, [][]float64) ([]float64, error) { return f.out, f.err }

func (f failing) Backward(*gradcheck.Context, []float64) ([][]float64, error) { return nil, f.err }

// Inputs on two tapes are ErrTape, before Forward is called; an error of Forward comes out of
// Apply, without a vector, and nothing is recorded (rule 9).
func TestApplyErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	failure := errors.New("fresh")
	a, b := gradcheck.NewTape(), gradcheck.NewTape()
	n := below(r, 2, 9)
	calls := 0
	f := smooth(1, nil)
	counted := fake{func(in [][]float64) []float64 { calls++; return f.forward(in) }, f.backward}
	x, y, z := a.Leaf(signed(r, n, 1)), b.Leaf(signed(r, n, 1)), gradcheck.Const(signed(r, n, 1))
	for _, in := range [][]*gradcheck.Var{{x, y}, {y, x}, {x, z, y}, {z, y, x}} {
		v, err := gradcheck.Apply(counted, in...)
		o.Error("error of two tapes", err, gradcheck.ErrTape)
		o.Bool("a vector", v != nil)
	}
	o.Int("calls", calls)
	for _, in := range [][]*gradcheck.Var{{x}, {z}, {x, z}} {
		for _, out := range [][]float64{nil, {}, signed(r, n, 1)} {
			v, err := gradcheck.Apply(failing{failure, out}, in...)
			o.Error("error of Forward", err, failure)
			o.Bool("a vector", v != nil)
		}
	}
	out := apply(t, counted, z, x)
	o.Error("error", a.Backward(out, signed(r, n, 1)), failure)
	o.Floats("gradient", x.Grad(), relative)
}

// Backward has to return as many gradients as there are inputs, each as long as its input if
// it is needed and not nil; else it is ErrGradients, and no gradient is added to (rule 10).
func TestGradients(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	n := below(r, 3, 9)
	for _, broken := range []func(grads [][]float64) [][]float64{
		func(g [][]float64) [][]float64 { return g },
		func(g [][]float64) [][]float64 { return g[:1] },
		func(g [][]float64) [][]float64 { return append(g, g[0]) },
		func([][]float64) [][]float64 { return nil },
		func(g [][]float64) [][]float64 { return [][]float64{g[0][1:], g[1]} },
		func(g [][]float64) [][]float64 { return [][]float64{g[0], append(g[1], 0)} },
		func(g [][]float64) [][]float64 { return [][]float64{g[0], {}} },
		func(g [][]float64) [][]float64 { return [][]float64{g[0], nil} },
	} {
		f := smooth(1, nil)
		right := f.backward
		f.backward = func(in [][]float64, grad []float64) [][]float64 { return broken(right(in, grad)) }
		tape := gradcheck.NewTape()
		x, y := tape.Leaf(signed(r, n, 1)), tape.Leaf(signed(r, n, 1))
		out := apply(t, f, x, y)
		o.Error("error", tape.Backward(out, signed(r, n, 1)), gradcheck.ErrGradients)
		o.Floats("gradient of the first", x.Grad(), relative)
		o.Floats("gradient of the second", y.Grad(), relative)
	}
	for count := range 4 { // a constant counts too
		f := smooth(1, nil)
		right := f.backward
		f.backward = func(in [][]float64, grad []float64) [][]float64 { return append(right(in, grad), nil)[:count] }
		tape := gradcheck.NewTape()
		x := tape.Leaf(signed(r, n, 1))
		out := apply(t, f, x, gradcheck.Const(signed(r, n, 1)))
		o.Error("error of a number of gradients, beside a constant", tape.Backward(out, signed(r, n, 1)), gradcheck.ErrGradients)
		o.Floats("gradient beside a constant", x.Grad(), relative)
	}
	for k := range 3 {
		sizes := []int{0, 1, n}
		for _, size := range []int{0, 1, 3, n - 1, n, n + 1, 1 << 16, 1<<16 + sizes[k]} {
			f := sized(sizes, k, size)
			tape := gradcheck.NewTape()
			vars := []*gradcheck.Var{tape.Leaf(signed(r, 0, 1)), tape.Leaf(signed(r, 1, 1)), tape.Leaf(signed(r, n, 1))}
			o.Error("error of a length", tape.Backward(apply(t, f, vars...), signed(r, 1, 1)), gradcheck.ErrGradients)
			for _, v := range vars {
				o.Bool("a gradient beside a length", v.Grad() != nil)
				o.Floats("gradient beside a length", v.Grad(), relative)
			}
		}
	}
}

// sized has inputs of some sizes and one output. The gradient of input k is of another size.
func sized(sizes []int, k, size int) fake {
	return fake{
		forward: func([][]float64) []float64 { return []float64{1} },
		backward: func(_ [][]float64, grad []float64) (grads [][]float64) {
			for i, n := range sizes {
				if i == k {
					n = size
				}
				grads = append(grads, make([]float64, n))
				for j := range n {
					grads[i][j] = grad[0]
				}
			}
			return grads
		},
	}
}

// Mul is the product of two vectors, and the gradient of each factor is the other one, times that
// of the product, which stays as it is, also where one factor is a constant (rule 11).
func TestMul(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{1, 2, below(r, 3, 20), below(r, 30, 90)} {
		run(t, o, "product", gradcheck.Mul{}, signed(r, n, 1), signed(r, n, 3))
		productOfFew(t, o, n)
	}
	tape := gradcheck.NewTape()
	x := tape.Leaf(signed(r, 5, 1))
	c := gradcheck.Const(signed(r, 5, 1))
	out := apply(t, gradcheck.Mul{}, c, apply(t, gradcheck.Mul{}, x, x))
	out = apply(t, gradcheck.Mul{}, out, c)
	o.Floats("a chain: output", out.Data, relative)
	o.Error("a chain: error", tape.Backward(out, signed(r, 5, 1)))
	o.Floats("a chain: gradient", x.Grad(), relative)
}

// productOfFew multiplies vectors of n elements where one of them is a constant, and where both are one.
func productOfFew(t *testing.T, o *observe.Observer, n int) {
	t.Helper()
	r, tape := o.Rand(), gradcheck.NewTape()
	x, c := tape.Leaf(signed(r, n, 1)), gradcheck.Const(signed(r, n, 3))
	for _, vars := range [][]*gradcheck.Var{{x, c}, {c, x}, {x, x}, {x, gradcheck.Const(x.Data)}} {
		runOn(t, o, "product: of few", tape, gradcheck.Mul{}, signed(r, n, 1), vars...)
	}
}

// Softplus is log(1 + exp(x)), and its derivative the logistic function (rule 12).
func TestSoftplus(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{1, 2, below(r, 3, 20), below(r, 30, 90)} {
		run(t, o, "softplus", gradcheck.Softplus{}, signed(r, n, 2))
	}
	var some []float64 // where one part of the sum becomes small beside the other
	for x := -24.0; x < 24; x += 0.5 {
		some = append(some, x+0.5*r.Float64())
	}
	run(t, o, "softplus", gradcheck.Softplus{}, some)
}

// Softmax is exp(x) divided by the sum, and every output depends on every input (rule 13).
func TestSoftmax(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{1, 2, below(r, 3, 20), below(r, 30, 90)} {
		run(t, o, "softmax", gradcheck.Softmax{}, signed(r, n, 2))
	}
}

// ReLU is max(x, 0), and its derivative at 0 is 0 (rule 14).
func TestReLU(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, n := range []int{5, below(r, 6, 20), below(r, 30, 90)} {
		x := signed(r, n, 2)
		x[0], x[1], x[2], x[3], x[4] = 0, 1e-300, math.Copysign(0, -1), 5e-324, -5e-324
		run(t, o, "relu", gradcheck.ReLU{}, x)
	}
}

// Softplus and Softmax neither overflow nor lose digits for numbers from -1000 to 1000, and
// differences of numbers near 10⁸ count (rules 12 and 13).
func TestStable(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		x := []float64{-1000, -745, -40 - r.Float64(), -1, 0, 1, 40 + r.Float64(), 710, 1000}
		r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		run(t, o, "softplus", gradcheck.Softplus{}, x)
		tiny := apply(t, gradcheck.Softplus{}, gradcheck.Const([]float64{-100 - r.Float64(), -50 - r.Float64()}))
		o.Floats("small softplus", tiny.Data, observe.Within(0, 1e-9))
		var small, steep []float64 // one in each unit, down to where exp(x) is no normal number any more
		for i := range 700 {
			small = append(small, -float64(i)-r.Float64())
		}
		few := apply(t, gradcheck.Softplus{}, gradcheck.Const(small))
		o.Floats("small softplus", few.Data, observe.Within(0, 1e-9))
		for range small[:45] { // large gradients of the output make small derivatives large
			steep = append(steep, 1e6*(1+r.Float64()))
		}
		runWith(t, o, "softplus: steep", gradcheck.Softplus{}, steep, small[:45])
		small[0], small[1] = 0, 0 // the others get a difference from the mean of these
		steep[0], steep[1] = -1e6, 1e6
		runWith(t, o, "softmax: steep", gradcheck.Softmax{}, steep[:30], small[:30])
		run(t, o, "softmax", gradcheck.Softmax{}, x)
		for _, shift := range []float64{-1000, 1000, 1e8} {
			y := signed(r, 6, 1)
			for i := range y {
				y[i] = shift + math.Round(64*y[i])/64
			}
			run(t, o, "shifted softmax", gradcheck.Softmax{}, y)
		}
	}
}

// The wrong number of inputs, or two lengths, are ErrShape; vectors without elements are none
// (rule 15).
func TestShapes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	n := below(r, 2, 9)
	v := func(n int) *gradcheck.Var { return gradcheck.Const(signed(r, n, 1)) }
	for _, f := range []gradcheck.Function{gradcheck.Mul{}, gradcheck.Softplus{}, gradcheck.ReLU{}, gradcheck.Softmax{}} {
		for _, in := range [][]*gradcheck.Var{{v(n)}, {v(n), v(n)}, {v(n), v(n + 1)}, {v(n), v(n), v(n)}, {v(0)}, {v(0), v(0)}, {v(0), v(1)}, {v(n), v(n - 1)},
			{v(1), v(n)}, {v(n), v(1)}, {v(n), v(n), v(n), v(n)}} {
			out, err := gradcheck.Apply(f, in...)
			o.Error("error", err, gradcheck.ErrShape)
			o.Bool("a vector", out != nil)
			if out != nil {
				o.Int("elements", len(out.Data))
			}
		}
	}
	run(t, o, "no product", gradcheck.Mul{}, nil, []float64{})
	for _, f := range []gradcheck.Function{gradcheck.Softplus{}, gradcheck.ReLU{}, gradcheck.Softmax{}} {
		run(t, o, "no elements", f, []float64{})
		run(t, o, "no elements, nil", f, nil)
	}
}
