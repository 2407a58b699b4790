package sampler

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// These tests show the idea, by examples of README.md. The hidden ones check all
// of it, with inputs that are new each time.

func equal(t *testing.T, name string, got, want []float64) {
	t.Helper()
	near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9 }
	if !slices.EqualFunc(got, want, near) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

func TestBalance(t *testing.T) {
	labels := []string{"a", "a", "a", "a", "b"}
	equalized, err := Balance(labels, 0)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "q 0", equalized, []float64{1. / 8, 1. / 8, 1. / 8, 1. / 8, 1. / 2})
	roots, _ := Balance(labels, 0.5)
	equal(t, "q 1/2", roots, []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 3})
	asItIs, _ := Balance(labels, 1)
	equal(t, "q 1", asItIs, []float64{.2, .2, .2, .2, .2})
	if _, err := Balance(labels, 1.5); !errors.Is(err, ErrPower) {
		t.Errorf("q 1.5: got the error %v", err)
	}
}

// shares draws many times and returns how often each index came.
func shares(n int, draw func() int) []float64 {
	const draws = 100_000
	s := make([]float64, n)
	for range draws {
		s[draw()] += 1. / draws
	}
	return s
}

func near(t *testing.T, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 0.01 {
			t.Fatalf("shares: got %.3f, want %.3f", got, want)
		}
	}
}

func TestTable(t *testing.T) {
	table, err := NewTable([]float64{0, 3, 0, 1, 4})
	if err != nil || table == nil {
		t.Fatalf("NewTable: %v, %v", table, err)
	}
	if table.Len() != 5 || table.Prob(4) != 0.5 || table.Prob(5) != 0 {
		t.Errorf("Len %d, Prob(4) %v, Prob(5) %v", table.Len(), table.Prob(4), table.Prob(5))
	}
	r := rand.New(rand.NewPCG(1, 2))
	near(t, shares(5, func() int { return table.Draw(r) }), []float64{0, .375, 0, .125, .5})
	for _, bad := range [][]float64{nil, {0, 0}, {1, -1}, {1, math.NaN()}, {math.Inf(1)}} {
		if table, err := NewTable(bad); table != nil || !errors.Is(err, ErrWeights) {
			t.Errorf("weights %v: %v, %v", bad, table, err)
		}
	}
}

// Index 0 comes first half of the time, and then 1 is twice as likely as 2.
func TestDistinct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	near(t, shares(9, func() int {
		pair, err := Distinct([]float64{3, 2, 1}, 2, r)
		if err != nil || len(pair) != 2 {
			t.Fatalf("got %v, %v", pair, err)
		}
		return 3*pair[0] + pair[1]
	}), []float64{0, 2. / 6, 1. / 6, 3. / 12, 0, 1. / 12, 3. / 30, 2. / 30, 0})
	if _, err := Distinct([]float64{3, 0, 1}, 3, r); !errors.Is(err, ErrSamples) {
		t.Errorf("3 of 2: got the error %v", err)
	}
}

// epoch is the share of a rank.
func epoch(t *testing.T, cfg Config) []int {
	t.Helper()
	cfg.Weights, cfg.Samples = []float64{5, 1, 1, 3, 0, 2, 2}, 5
	s, err := New(cfg)
	if err != nil || s == nil {
		t.Fatalf("New: %v, %v", s, err)
	}
	indices := slices.Collect(s.Epoch(4))
	if s.Len() != len(indices) {
		t.Errorf("Len is %d, and there were %d indices", s.Len(), len(indices))
	}
	return indices
}

func TestShares(t *testing.T) {
	for _, replacement := range []bool{false, true} {
		list := epoch(t, Config{Replacement: replacement, Ranks: 1})
		if len(list) != 5 {
			t.Fatalf("got the list %v", list)
		}
		want := [][]int{{list[0], list[3]}, {list[1], list[4]}, {list[2], list[0]}}
		for rank := range want {
			padded := epoch(t, Config{Replacement: replacement, Ranks: 3, Rank: rank})
			dropped := epoch(t, Config{Replacement: replacement, Ranks: 3, Rank: rank, DropLast: true})
			if !slices.Equal(padded, want[rank]) || !slices.Equal(dropped, want[rank][:1]) {
				t.Errorf("list %v, rank %d: got %v and %v", list, rank, padded, dropped)
			}
		}
	}
}
