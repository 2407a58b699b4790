// Package hidden holds the hidden tests of the loader exercise. Datasets, samplers
// and collate functions are fakes: what they are asked for, and when, becomes part
// of the answer. The doc comment of a test is what a student is told when it fails,
// so it names the rule and never the input.
package hidden

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"grade/observe"
	"grade/reference/loader"
)

// source is a dataset of random numbers that keeps count of how it is used.
type source struct {
	tokens  []int
	delay   func(i int) time.Duration // how long a Get takes
	fail    func(i int) error         // what it ends with; may panic
	cleanup time.Duration             // how long it takes to end when it is cancelled

	mu                   sync.Mutex
	lens                 int
	begun, running, most int // calls of Get
	asked                []int
}

func newSource(r *rand.Rand, n int) *source {
	s := &source{asked: make([]int, n)}
	s.grow(r, n)
	return s
}

func (s *source) grow(r *rand.Rand, n int) {
	for range n {
		s.tokens = append(s.tokens, r.IntN(1e9))
	}
	s.asked = append(s.asked, make([]int, n)...)
}

func (s *source) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lens++
	return len(s.tokens)
}

var errNoSample = errors.New("no such sample")

func (s *source) Get(ctx context.Context, i int) (int, error) {
	if i < 0 || i >= len(s.tokens) {
		return 0, errNoSample
	}
	s.enter(i)
	defer s.leave()
	if s.delay != nil {
		if err := wait(ctx, s.delay(i)); err != nil {
			time.Sleep(s.cleanup)
			return 0, err
		}
	}
	if s.fail != nil {
		if err := s.fail(i); err != nil {
			return 0, err
		}
	}
	return s.tokens[i], nil
}

func (s *source) enter(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	s.running++
	s.most = max(s.most, s.running)
	s.asked[i]++
}

func (s *source) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// counts returns how many Gets have begun, run now, and ran at once at most.
func (s *source) counts() (begun, running, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun, s.running, s.most
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// randomDelays makes Gets take between lo and hi milliseconds each.
func (s *source) randomDelays(r *rand.Rand, lo, hi int) {
	delays := make([]time.Duration, len(s.tokens))
	for i := range delays {
		delays[i] = ms(lo) + time.Duration(r.Int64N(int64(ms(hi-lo))))
	}
	s.delay = func(i int) time.Duration { return delays[i] }
}

// gather is a Collate: indices and samples by turns, in a list of its own.
func gather(idx []int, samples []int) ([]int, error) {
	if len(idx) != len(samples) {
		return nil, fmt.Errorf("%d indices and %d samples", len(idx), len(samples))
	}
	var b []int
	for j := range idx {
		b = append(b, idx[j], samples[j])
	}
	return b, nil
}

// keep is a Collate that returns what it was given.
func keep(_ []int, samples []int) ([]int, error) { return samples, nil }

// copies is a Collate that returns the samples in a list of its own.
func copies(_ []int, samples []int) ([]int, error) { return slices.Clone(samples), nil }

// numbers is a dataset of many samples, each of which is its index.
type numbers int

func (n numbers) Len() int { return int(n) }

func (n numbers) Get(_ context.Context, i int) (int, error) { return i, nil }

type config = loader.Config

func newLoader(t *testing.T, ds loader.Dataset[int], c loader.Collate[int, []int], cfg config) *loader.Loader[int, []int] {
	t.Helper()
	l, err := loader.New(ds, c, cfg)
	if err != nil {
		t.Fatalf("New refuses %+v: %v", cfg, err)
	}
	return l
}

// tooMany is more pairs than any pass in these tests has.
const tooMany = 3000

// result is what came out of a pass.
type result struct {
	batches [][]int
	err     error
	value   []int // that came with the error
	after   int   // pairs after the error
}

// run goes through a pass to its end, errors or not.
func run(seq iter.Seq2[[]int, error]) (r result) {
	for b, err := range seq {
		switch {
		case r.err != nil:
			r.after++
		case err != nil:
			r.err, r.value = err, b
		default:
			r.batches = append(r.batches, b)
		}
		if len(r.batches)+r.after > tooMany {
			break
		}
	}
	return r
}

// observe records the batches, sorted, and what kind of error ended the pass: in
// which order batches of several workers come is for TestAnyWorkers to say.
func (r result) observe(o *observe.Observer, name string, sentinels ...error) {
	r.batches = slices.SortedFunc(slices.Values(r.batches), slices.Compare)
	r.inOrder(o, name, sentinels...)
}

// observeFor records the batches in their order where no more than one worker makes them.
func (r result) observeFor(o *observe.Observer, workers int, name string, sentinels ...error) {
	if workers <= 1 {
		r.inOrder(o, name, sentinels...)
	} else {
		r.observe(o, name, sentinels...)
	}
}

// onlyError records what kind of error ended the pass, and not what came before.
func (r result) onlyError(o *observe.Observer, name string, sentinels ...error) {
	r.batches = nil
	r.inOrder(o, name, sentinels...)
}

// inOrder records the batches as they came, and what kind of error ended the pass.
func (r result) inOrder(o *observe.Observer, name string, sentinels ...error) {
	o.Int(name+": batches", len(r.batches))
	for _, b := range r.batches {
		o.Ints(name, b)
	}
	o.Error(name+": error", r.err, sentinels...)
	if r.err == nil {
		return
	}
	var item *loader.ItemError
	if errors.As(r.err, &item) && item != nil {
		o.Int(name+": index in the error", item.Index)
		o.Error(name+": Err of the error", item.Err, sentinels...)
	} else {
		o.String(name+": index in the error", "no ItemError")
	}
	_, itself := r.err.(*loader.ItemError)
	o.Bool("the error is itself an ItemError: "+name, itself)
	o.Ints(name+": value beside the error", r.value)
	o.Int(name+": pairs after the error", r.after)
}

// bubble runs f where the clock stands still while anybody works.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// sampler returns slices that it goes on using.
type sampler struct {
	orders func(epoch, n int) []int
	last   []int
}

func (s *sampler) Order(epoch, n int) []int {
	s.last = s.orders(epoch, n)
	return s.last
}

// pureSampler can be asked by several goroutines.
type pureSampler func(epoch, n int) []int

func (f pureSampler) Order(epoch, n int) []int { return f(epoch, n) }

func below(r *rand.Rand, lo, hi int) int { return lo + r.IntN(hi-lo) }

// draws is a list of n indices below limit, with repetitions.
func draws(r *rand.Rand, n, limit int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = r.IntN(limit)
	}
	return list
}
