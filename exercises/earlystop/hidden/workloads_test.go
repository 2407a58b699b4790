package hidden

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/earlystop"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// coarse is how exact sums of many weights have to be.
var coarse = observe.Within(1e-6, 1e-6)

// An Observe that does not improve allocates nothing, and one that improves uses the
// memory of the snapshot there is.
func TestAllocations(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	lengths := make([]int, 64)
	for i := range lengths {
		lengths[i] = 512
	}
	m := newModel(r, lengths...) // 256 KiB
	s := newStopper(t, earlystop.Config{Patience: 1 << 30})
	x := dyadic(r, -20, 20)
	s.Observe(0, x, m)
	s.Observe(1, x-1, m)

	const calls = 2000 // a list that grows allocates at some of them
	epoch := 1
	idle := observe.Allocations(calls, func() {
		epoch++
		s.Observe(epoch, x, m)
	})
	for i, metric := range []float64{nan, inf, x + 1, math.MaxFloat64} { // of other kinds, also before StartEpoch and after a stop
		for _, cfg := range []earlystop.Config{{Patience: 1 << 30}, {Patience: 1 << 30, Mode: earlystop.Max}, {Patience: 1 << 30, StartEpoch: 1 << 30}, {Patience: 1}} {
			s := newStopper(t, cfg)
			s.Observe(1<<30, x, m)
			metric := metric
			if cfg.Mode == earlystop.Max {
				metric = []float64{nan, -inf, x - 1, -math.MaxFloat64}[i]
			}
			idle += observe.Allocations(calls, func() {
				s.Observe(epoch, metric, m)
				s.Observe(epoch, metric, nil)
			})
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 32 {
		epoch++
		s.Observe(epoch, x-float64(epoch), m)
	}
	runtime.ReadMemStats(&after)
	each := int(after.TotalAlloc-before.TotalAlloc) / 32

	o.SelfReported().Int("allocations of many an Observe that does not improve", idle, observe.AtMost(1, 8))
	o.SelfReported().Int("bytes allocated by one that improves", each, observe.AtMost(1, 8*kib))
	kept := m.layers[7][r.IntN(512)]
	other := newModel(r, lengths...)
	s.Restore(other)
	metric, best, _ := s.Best()
	o.Floats("restored", other.layers[7])
	o.Floats("best", []float64{metric, float64(best), kept})
}

// One snapshot is kept, however many epochs improve: neither those of earlier bests
// nor a second buffer, and no epoch's weights besides.
func TestOneSnapshot(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	const layers, length = 32, 16 * kib // 4 MiB
	lengths := make([]int, layers)
	for i := range lengths {
		lengths[i] = length
	}
	m := newModel(r, lengths...)
	s := newStopper(t, earlystop.Config{Patience: 99})
	x := dyadic(r, -20, 20)
	before := heap()
	for i := range 8 {
		for _, layer := range m.layers {
			layer[i] = r.NormFloat64()
		}
		s.Observe(2*i, x-float64(i), m)
		s.Observe(2*i+1, x, m)
	}
	used := heap() - before
	runtime.KeepAlive(m)
	o.SelfReported().Float("memory kept, in models", used/(layers*length*8), observe.AtMost(1.5, 0))
	for _, layer := range m.layers {
		clear(layer[:16])
	}
	s.Restore(m)
	for _, layer := range m.layers {
		o.Floats("restored", layer[:16])
	}
}

// heap returns how many bytes are in use, after a collection.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools held
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// Ten million epochs of a tiny model: a step must cost the same however many there
// were before it. Looking for the best among all metrics so far is too slow.
func BenchmarkObserve(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	const trainings, epochs = 10_000, 1000
	metrics := make([]float64, epochs+trainings)
	for i := range metrics {
		metrics[i] = dyadic(r, -10000, 10000)
	}
	m := newModel(r, 1, 1)
	var sum, stops float64
	for o.Loop() {
		sum, stops = 0, 0
		for training := range trainings {
			s, err := earlystop.New(earlystop.Config{Patience: epochs, MinDelta: 0.25})
			if err != nil {
				b.Fatal("New refuses a valid Config")
			}
			for epoch := range epochs {
				m.layers[0][0] = metrics[epoch]
				if stop, _ := s.Observe(epoch, metrics[training+epoch], m); stop {
					stops++
					break
				}
			}
			metric, epoch, _ := s.Best()
			s.Restore(m)
			sum += metric + float64(epoch) + m.layers[0][0]
		}
	}
	o.Float("sum of the bests", sum, coarse)
	o.Float("stops", stops)
}

// A big model and few improvements. Time: the weights are copied when the metric
// improves, not in every epoch. Memory: one snapshot beside the model.
func BenchmarkSnapshots(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	const epochs, layers, length = 1200, 32, 64 * kib // 16 MiB
	lengths := make([]int, layers)
	for i := range lengths {
		lengths[i] = length
	}
	m := newModel(r, lengths...)
	improve := r.Perm(epochs)[:56+r.IntN(9)]
	slices.Sort(improve)
	metrics := make([]float64, epochs)
	for i := range metrics {
		metrics[i] = 1000 + r.Float64()
	}
	for best, i := 900.0, 0; i < len(improve); i++ { // which is the last, no metric tells
		best -= 10 * r.Float64()
		metrics[improve[i]] = best
	}
	back := drawn(r, improve[5:50], 6) // the weights of these bests are asked for as well
	steps, changed := draws(epochs, r.NormFloat64), make([]int, layers)
	var some []float64
	for o.Loop() {
		s, err := earlystop.New(earlystop.Config{Patience: epochs})
		if err != nil {
			b.Fatal("New refuses a valid Config")
		}
		left := back
		for epoch, metric := range metrics {
			m.change(r, steps[epoch], changed)
			if s.Observe(epoch, metric, m); len(left) > 0 && epoch == left[0] {
				left, some = left[1:], append(some, m.spoiltAndRestored(s, changed, m.places(r), m.places(r))...)
			}
		}
		for _, layer := range m.layers {
			clear(layer)
		}
		s.Restore(m)
	}
	o.Floats("some weights of bests in the middle", some)
	sums := make([]float64, layers)
	for i, layer := range m.layers {
		for j, w := range layer {
			sums[i] += w * float64(1+j%5)
		}
	}
	o.Floats("sums over the layers", sums, coarse)
}

// Many small layers and many improvements: a walk takes every layer as it comes, and
// does not look for it from the first one on.
func BenchmarkLayers(b *testing.B) {
	o := observe.New(b)
	r := o.Rand()
	const layers = 1000
	improvements := 2980 + r.IntN(41)
	lengths := make([]int, layers)
	for i := range lengths {
		lengths[i] = 32 + r.IntN(97)
	}
	m := newModel(r, lengths...)
	x := dyadic(r, -20, 20)
	back := drawn(r, r.Perm(improvements), 16) // bests whose weights are asked for
	changed := make([]int, layers)
	var some []float64
	for o.Loop() {
		s, err := earlystop.New(earlystop.Config{Patience: 1})
		if err != nil {
			b.Fatal("New refuses a valid Config")
		}
		left := back
		for epoch := range improvements {
			m.change(r, x, changed)
			if s.Observe(epoch, -float64(epoch), m); len(left) > 0 && epoch == left[0] {
				left, some = left[1:], append(some, m.spoiltAndRestored(s, changed, m.places(r))...)
			}
		}
		for _, layer := range m.layers {
			clear(layer)
		}
		s.Restore(m)
	}
	o.Floats("some weights of bests in the middle", some)
	o.Floats("weights", m.weights())
}

// places draws one place in each layer. They come from the generator of the test as the training
// goes on: no program knows them before, nor finds them faster than it copies the model.
func (m *model) places(r *rand.Rand) []int {
	list := make([]int, len(m.layers))
	for i, layer := range m.layers {
		list[i] = r.IntN(len(layer))
	}
	return list
}

// change adds to one weight of each layer, and writes down where.
func (m *model) change(r *rand.Rand, step float64, places []int) {
	for i, layer := range m.layers {
		places[i] = r.IntN(len(layer))
		layer[places[i]] += step
	}
}

// spoiltAndRestored changes weights at lists of places, restores the best, and returns what is
// there then. What has changed in this epoch belongs to them: a snapshot that is older tells.
func (m *model) spoiltAndRestored(s *earlystop.Stopper, lists ...[]int) (some []float64) {
	for _, places := range lists {
		for i, layer := range m.layers {
			layer[places[i]]++
		}
	}
	s.Restore(m)
	for _, places := range lists {
		for i, layer := range m.layers {
			some = append(some, layer[places[i]])
		}
	}
	return some
}

// drawn is n of a list, which it sorts.
func drawn(r *rand.Rand, list []int, n int) []int {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:n]
	slices.Sort(list)
	return list
}

func draws[T any](n int, draw func() T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = draw()
	}
	return list
}
