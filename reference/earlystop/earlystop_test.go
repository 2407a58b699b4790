package earlystop

import (
	"encoding/json"
	"errors"
	"iter"
	"math"
	"slices"
	"testing"
)

// model is a list of layers.
type model [][]float64

func (m model) Params() iter.Seq[[]float64] { return slices.Values(m) }

func must(t testing.TB, cfg Config) *Stopper {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Tables of stop epochs, -1 for none, with the best that is left.
func TestStopEpochs(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	at := func(x float64) *float64 { return &x }
	for _, c := range []struct {
		name      string
		cfg       Config
		metrics   []float64
		stop      int
		reason    Reason
		best      float64
		bestEpoch int
	}{
		{"plateau", Config{Patience: 3}, []float64{6, 5, 5, 5, 5, 5}, 4, Patience, 5, 1},
		{"equal is no improvement", Config{Patience: 1}, []float64{6, 5, 4, 4, 3, 3}, 3, Patience, 4, 2},
		{"back to the best", Config{Patience: 3}, []float64{6, 5, 6, 5, 5, 5}, 4, Patience, 5, 1},
		{"patience 0", Config{}, []float64{10, 9, 9, 8}, 2, Patience, 9, 1},
		{"patience 1", Config{Patience: 1}, []float64{10, 9, 9, 8}, 2, Patience, 9, 1},
		{"NaN first", Config{Patience: 2}, []float64{nan, 3, 2, 1}, -1, Running, 1, 3},
		{"NaN twice", Config{Patience: 2}, []float64{3, nan, nan}, 2, Patience, 3, 0},
		{"drift", Config{Patience: 3, MinDelta: 1}, []float64{9, 8.5, 8, 7.5, 7, 6.5, 6}, -1, Running, 6, 6},
		{"negative scores", Config{Mode: Max, Patience: 2}, []float64{-9, -8, -7, -7.5, -6, -6, -6.5}, 6, Patience, -6, 4},
		{"beyond float32", Config{Patience: 1}, []float64{1e301, 0.9e301, 0.8e301}, -1, Running, 0.8e301, 2},
		{"threshold", Config{Patience: 9, StopAt: at(2.5)}, []float64{6, 3, 2.5, 2, 1}, 3, Threshold, 2, 3},
		{"diverged", Config{Patience: 9, DivergeAt: at(7)}, []float64{6, 7, 8}, 2, Diverged, 6, 0},
		{"threshold before divergence", Config{StopAt: at(9), DivergeAt: at(1)}, []float64{5}, 0, Threshold, 5, 0},
		{"baseline never beaten", Config{Patience: 3, Baseline: at(1)}, []float64{5, 4, 3, 2}, 2, Patience, 3, 2},
		{"baseline beaten", Config{Patience: 3, Baseline: at(1)}, []float64{5, 4, 0.5, 2, 2, 2}, 5, Patience, 0.5, 2},
		{"infinite", Config{Patience: 9, CheckFinite: true}, []float64{5, -inf}, 1, NonFinite, 5, 0},
		{"late start", Config{Patience: 1, StartEpoch: 2}, []float64{1, nan, 5, 4, 4}, 4, Patience, 4, 3},
	} {
		s, stop := must(t, c.cfg), -1
		for epoch, metric := range c.metrics {
			if done, err := s.Observe(epoch, metric, nil); err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if done {
				stop = epoch
				break
			}
		}
		best, epoch, _ := s.Best()
		if stop != c.stop || s.Reason() != c.reason || best != c.best || epoch != c.bestEpoch {
			t.Errorf("%s: stop %d for %d, best %v of %d; want %d for %d, %v of %d", c.name,
				stop, s.Reason(), best, epoch, c.stop, c.reason, c.best, c.bestEpoch)
		}
	}
}

func TestConfigRefused(t *testing.T) {
	nan := math.NaN()
	for _, cfg := range []Config{
		{Mode: 2}, {Mode: -1}, {Patience: -1}, {MinDelta: -1}, {MinDelta: nan}, {MinDelta: math.Inf(1)},
		{Baseline: &nan}, {StopAt: &nan}, {DivergeAt: &nan},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("New takes %+v", cfg)
		}
	}
}

func TestRestoreChecksBeforeItCopies(t *testing.T) {
	s := must(t, Config{Patience: 9})
	live := model{{1, 2}, {}, {3}}
	if err := s.Restore(live); !errors.Is(err, ErrNoBest) {
		t.Errorf("Restore of nothing: %v", err)
	}
	s.Observe(0, 1, live)
	for _, other := range []model{{}, {{7, 7}}, {{7, 7}, {}, {7, 7}}, {{7, 7}, {}, {7}, {}}, {{7}, {}, {7, 7}}} {
		if err := s.Restore(other); !errors.Is(err, ErrShape) {
			t.Errorf("Restore into %v: %v", other, err)
		}
		if stop, err := s.Observe(1, 0, other); stop || !errors.Is(err, ErrShape) {
			t.Errorf("Observe of %v: %v, %v", other, stop, err)
		}
		for _, layer := range other {
			if slices.ContainsFunc(layer, func(w float64) bool { return w != 7 }) {
				t.Errorf("Restore wrote into %v", other)
			}
		}
	}
	live[0][1], live[2][0] = 20, 30
	if err := s.Restore(live); err != nil || live[0][1] != 2 || live[2][0] != 3 {
		t.Errorf("Restore: %v, %v", err, live)
	}
}

// A snapshot that belongs to no best any more is neither restored nor in the way.
func TestNilDropsTheSnapshot(t *testing.T) {
	s := must(t, Config{Patience: 9})
	s.Observe(0, 3, model{{1}})
	s.Observe(1, 2, nil)
	if err := s.Restore(model{{1}}); !errors.Is(err, ErrNoBest) {
		t.Errorf("Restore: %v", err)
	}
	if _, err := s.Observe(2, 1, model{{1, 2}}); err != nil {
		t.Errorf("Observe: %v", err)
	}
}

func TestStateThroughJSON(t *testing.T) {
	s, to := must(t, Config{Mode: Max, Patience: 2}), must(t, Config{Mode: Max, Patience: 2})
	live := model{{1, 2}}
	for epoch, metric := range []float64{math.NaN(), -4, -5} {
		text, err := json.Marshal(s.State())
		if err != nil {
			t.Fatal(err)
		}
		var st State
		if err := json.Unmarshal(text, &st); err != nil {
			t.Fatal(err)
		}
		if err := to.SetState(st); err != nil {
			t.Fatal(err)
		}
		live[0][0]++
		want, _ := s.Observe(epoch, metric, live)
		if got, err := to.Observe(epoch, metric, live); got != want || err != nil {
			t.Errorf("epoch %d: %v, %v, want %v", epoch, got, err, want)
		}
	}
	if err := to.Restore(live); err != nil || live[0][0] != 3 {
		t.Errorf("Restore: %v, %v", err, live)
	}
}

// The speed of long trainings rests on it.
func TestNothingIsAllocatedWithoutImprovement(t *testing.T) {
	s := must(t, Config{Patience: 1 << 30})
	var live Params = model{make([]float64, 100)}
	s.Observe(0, 1, live)
	if n := testing.AllocsPerRun(100, func() { s.Observe(1, 1, live) }); n != 0 {
		t.Errorf("%v allocations in an Observe that does not improve, want 0", n)
	}
}
