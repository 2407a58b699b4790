package hidden

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"grade/observe"
	"grade/reference/sampler"
)

// Each pass starts from the beginning and knows nothing of the others: an epoch again, a
// sequence ranged over twice, one that was left early, one within another, several in
// turns (rule 22).
func TestPasses(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for range 2 {
		for _, cfg := range both(r, 60, below(r, 30, 50)) {
			cfg.Ranks = below(r, 1, 3)
			recordPasses(t, o, "", cfg)
			recordPasses(t, o, padded, lastRank(r, cfg))
		}
	}
	for _, samples := range []int{below(r, 4500, 5000), below(r, 66_000, 67_000)} {
		for _, cfg := range both(r, samples+below(r, 1, 99), samples) {
			recordLong(t, o, cfg)
		}
	}
}

// recordLong makes a pass over a long epoch, within which there are the beginning of another one and
// other calls of Distinct.
func recordLong(t *testing.T, o *observe.Observer, cfg config) {
	t.Helper()
	r := o.Rand()
	g := chance(r)
	cfg.Ranks = 1
	s := newSampler(t, cfg)
	want, at := slices.Collect(newSampler(t, cfg).Epoch(3)), r.IntN(cfg.Samples/2)
	var indices []int
	for i := range s.Epoch(3) {
		if indices = append(indices, i); len(indices) == at+1 {
			first(s.Epoch(8), 6)
			distinct(t, equals(cfg.Samples), cfg.Samples, g)
		}
	}
	o.Int("a long pass around others: indices", len(indices))
	o.Bool("a long pass around others: those of the epoch", slices.Equal(indices, want))
}

// padded begins the names of what is observed of a rank whose share is padded. Where shares have a
// wrong answer already, it does not count again (exercise.yaml).
const padded = "padded: "

// lastRank is the Config of a rank whose share ends behind the end of the list.
func lastRank(r *rand.Rand, cfg config) config {
	cfg.Ranks = below(r, 2, 4)
	cfg.Rank = cfg.Ranks - 1
	cfg.Samples = 10*cfg.Ranks + 1
	return cfg
}

// recordPasses makes passes over two epochs of a Sampler, and compares each with that of a
// Sampler of its own.
func recordPasses(t *testing.T, o *observe.Observer, kind string, cfg config) {
	t.Helper()
	s := newSampler(t, cfg)
	share := func(epoch int) []int { return slices.Collect(newSampler(t, cfg).Epoch(epoch)) }
	a, b := share(3), share(8)
	same := func(name string, indices, want []int) {
		o.Int(kind+name+": indices", len(indices))
		o.Bool(kind+name+": those of the epoch", slices.Equal(indices, want))
	}
	seq := s.Epoch(3)
	same("left early", first(seq, 5), a[:5])
	same("left at once", first(seq, 1), a[:1])
	same("the same sequence", slices.Collect(seq), a)
	same("another epoch", slices.Collect(s.Epoch(8)), b)
	same("the first again", slices.Collect(s.Epoch(3)), a)
	same("the same sequence once more", slices.Collect(seq), a)

	var outer []int
	for i := range seq {
		if outer = append(outer, i); len(outer)%4 == 0 {
			same("within", first(s.Epoch(8), 6), b[:6])
			same("within itself", first(seq, 3), a[:3])
		}
	}
	same("around others", outer, a)
	x, y := turns(seq, s.Epoch(8))
	same("in turns", x, a)
	same("in turns, the other", y, b)
	x, y = turns(seq, seq)
	same("in turns with itself", x, y)
}

// turns pulls from two sequences, one after the other.
func turns(a, b iter.Seq[int]) (x, y []int) {
	nextA, stopA := iter.Pull(a)
	defer stopA()
	nextB, stopB := iter.Pull(b)
	defer stopB()
	for {
		i, okA := nextA()
		j, okB := nextB()
		if !okA && !okB || len(x) > 1000 {
			return x, y
		}
		x, y = append(x, i), append(y, j)
	}
}

// When a loop is over, by its end, by break or return or by a panic in its body, no
// goroutine is left, and the panic comes out as it is (rule 24).
func TestEnds(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	configs, epoch, at, value := both(r, 60, 40), r.IntN(99), below(r, 2, 9), r.IntN(1e9)
	long := both(r, 150_000, 140_000)
	for i := range long {
		long[i].Ranks = 1 + r.IntN(2)
	}
	short := both(r, 60, 41)
	var seen, ends observe.Transcript
	synctest.Test(t, func(t *testing.T) {
		for _, cfg := range configs {
			cfg.Ranks = 2
			s := newSampler(t, cfg)
			s.Epoch(epoch) // which nobody uses
			seen.Add("all: %d", len(slices.Collect(s.Epoch(epoch))))
			seen.Add("some: %d", len(first(s.Epoch(epoch), at)))
			n, panicked := fails(s.Epoch(epoch), at, value)
			seen.Add("before the panic %d, panic %v", n, panicked)
			seen.Add("after it: %d", len(slices.Collect(s.Epoch(epoch))))
			for _, nothing := range withoutIndices(cfg) {
				seen.Add("none: %d", len(slices.Collect(newSampler(t, nothing).Epoch(epoch))))
			}
		}
		for _, cfg := range long {
			s := newSampler(t, cfg)
			seen.Add("some of many: %d", len(first(s.Epoch(epoch), at)))
			n, panicked := fails(s.Epoch(epoch), at, value)
			seen.Add("before the panic in many %d, panic %v", n, panicked)
		}
		for _, cfg := range short {
			endsPadded(t, &ends, cfg, epoch, value)
		}
	})
	o.Transcript("loops", &seen)
	o.Transcript(padded+"loops", &ends)
}

// endsPadded has loops over shares whose last index, or only one, is padding end by themselves and
// by a panic there.
func endsPadded(t *testing.T, ends *observe.Transcript, cfg config, epoch, value int) {
	t.Helper()
	for _, ranks := range []int{2, 100} {
		cfg.Ranks, cfg.Rank = ranks, ranks-1
		s := newSampler(t, cfg)
		ends.Add("all: %d", len(slices.Collect(s.Epoch(epoch))))
		n, panicked := fails(s.Epoch(epoch), s.Len(), value)
		ends.Add("before the panic at the end %d, panic %v", n, panicked)
	}
}

// withoutIndices are Samplers whose passes end before they begin.
func withoutIndices(cfg config) []config {
	empty, short := cfg, cfg
	empty.Samples = 0
	short.Samples, short.Ranks, short.DropLast = 2, 5, true
	return []config{empty, short}
}

// fails panics in the body of a loop, and returns how far it came.
func fails(seq iter.Seq[int], at, value int) (n int, panicked any) {
	defer func() { panicked = recover() }()
	for range seq {
		if n++; n == at {
			panic(value)
		}
	}
	return n, nil
}

// A thousand Tables and Samplers do not know of each other: what is drawn from one is
// what its weights say, in whatever order they are used (rules 11 and 17).
func TestThousand(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	tables, samplers, only := make([]*sampler.Table, 1000), make([]*sampler.Sampler, 1000), make([]int, 1000)
	weights := make([]float64, 40) // the same slice for all of them
	for i := range tables {
		clear(weights)
		only[i] = r.IntN(len(weights))
		weights[only[i]] = 1
		tables[i] = newTable(t, weights)
		o.Ints("distinct of the same slice", distinct(t, weights, 1, g))
		samplers[i] = newSampler(t, config{Weights: weights, Samples: 1 + i%2, Replacement: i%2 == 1, Seed: 7, Ranks: 1})
	}
	for _, i := range r.Perm(1000) {
		o.Ints("draws", append(slices.Collect(samplers[i].Epoch(i%3)), tables[i].Draw(g)))
		o.Float("probability of the only index", tables[i].Prob(only[i]))
		weights := make([]float64, 40)
		weights[only[i]] = r.Float64() + 0.1
		o.Ints("distinct", distinct(t, weights, 1, g))
	}
}

// together calls f for 0 to 7 in a goroutine each.
func together(f func(k int)) {
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() { f(k) })
	}
	wg.Wait()
}

// A Table may be used by any number of goroutines at the same time, each with its own r,
// and so may Distinct and Balance: each gets what it would get alone (rule 23).
func TestConcurrentDraws(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	weights, labels := holes(r, below(r, 20, 40)), labelled(r, 9)
	table := newTable(t, weights)
	seed := r.Uint64()
	draws := func(k int) string {
		g := rand.New(rand.NewPCG(seed, uint64(k)))
		var all []any
		for range 300 {
			all = append(all, table.Draw(g))
		}
		for i := range 20 {
			indices, err := sampler.Distinct(weights, 1+i%10, g)
			balanced, _ := sampler.Balance(labels, 0.5)
			all = append(all, indices, err, balanced[len(balanced)-1], table.Prob(k), table.Len())
		}
		own := slices.Concat(weights[k:], weights[:k])
		for range 100 {
			made, err := sampler.NewTable(own)
			if err != nil {
				return err.Error()
			}
			for i := range own {
				all = append(all, made.Prob(i))
			}
			all = append(all, made.Draw(g))
		}
		return fmt.Sprint(all)
	}
	want, got := make([]string, 8), make([]string, 8)
	together(func(k int) { got[k] = draws(k) })
	same, zeros := 0, 0
	for k := range want {
		if want[k] = draws(k); want[k] == got[k] {
			same++
		}
		if k > 0 && want[k] == want[0] {
			zeros++
		}
	}
	o.Ints("goroutines that get what they get alone, and those that get the same", []int{same, zeros})
	o.Float("a probability", table.Prob(slices.Index(weights, slices.Max(weights))))
}

// beginnings lets goroutines begin a sequence that has not been used before, again and
// again, and counts those that get the first indices of it.
func beginnings(s *sampler.Sampler) (right int) {
	for epoch := range 20 {
		seq := s.Epoch(epoch)
		var got [8][]int
		together(func(k int) { got[k] = first(seq, 2) })
		for _, list := range got {
			if slices.Equal(list, first(s.Epoch(epoch), 2)) {
				right++
			}
		}
	}
	return right
}

// A Sampler and the sequences of its epochs may be used by any number of goroutines at
// the same time, and so may New: each gets what it would get alone (rule 23).
func TestConcurrentEpochs(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, cfg := range both(r, 60, below(r, 30, 50)) {
		cfg.Ranks = below(r, 1, 3)
		recordConcurrent(t, o, "", cfg)
		recordConcurrent(t, o, padded, lastRank(r, cfg))
	}
}

// recordConcurrent compares what goroutines get of the same Sampler with what a Sampler of
// their own gives them.
func recordConcurrent(t *testing.T, o *observe.Observer, kind string, cfg config) {
	t.Helper()
	s := newSampler(t, cfg)
	seq := s.Epoch(99)
	got, same := make([]string, 8), 0
	together(func(k int) { got[k] = passesOf(cfg, s, seq, k) })
	for k := range got {
		alone := newSampler(t, cfg)
		if got[k] == passesOf(cfg, alone, alone.Epoch(99), k) {
			same++
		}
	}
	o.Int(kind+"goroutines that get what they get alone", same)
	o.Int(kind+"goroutines that get the beginning", beginnings(s))
	o.Int(kind+"Len", s.Len())
	o.Int(kind+"indices", len(slices.Collect(seq)))
}

// passesOf are passes over epochs of s and over seq, and over those of Samplers whose weights
// and Seed are those of goroutine k.
func passesOf(cfg config, s *sampler.Sampler, seq iter.Seq[int], k int) string {
	cfg.Seed, cfg.Weights = cfg.Seed+uint64(k), slices.Concat(cfg.Weights[k:], cfg.Weights[:k])
	var all []any
	for i := range 12 {
		made, err := sampler.New(cfg)
		if err != nil || made == nil {
			return fmt.Sprintf("New: a sampler is %v, error %v", made != nil, err)
		}
		all = append(all, slices.Collect(made.Epoch(i)))
		all = append(all, slices.Collect(s.Epoch((k+i)%8)), slices.Collect(seq), s.Len())
	}
	return fmt.Sprint(all)
}
