package hidden

import (
	"context"
	"iter"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"grade/observe"
	"grade/reference/loader"
)

func cancelled(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx, cancel
}

// New refuses what makes no sense, with an error that is ErrConfig and without a
// Loader: no dataset, no Collate, a BatchSize below 1, Workers or Prefetch below
// 0, both Shuffle and a Sampler. What only looks odd works.
func TestConfig(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	s := newSource(r, below(r, 5, 20))
	any := pureSampler(func(_, n int) []int { return draws(r, 3, n) })
	for name, cfg := range map[string]config{
		"BatchSize": {BatchSize: -r.IntN(3)},
		"Workers":   {BatchSize: 2, Workers: -below(r, 1, 4)},
		"Prefetch":  {BatchSize: 2, Workers: 2, Prefetch: -below(r, 1, 4)},
		"both":      {BatchSize: 2, Shuffle: true, Sampler: any},
	} {
		l, err := loader.New(s, gather, cfg)
		if l != nil || err == nil {
			t.Errorf("%s: want an error and no Loader", name)
		}
		o.Error("an error", err, loader.ErrConfig)
	}
	_, err := loader.New[int, []int](nil, gather, config{BatchSize: 1})
	o.Error("no dataset", err, loader.ErrConfig)
	_, err = loader.New[int, []int](s, nil, config{BatchSize: 1})
	o.Error("no Collate", err, loader.ErrConfig)
	for _, cfg := range []config{
		{BatchSize: 1}, {BatchSize: 3, Workers: 2, Prefetch: 1}, {BatchSize: 1 << 40}, {BatchSize: 4, Workers: 50}, {BatchSize: 4, Prefetch: 3},
		{BatchSize: 3, Workers: 1, Prefetch: 1 << 40},
	} {
		run(newLoader(t, s, gather, cfg).Epoch(t.Context(), 0)).observe(o, "batch")
	}
}

// An epoch without samples, or with DropLast without a full batch, has no batch
// and no error; it is no reason to wait for one. What comes later counts again.
func TestEmpty(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	nothing := pureSampler(func(epoch, n int) []int { return make([]int, 0, n)[:min(epoch, n)] })
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 3} {
			for _, cfg := range []config{{}, {Shuffle: true}, {DropLast: true}, {Sampler: nothing}} {
				cfg.Workers, cfg.BatchSize = workers, 4
				s := newSource(r, 0)
				l := newLoader(t, s, keep, cfg)
				o.Int("Len", l.Len())
				run(l.Epoch(t.Context(), 0)).observe(o, "empty")
				s.grow(r, 3)
				got := run(l.Epoch(t.Context(), 1))
				for _, b := range got.batches {
					slices.Sort(b)
				}
				got.observe(o, "with some samples")
			}
		}
	})
}

// Each pass starts from the beginning: an epoch again, a sequence ranged over
// twice, one that was left early, and several in turns. None knows of the others.
func TestPasses(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, workers := range []int{0, 1, 3} {
		s := newSource(r, below(r, 20, 30))
		orders := [][]int{r.Perm(len(s.tokens)), r.Perm(len(s.tokens))}
		cfg := config{BatchSize: 4, Workers: workers, Sampler: pureSampler(func(epoch, _ int) []int { return orders[epoch] })}
		l := newLoader(t, s, gather, cfg)
		seq := l.Epoch(t.Context(), 0)
		for b := range seq {
			o.Ints("before it was left", b)
			break
		}
		run(seq).observe(o, "the same sequence")
		run(l.Epoch(t.Context(), 1)).observe(o, "another epoch")
		run(l.Epoch(t.Context(), 0)).observe(o, "the first epoch again")

		next, stop := iter.Pull2(seq)
		next2, stop2 := iter.Pull2(l.Epoch(t.Context(), 1))
		for range below(r, 2, 9) {
			b, err, ok := next()
			b2, err2, ok2 := next2()
			o.Ints("in turns", b)
			o.Ints("in turns, the other", b2)
			if err != nil || err2 != nil {
				t.Errorf("errors %v, %v", err, err2)
			}
			o.Bool("more of both", ok && ok2)
		}
		stop()
		run(seq).observe(o, "in a loop beside it")
		b, _, _ := next2()
		o.Ints("the other, once more", b)
		stop2()
	}
}

// New and Epoch do nothing yet: dataset, Sampler and Collate are not called, and no
// goroutine is started, before the sequence is ranged over. Then the dataset's
// length is asked, and each Get has a ctx that comes from the caller's.
func TestLazy(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	type key struct{}
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 3} {
			s := &valued{source: newSource(r, 5), key: key{}}
			asked := 0
			cfg := config{BatchSize: 4, Workers: workers, Sampler: pureSampler(func(_, n int) []int {
				asked++
				return slices.Repeat([]int{1, n - 1}, n)
			})}
			l := newLoader(t, s, gather, cfg)
			seq := l.Epoch(context.WithValue(t.Context(), key{}, r.IntN(1e9)), 0)
			synctest.Wait()
			begun, _, _ := s.counts()
			o.Ints("calls before the loop", []int{s.lens, begun, asked})
			s.grow(r, below(r, 5, 20))
			run(seq).observe(o, "batch")
			o.Ints("values of ctx", s.values)
			s.grow(r, below(r, 5, 20))
			run(seq).observe(o, "the next pass")

			// A loader that nobody uses leaves nothing behind.
			newLoader(t, s, gather, cfg).Epoch(t.Context(), 0)
		}
	})
}

// valued notes what is in the ctx of its Gets.
type valued struct {
	*source
	key    any
	mu     sync.Mutex
	values []int
}

func (s *valued) Get(ctx context.Context, i int) (int, error) {
	v, _ := ctx.Value(s.key).(int)
	s.mu.Lock()
	if !slices.Contains(s.values, v) {
		s.values = append(s.values, v)
	}
	s.mu.Unlock()
	return s.source.Get(ctx, i)
}

// The slices that Collate is given are its own: it may return them as the batch,
// write into them and append to them. A batch that was kept never changes, and
// no other batch sees what was done to it.
func TestOwnBatches(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, workers := range []int{0, 1, 3} {
		s := newSource(r, below(r, 30, 50))
		cfg := config{BatchSize: below(r, 3, 7), Workers: workers}
		run(newLoader(t, s, keep, cfg).Epoch(t.Context(), 0)).observe(o, "samples that were kept")
		indices := func(idx []int, _ []int) ([]int, error) { return idx, nil }
		run(newLoader(t, s, indices, cfg).Epoch(t.Context(), 0)).observe(o, "indices that were kept")

		order := r.Perm(len(s.tokens))
		cfg.Sampler = pureSampler(func(int, int) []int { return order })
		scribble := func(idx []int, samples []int) ([]int, error) {
			b, err := gather(idx, samples)
			clear(idx)
			clear(samples)
			_ = append(append(idx, -1, -2), idx...)
			_ = append(append(samples, -1, -2), samples...)
			return b, err
		}
		run(newLoader(t, s, scribble, cfg).Epoch(t.Context(), 0)).observe(o, "while Collate writes into its slices")
		o.Ints("the order of the Sampler", order)
	}
}
