package hidden

import (
	"context"
	"errors"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"grade/observe"
	"grade/reference/loader"
)

// New refuses what makes no sense, with an error that is ErrConfig and without a
// Loader: no dataset, no Collate, a BatchSize below 1, Workers or Prefetch below
// 0, both Shuffle and a Sampler. What only looks odd works.
func TestConfig(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	s := newSource(r, below(r, 5, 20))
	any := pureSampler(func(_, n int) []int { return draws(r, 3, n) })
	errs, loaders := map[string]error{}, map[string]*loader.Loader[int, []int]{}
	for name, cfg := range map[string]config{
		"BatchSize 0":         {},
		"BatchSize below 0":   {BatchSize: -below(r, 1, 4)},
		"the least BatchSize": {BatchSize: math.MinInt},
		"Workers below 0":     {BatchSize: 2, Workers: -below(r, 1, 4)},
		"the least Workers":   {BatchSize: 2, Workers: math.MinInt},
		"Prefetch below 0":    {BatchSize: 2, Workers: 2, Prefetch: -below(r, 1, 4)},
		"the least Prefetch":  {BatchSize: 2, Prefetch: math.MinInt},
		"Shuffle and Sampler": {BatchSize: 2, Shuffle: true, Sampler: any},
	} {
		l, err := loader.New(s, copies, cfg)
		loaders[name], errs[name] = l, err
	}
	loaders["no dataset"], errs["no dataset"] = loader.New[int, []int](nil, copies, config{BatchSize: 1})
	loaders["no Collate"], errs["no Collate"] = loader.New[int, []int](s, nil, config{BatchSize: 1})
	for _, name := range slices.Sorted(maps.Keys(errs)) {
		o.Error("error of New: "+name, errs[name], loader.ErrConfig)
		o.Bool("New gives a Loader: "+name, loaders[name] != nil)
	}
	const most = math.MaxInt
	for _, c := range []struct {
		name string
		cfg  config
	}{
		{"BatchSize 1", config{BatchSize: 1}},
		{"the greatest Prefetch", config{BatchSize: 2, Workers: 2, Prefetch: most}},
		{"all numbers set", config{BatchSize: 3, Workers: 2, Prefetch: 1}},
		{"many Workers", config{BatchSize: 4, Workers: 50}},
		{"Prefetch without Workers", config{BatchSize: 4, Prefetch: 3}},
		{"the greatest BatchSize", config{BatchSize: most}},
		{"the greatest BatchSize, with a worker", config{BatchSize: most, Workers: 1}},
		{"the greatest BatchSize, DropLast", config{BatchSize: most, DropLast: true}},
		{"the greatest Workers", config{BatchSize: 2, Workers: most}},
		{"the greatest numbers", config{BatchSize: most, Workers: most, Prefetch: most}},
		{"BatchSize 1<<40", config{BatchSize: 1 << 40}},
		{"Prefetch 1<<40", config{BatchSize: 3, Workers: 1, Prefetch: 1 << 40}},
	} {
		l := newLoader(t, s, copies, c.cfg)
		o.Int("Len with "+c.name, l.Len())
		run(l.Epoch(t.Context(), 0)).observe(o, "batch with "+c.name)
	}
	for _, set := range []func(c *config, n int){
		func(c *config, n int) { c.BatchSize = n },
		func(c *config, n int) { c.Workers = n },
		func(c *config, n int) { c.Prefetch = n },
		func(c *config, n int) { c.BatchSize, c.Workers, c.Prefetch = n, r.IntN(3), n-r.IntN(2) },
	} {
		for _, n := range great(r) {
			cfg := config{BatchSize: below(r, 1, 4), Workers: r.IntN(3), DropLast: r.IntN(4) == 0}
			set(&cfg, n)
			l := newLoader(t, s, copies, cfg)
			o.Int("Len with a great number", l.Len())
			run(l.Epoch(t.Context(), 0)).observe(o, "batch with a great number")
		}
	}
	l, err := loader.New((*three)(nil), copies, config{BatchSize: 2, Workers: r.IntN(3)})
	o.Error("error of New: a nil pointer as dataset", err)
	if err == nil && l != nil {
		run(l.Epoch(t.Context(), 0)).observe(o, "batch with a nil pointer as dataset")
	}
}

// great are numbers of which there is no twice, or just still, or not in some bits; and others as great.
func great(r *rand.Rand) []int {
	return []int{math.MaxInt - below(r, 1, 4), math.MaxInt - below(r, 4, 1000), 1 << 62, 1<<62 - 1, 1<<62 + below(r, 1, 1000), 1<<62 + r.IntN(1<<62),
		1<<62 - below(r, 2, 1000), 1<<below(r, 33, 62) + below(r, -1, 2), 1<<31 + below(r, -1, 2), 1<<32 + below(r, -1, 2), below(r, 1e5, 1<<31)}
}

// three is a dataset of three samples, and needs no memory for them.
type three struct{}

func (*three) Len() int { return 3 }

func (*three) Get(_ context.Context, i int) (int, error) { return 10 * i, nil }

// An epoch without samples, or with DropLast without a full batch, has no batch
// and no error; it is no reason to wait for one. What comes later counts again.
func TestEmpty(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	nothing := pureSampler(func(epoch, n int) []int { return make([]int, 0, n)[:min(4*epoch, n)] })
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 3} {
			for _, cfg := range []config{{}, {Shuffle: true}, {DropLast: true}, {Sampler: nothing}} {
				cfg.Workers, cfg.BatchSize = workers, 4
				s := newSource(r, 0)
				l := newLoader(t, s, copies, cfg)
				o.Int("Len", l.Len())
				run(l.Epoch(t.Context(), 0)).observe(o, "empty")
				s.grow(r, 4)
				got := run(l.Epoch(t.Context(), 1))
				for _, b := range got.batches {
					slices.Sort(b)
				}
				got.observe(o, "with some samples")
			}
		}
	})
}

// New and Epoch do nothing yet: dataset, Sampler and Collate are not called, and no
// goroutine is started, before the sequence is ranged over. Then the dataset's
// length is asked. The ctx of each Get has the values of the caller's; it is done when
// the caller's is done or the loop has ended, also by a panic of its body, and not while
// the loop goes on. Where a sample fails, those before it keep theirs until the batches before
// it are yielded.
func TestLazy(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	type key struct{}
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 3} {
			s := &valued{source: newSource(r, 6), key: key{}}
			asked := 0
			cfg := config{BatchSize: 4, Workers: workers, Sampler: pureSampler(func(_, n int) []int {
				asked++
				return slices.Repeat([]int{1, n - 1}, n)
			})}
			l := newLoader(t, s, copies, cfg)
			seq := l.Epoch(context.WithValue(t.Context(), key{}, r.IntN(1e9)), 0)
			synctest.Wait()
			begun, _, _ := s.counts()
			o.Ints("calls before the loop", []int{s.lens, begun, asked})
			s.grow(r, 2*below(r, 3, 10))
			run(seq).observe(o, "batch")
			o.Ints("values of ctx", s.values)
			s.grow(r, 2*below(r, 3, 10))
			run(seq).observe(o, "the next pass")

			contextsOfGets(t, o, r, workers)

			// A loader that nobody uses leaves nothing behind.
			newLoader(t, s, copies, cfg).Epoch(t.Context(), 0)
		}
	})
}

// loopEnds are how loops over six batches end: by themselves, with a Get or a Collate of the
// fourth batch that fails, by a break, or by a panic of the body.
var loopEnds = []struct {
	name, fails string
	at          int // the pair that the body ends the loop at; 0: it does not
	panics      bool
}{
	{name: "at the end"}, {name: "with an error of Get", fails: "Get"}, {name: "with an error of Collate", fails: "Collate"},
	{name: "left at the first batch", at: 1}, {name: "left", at: 3}, {name: "left at the last batch", at: 6},
	{name: "left at the error of Get", fails: "Get", at: 4}, {name: "left at the error of Collate", fails: "Collate", at: 4},
	{"by a panic at the first batch", "", 1, true}, {"by a panic", "", 3, true}, {"by a panic at the last batch", "", 6, true},
	{"by a panic at the error of Get", "Get", 4, true}, {"by a panic at the error of Collate", "Collate", 4, true},
}

// contextsOfGets records when the contexts of Gets are done: not while the loop goes on, and when
// it has ended, in whatever way.
func contextsOfGets(t *testing.T, o *observe.Observer, r *rand.Rand, workers int) {
	t.Helper()
	for _, end := range loopEnds {
		s := &keeping{source: newSource(r, 24)}
		failure := errors.New("fresh")
		collate := s.endsIn(end.fails, 12, func() error { return failure })
		early, k := 0, 0
		seq := newLoader(t, s, collate, config{BatchSize: 4, Workers: workers}).Epoch(t.Context(), 0)
		endsAt(seq, end.at, end.panics, func() {
			switch k++; {
			case end.fails == "":
				early += s.done()
			case k < 3: // the third batch is the last before the one that fails: then all may be done, and later ones before
				early += s.doneBelow(12)
			}
		})
		name := "loop that ended " + end.name
		o.Int(name+": contexts of Gets that were done before", early)
		o.Bool(name+": Gets with a context", len(s.contexts) > 0)
		o.Int(name+": contexts of Gets that are not done after it", len(s.contexts)-s.done())
	}
}

// endsAt goes through a pass, and leaves it at one of its pairs, or panics there.
func endsAt(seq iter.Seq2[[]int, error], at int, panics bool, look func()) {
	defer func() { _ = recover() }()
	pairs := 0
	for range seq {
		synctest.Wait()
		look()
		if pairs++; pairs != at {
			continue
		}
		if panics {
			panic("the body ends the loop")
		}
		break
	}
}

// keeping is a source that keeps the contexts it is given.
type keeping struct {
	*source
	mu       sync.Mutex
	contexts []context.Context
	indices  []int // of the samples that they were given for
}

func (k *keeping) Get(ctx context.Context, i int) (int, error) {
	k.mu.Lock()
	k.contexts, k.indices = append(k.contexts, ctx), append(k.indices, i)
	k.mu.Unlock()
	return k.source.Get(ctx, i)
}

// done counts the contexts that are done.
func (k *keeping) done() int { return k.doneBelow(math.MaxInt) }

// doneBelow counts those of them that were given for a sample below limit.
func (k *keeping) doneBelow(limit int) (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for j, ctx := range k.contexts {
		if k.indices[j] < limit && ctx.Err() != nil {
			n++
		}
	}
	return n
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
