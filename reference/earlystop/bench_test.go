package earlystop

import (
	"math"
	"slices"
	"testing"
)

// watcher is what the contenders are measured by. The others are what people
// write: right where the benchmarks look, or nearly, and without the edges.
type watcher interface {
	Observe(epoch int, metric float64, m Params) (stop bool, err error)
	Restore(m Params) error
}

// everyEpoch looks for the best in a history, and copies the model in every epoch.
type everyEpoch struct {
	patience int
	history  []float64
	last     [][]float64
	best     [][]float64
}

func (s *everyEpoch) Observe(_ int, metric float64, m Params) (bool, error) {
	s.last = nil
	for layer := range m.Params() {
		s.last = append(s.last, slices.Clone(layer))
	}
	s.history = append(s.history, metric)
	least := 0
	for i, x := range s.history {
		if x < s.history[least] {
			least = i
		}
	}
	if least == len(s.history)-1 {
		s.best = s.last
	}
	return len(s.history)-1-least >= max(1, s.patience), nil
}

func (s *everyEpoch) Restore(m Params) error { return restore(s.best, m) }

// cloned copies on improvement only, into new memory for every layer.
type cloned struct {
	patience, wait int
	best           float64
	weights        [][]float64
}

func (s *cloned) Observe(_ int, metric float64, m Params) (bool, error) {
	if metric < s.best {
		s.best, s.wait, s.weights = metric, 0, nil
		for layer := range m.Params() {
			s.weights = append(s.weights, slices.Clone(layer))
		}
		return false, nil
	}
	s.wait++
	return s.wait >= s.patience, nil
}

func (s *cloned) Restore(m Params) error { return restore(s.weights, m) }

func restore(from [][]float64, m Params) error {
	i := 0
	for layer := range m.Params() {
		copy(layer, from[i])
		i++
	}
	return nil
}

// contenders makes one of each; the strongest alternative last.
var contenders = []struct {
	name string
	make func(patience int) watcher
}{
	{"reference", func(patience int) watcher {
		s, err := New(Config{Patience: patience})
		if err != nil {
			panic(err)
		}
		return s
	}},
	{"naive", func(patience int) watcher { return &everyEpoch{patience: patience} }},
	{"cloned", func(patience int) watcher { return &cloned{patience: patience, best: math.Inf(1)} }},
}

// training shows the metrics to a new watcher of each kind.
func training(b *testing.B, m model, metrics []float64) {
	var p Params = m // once: the conversion allocates
	for _, c := range contenders {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := c.make(len(metrics))
				for epoch, metric := range metrics {
					m[0][0] = metric
					s.Observe(epoch, metric, p)
				}
				if err := s.Restore(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// layered is a model of n layers of the same length.
func layered(n, length int) model {
	m := make(model, n)
	for i := range m {
		m[i] = make([]float64, length)
	}
	return m
}

// improving is n metrics, of which every step-th improves.
func improving(n, step int) []float64 {
	metrics := make([]float64, n)
	for i := range metrics {
		metrics[i] = math.Inf(1)
		if i%step == 0 {
			metrics[i] = -float64(i)
		}
	}
	return metrics
}

// A long training of a tiny model.
func BenchmarkEpochs(b *testing.B) { training(b, layered(2, 1), improving(5000, 1000)) }

// A model of 16 MiB, and one improvement in twenty epochs.
func BenchmarkSnapshots(b *testing.B) { training(b, layered(32, 64<<10), improving(100, 20)) }

// A model of many small layers that improves in every epoch.
func BenchmarkLayers(b *testing.B) { training(b, layered(500, 4), improving(500, 1)) }
