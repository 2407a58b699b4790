package hidden

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"grade/observe"
	"grade/reference/gradcheck"
)

// large saves a list of its own, which it remembers weakly, and keeps its Context.
type large struct {
	lists    []weak.Pointer[float64]
	contexts []*gradcheck.Context
	forward  error
	backward error
	extra    bool // one gradient too many
	longer   bool // the gradient is too long
	given    bool // the gradient is a part of what was saved
	sum      float64
}

func (l *large) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	list := make([]float64, 20_000)
	list[7] = in[0][0]
	c.Save(list)
	l.lists = append(l.lists, weak.Make(&list[0]))
	l.contexts = append(l.contexts, c)
	if l.forward != nil {
		return nil, l.forward
	}
	return slices.Clone(in[0]), nil
}

func (l *large) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	saved, err := c.Saved()
	if err == nil && len(saved) == 1 {
		l.sum += saved[0][7]
	}
	grads := [][]float64{grad}
	if l.given && len(saved) == 1 {
		grads[0] = saved[0][7:8]
	}
	if l.extra {
		grads = append(grads, nil)
	}
	if l.longer {
		grads[0] = append(slices.Clone(grad), 0)
	}
	return grads, errors.Join(err, l.backward)
}

// alive counts the lists that are still there.
func (l *large) alive() (n int) {
	runtime.GC()
	runtime.GC()
	for _, p := range l.lists {
		if p.Value() != nil {
			n++
		}
	}
	return n
}

// What was saved can be collected after Backward, by whoever the tape, the vectors and the Context
// are kept; also where Forward or Backward fails and where no gradient is needed (rule 7).
func TestReleased(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, kind := range []string{"plain", "Backward fails", "gradients are wrong", "a gradient is too long", "the gradient was saved", "Forward fails", "no gradient is needed"} {
		l := &large{}
		tape := gradcheck.NewTape()
		first := tape.Leaf([]float64{1 + r.Float64()})
		if kind == "no gradient is needed" {
			first = gradcheck.Const(first.Data)
		}
		v := first
		if kind == "Backward fails" {
			l.backward = errors.New("fresh")
		}
		l.extra, l.longer, l.given = kind == "gradients are wrong", kind == "a gradient is too long", kind == "the gradient was saved"
		for range below(r, 2, 5) {
			v = apply(t, l, v)
			o.Float("output", v.Data[0])
		}
		o.Int(kind+": alive before Backward", l.alive())
		if kind == "Forward fails" {
			l.forward = errors.New("fresh")
			_, err := gradcheck.Apply(l, v)
			o.Error("error", err, l.forward)
			o.Int(kind+": alive before Backward, of all", l.alive())
		}
		switch {
		case l.longer: // whether that is an error is for TestGradients
			func() {
				defer func() { _ = recover() }()
				_ = tape.Backward(v, []float64{1})
			}()
		case v.Tape() != nil:
			o.Error("error of Backward", tape.Backward(v, []float64{1}), l.backward, gradcheck.ErrGradients)
		}
		o.Float(kind+": what was saved", l.sum)
		if kind == "Backward fails" || l.extra || l.longer {
			o.Bool(kind+": the last is alive", l.alive() > len(l.lists)-1)
		} else {
			o.Int(kind+": alive after Backward", l.alive())
		}
		runtime.KeepAlive(l.contexts)
		runtime.KeepAlive(tape)
		runtime.KeepAlive(v)
	}
	replaced(t, o)
}

// ofAll saves its inputs and its output, and remembers them weakly.
type ofAll struct{ large }

func (a *ofAll) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	out := slices.Clone(in[0])
	c.Save(in...)
	c.Save(out)
	for _, list := range append(slices.Clone(in), out) {
		a.lists = append(a.lists, weak.Make(&list[0]))
	}
	a.contexts = append(a.contexts, c)
	return out, a.forward
}

func (a *ofAll) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	grads := slices.Repeat([][]float64{grad}, len(a.lists)-1)
	if a.extra {
		grads = append(grads, grad)
	}
	return grads, a.backward
}

// replaced gives Vars other Data, as long as before, once Apply or Backward has returned. Then what was
// saved, which was their Data, is no Var's any more, and can be collected after Backward.
func replaced(t *testing.T, o *observe.Observer) {
	r := o.Rand()
	for _, kind := range []string{"plain", "Backward fails", "gradients are wrong", "Forward fails", "no gradient is needed"} {
		for when := range 2 { // before Backward, or after it
			a := &ofAll{}
			a.extra = kind == "gradients are wrong"
			if kind == "Backward fails" {
				a.backward = errors.New("fresh")
			} else if kind == "Forward fails" {
				a.forward = errors.New("fresh")
			}
			n, tape := below(r, 1000, 2000), gradcheck.NewTape()
			vars := make([]*gradcheck.Var, below(r, 1, 3))
			leaf := r.IntN(len(vars))
			for i := range vars {
				if vars[i] = gradcheck.Const(signed(r, n, 1)); kind != "no gradient is needed" && (i == leaf || r.IntN(2) == 0) {
					vars[i] = tape.Leaf(vars[i].Data)
				}
			}
			out, err := gradcheck.Apply(a, vars...)
			o.Error(kind+": error of Apply of what is replaced", err, a.forward)
			all := slices.Clone(vars)
			if out != nil {
				all = append(all, out)
			}
			for step := range 2 {
				if step != when {
					if out != nil && out.Tape() != nil {
						o.Error(kind+": error of Backward of what is replaced", tape.Backward(out, signed(r, n, 1)), a.backward, gradcheck.ErrGradients)
					}
					continue
				}
				for _, v := range all {
					v.Data = signed(r, n, 1)
				}
			}
			o.Int(kind+": alive after Backward, of what was replaced", a.alive())
			runtime.KeepAlive(a.contexts)
			runtime.KeepAlive(tape)
			runtime.KeepAlive(all)
		}
	}
}

// gather squares some elements of the last input. The gradient has an error at one place, if that
// is not below 0, for one of the outputs.
func gather(at []int, wrong, of int) fake {
	return fake{
		forward: func(in [][]float64) []float64 {
			out := make([]float64, len(at))
			for j, i := range at {
				out[j] = in[len(in)-1][i] * in[len(in)-1][i]
			}
			return out
		},
		backward: func(in [][]float64, grad []float64) [][]float64 {
			g := make([]float64, len(in[len(in)-1]))
			for j, i := range at {
				g[i] += 2 * in[len(in)-1][i] * grad[j]
			}
			if wrong >= 0 {
				g[wrong] += grad[of]
			}
			return append(make([][]float64, len(in)-1), g)
		},
	}
}

// Inputs of more than 65,536 elements are checked to the last one, and those of large inputs too are
// moved one at a time (rules 16 and 18).
func TestCheckLarge(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	n := below(r, 66_000, 70_000)
	x := positive(r, n, 1)
	check(o, "right", gather([]int{3, n - 2}, -1, 0), x)
	for _, wrong := range []int{0, n - 1, n - 2, below(r, 1<<16+1, n-1), r.IntN(n)} {
		check(o, "one place", gather([]int{n - 2, 5, r.IntN(n)}, wrong, 0), x)
	}
	last := 1<<16 - below(r, 1, 4) // of those that 16 bits count, or near it
	for of := range 4 {            // places of both sides of 65,536, each for an output of its own
		f := gather([]int{n - 2, 5, r.IntN(n), last + 4}, -1, 0)
		wrong := []int{1, last - 1, last, last + 2, below(r, last+3, n-3), n - 1}
		right := f.backward
		f.backward = func(in [][]float64, grad []float64) [][]float64 {
			grads := right(in, grad)
			for k, i := range wrong {
				grads[len(grads)-1][i] += grad[(of+k)%4]
			}
			return grads
		}
		in := [][]float64{x}
		if of%2 == 0 {
			in = [][]float64{{2, 3}, x}
		}
		check(o, "places of several outputs", f, in...)
	}
	bend := make([]float64, n)
	for i := range bend {
		bend[i] = 1
	}
	bends := []int{0, last, last + 5, n - 1}
	for _, i := range bends {
		bend[i] = 0
	}
	check(o, "kinks", fake{
		forward: func(in [][]float64) []float64 {
			out := []float64{0, 0, 0, 0}
			for j, i := range bends {
				out[j] = max(in[0][i], 0)
			}
			return out
		},
		backward: func(in [][]float64, grad []float64) [][]float64 {
			g := make([]float64, n)
			for j, i := range bends {
				g[i] = 2 * float64(j%2) * grad[j] // wrong at every other
			}
			return [][]float64{g}
		},
	}, bend)
	calls := 0.0
	for _, i := range []int{65_536, n - 1} {
		f := gather([]int{3}, -1, 0)
		right := f.backward
		f.backward = func(in [][]float64, grad []float64) [][]float64 {
			calls++
			grads := right(in, grad)
			grads[0][i] += calls
			return grads
		}
		check(o, "unstable at one place", f, x)
	}
	long := fake{ // of many outputs
		forward: func(in [][]float64) []float64 {
			out := make([]float64, n)
			for j := range out {
				out[j] = in[0][0] + float64(j%7)
			}
			return out
		},
		backward: func(_ [][]float64, grad []float64) [][]float64 {
			return [][]float64{{grad[0] + 2*grad[len(grad)-1]}}
		},
	}
	forward := long.forward
	long.forward = func(in [][]float64) []float64 { return forward(in)[n-300:] }
	check(o, "many outputs", long, []float64{2})
	x = x[:below(r, 59_000, 61_000)] // as many as BenchmarkCheck has
	o.Int("elements of a large input that one call finds moved, at most", together(o, x))
}

// together checks a Function of x, and returns how many of some elements one call of Forward finds
// moved, at most. They are drawn from all over x, each with a neighbour.
func together(o *observe.Observer, x []float64) (most int) {
	looked := drawn(o.Rand(), 100, len(x)-1)
	for _, i := range looked {
		looked = append(looked, i+1)
	}
	slices.Sort(looked)
	looked = slices.Compact(looked)
	f := gather([]int{5, o.Rand().IntN(len(x))}, -1, 0)
	forward := f.forward
	f.forward = func(in [][]float64) []float64 {
		n := 0
		for _, i := range looked {
			if in[0][i] != x[i] {
				n++
			}
		}
		most = max(most, n)
		return forward(in)
	}
	check(o, "what is moved of a large input", f, x)
	return most
}

// Apply and all functions do vectors of more than 65,536 elements as they do others (rules 1, 2 and 11
// to 14).
func TestLarge(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	n := below(r, 70_000, 90_000)
	run(t, o, "product", gradcheck.Mul{}, signed(r, n, 1), signed(r, n, 1))
	productOfFew(t, o, n)
	run(t, o, "softplus", gradcheck.Softplus{}, signed(r, n, 2))
	run(t, o, "relu", gradcheck.ReLU{}, signed(r, n, 1))
	run(t, o, "given", smooth(1, nil), signed(r, n, 1), signed(r, n, 1))
	x := signed(r, n, 1)
	x[n-1], x[n-30] = 9, 10
	run(t, o, "softmax", gradcheck.Softmax{}, x)
}

// Tapes of thousands of applications, some Backwards on one, and more than 65,536 applications and
// Checks one after the other: none changes what another one does (rules 2 and 22). Nor does a Backward
// of the four Functions change what the next one in a Check gives (rule 17).
func TestRepeated(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	tape := gradcheck.NewTape()
	x := tape.Leaf(positive(r, 3, 0.5))
	for range 50 {
		v := apply(t, gradcheck.ReLU{}, x)
		for range 100 {
			v = apply(t, gradcheck.Softplus{}, v)
		}
		v = apply(t, gradcheck.Softmax{}, apply(t, gradcheck.Mul{}, v, x))
		o.Error("error", tape.Backward(v, signed(r, 3, 1)))
		o.Floats("output", v.Data, relative)
		o.Floats("gradient so far", x.Grad(), relative)
	}
	for range 1000 {
		n := below(r, 3, 5)
		f := smooth(1, nil)
		if r.IntN(2) == 0 {
			i := r.IntN(n)
			f = smooth(1, func(_, grads [][]float64, _ []float64) { grads[0][i] *= 2 })
		}
		check(o, "one of many", f, positive(r, n, 1), signed(r, n, 1))
	}
	sum := 0.0
	start, seed := positive(r, 2, 0.5), []float64{1, -1 - r.Float64()}
	for range 66_000 { // each Function so often
		tape := gradcheck.NewTape()
		x := tape.Leaf(start)
		v := apply(t, gradcheck.Mul{}, x, x)
		for _, f := range []gradcheck.Function{gradcheck.ReLU{}, gradcheck.Softplus{}, gradcheck.Softmax{}} {
			v = apply(t, f, v)
		}
		if tape.Backward(v, seed) != nil {
			t.Fatal("Backward fails")
		}
		for i, g := range x.Grad() {
			sum += math.Abs(g) * start[i]
		}
	}
	o.Float("gradients of many applications", sum, relative)
	tape = gradcheck.NewTape()
	x = tape.Leaf(start)
	v := x
	for range 66_000 {
		v = apply(t, gradcheck.ReLU{}, v)
	}
	o.Error("error of a long tape", tape.Backward(v, seed))
	o.Floats("gradient of a long tape", x.Grad(), relative)
	wrong := 0
	square := fake{
		forward:  func(in [][]float64) []float64 { return []float64{in[0][0] * in[0][0]} },
		backward: func(in [][]float64, grad []float64) [][]float64 { return [][]float64{{in[0][0] * grad[0]}} },
	}
	for range 66_000 {
		if report, err := gradcheck.Check(square, start[:1]); err == nil && report != nil {
			wrong += len(report.Wrong)
		}
	}
	o.Int("places of many Checks", wrong)
	for range 3 {
		n := below(r, 2, 9)
		check(o, "a product in Check", gradcheck.Mul{}, positive(r, n, 1), signed(r, n, 1))
		check(o, "a softplus in Check", gradcheck.Softplus{}, signed(r, n, 1))
		check(o, "a softmax in Check", gradcheck.Softmax{}, signed(r, n, 1))
		check(o, "a relu in Check, above 0", gradcheck.ReLU{}, positive(r, n, 1))
	}

	// What one application has given stays as it is in the next one, of any size.
	for _, f := range []gradcheck.Function{gradcheck.Mul{}, gradcheck.Softplus{}, gradcheck.ReLU{}, gradcheck.Softmax{}} {
		for _, n := range []int{1, 2, below(r, 3, 20), 33, 65, 129, 257, 513, 1025, 2049, 4097, 8193, 66_000} {
			in := [][]float64{signed(r, n, 1), signed(r, n, 1)}
			if f != (gradcheck.Mul{}) {
				in = in[1:]
			}
			var given, kept [][]float64
			for range 2 {
				tape := gradcheck.NewTape()
				vars := make([]*gradcheck.Var, len(in))
				for i := range in {
					vars[i] = tape.Leaf(in[i])
					in[i] = signed(r, n, 1)
				}
				g := &guarded{Function: f}
				v := apply(t, g, vars...)
				o.Error("error of one of two", tape.Backward(v, signed(r, n, 1)))
				given = append(append(given, v.Data), g.grads...)
				for _, list := range given[len(kept):] {
					kept = append(kept, slices.Clone(list))
				}
			}
			o.Floats("what one of two gives", given[0][max(0, n-5):], relative)
			for _, list := range given {
				o.Float("what one of two gives, weighed", weighed(list), relative)
			}
			o.Bool("as it was", slices.EqualFunc(given, kept, slices.Equal))
		}
	}
}

// Check never writes to the slices that it is given, nor to their list, and what it gives to Forward
// stays as it is until the last Backward of the same Context (rule 22). It moves one element at a time,
// and puts it back exactly: in each call all others are what they were given as (rule 16).
func TestInputs(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 5 {
		n := below(r, 3, 8)
		behind := signed(r, 4*n, 1) // room behind x and y, which is not theirs
		x, y := behind[:n], behind[2*n:3*n]
		copy(x, positive(r, n, 1))
		all := slices.Clone(behind)
		own, changed := slices.Concat(x, y), 0
		f := smooth(1, func(_, grads [][]float64, _ []float64) { grads[0][n-1] *= 2 })
		forward := f.forward
		f.forward = func(in [][]float64) []float64 {
			if !slices.Equal(own, slices.Concat(x, y)) {
				changed++
			}
			return forward(in)
		}
		backward := f.backward
		f.backward = func(in [][]float64, grad []float64) [][]float64 {
			if !slices.Equal(own, slices.Concat(x, y)) {
				changed++
			}
			return backward(in, grad)
		}
		check(o, "first", f, x, y)
		check(o, "again", f, x, y)
		check(o, "one slice for both", smooth(1, scaled(0, 2)), x, x)
		o.Int("calls that saw other inputs", changed)
		o.Floats("inputs", slices.Concat(x, y), observe.Exact())
		o.Bool("what is behind the inputs", slices.Equal(all, behind))
		list := append(make([][]float64, 0, 3), x, y)
		others := 0
		inner := smooth(1, scaled(0, 2))
		check(o, "of a list", fake{func(in [][]float64) []float64 {
			if !itself(list[0], x) || !itself(list[1], y) {
				others++
			}
			return inner.forward(in)
		}, inner.backward}, list...)
		o.Bool("the list as it was", itself(list[0], x) && itself(list[1], y))
		o.Int("calls that saw other slices in the list", others)
	}
	var busy, over atomic.Int32
	check(o, "one call after the other", alone{smooth(1, nil), &busy, &over}, positive(r, 5, 1), signed(r, 5, 1))
	o.Bool("calls at the same time", over.Load() > 0)
	for _, scale := range []float64{1e-6, 1e-3, 1, 1, 1e4, 1e8} {
		in := [][]float64{signed(r, below(r, 3, 9), scale), positive(r, below(r, 2, 6), 1), signed(r, 3, 7*scale)}
		in[0][1], in[2][r.IntN(3)] = 0, math.Copysign(0, -1)
		most, changed := moved(in, func(f gradcheck.Function) { check(o, "what is moved", f, in...) })
		o.Int("elements that one call finds moved, at most", most)
		o.Int("Backwards whose inputs have changed since Forward, or were changed and put back", changed)
	}
}

// alone counts the calls that begin before another one has returned. It takes its time, for them to
// meet.
type alone struct {
	fake
	busy, over *atomic.Int32
}

func (a alone) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	defer a.call()()
	return a.fake.Forward(c, in)
}

func (a alone) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	defer a.call()()
	return a.fake.Backward(c, grad)
}

func (a alone) call() (end func()) {
	if a.busy.Add(1) > 1 {
		a.over.Add(1)
	}
	time.Sleep(100 * time.Microsecond)
	return func() { a.busy.Add(-1) }
}

// moved hands a Function to check, and returns in how many elements the inputs of one Forward differ
// from what is given here, at most, be it in the last bit; and how often they are in Backward no longer
// what they were in Forward, or were something else in between. The Function returns its first input
// itself.
func moved(in [][]float64, check func(f gradcheck.Function)) (most, changed int) {
	was := make([][]float64, len(in))
	for k := range in {
		was[k] = slices.Clone(in[k])
	}
	check(seeing{func(now [][]float64) {
		n := 0
		for k := range was {
			if len(now[k]) != len(was[k]) {
				n += 1000
				continue
			}
			for i, x := range was[k] {
				if math.Float64bits(x) != math.Float64bits(now[k][i]) {
					n++
				}
			}
		}
		most = max(most, n)
	}, &changed, map[*gradcheck.Context]inputs{}, new(sync.Mutex)})
	return most, changed
}

// inputs are those of the last Forward with a Context: the slices themselves, copies of them, and
// whether a later Forward has found them to differ.
type inputs struct {
	own, was [][]float64
	differed bool
}

// seeing is a Function whose output is its first input. It has a lock for those who call it from
// several goroutines: "alone" finds them, and not a map that ends the program.
type seeing struct {
	see     func(in [][]float64)
	changed *int
	of      map[*gradcheck.Context]inputs
	mu      *sync.Mutex
}

func (s seeing) Forward(c *gradcheck.Context, in [][]float64) ([]float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.see(in)
	for c, e := range s.of {
		e.differed = e.differed || !slices.EqualFunc(e.own, e.was, slices.Equal)
		s.of[c] = e
	}
	c.Save(in...)
	now := inputs{own: slices.Clone(in)}
	for _, x := range in {
		now.was = append(now.was, slices.Clone(x))
	}
	s.of[c] = now
	return in[0], nil
}

func (s seeing) Backward(c *gradcheck.Context, grad []float64) ([][]float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in, err := c.Saved()
	if err == nil && (s.of[c].differed || !slices.EqualFunc(in, s.of[c].was, slices.Equal)) {
		*s.changed++
	}
	return [][]float64{grad, nil, nil}, err
}

// Goroutines with a tape of their own, and Checks of the same inputs, do not disturb each other
// (rule 23).
func TestConcurrent(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	x, y := positive(r, 6, 1), signed(r, 6, 1)
	lengths := []int{1, 5, 40, 300, 5000, 5000, 66_000, 66_000}
	long := signed(r, 66_000, 1)
	grads, far := make([][]float64, 8), make([][]float64, 8)
	reports, none := make([]*gradcheck.Report, 8), make([]*gradcheck.Report, 8)
	seeds := make([]uint64, 8)
	for i := range seeds {
		seeds[i] = r.Uint64()
	}
	var all sync.WaitGroup
	for i := range grads {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seeds[i], 1))
			for range 20 {
				if grads[i] = chain(r, x, y); grads[i] == nil {
					return
				}
				reports[i], _ = gradcheck.Check(smooth(1, scaled(0, 1+float64(i%2))), x, y)
			}
			n := lengths[i]
			far[i] = chain(r, long[:n], long[len(long)-n:])
			at := []int{0, 2, 5, 3}[:1+i%4] // and no gradient of an input that is longer for some
			none[i], _ = gradcheck.Check(gather(at, 2, 0), long[:min(n, 5000)], y)
		})
	}
	all.Wait()
	for i := range grads {
		o.Floats("gradient", grads[i], relative)
		o.Bool("a report", reports[i] != nil)
		if reports[i] != nil {
			places(o, "wrong", reports[i].Wrong)
		}
		o.Floats("gradient of many", thin(far[i]), relative)
		o.Bool("a report without a gradient", none[i] != nil)
		if none[i] != nil {
			places(o, "wrong without a gradient", none[i].Wrong)
		}
	}
}

// chain applies the four Functions, one to the output of another, goes backward, and returns the
// gradient of x, or nil if there is an error.
func chain(r *rand.Rand, x, y []float64) []float64 {
	tape := gradcheck.NewTape()
	a, b := tape.Leaf(x), tape.Leaf(y)
	v, err := gradcheck.Apply(gradcheck.Mul{}, a, b)
	for _, f := range []gradcheck.Function{gradcheck.Softplus{}, gradcheck.ReLU{}, gradcheck.Softmax{}} {
		if err == nil && v != nil {
			v, err = gradcheck.Apply(f, v)
		}
	}
	if err != nil || v == nil || len(v.Data) != len(x) || tape.Backward(v, signed(r, len(x), 1)) != nil {
		return nil
	}
	return a.Grad()
}
