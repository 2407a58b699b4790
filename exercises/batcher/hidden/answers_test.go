package hidden

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
	"grade/reference/batcher"
)

// Each Submit returns the model's answer to its own request, and each request is in
// exactly one call: also requests that are equal (rules 1 and 2).
func TestAnswers(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, size := range []int{1, 2, below(r, 3, 9), 32} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, r, config{MaxBatch: size, MaxWait: wait(2)})
			w.took = func(k int) time.Duration { return work(k % 4) }
			// What a request gets depends on how often the model saw it before, so that
			// nothing can be kept of an earlier answer.
			salt := r.IntN(1000)
			before := map[int]int{}
			w.reply = func(_ int, in, out []int) ([]int, error) {
				for i, x := range in {
					out[i] += salt * before[x]
					before[x]++
				}
				return out, nil
			}
			requests := apart(r, size*below(r, 2, 4), 1, 0, 3)
			same := r.IntN(1e6)
			for i := range 2 * size { // each twice, and then all equal
				requests = append(requests, request{at: ms(2000 + 20*(i/size)), in: same}, request{at: ms(3000 + 20*(i/size)), in: i / 2})
			}
			slices.SortStableFunc(requests, func(a, b request) int { return int(a.at - b.at) })
			answers := w.play(t, requests)
			observeAnswers(o, "answers", answers)
			var seen []int
			for _, c := range w.calls {
				seen = append(seen, c.in...)
			}
			o.Ints("requests that the model saw", seen, observe.Multiset())
			w.end()
		})
	}
}

// roundTrip sends requests of any type through a model, one batch of three and one of
// the rest.
func roundTrip[I, O any](t *testing.T, o *observe.Observer, name string, in []I, f func(I) O) {
	bubble(t, func(t *testing.T) {
		b, err := batcher.New(func(_ context.Context, in []I) (out []O, err error) {
			for _, x := range in {
				out = append(out, f(x))
			}
			return out, nil
		}, config{MaxBatch: 3, MaxWait: wait(1)})
		if err != nil {
			t.Fatal(err)
		}
		out := make([]string, len(in))
		var wg sync.WaitGroup
		for i, x := range in {
			wg.Go(func() {
				y, err := b.Submit(t.Context(), x)
				out[i] = fmt.Sprintf("%v %v", any(y), err)
			})
		}
		wg.Wait()
		o.Strings(name, out)
		go b.Close()
		synctest.Wait()
	})
}

// alike has requests of a type given up that are all the same: one while it waits for others,
// one while it waits for a call that runs, and some in a call. Each has a place of its own.
func alike[I any](t *testing.T, o *observe.Observer, name string, in I) {
	for round := range 4 {
		bubble(t, func(t *testing.T) {
			r := o.Rand()
			var sizes []int
			b, err := batcher.New(func(_ context.Context, in []I) ([]struct{}, error) {
				sizes = append(sizes, len(in)) // calls come one after the other
				time.Sleep(work(50))
				return make([]struct{}, len(in)), nil
			}, limits(3, ages))
			if err != nil {
				t.Fatal(err)
			}
			// One of the first two leaves before the third and the fourth fill a call, and one of
			// the next three while that runs, so that the last has to fill another.
			requests := make([]request, 8)
			for i, at := range []int{1, 2, 10, 11, 30, 31, 32, 80} {
				requests[i].at = ms(at)
			}
			first, next := r.IntN(2), r.IntN(3)
			requests[first].until = giveUp(5)
			requests[4+next].until = giveUp(45)
			if round%2 == 1 {
				requests[[]int{1 - first, 2, 3}[r.IntN(3)]].until = giveUp(40)
			}
			if round >= 2 {
				requests[4+(next+1)%3].until = giveUp(100)
			}
			w := &world{start: time.Now()}
			ends := make([]int, len(requests)) // 0: none, 1: an answer, 2: an error
			for i, q := range requests {
				w.sleepUntil(q.at)
				go func() {
					ctx, stop := w.until(t.Context(), q)
					defer stop()
					_, err := b.Submit(ctx, in)
					if ends[i] = 1; err != nil {
						ends[i] = 2
					}
				}()
				synctest.Wait()
			}
			w.sleepUntil(time.Second)
			synctest.Wait()
			o.Ints("given up, "+name+": requests of a call", sizes)
			o.Ints("given up, "+name+": how each ends", ends)
			go b.Close()
			synctest.Wait()
		})
	}
}

// Requests and answers are of any type: also of no size, an interface that is nil, or
// an error, which as an answer is no failure; requests that are the same are told apart where
// some are given up (rules 1, 9 and 10).
func TestTypes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	salt := r.IntN(1e6)
	name := fmt.Sprint(r.IntN(1e6))
	roundTrip(t, o, "nothing to numbers", make([]struct{}, 5), func(struct{}) int { return salt })
	roundTrip(t, o, "numbers to nothing", []int{1, salt}, func(int) struct{} { return struct{}{} })
	roundTrip(t, o, "texts to lists", []string{"", name, "b"}, func(s string) []string { return []string{s, name} })
	roundTrip(t, o, "anything", []any{nil, salt, name, nil, 1.5}, func(x any) any { return x })
	roundTrip(t, o, "numbers to errors", []int{0, salt, 2, 3}, func(x int) error {
		if x%2 == 0 {
			return nil
		}
		return fmt.Errorf("answer %d", x)
	})
	roundTrip(t, o, "pointers", []*int{nil, &salt}, func(p *int) bool { return p == nil })
	roundTrip(t, o, "large arrays", make([][1000]int, 4), func(a [1000]int) int { return len(a) + a[999] + salt })
	alike(t, o, "nothing", struct{}{})
	alike(t, o, "arrays of no length", [0]int{})
	alike(t, o, "numbers", salt)
	alike(t, o, "not a number", math.NaN())
	alike(t, o, "lists", []int{salt})
	alike(t, o, "pointers", &salt)
	alike[any](t, o, "nil", nil)
	alike[any](t, o, "maps as anything", map[string]int{name: salt})
}

// New refuses a nil model, a MaxBatch below 1 and a MaxWait below 0, with an error
// that is ErrConfig and without a Batcher (rule 18).
func TestConfig(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		w := &world{key: newKey(r)}
		refused := func(name string, m batcher.Model[int, int], cfg config) {
			b, err := batcher.New(m, cfg)
			o.Bool(name+": no Batcher", b == nil)
			o.Error(name+": error", err, batcher.ErrConfig)
			if err == nil && b != nil {
				go b.Close()
			}
		}
		refused("no model", nil, limits(below(r, 1, 9), wait(1)))
		for _, c := range []config{
			limits(0, wait(1)), limits(-below(r, 1, 9), wait(1)), limits(math.MinInt, 0), limits(0, 0),
			limits(1, -1), limits(below(r, 1, 9), -time.Hour), limits(1, math.MinInt64),
		} {
			refused(fmt.Sprintf("MaxBatch %d, MaxWait %d", min(1, max(-1, c.MaxBatch)), min(1, max(-1, c.MaxWait))), w.model, c)
		}
		for _, c := range []config{limits(1, 0), limits(1, 1), limits(below(r, 2, 9), time.Hour)} {
			refused("what is allowed", w.model, c)
		}
	})
}

// failing plays two full batches, of which the first fails, and some requests after
// them, and records all answers and that each error is the one that is wanted.
func failing(t *testing.T, o *observe.Observer, name string, fail func(in, out []int) ([]int, error), sentinels ...error) []answer {
	r := o.Rand()
	large := failingOf(t, o, name, below(r, 260, 300), fail, sentinels...)
	return append(large, failingOf(t, o, name, below(r, 2, 7), fail, sentinels...)...)
}

// failingOf does so with batches of a size.
func failingOf(t *testing.T, o *observe.Observer, name string, size int, fail func(in, out []int) ([]int, error), sentinels ...error) []answer {
	r := o.Rand()
	var answers []answer
	bubble(t, func(t *testing.T) {
		w := newWorld(t, r, config{MaxBatch: size, MaxWait: wait(5)})
		bad := r.IntN(3)
		w.took = always(work(3))
		w.reply = func(k int, in, out []int) ([]int, error) {
			if k == bad || k == 4 {
				return fail(in, out)
			}
			return out, nil
		}
		done := 0
		w.watch = func(ctx context.Context, _ int) {
			if ctx.Err() != nil {
				done++
			}
		}
		// Calls 0 to 2 are full and wait for each other, 3 has one request, 4 fails
		// with one request, 5 is full again.
		requests := together(r, 3*size, 1)
		for k := range 2 {
			requests = append(requests, together(r, 1, 100+20*k)...)
		}
		requests = append(requests, together(r, size, 200)...)
		answers = w.play(t, requests)
		if size < 100 {
			observeAnswers(o, name, answers, sentinels...)
		} else {
			observeTotals(o, name+", many requests", answers, sentinels...)
		}
		o.Int(name+": calls", len(w.calls))
		o.Int(name+": calls whose ctx was done when they began", done)
		w.observePace(o, name, answers[:3*size])
		w.end()
	})
	return answers
}

// observePace records whether the first three calls, which wait for each other, keep the same
// pace although one of them fails: from one to the next, and from each to its answers.
func (w *world) observePace(o *observe.Observer, name string, answers []answer) {
	var ends []time.Duration
	for _, a := range answers {
		ends = append(ends, a.at)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	three := len(w.calls) >= 3 && len(ends) == 3
	begin := func(k int) time.Duration { return w.calls[k].at }
	o.Bool(name+": the call after a failed one begins as soon as others", three && begin(1)-begin(0) == begin(2)-begin(1))
	o.Bool(name+": requests have the error as soon as others an answer", three && ends[0]-begin(0) == ends[1]-begin(1) && ends[1]-begin(1) == ends[2]-begin(2))
}

// When the model returns an error, all requests of that call get that error itself and
// the zero value, whatever was returned beside it. Other calls are not concerned
// (rules 12 and 15).
func TestModelFails(t *testing.T) {
	o := observe.New(t)
	failure := errors.New("failure")
	wrapped := fmt.Errorf("canceled: %w", context.Canceled)
	for _, c := range []struct {
		name string
		err  error
		out  func(out []int) []int
	}{
		{"an error", failure, func([]int) []int { return nil }},
		{"an error and answers", failure, func(out []int) []int { return out }},
		{"an error and too few answers", failure, func(out []int) []int { return out[1:] }},
		{"an error and too many answers", failure, func(out []int) []int { return append(out, 1) }},
		{"an error of a ctx", wrapped, func(out []int) []int { return out }},
		{"a cancel of its own", context.Canceled, func([]int) []int { return nil }},
		{"a deadline of its own", context.DeadlineExceeded, func([]int) []int { return nil }},
		{"that it is closed", batcher.ErrClosed, func([]int) []int { return nil }},
		{"that another one panicked", &batcher.PanicError{Value: failure}, func([]int) []int { return nil }},
		{"answers of another one", batcher.ErrAnswers, func([]int) []int { return nil }},
	} {
		answers := failing(t, o, c.name, func(in, out []int) ([]int, error) { return c.out(out), c.err }, failure)
		itself := 0
		for _, a := range answers {
			if a.err == c.err {
				itself++
			}
		}
		o.Int(c.name+": requests with it itself", itself)
	}
	anew(t, o, func([]int) ([]int, error) { return nil, failure })
	for round := range 6 {
		someLeft(t, o, "some are left", round, func([]int, int) ([]int, error) { return nil, failure }, failure)
	}
}

// When the model panics, all requests of that call get a *PanicError with the panic's
// value and the zero value, and errors.Is finds a value that is an error; its Error returns
// for any value. The program goes on, and so does the batcher. The slice of requests stays
// the model's (rules 13, 15 and 16).
func TestModelPanics(t *testing.T) {
	o := observe.New(t)
	token := o.Rand().IntN(1e9)
	thrown := errors.New("thrown")
	other := &batcher.PanicError{Value: thrown}
	for _, c := range []struct {
		name  string
		panic func()
		value func(v any) bool
	}{
		{"a number", func() { panic(token) }, func(v any) bool { return v == token }},
		{"an error", func() { panic(thrown) }, func(v any) bool { return v == thrown }},
		{"an error around another", func() { panic(fmt.Errorf("%d: %w", token, thrown)) }, func(v any) bool { return fmt.Sprint(v) == fmt.Sprintf("%d: thrown", token) }},
		{"an index out of range", func() { _ = []int{}[token] }, func(v any) bool { _, ok := v.(interface{ RuntimeError() }); return ok }},
		{"a division by 0", func() { _ = token / *new(int) }, func(v any) bool { _, ok := v.(interface{ RuntimeError() }); return ok }},
		{"the panic of another batcher", func() { panic(other) }, func(v any) bool { return v == any(other) }},
		{"an error of a ctx", func() { panic(context.Canceled) }, func(v any) bool { return v == any(context.Canceled) }},
		{"nil", func() { panic(nil) }, func(v any) bool { _, ok := v.(error); return ok }},
	} {
		answers := failing(t, o, c.name, func(in, out []int) ([]int, error) { c.panic(); return out, nil }, thrown)
		found, right, unwrapped := 0, 0, 0
		for _, a := range answers {
			var p *batcher.PanicError
			if errors.As(a.err, &p) && p != nil {
				found++
				if c.value(p.Value) {
					right++
				}
				if err, ok := p.Value.(error); ok && p.Unwrap() == err {
					unwrapped++
				}
			}
		}
		o.Int(c.name+": PanicErrors", found)
		o.Int(c.name+": PanicErrors with its Value", right)
		o.Int(c.name+": PanicErrors that Unwrap to it", unwrapped)
	}
	anew(t, o, func([]int) ([]int, error) { panic(token) })
	keepsRequests(t, o, "requests that the model kept", func([]int) ([]int, error) { panic(token) })
	keepsAll(t, o, "requests that the model kept", way{end: func([]int) ([]int, error) { panic(token) }})
	o.Bool("Unwrap of a value that is no error", (&batcher.PanicError{Value: token}).Unwrap() == nil)
	o.Error("Unwrap of an error", (&batcher.PanicError{Value: thrown}).Unwrap(), thrown)
	for round := range 6 {
		someLeft(t, o, "some are left", round, func([]int, int) ([]int, error) { panic(thrown) }, thrown)
	}
	for _, v := range []any{token, "text", thrown, nil, []int{1}, (*broken)(nil)} {
		o.Panics("Error of a PanicError panics", func() { _ = (&batcher.PanicError{Value: v}).Error() })
	}
}

// broken is an error whose own text cannot be had where it is nil.
type broken struct{ text string }

func (b *broken) Error() string { return b.text }

// When the model returns too few answers, too many or none, without an error, all
// requests of that call get an error that is ErrAnswers, and none gets an answer. A
// request that was given up counts as any other (rules 14 and 15).
func TestWrongCount(t *testing.T) {
	o := observe.New(t)
	for _, c := range []struct {
		name string
		out  func(out []int) []int
	}{
		{"one too few", func(out []int) []int { return out[:len(out)-1] }},
		{"one too many", func(out []int) []int { return append(out, 7) }},
		{"twice as many", func(out []int) []int { return append(out, out...) }},
		{"nil", func([]int) []int { return nil }},
		{"none", func([]int) []int { return []int{} }},
		{"256 too many", func(out []int) []int { return append(out, make([]int, 1<<8)...) }},
		{"65,536 too many", func(out []int) []int { return append(out, make([]int, 1<<16)...) }},
	} {
		failing(t, o, c.name, func(in, out []int) ([]int, error) { return c.out(out), nil }, batcher.ErrAnswers)
	}
	anew(t, o, func(in []int) ([]int, error) { return in[1:], nil })
	for round := range 6 {
		left := func(out []int, gone int) ([]int, error) { return out[gone:], nil }
		someLeft(t, o, "one for each that is left", round, left, batcher.ErrAnswers)
	}
	// Answers of any type.
	miscounted(t, o, struct{}{})
	miscounted(t, o, [0]int{})
	miscounted[any](t, o, nil)
	miscounted[error](t, o, nil)
	miscounted[*int](t, o, nil)
	miscounted(t, o, []int{1})
	miscounted(t, o, "text")
}

// miscounted has a model return no answers, too few and too many of a type.
func miscounted[O any](t *testing.T, o *observe.Observer, x O) {
	name := fmt.Sprintf("answers of type %T", new(O))
	for _, out := range [][]O{nil, {}, {x}, {x, x, x}, {x, x}} { // the last is right
		bubble(t, func(t *testing.T) {
			b, err := batcher.New(func(context.Context, []int) ([]O, error) { return out, nil }, limits(2, ages))
			if err != nil {
				t.Fatal(err)
			}
			errs := make([]error, 2)
			var wg sync.WaitGroup
			for i := range errs {
				wg.Go(func() { _, errs[i] = b.Submit(t.Context(), i) })
			}
			wg.Wait()
			for _, err := range errs {
				o.Error(name, err, batcher.ErrAnswers)
			}
			go b.Close()
			synctest.Wait()
		})
	}
}

// someLeft has a model end its call in a way where so many of its requests have been given up, and
// records what the others get.
func someLeft(t *testing.T, o *observe.Observer, name string, round int, end func(out []int, gone int) ([]int, error), kinds ...error) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		size := below(r, 2, 7)
		w := newWorld(t, r, limits(size, ages))
		w.took = always(work(50))
		requests := together(r, size, 1)
		gone := r.Perm(size)[:below(r, 1, size)]
		switch round {
		case 0: // the first
			gone = []int{0}
		case 1: // the last
			gone = []int{size - 1}
		}
		for _, i := range gone {
			requests[i].until = giveUp(20)
		}
		w.reply = func(_ int, _, out []int) ([]int, error) { return end(out, len(gone)) }
		for i, a := range w.playUntil(t, requests, ms(100)) {
			if requests[i].until == 0 {
				observeAnswers(o, name, []answer{a}, kinds...)
			}
		}
		w.end()
	})
}

// anew records whether a request that waits while a call runs is answered when it is
// after a call that went well, although this one fails.
func anew(t *testing.T, o *observe.Observer, fail func(in []int) ([]int, error)) {
	bubble(t, func(t *testing.T) {
		r := o.Rand()
		size := below(r, 2, 7)
		w := newWorld(t, r, limits(size, wait(50)))
		w.took = func(k int) time.Duration { return work(10 * (1 - k%2)) }
		w.reply = func(k int, in, out []int) ([]int, error) {
			if k == 2 {
				return fail(in)
			}
			return out, nil
		}
		var took []time.Duration
		for _, at := range []int{1000, 2000} {
			requests := append(together(r, size, at), request{at: ms(at + 5), in: r.IntN(1e6)})
			answers := w.play(t, requests)
			took = append(took, answers[size].at-ms(at))
		}
		o.Bool("a wait is as long while a call fails as while none does", took[0] == took[1])
		w.end()
	})
}
