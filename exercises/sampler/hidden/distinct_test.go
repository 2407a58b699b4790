package hidden

import (
	"maps"
	"math"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/sampler"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// apart records whether indices differ and are of weights above 0.
func apart(o *observe.Observer, name string, weights []float64, indices []int) {
	seen, wrong := map[int]bool{}, 0
	for _, i := range indices {
		if i < 0 || i >= len(weights) || weights[i] == 0 || seen[i] {
			wrong++
		}
		seen[i] = true
	}
	o.Int(name+": indices", len(indices))
	o.Int(name+": drawn twice, or not to be drawn", wrong)
}

// The indices differ, each is drawn in proportion to its weight among those that are left,
// and they come in the order in which they were drawn. No later call changes a list (rule 13).
func TestDistinct(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	for _, weights := range [][]float64{dyadic(r, 2), dyadic(r, 3), dyadic(r, 5), equals(4), {6, 1, 1, 1}, dyadic(r, below(r, 4, 7))} {
		n := len(weights)
		k := below(r, 2, n)
		one, two := newTally(weights, 1), newTally(weights, 2)
		for range 30_000 {
			indices := distinct(t, weights, k, g)
			one.add(indices[0])
			two.add(indices[:2]...)
		}
		one.independent(o, "the first")
		two.without(o, "the first two")
	}
	for _, n := range []int{3, 4} {
		weights := dyadic(r, n)
		alone, three := newTally(weights, 1), newTally(weights, 3)
		for range 30_000 {
			alone.add(distinct(t, weights, 1, g)...)
			three.add(distinct(t, weights, 3, g)...)
		}
		alone.independent(o, "one alone")
		three.without(o, "three")
	}
	alike := make([]float64, 5)
	for i := range alike {
		alike[i] = float64(below(r, 64, 128)) / 64
	}
	four := newTally(alike, 4)
	for range 30_000 {
		four.add(distinct(t, alike, 5, g)[:4]...)
	}
	four.without(o, "all but the last")
	weights := positive(r, 100)
	one := newTally(weights, 1)
	for range 16_000 {
		one.add(distinct(t, weights, 3, g)[0])
	}
	one.independent(o, "the first of many")
	for range 20 {
		weights := positive(r, below(r, 2, 5))
		stays(t, o, "few", weights, len(weights), 5)
	}
	for _, k := range []int{1, below(r, 30, 300), 1100, 5000, 70_000} {
		stays(t, o, "of any length", positive(r, k+below(r, 1, 30)), k, 2)
	}
	for range 20 {
		weights := positive(r, below(r, 30, 300))
		apart(o, "many", weights, distinct(t, weights, below(r, 2, len(weights)), g))
		all := distinct(t, weights, len(weights), g)
		slices.Sort(all)
		o.Ints("all of them, sorted", all)
	}
	for _, k := range []int{100, 5000, 70_000} { // of equal weights, an index is above the one before as often as below
		for _, scale := range []float64{1, 1e300} {
			indices, up := distinct(t, scaled(equals(k+k/2), scale), k, g), 0
			for i := range indices[1:] {
				if indices[i] < indices[i+1] {
					up++
				}
			}
			// Of a random order it is (k-1)/2, with a variance of (k+1)/12: this is right in all
			// but one of 10⁸ gradings.
			most := 6 * math.Sqrt(float64(k+1)/12)
			o.Bool("half of them are above the one before", math.Abs(float64(up)-float64(k-1)/2) < most)
		}
	}
}

// stays records whether a list of k indices stays as it is when so many others are drawn.
func stays(t *testing.T, o *observe.Observer, name string, weights []float64, k, others int) {
	t.Helper()
	g := chance(o.Rand())
	kept := distinct(t, weights, k, g)
	longer := append(kept, -7)
	before := slices.Clone(longer)
	for range others {
		distinct(t, weights, k, g)
	}
	apart(o, name, weights, kept)
	o.Bool("as they were after other calls", slices.Equal(kept, before[:k]))
	o.Bool("what was appended is as it was after other calls", longer[k] == -7)
}

// k may be 0 and up to the number of weights above 0; below and above that it is
// ErrSamples and nil. Weights that are not allowed are ErrWeights (rules 5 and 14).
func TestDistinctErrors(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	for range 10 {
		n := below(r, 1, 9)
		weights := holes(r, n)
		for _, k := range []int{0, 1, n - 1, n, n + 1, len(weights), len(weights) + 1, -1, math.MinInt, math.MaxInt, 1 << 32} {
			indices, err := sampler.Distinct(weights, k, g)
			o.Error("error", err, sampler.ErrSamples, sampler.ErrWeights)
			o.Int("indices", len(indices))
		}
		for _, k := range []int{n + 1, -1, math.MinInt, math.MaxInt, 1 << 32} {
			none, err := sampler.Distinct(weights, k, g)
			o.Error("too few or too many", err, sampler.ErrSamples, sampler.ErrWeights)
			o.Bool("too few or too many: indices", none != nil)
		}
	}
	bad := refused(r)
	for _, name := range sorted(bad) {
		indices, err := sampler.Distinct(bad[name], 0, g)
		o.Error(name, err, sampler.ErrWeights)
		o.Bool(name+": indices", indices != nil)
	}
}

// Of weight 0 none is drawn, also if all others are, and also if r gives numbers that are
// hardly ever seen (rules 10 and 15).
func TestDistinctZeroWeights(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	for range 10 {
		n := below(r, 2, 12)
		weights := holes(r, n)
		all := distinct(t, weights, n, g)
		slices.Sort(all)
		o.Ints("all that can be drawn, sorted", all)
		apart(o, "but one", weights, distinct(t, weights, n-1, g))
		for _, g := range unlikelies(r) {
			apart(o, "numbers hardly ever seen", weights, distinct(t, weights, below(r, 1, n), g))
		}
	}
	weights := holes(r, 3)
	weights[0] = math.Copysign(0, -1)
	one := newTally(weights, 1)
	for range 20_000 {
		one.add(distinct(t, weights, below(r, 1, 2), g)[0])
	}
	one.independent(o, "the first")
}

// Weights have any size from 10⁻³⁰⁰ to the largest float64, also side by side: when those
// that are large are gone, the small ones count among themselves, however many are drawn (rules 6
// and 15).
func TestDistinctMagnitudes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	for _, scale := range scales {
		weights := append(dyadic(r, 2), 3, 3)
		one, two := newTally(weights, 1), newTally(weights, 2)
		for i := range 12_000 {
			if i%4 == 0 {
				one.add(distinct(t, scaled(weights, scale), 1, g)...)
			}
			two.add(distinct(t, scaled(weights, scale), 2+i%3, g)[:2]...)
		}
		one.independent(o, "one alone of one size")
		two.without(o, "all of one size")
	}
	for _, scale := range scales[:2] { // of many too, of which few are drawn
		m := below(r, 40, 60)
		weights, quarter := scaled(equals(4*m), scale), newTally(equals(4), 1)
		for i := range 2000 {
			quarter.add(distinct(t, weights, 1+i%4, g)[0] / m)
		}
		quarter.independent(o, "the first of many of one size")
	}
	manyDistinct(t, o)
	for _, c := range []struct{ large, scale float64 }{{1e15, 1}, {1e17, 1}, {1e300, 1}, {math.MaxFloat64, 1}, {1e300, 1e-290}, {math.MaxFloat64, 1e-299}} {
		small := dyadic(r, 4)
		weights, at := scaled(small, c.scale), r.IntN(5)
		weights = slices.Insert(weights, at, c.large)
		two, notFirst := newTally(small, 2), 0
		for i := range 12_000 {
			indices := distinct(t, weights, 3+i%3, g)
			if indices[0] != at || i < 500 && distinct(t, weights, 1+i%2, g)[0] != at {
				notFirst++
			}
			indices = indices[:3]
			for j := range indices {
				if indices[j] > at {
					indices[j]--
				}
			}
			two.add(indices[1:]...)
		}
		o.Int("large ones that do not come first", notFirst)
		two.without(o, "small ones after a large one")
	}
	decades := make([]float64, below(r, 9, 12)) // the least is 0 beside the largest
	order := r.Perm(len(decades))
	for rank, i := range order {
		decades[i] = math.Ldexp(1, 1000-rank*175)
	}
	for i := range 50 {
		o.Ints("each far above the next", distinct(t, decades, 1+i%len(decades), g))
	}
	for _, factor := range anyFactors(r) {
		epochsWithout(o, scaled(equals(5), factor), 0)
	}
	epochsWithout(o, append([]float64{math.Ldexp(1, below(r, 60, 1000))}, equals(5)...), 1)
}

// manyDistinct is about few of thousands of weights of any one size: so few that those that are gone
// do not change what is left.
func manyDistinct(t *testing.T, o *observe.Observer) {
	t.Helper()
	r := o.Rand()
	for _, scale := range []float64{scales[0], scales[len(scales)-1]} {
		four, weights := fours(r, below(r, 1500, 2000), scale)
		g := chance(r)
		var draws, lists []int
		for range 10 {
			draws = append(draws, distinct(t, weights, 100, g)...)
		}
		byFours(o, "many of one size", four, draws)
		epochs(o, config{Weights: weights, Samples: 100}, 10, func(list []int) { lists = append(lists, list...) })
		byFours(o, "epochs of many of one size", four, lists)
	}
}

// epochsWithout counts what stands first and second in lists without replacement, or what does
// behind the first large weights. The other weights are equal.
func epochsWithout(o *observe.Observer, weights []float64, large int) {
	one, two := newTally(equals(len(weights)-large), 1), newTally(equals(len(weights)-large), 2)
	epochs(o, config{Weights: weights, Samples: large + 1}, 500, func(list []int) {
		one.add(list[large] - large)
	})
	epochs(o, config{Weights: weights, Samples: large + 2}, 1000, func(list []int) {
		two.add(list[large]-large, list[large+1]-large)
	})
	if one.n > 250 && two.n > 500 { // else there is nothing to count, which is for others
		one.independent(o, "epochs of any size, one index")
		two.without(o, "epochs of any size")
	}
}
