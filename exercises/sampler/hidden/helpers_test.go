// Package hidden holds the hidden tests of the sampler exercise. What is drawn is for
// each solution to choose, so the tests count it, and record how far the counts are
// from what they should be; what every right solution must agree in they record as it
// is. The doc comment of a test is what a student is told when it fails, so it names
// the rule and never the input.
package hidden

import (
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/sampler"
)

// config is Config under a shorter name.
type config = sampler.Config

// relative is how exactly numbers that have any size are compared: 9 digits, or what
// is below 10⁻²⁹⁰.
var relative = observe.Within(1e-290, 1e-9)

// chance is a generator for solutions to draw from: how much they take of it must not
// change what the tests go on with.
func chance(r *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(r.Uint64(), r.Uint64())) }

// below draws a number from lo to hi, both included.
func below(r *rand.Rand, lo, hi int) int { return lo + r.IntN(hi-lo+1) }

// positive draws n weights above 0, of which none is drawn hardly ever.
func positive(r *rand.Rand, n int) []float64 {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 0.5 + 2*r.Float64()
	}
	return weights
}

// holes draws n weights above 0 with some of 0 before, between and behind them.
func holes(r *rand.Rand, n int) []float64 {
	var weights []float64
	for _, w := range positive(r, n) {
		weights = append(weights, make([]float64, 1+r.IntN(2))...)
		weights = append(weights, w)
	}
	return append(weights, make([]float64, 1+r.IntN(2))...)
}

// scaled returns the weights times factor.
func scaled(weights []float64, factor float64) []float64 {
	s := slices.Clone(weights)
	for i := range s {
		s[i] *= factor
	}
	return s
}

// equals returns n equal weights.
func equals(n int) []float64 { return slices.Repeat([]float64{1}, n) }

func newTable(t testing.TB, weights []float64) *sampler.Table {
	t.Helper()
	table, err := sampler.NewTable(weights)
	if err != nil || table == nil {
		t.Fatalf("NewTable: a table is %v, error %v", table != nil, err)
	}
	return table
}

func newSampler(t testing.TB, cfg config) *sampler.Sampler {
	t.Helper()
	s, err := sampler.New(cfg)
	if err != nil || s == nil {
		t.Fatalf("New: a sampler is %v, error %v", s != nil, err)
	}
	return s
}

func distinct(t testing.TB, weights []float64, k int, g *rand.Rand) []int {
	t.Helper()
	indices, err := sampler.Distinct(weights, k, g)
	if err != nil || len(indices) != k {
		t.Fatalf("Distinct: %d indices of %d, error %v", len(indices), k, err)
	}
	return indices
}

// list is the list of an epoch, which one rank has for itself. One that is too long is
// cut.
func list(t testing.TB, cfg config, epoch int) []int {
	t.Helper()
	cfg.Ranks, cfg.Rank = 1, 0
	indices := first(newSampler(t, cfg).Epoch(epoch), cfg.Samples+1)
	if len(indices) != cfg.Samples {
		t.Fatalf("an epoch of %d samples has %d indices, for one rank", cfg.Samples, len(indices))
	}
	return indices
}

// first returns the first n of seq, or all, or none if n is below 1.
func first(seq iter.Seq[int], n int) (indices []int) {
	if n < 1 {
		return nil
	}
	for i := range seq {
		if indices = append(indices, i); len(indices) == n {
			break
		}
	}
	return indices
}

// tally counts outcomes: an index, or several after each other.
type tally struct {
	weights []float64
	counts  []float64
	outside int // indices that there are not
	n       int
}

// newTally counts outcomes of so many indices each.
func newTally(weights []float64, indices int) *tally {
	return &tally{weights: weights, counts: make([]float64, int(math.Pow(float64(len(weights)), float64(indices))))}
}

func (c *tally) add(indices ...int) {
	c.n++
	at := 0
	for _, i := range indices {
		if i < 0 || i >= len(c.weights) {
			c.outside++
			return
		}
		at = at*len(c.weights) + i
	}
	c.counts[at]++
}

// observe records χ² of the counts, and how many were of outcomes that cannot come. prob
// is the probability of an outcome.
func (c *tally) observe(o *observe.Observer, name string, prob func(at int) float64) {
	impossible, possible, sum := float64(c.outside), 0, 0.0
	for at, count := range c.counts {
		p := prob(at)
		if p == 0 {
			impossible += count
			continue
		}
		possible++
		expected := p * float64(c.n)
		if expected < 20 {
			panic("an outcome is expected too rarely to be counted")
		}
		sum += (count - expected) * (count - expected) / expected
	}
	o.Int("what cannot come: "+name, int(impossible))
	f := float64(possible - 1)
	o.Float("chi-square: "+name, sum, observe.AtMost(0, bound(f, 6)))
	o.Float("chi-square: "+name+": too small by", max(0, bound(f, -6)-sum))
}

// bound is where χ² of f degrees of freedom is so many standard deviations out, by the
// approximation of Wilson and Hilferty. Six of them below it there is nothing if f is
// small: the bound is below 0 then.
func bound(f, deviations float64) float64 {
	v := 2 / (9 * f)
	return f * math.Pow(1-v+deviations*math.Sqrt(v), 3)
}

// total is the sum of the weights of this tally, which are of ordinary size.
func (c *tally) total() (sum float64) {
	for _, w := range c.weights {
		sum += w
	}
	return sum
}

// independent records a tally of indices of which each is drawn from all weights.
func (c *tally) independent(o *observe.Observer, name string) {
	total, n := c.total(), len(c.weights)
	c.observe(o, name, func(at int) float64 {
		p := 1.0
		for cells := len(c.counts); cells > 1; cells /= n {
			p *= c.weights[at%n] / total
			at /= n
		}
		return p
	})
}

// without records a tally of indices of which each is drawn from the weights that those
// before it have left.
func (c *tally) without(o *observe.Observer, name string) {
	n := len(c.weights)
	c.observe(o, name, func(at int) float64 {
		p, left := 1.0, c.total()
		seen := map[int]bool{}
		for cells := len(c.counts) / n; cells >= 1; cells /= n {
			i := at / cells % n
			if seen[i] {
				return 0
			}
			seen[i] = true
			p *= c.weights[i] / left
			left -= c.weights[i]
		}
		return p
	})
}

// dyadic are weights that add up and are taken away without rounding.
func dyadic(r *rand.Rand, n int) []float64 {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = float64(below(r, 32, 192)) / 64
	}
	return weights
}
