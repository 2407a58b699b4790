package hidden

import (
	"math"
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

	epoch := 1
	idle := testing.AllocsPerRun(500, func() {
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
			idle += testing.AllocsPerRun(50, func() {
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

	o.SelfReported().Float("allocations of an Observe that does not improve", idle, observe.AtMost(1, 0))
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
	back := improve[10+r.IntN(30)] // the weights of this best are asked for as well
	places := draws(16, func() int { return r.IntN(length) })
	steps := draws(epochs, r.NormFloat64)
	var some []float64
	for o.Loop() {
		s, err := earlystop.New(earlystop.Config{Patience: epochs})
		if err != nil {
			b.Fatal("New refuses a valid Config")
		}
		for epoch, metric := range metrics {
			for i, layer := range m.layers {
				layer[(epoch*7919+i)%length] += steps[epoch]
			}
			if s.Observe(epoch, metric, m); epoch == back {
				some = m.spoiltAndRestored(s, places)
			}
		}
		for _, layer := range m.layers {
			clear(layer)
		}
		s.Restore(m)
	}
	o.Floats("some weights of a best in the middle", some)
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
	back := draws(16, func() int { return r.IntN(improvements) }) // bests whose weights are asked for
	slices.Sort(back)
	var some []float64
	for o.Loop() {
		s, err := earlystop.New(earlystop.Config{Patience: 1})
		if err != nil {
			b.Fatal("New refuses a valid Config")
		}
		left := slices.Compact(slices.Clone(back))
		for epoch := range improvements {
			m.layers[epoch%layers][0] += x
			if s.Observe(epoch, -float64(epoch), m); len(left) > 0 && epoch == left[0] {
				left, some = left[1:], append(some, m.spoiltAndRestored(s, []int{0, epoch})...)
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

// spoiltAndRestored changes weights, one of each layer at each of the places, restores the best,
// and returns what is there then.
func (m *model) spoiltAndRestored(s *earlystop.Stopper, places []int) (some []float64) {
	for _, at := range places {
		for _, layer := range m.layers {
			layer[at%len(layer)]++
		}
	}
	s.Restore(m)
	for _, at := range places {
		for _, layer := range m.layers {
			some = append(some, layer[at%len(layer)])
		}
	}
	return some
}

func draws[T any](n int, draw func() T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = draw()
	}
	return list
}
