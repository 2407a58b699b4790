package hidden

import (
	"context"
	"errors"
	"fmt"
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
				got := run(newLoader(t, s, gather, cfg).Epoch(t.Context(), 0))
				got.observe(o, "batch", kinds...)
				o.Bool("Err is what Get returned", slices.Contains(kinds, got.inside()))
				_, running, _ := s.counts()
				o.Int("Gets that still run", running)
			}
			itemOfGet(t, o, cfg)
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
			run(newLoader(t, s, gather, cfg).Epoch(t.Context(), 0)).observe(o, "batch before a sudden failure", kinds...)
		}
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

// itemOfGet has Get return an ItemError, as the Get of a dataset that asks another
// loader would: it is an error like any other, and its Index means nothing here.
func itemOfGet(t *testing.T, o *observe.Observer, cfg config) {
	r := o.Rand()
	s := newSource(r, 60)
	at, failure := r.IntN(60), &loader.ItemError{Index: below(r, 100, 1000), Err: errors.New("failure")}
	s.fail = func(i int) error {
		if i == at {
			return failure
		}
		return nil
	}
	got := run(newLoader(t, s, gather, cfg).Epoch(t.Context(), 0))
	got.observe(o, "batch, where Get returns an ItemError", failure.Err)
	o.Bool("Err is the ItemError that Get returned", got.inside() == error(failure))
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
			collate := func(idx []int, samples []int) ([]int, error) {
				b, err := gather(idx, samples)
				if idx[0] >= bad {
					err = failure
				}
				return b, err
			}
			got := run(newLoader(t, s, collate, cfg).Epoch(t.Context(), 0))
			got.observe(o, "batch", failure)
			o.Bool("Err is what Collate returned", got.inside() == failure)

			// It is that error itself, also if it is one of another loader.
			for _, other := range []error{&loader.ItemError{Index: below(r, 100, 1000), Err: failure}, fmt.Errorf("inner: %w", &loader.ItemError{Index: below(r, 100, 1000), Err: failure})} {
				got := run(newLoader(t, newSource(r, 12), func(idx, samples []int) ([]int, error) {
					if idx[0] > 0 {
						return nil, other
					}
					return gather(idx, samples)
				}, cfg).Epoch(t.Context(), 0))
				got.observe(o, "Collate returns an ItemError", failure)
				o.Bool("Err is the ItemError that Collate returned", got.inside() == other)
			}

			kinds := append(broken(r, s, bad-1, bad+4), failure)
			run(newLoader(t, s, collate, cfg).Epoch(t.Context(), 0)).observe(o, "batch, and samples that fail", kinds...)
		}
	})
}

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
			for _, throw := range panics {
				s := newSource(r, 60)
				s.randomDelays(r, 1, 20)
				at := r.IntN(60)
				s.fail = func(i int) error {
					if i == at {
						throw()
					}
					return nil
				}
				run(newLoader(t, s, gather, cfg).Epoch(t.Context(), 0)).observe(o, "Get panics", thrown, item, context.Canceled)

				s.fail = nil
				at -= at % 3
				collate := func(idx []int, samples []int) ([]int, error) {
					if idx[0] == at {
						throw()
					}
					return gather(idx, samples)
				}
				run(newLoader(t, s, collate, cfg).Epoch(t.Context(), 0)).observe(o, "Collate panics", thrown, item, context.Canceled)
			}
		}
	})
}
