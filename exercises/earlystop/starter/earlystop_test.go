package earlystop

import (
	"errors"
	"iter"
	"math"
	"slices"
	"testing"
)

// These tests show the idea, by examples of README.md. The hidden ones check all
// of it, with numbers that are new each time.

// model is a list of layers.
type model [][]float64

func (m model) Params() iter.Seq[[]float64] { return slices.Values(m) }

// watch shows the metrics to a new Stopper until it stops, and returns it with
// the index of the last metric shown; -1 if it never stops.
func watch(t *testing.T, cfg Config, metrics ...float64) (*Stopper, int) {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for epoch, metric := range metrics {
		stop, err := s.Observe(epoch, metric, nil)
		if err != nil {
			t.Fatal(err)
		}
		if stop {
			return s, epoch
		}
	}
	return s, -1
}

func wantBest(t *testing.T, s *Stopper, metric float64, epoch int) {
	t.Helper()
	if m, e, ok := s.Best(); m != metric || e != epoch || !ok {
		t.Errorf("best is %v of epoch %d (%v), want %v of epoch %d", m, e, ok, metric, epoch)
	}
}

func TestStopsAfterPatience(t *testing.T) {
	s, at := watch(t, Config{Patience: 2}, 5, 4, 4.5, 3, 3.5, 3, 1)
	if at != 5 || s.Reason() != Patience {
		t.Errorf("stopped at %d for reason %d, want 5 for Patience", at, s.Reason())
	}
	wantBest(t, s, 3, 3)
}

// The example that catches many first attempts: scores below 0.
func TestNegativeScores(t *testing.T) {
	s, at := watch(t, Config{Mode: Max, Patience: 2}, -5, -4, -3, -3.5, -6, -1)
	if at != 4 {
		t.Errorf("stopped at %d, want 4", at)
	}
	wantBest(t, s, -3, 2)
}

// Steps of exactly MinDelta are too small, but they add up.
func TestSmallSteps(t *testing.T) {
	s, at := watch(t, Config{Patience: 9, MinDelta: 0.5}, 3, 2.5, 2.25, 2, 1.75)
	if at != -1 {
		t.Errorf("stopped at %d, want not at all", at)
	}
	wantBest(t, s, 2.25, 2)
}

func TestNaNIsNoProgress(t *testing.T) {
	nan := math.NaN()
	s, at := watch(t, Config{Patience: 2}, 3, nan, nan, nan)
	if at != 2 {
		t.Errorf("stopped at %d, want 2", at)
	}
	wantBest(t, s, 3, 0)
}

// The other example: the weights go on changing in the same arrays.
func TestRestore(t *testing.T) {
	s, err := New(Config{Patience: 5})
	if err != nil {
		t.Fatal(err)
	}
	weights := []float64{1, 2}
	m := model{weights, {3}}
	if err := s.Restore(m); !errors.Is(err, ErrNoBest) {
		t.Errorf("Restore of nothing returns %v, want ErrNoBest", err)
	}
	s.Observe(0, 7, m)
	weights[0] = 10
	s.Observe(1, 6, m) // the best
	weights[0] = 20
	s.Observe(2, 8, m)
	for range 2 {
		if err := s.Restore(m); err != nil || weights[0] != 10 {
			t.Errorf("Restore returns %v, and the first weight is %v, want 10", err, weights[0])
		}
		weights[0] = 30
	}
	other := model{{1}, {2, 3}}
	if err := s.Restore(other); !errors.Is(err, ErrShape) || other[0][0] != 1 {
		t.Errorf("Restore into other layers returns %v and leaves %v", err, other)
	}
}
