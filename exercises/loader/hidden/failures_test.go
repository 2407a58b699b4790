package hidden

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/loader"
)

// broken makes some samples fail, each with an error of its own.
func broken(r *rand.Rand, s *source, at ...int) []error {
	var kinds []error
	failures := map[int]error{}
	for _, i := range at {
		failures[i] = fmt.Errorf("failure %d", r.IntN(1e9))
		kinds = append(kinds, failures[i])
	}
	s.fail = func(i int) error { return failures[i] }
	return kinds
}

// workersAndPrefetch are the shapes that failures are tried in.
var workersAndPrefetch = [][2]int{{0, 0}, {1, 0}, {2, 1}, {4, 3}, {8, 0}, {16, 60}}

// When Get fails, every batch before the failed one is yielded first, however long
// it takes; then comes one pair of the zero value and an ItemError with the
// sample's index and the error; then nothing. Of several failures the first in
// order counts, and not the first in time.
func TestGetFails(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		for _, wp := range workersAndPrefetch {
			cfg := config{BatchSize: 5, Workers: wp[0], Prefetch: wp[1]}
			first := below(r, 36, 48)
			for _, at := range [][]int{{first}, {first, first + 1, first + 2, 70}, {first + 1, first + 20}, {3}, {99}} {
				s := newSource(r, 100)
				// The later a sample, the sooner it is there.
				s.delay = func(i int) time.Duration { return ms(2 * (101 - i)) }
				kinds := broken(r, s, at...)
				got := run(newLoader(t, s, copies, cfg).Epoch(t.Context(), 0))
				got.inOrder(o, "batch", kinds...)
				o.Bool("Err is what Get returned", slices.Contains(kinds, got.inside()))
				o.Int("how often the first that fails was asked for", s.asked[at[0]])
				_, running, _ := s.counts()
				o.Int("Gets that still run", running)
			}
			for _, failure := range ownErrors(r) {
				oneFails(t, o, cfg, failure)
			}
			// A failure at once, while what comes before takes long.
			s := newSource(r, 20)
			s.randomDelays(r, 500, 900)
			slow := s.delay
			at := below(r, 11, 19)
			s.delay = func(i int) time.Duration {
				if i == at {
					return 0
				}
				return slow(i)
			}
			kinds := broken(r, s, at)
			run(newLoader(t, s, copies, cfg).Epoch(t.Context(), 0)).inOrder(o, "batch before a sudden failure", kinds...)
		}
		failsFarBehind(t, o)
		fails := errors.New("failure")
		manyFail(t, o, "many Gets fail", fails, func() error { return fails }, nil)
	})
}

// inside is Err of the ItemError that ended a pass.
func (r result) inside() error {
	var item *loader.ItemError
	if errors.As(r.err, &item) && item != nil {
		return item.Err
	}
	return nil
}

// ownErrors are errors that a Get or a Collate may return of its own, which mean something
// else to a loader: that of another loader, or of another ctx.
func ownErrors(r *rand.Rand) []error {
	item := &loader.ItemError{Index: below(r, 100, 1000), Err: errors.New("failure")}
	return []error{item, fmt.Errorf("inner: %w", item), context.Canceled, context.DeadlineExceeded, fmt.Errorf("read: %w", context.DeadlineExceeded)}
}

// oneFails has Get return an error, which is an error like any other.
func oneFails(t *testing.T, o *observe.Observer, cfg config, failure error) {
	s := newSource(o.Rand(), 60)
	at := o.Rand().IntN(60)
	s.fail = func(i int) error {
		if i == at {
			return failure
		}
		return nil
	}
	got := run(newLoader(t, s, copies, cfg).Epoch(t.Context(), 0))
	got.inOrder(o, "batch, where Get returns an error of another", failure)
	o.Bool("Err is the error of another that Get returned", got.inside() == failure)
}

// failsFarBehind has a sample fail that stands at a place in its batch that 15 or 16
// bits do not hold.
func failsFarBehind(t *testing.T, o *observe.Observer) {
	for _, at := range []int{below(o.Rand(), 1<<15, 1<<16), below(o.Rand(), 1<<16, 70_000)} {
		for _, workers := range []int{0, 2} {
			s := failing{numbers(70_000), at}
			l := newLoader(t, s, copies, config{BatchSize: 70_000, Workers: workers})
			run(l.Epoch(t.Context(), 0)).inOrder(o, "far behind in a batch", errOfItsOwn)
		}
	}
}

// failing is a dataset of many samples, one of which fails.
type failing struct {
	numbers
	at int
}

func (f failing) Get(ctx context.Context, i int) (int, error) {
	if i == f.at {
		return 0, errOfItsOwn
	}
	return f.numbers.Get(ctx, i)
}

// manyFail has many Gets or Collates end badly at the same time. Only what came of it is
// recorded; the race detector looks on.
func manyFail(t *testing.T, o *observe.Observer, name string, kind error, get, collate func() error) {
	s := newSource(o.Rand(), 64)
	first := below(o.Rand(), 2, 20)
	s.delay = func(int) time.Duration { return ms(1) }
	if get != nil {
		s.fail = func(i int) error {
			if i >= first {
				return get()
			}
			return nil
		}
	}
	made := func(idx, samples []int) ([]int, error) {
		if collate != nil && samples[0] != s.tokens[0] {
			return nil, collate()
		}
		return copies(idx, samples)
	}
	got := run(newLoader(t, s, made, config{BatchSize: 1, Workers: 8, Prefetch: 20}).Epoch(t.Context(), 0))
	o.Error(name+": error", got.err, kind)
	o.Error(name+": Err of the error", got.inside(), kind)
}

// When Collate fails, earlier batches are yielded first; then one pair of the zero
// value, whatever Collate returned beside its error, and an ItemError with the
// index -1.
func TestCollateFails(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	bubble(t, func(t *testing.T) {
		for _, wp := range workersAndPrefetch {
			cfg := config{BatchSize: 4, Workers: wp[0], Prefetch: wp[1]}
			s := newSource(r, 80)
			s.randomDelays(r, 1, 30)
			bad := r.IntN(20) * 4
			failure := errors.New("does not fit")
			collate := s.collateFailsFrom(bad, failure)
			got := run(slowly(newLoader(t, s, collate, cfg).Epoch(t.Context(), 0)))
			got.beforeError(o, wp[0], "batch", failure)
			o.Bool("Err is what Collate returned", got.inside() == failure)

			// It is that error itself, whatever it means elsewhere.
			for _, other := range ownErrors(r) {
				s := newSource(r, 12)
				got := run(slowly(newLoader(t, s, s.collateFailsFrom(4, other), cfg).Epoch(t.Context(), 0)))
				got.beforeError(o, wp[0], "Collate returns an error of another", other)
				o.Bool("Err is the error of another that Collate returned", got.inside() == other)
			}

			if wp[0] <= 1 {
				kinds := append(broken(r, s, bad-1, bad+4), failure)
				run(newLoader(t, s, collate, cfg).Epoch(t.Context(), 0)).inOrder(o, "batch, and samples that fail", kinds...)
			}
		}
		severalFail(t, o, "Collate", nil, func(e error) error { return e })
		fails := errors.New("failure")
		manyFail(t, o, "many Collates fail", fails, nil, func() error { return fails })
	})
}

// severalFail has two batches fail, each in its own way, of which the later one fails first, as
// the later a sample is, the sooner it is there. That several workers lose nothing and keep the
// order is the matter of TestGetFails (exercise.yaml).
func severalFail(t *testing.T, o *observe.Observer, name string, get, collate func(error) error) {
	for _, wp := range workersAndPrefetch {
		if wp[0] <= 1 {
			continue
		}
		s := newSource(o.Rand(), 60)
		s.delay = func(i int) time.Duration { return ms(2 * (61 - i)) }
		first := below(o.Rand(), 24, 36)
		fails := map[int]error{s.tokens[first]: errors.New("first"), s.tokens[first+6]: errors.New("second")}
		if get != nil {
			s.fail = func(i int) error {
				if err := fails[s.tokens[i]]; err != nil {
					return get(err)
				}
				return nil
			}
		}
		made := func(idx, samples []int) ([]int, error) {
			for _, x := range samples {
				if err := fails[x]; err != nil && collate != nil {
					return nil, collate(err)
				}
			}
			return copies(idx, samples)
		}
		cfg := config{BatchSize: 3, Workers: wp[0], Prefetch: wp[1]}
		got := run(newLoader(t, s, made, cfg).Epoch(t.Context(), 0))
		got.inOrder(o, "of several workers: "+name, fails[s.tokens[first]], fails[s.tokens[first+6]])
	}
}

// collateFailsFrom makes a Collate that fails for the batches from one sample on, with a
// value beside the error.
func (s *source) collateFailsFrom(bad int, failure error) loader.Collate[int, []int] {
	return func(idx []int, samples []int) ([]int, error) {
		b, err := copies(idx, samples)
		if slices.Index(s.tokens, samples[0]) >= bad {
			err = failure
		}
		return b, err
	}
}

// slowly has a body that takes its time, so that what comes next is ready.
func slowly(seq iter.Seq2[[]int, error]) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		for b, err := range seq {
			time.Sleep(ms(100))
			if !yield(b, err) {
				return
			}
		}
	}
}

// beforeError records the error of a pass, and the batches before it where no more than one
// worker makes them: that none of those of several is lost is for TestGetFails to say.
func (r result) beforeError(o *observe.Observer, workers int, name string, sentinels ...error) {
	if workers <= 1 {
		r.inOrder(o, name, sentinels...)
	} else {
		r.onlyError(o, name, sentinels...)
	}
}

// inOrderOf begins the names of what is observed of passes in a Sampler's order, which is the
// matter of TestSampler (exercise.yaml).
const inOrderOf = "in a Sampler's order: "

// A panic in Get or in Collate ends the epoch as an error would, and not the
// program: earlier batches, then an ItemError. If the panic's value is an error,
// errors.Is finds it.
func TestPanics(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	thrown := errors.New("thrown")
	item := &loader.ItemError{Index: below(r, 100, 1000), Err: errors.New("inner")}
	panics := []func(){
		func() { panic(thrown) },
		func() { panic(fmt.Errorf("wrapped: %w", thrown)) },
		func() { panic("text") },
		func() { panic(item) },
		func() { panic(errors.Join(item, thrown)) },
		func() { panic(context.Canceled) },
		func() { _ = []int{}[len(workersAndPrefetch)] },
	}
	bubble(t, func(t *testing.T) {
		for _, wp := range workersAndPrefetch {
			cfg := config{BatchSize: 3, Workers: wp[0], Prefetch: wp[1]}
			for i, throw := range panics {
				name := ""
				if cfg.Sampler = nil; i%2 == 1 {
					order := r.Perm(60)
					cfg.Sampler, name = pureSampler(func(int, int) []int { return order }), inOrderOf
				}
				s := newSource(r, 60)
				s.randomDelays(r, 1, 20)
				at := r.IntN(60)
				s.fail = func(i int) error {
					if i == at {
						throw()
					}
					return nil
				}
				run(slowly(newLoader(t, s, copies, cfg).Epoch(t.Context(), 0))).beforeError(o, wp[0], name+"Get panics", thrown, item, context.Canceled)

				s.fail = nil
				collate := func(idx []int, samples []int) ([]int, error) {
					if slices.Contains(samples, s.tokens[at]) {
						throw()
					}
					return copies(idx, samples)
				}
				run(slowly(newLoader(t, s, collate, cfg).Epoch(t.Context(), 0))).beforeError(o, wp[0], name+"Collate panics", thrown, item, context.Canceled)
			}
		}
		severalFail(t, o, "Get panics", func(e error) error { panic(e) }, nil)
		severalFail(t, o, "Collate panics", nil, func(e error) error { panic(e) })
		manyFail(t, o, "many Gets panic", thrown, func() error { panic(thrown) }, nil)
		manyFail(t, o, "many Collates panic", thrown, nil, func() error { panic(thrown) })
	})
}
