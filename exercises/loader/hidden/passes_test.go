package hidden

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"grade/observe"
	"grade/reference/loader"
)

// Each pass starts from the beginning: an epoch again, a sequence ranged over
// twice, one that was left early, one after another that has failed, and several in
// turns. None knows of the others, nor of how they have ended.
func TestPasses(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, workers := range []int{0, 1, 3} {
		s := newSource(r, 4*below(r, 5, 8))
		orders := [][]int{r.Perm(len(s.tokens)), r.Perm(len(s.tokens))}
		cfg := config{BatchSize: 4, Workers: workers, Sampler: pureSampler(func(epoch, _ int) []int { return orders[epoch] })}
		l := newLoader(t, s, copies, cfg)
		seq := l.Epoch(t.Context(), 0)
		for range seq {
			break
		}
		run(seq).observe(o, "the same sequence")
		run(l.Epoch(t.Context(), 1)).observe(o, "another epoch")
		run(l.Epoch(t.Context(), 0)).observe(o, "the first epoch again")
		inTurns(t, o, l)
		sameInTurns(t, o, s, config{BatchSize: 4, Workers: workers})
		for range l.Epoch(t.Context(), 0) { // a loop within a loop
			o.Int("Len in the body", l.Len())
			for range l.Epoch(t.Context(), 1) {
				break
			}
			run(l.Epoch(t.Context(), 1)).observe(o, "inner loop")
			break
		}
		h := fnv.New32a()
		for range 300 {
			fmt.Fprint(h, slices.SortedFunc(slices.Values(run(seq).batches), slices.Compare))
		}
		o.Int("hash of 300 passes", int(h.Sum32()))
		for _, how := range []string{"Get fails", "Collate fails", "Get panics", "Collate panics", "ctx is done", "the body panics", "the body breaks"} {
			afterOneThatEnds(t, o, how, config{BatchSize: 4, Workers: workers})
		}
	}
}

// inTurns goes through two passes by turns, and through a third beside them.
func inTurns(t *testing.T, o *observe.Observer, l *loader.Loader[int, []int]) {
	next, stop := iter.Pull2(l.Epoch(t.Context(), 0))
	next2, stop2 := iter.Pull2(l.Epoch(t.Context(), 1))
	var other result
	for range below(o.Rand(), 2, 5) {
		_, err, ok := next()
		b2, err2, ok2 := next2()
		o.Error("in turns", errors.Join(err, err2))
		o.Bool("in turns: more of both", ok && ok2)
		other.batches = append(other.batches, b2)
	}
	stop()
	run(l.Epoch(t.Context(), 0)).observe(o, "in a loop beside it")
	for b, err, ok := next2(); ok; b, err, ok = next2() {
		o.Error("the other", err)
		other.batches = append(other.batches, b)
	}
	stop2()
	other.observe(o, "the other, to its end")
}

// sameInTurns goes through one sequence while another pass through it has begun. Its Sampler has
// changed its mind when the other one begins.
func sameInTurns(t *testing.T, o *observe.Observer, s *source, cfg config) {
	order := o.Rand().Perm(len(s.tokens))
	cfg.Sampler = pureSampler(func(int, int) []int { return order })
	same := newLoader(t, s, copies, cfg).Epoch(t.Context(), 0)
	next, stop := iter.Pull2(same)
	defer stop()
	var outer result
	for range below(o.Rand(), 1, 4) {
		b, err, _ := next()
		o.Error("a sequence that is ranged over meanwhile", err)
		outer.batches = append(outer.batches, b)
	}
	order = o.Rand().Perm(len(s.tokens))
	run(same).observe(o, "a sequence that another pass goes through")
	for b, err, ok := next(); ok; b, err, ok = next() {
		o.Error("a sequence that is ranged over meanwhile", err)
		outer.batches = append(outer.batches, b)
	}
	outer.observe(o, "a sequence that is ranged over meanwhile")
}

var errSpoiled = errors.New("spoiled")

// spoiled is a source whose third batch of four is bad until it is mended.
type spoiled struct {
	*source
	how    string
	mended atomic.Bool
}

func (s *spoiled) Get(ctx context.Context, i int) (int, error) {
	if i >= 8 && !s.mended.Load() {
		switch s.how {
		case "Get fails":
			return 0, errSpoiled
		case "Get panics":
			panic(errSpoiled)
		}
	}
	return s.source.Get(ctx, i)
}

func (s *spoiled) collate(idx []int, samples []int) ([]int, error) {
	if samples[0] == s.tokens[8] && !s.mended.Load() {
		switch s.how {
		case "Collate fails":
			return nil, errSpoiled
		case "Collate panics":
			panic(errSpoiled)
		}
	}
	return copies(idx, samples)
}

// afterOneThatEnds records the passes after one that has ended before all batches came.
func afterOneThatEnds(t *testing.T, o *observe.Observer, how string, cfg config) {
	s := &spoiled{source: newSource(o.Rand(), 20), how: how}
	l := newLoader(t, s, s.collate, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seq := l.Epoch(ctx, 0)
	func() {
		defer func() { _ = recover() }()
		for range seq {
			switch how {
			case "ctx is done":
				cancel()
			case "the body panics":
				panic(errSpoiled)
			case "the body breaks":
				return
			}
		}
	}()
	s.mended.Store(true)
	if how != "ctx is done" {
		run(seq).observe(o, "the same sequence after a pass in which "+how)
	}
	run(l.Epoch(t.Context(), 0)).observe(o, "the next pass after one in which "+how)
}

// One Loader serves several goroutines, each with an epoch of its own: what one
// pass is at is nothing to the others, and none waits for another.
func TestConcurrentEpochs(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, workers := range []int{0, 3} {
		s := newSource(r, 4*below(r, 15, 23))
		orders := make([][]int, 8)
		for i := range orders {
			orders[i] = r.Perm(len(s.tokens))
		}
		cfg := config{BatchSize: 4, Workers: workers, Sampler: pureSampler(func(epoch, _ int) []int { return orders[epoch] })}
		l := newLoader(t, s, copies, cfg)
		results := atOnce(len(orders), 12, func(k, i int) result { return run(l.Epoch(t.Context(), (k+i)%len(orders))) })
		for k := range results {
			for i, got := range results[k] {
				if i == k { // one of each goroutine in full, of the others a hash
					got.observe(o, "batch")
				}
				h := fnv.New32a()
				fmt.Fprint(h, slices.SortedFunc(slices.Values(got.batches), slices.Compare))
				o.Int("hash of the batches of a pass", int(h.Sum32()))
				o.Error("error at the end of a pass", got.err)
			}
		}
		shuffledAtOnce(t, o, workers)
	}
	bubble(t, func(t *testing.T) {
		for _, workers := range []int{0, 1, 3} {
			noneWaits(t, o, workers)
		}
	})
}

// atOnce makes passes in several goroutines, each of which makes some, one by one.
func atOnce(goroutines, passes int, pass func(k, i int) result) [][]result {
	results := make([][]result, goroutines)
	var wg sync.WaitGroup
	for k := range results {
		wg.Go(func() {
			for i := range passes {
				results[k] = append(results[k], pass(k, i))
			}
		})
	}
	wg.Wait()
	return results
}

// shuffledAtOnce makes shuffled passes at the same time.
func shuffledAtOnce(t *testing.T, o *observe.Observer, workers int) {
	s := newSource(o.Rand(), 4*below(o.Rand(), 9, 15))
	l := newLoader(t, s, copies, config{BatchSize: 4, Workers: workers, Shuffle: true, Seed: o.Rand().Uint64()})
	for _, got := range slices.Concat(atOnce(4, 6, func(_, i int) result { return run(l.Epoch(t.Context(), i)) })...) {
		o.Int("batches of a shuffled pass beside others", len(got.batches))
		o.Error("error at the end of a shuffled pass beside others", got.err)
	}
}

// noneWaits measures four passes at the same time, while the body of a fifth has
// its first batch.
func noneWaits(t *testing.T, o *observe.Observer, workers int) {
	s := newSource(o.Rand(), 12)
	s.delay = func(int) time.Duration { return time.Second }
	l := newLoader(t, s, copies, config{BatchSize: 1, Workers: workers, Prefetch: 2})
	_, stop := begin(l.Epoch(t.Context(), 0))
	defer stop()
	var results [][]result
	o.Float("milliseconds of four passes at the same time", elapsed(func() {
		results = atOnce(4, 1, func(int, int) result { return run(l.Epoch(t.Context(), 0)) })
	}), observe.AtMost(1.5, 0))
	for _, got := range slices.Concat(results...) {
		got.observe(o, "one of four passes at the same time")
	}
}

// begin takes the first batch of a pass, which its body keeps until stop is called.
func begin(seq iter.Seq2[[]int, error]) (first []int, stop func()) {
	next, stop := iter.Pull2(seq)
	first, _, _ = next()
	time.Sleep(time.Minute)
	return first, stop
}

// The slices that Collate is given are its own: it may return them as the batch,
// write into them and append to them. A batch that was kept never changes, and
// no other batch sees what was done to it. They are its own also where no batch came of them.
func TestOwnBatches(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, workers := range []int{0, 1, 3} {
		cfg := config{BatchSize: below(r, 3, 7), Workers: workers}
		s := newSource(r, cfg.BatchSize*below(r, 6, 9))
		run(newLoader(t, s, keep, cfg).Epoch(t.Context(), 0)).observe(o, "samples that were kept")

		// Collate's numbers in its slices stay when the next pass begins.
		mark := below(r, 1, 1e6)
		marked := newLoader(t, s, func(idx []int, _ []int) ([]int, error) {
			for j := range idx {
				idx[j] = mark + j
			}
			return idx, nil
		}, cfg)
		first := run(marked.Epoch(t.Context(), 0))
		second := run(marked.Epoch(t.Context(), 0))
		first.observe(o, "indices that were changed and kept")
		second.observe(o, "the pass after one whose indices were changed")

		order := r.Perm(len(s.tokens))
		cfg.Sampler = pureSampler(func(int, int) []int { return order })
		scribble := func(idx []int, samples []int) ([]int, error) {
			b := slices.Clone(samples)
			clear(idx)
			clear(samples)
			_ = append(append(idx, -1, -2), idx...)
			_ = append(append(samples, -1, -2), samples...)
			return b, nil
		}
		run(newLoader(t, s, scribble, cfg).Epoch(t.Context(), 0)).observe(o, "while Collate writes into its slices")
		o.Ints("the order of the Sampler", order)
		keptIndices(t, o, s, cfg)
		appendedLater(t, o, s, cfg)
		for _, end := range []string{"fails", "panics", "ends ctx", "works ahead of a loop that is left"} {
			keptForGood(t, o, cfg, end)
		}
	}
}

// appendedLater has Collate append to the slices of earlier batches, which it has kept, before it
// looks at its own.
func appendedLater(t *testing.T, o *observe.Observer, s *source, cfg config) {
	var mu sync.Mutex
	var kept [][]int
	l := newLoader(t, s, func(idx []int, samples []int) ([]int, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, old := range kept {
			_ = append(old, slices.Repeat([]int{-1}, min(cfg.BatchSize, cap(old)-len(old)))...)
		}
		kept = append(kept, idx, samples)
		return gather(idx, samples)
	}, cfg)
	run(l.Epoch(t.Context(), 0)).observe(o, "while Collate appends to the slices of earlier batches")
}

// keptIndices records whether indices that Collate keeps are others later.
func keptIndices(t *testing.T, o *observe.Observer, s *source, cfg config) {
	var mu sync.Mutex
	var kept, then [][]int
	l := newLoader(t, s, func(idx []int, samples []int) ([]int, error) {
		mu.Lock()
		defer mu.Unlock()
		kept, then = append(kept, idx), append(then, slices.Clone(idx))
		return copies(idx, samples)
	}, cfg)
	run(l.Epoch(t.Context(), 0))
	run(l.Epoch(t.Context(), 0))
	o.Int("lists of indices that were kept", len(kept))
	o.Bool("indices that were kept have changed", !slices.EqualFunc(kept, then, slices.Equal))
}

// keptForGood has Collate keep its slices, with numbers of its own in them, in passes that end
// before their time, so that no batch comes of some. No later pass may change them.
func keptForGood(t *testing.T, o *observe.Observer, cfg config, end string) {
	r := o.Rand()
	s := newSource(r, below(r, 4*cfg.BatchSize, 9*cfg.BatchSize))
	cfg.Sampler, cfg.Shuffle, cfg.Seed = nil, r.IntN(2) == 0, r.Uint64()
	var mu sync.Mutex
	var kept, then [][]int
	var cancel context.CancelFunc
	calls, last := 0, 0
	l := newLoader(t, s, func(idx []int, samples []int) ([]int, error) {
		mu.Lock()
		defer mu.Unlock()
		for _, own := range [][]int{idx, samples} {
			for j := range own {
				own[j] = -1 - len(kept)
			}
			kept, then = append(kept, own), append(then, slices.Clone(own))
		}
		if calls++; calls >= last && end == "fails" {
			return samples, errSpoiled
		} else if calls >= last && end == "panics" {
			panic(errSpoiled)
		} else if calls >= last && end == "ends ctx" {
			cancel()
		}
		return samples, nil
	}, cfg)
	for _, last = range []int{below(r, 1, 4), below(r, 1, 4), 1, tooMany} { // the last pass comes to its end
		var ctx context.Context
		ctx, cancel = context.WithCancel(t.Context())
		pairs := 0
		for range l.Epoch(ctx, r.IntN(9)) {
			if pairs++; pairs >= last && end == "works ahead of a loop that is left" {
				break
			}
		}
		cancel()
		calls = 0
	}
	mu.Lock()
	defer mu.Unlock()
	o.Bool("slices have changed that were kept by a Collate that "+end, !slices.EqualFunc(kept, then, slices.Equal))
}
