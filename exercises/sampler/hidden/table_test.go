package hidden

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grade/observe"
	"grade/reference/sampler"
)

// Len is the number of weights, those of 0 too, and Prob of an index its weight divided
// by the sum of all, or 0 where there is no such index (rule 8).
func TestProb(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	for _, weights := range [][]float64{
		positive(r, below(r, 2, 20)), holes(r, below(r, 2, 20)), {1 + r.Float64()}, holes(r, 1),
		positive(r, below(r, 2000, 3000)), {r.Float64(), 1e-9, 1e-6 * r.Float64()},
		{1e-15 * r.Float64(), 1 + r.Float64(), 1e-40, 1e-100 * r.Float64(), 1e-200},
	} {
		table := newTable(t, weights)
		o.Int("Len", table.Len())
		probs := make([]float64, len(weights))
		for i := range probs {
			probs[i] = table.Prob(i)
		}
		o.Floats("probabilities", probs, relative)
		for _, i := range []int{-1, len(weights), math.MinInt, math.MaxInt, -below(r, 2, 99), len(weights) + below(r, 1, 99)} {
			o.Float("no such index", table.Prob(i))
		}
	}
}

// Draw returns each index in proportion to its weight, and each time anew: what was
// drawn before makes nothing likelier (rule 9).
func TestDraw(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	for _, weights := range [][]float64{
		positive(r, 2), positive(r, 7), positive(r, 4), positive(r, 8), positive(r, below(r, 8, 12)), equals(below(r, 3, 9)), equals(8), {8, 1, 1, 1, 1, 1, 1}, {1, 1, 6},
	} {
		drawn(o, newTable(t, weights), weights, 200_000)
	}
	weights := positive(r, 1000)
	table, one := newTable(t, weights), newTally(weights, 1)
	for range 400_000 {
		one.add(table.Draw(g))
	}
	one.independent(o, "many weights")
}

// drawn counts draws, and two draws one after the other.
func drawn(o *observe.Observer, table *sampler.Table, weights []float64, n int) {
	r := o.Rand()
	g := chance(r)
	one, two := newTally(weights, 1), newTally(weights, 2)
	for range n / 2 {
		i, j := table.Draw(g), table.Draw(g)
		one.add(i)
		one.add(j)
		two.add(i, j)
	}
	one.independent(o, "draws")
	two.independent(o, "two draws")
}

// An index of weight 0 is never drawn, wherever it stands and however the weights beside
// it are rounded (rule 10).
func TestZeroWeights(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	zeros := 0
	for range 3000 {
		weights := holes(r, below(r, 1, 30))
		table := newTable(t, weights)
		for range 5 * len(weights) {
			if i := table.Draw(g); i < 0 || i >= len(weights) || weights[i] == 0 {
				zeros++
			}
		}
	}
	o.Int("draws of weight 0", zeros)
	for range 20 {
		weights := make([]float64, below(r, 2, 40))
		weights[r.IntN(len(weights))] = r.Float64() + 0.1
		table := newTable(t, weights)
		o.Ints("the only one above 0", []int{table.Draw(g), table.Draw(g), table.Draw(g)})
	}
	weights := holes(r, below(r, 3, 5))
	drawn(o, newTable(t, weights), weights, 200_000)
	weights[0] = math.Copysign(0, -1)
	drawn(o, newTable(t, weights), weights, 200_000)
}

// unlikely is a source whose first numbers are hardly ever seen; random ones follow.
type unlikely struct {
	first []uint64
	rest  *rand.Rand
}

func (u *unlikely) Uint64() uint64 {
	if len(u.first) == 0 {
		return u.rest.Uint64()
	}
	x := u.first[0]
	u.first = u.first[1:]
	return x
}

// extremes are numbers at the ends of the range, for those who look at all bits, at the
// high ones or at the low ones.
var extremes = []uint64{0, 1, 1<<64 - 1, 1<<64 - 2, 1 << 63, 1<<63 - 1, 1<<64 - 1<<11, 1<<53 - 1, 1<<64 - 1<<32, 1<<32 - 1}

// unlikelies are generators that begin with extremes, each with one alone, and with
// several in any order.
func unlikelies(r *rand.Rand) (all []*rand.Rand) {
	g := chance(r)
	for _, x := range extremes {
		for _, n := range []int{1, 2, 12} {
			all = append(all, rand.New(&unlikely{slices.Repeat([]uint64{x}, n), g}))
		}
		for _, y := range extremes {
			all = append(all, rand.New(&unlikely{[]uint64{x, y, x, y}, g}))
		}
	}
	return all
}

// What is drawn is an index of a weight above 0 also if r gives numbers that are hardly
// ever seen, such as all bits 0 or all bits 1 (rule 10).
func TestUnlikely(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	wrong := 0
	for range 30 {
		for _, weights := range [][]float64{
			holes(r, below(r, 1, 12)), positive(r, below(r, 2, 12)), scaled(equals(below(r, 3, 60)), 0.1), append(make([]float64, 9), scaled(holes(r, 3), 0.1)...),
		} {
			table := newTable(t, weights)
			for _, g := range unlikelies(r) {
				if i := table.Draw(g); i < 0 || i >= len(weights) || weights[i] == 0 {
					wrong++
				}
			}
		}
	}
	o.Int("draws of no weight", wrong)
	only := make([]float64, below(r, 3, 9))
	only[1] = r.Float64() + 0.1
	for _, g := range unlikelies(r) {
		o.Int("the only one above 0", newTable(t, only).Draw(g))
	}
}

// refused are weights that are not allowed: each is wrong at another place.
func refused(r *rand.Rand) map[string][]float64 {
	bad := map[string][]float64{
		"weights: nil": nil, "weights: none": {}, "weights: a zero": {0}, "weights: zeros": make([]float64, below(r, 2, 9)),
		"weights: a negative zero": {0, math.Copysign(0, -1)},
	}
	for name, w := range map[string]float64{
		"NaN": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1), "below 0": -r.Float64() - 0.1, "just below 0": -math.SmallestNonzeroFloat64,
	} {
		for _, place := range []string{"first", "within", "last", "alone"} {
			weights := positive(r, below(r, 3, 9))
			switch place {
			case "first":
				weights[0] = w
			case "within":
				weights[below(r, 1, len(weights)-2)] = w
			case "last":
				weights[len(weights)-1] = w
			case "alone":
				weights = []float64{0, w, 0}
			}
			bad["weights: "+name+", "+place] = weights
		}
	}
	return bad
}

// NewTable refuses weights that are NaN, infinite or below 0, wherever they stand, and
// weights none of which is above 0, with ErrWeights and without a Table (rule 5).
func TestWeights(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	bad := refused(r)
	for _, name := range sorted(bad) {
		table, err := sampler.NewTable(bad[name])
		o.Error(name, err, sampler.ErrWeights)
		o.Bool(name+": a table", table != nil)
	}
	for _, good := range [][]float64{{1e-300}, {math.MaxFloat64}, {0, 2}, {math.Copysign(0, -1), 1}} {
		table, err := sampler.NewTable(good)
		o.Error("allowed", err)
		o.Bool("allowed: a table", table != nil)
		if table != nil {
			o.Int("allowed: Len", table.Len())
			o.Int("allowed: a draw", table.Draw(g))
		}
	}
}

// scales are factors that weights of ordinary size are multiplied by; the sum of such
// weights or their squares may be too large or too small for a float64.
var scales = []float64{math.Ldexp(1, 1022), math.Ldexp(1, 700), math.Ldexp(1, 100), math.Ldexp(1, -16), math.Ldexp(1, -140), math.Ldexp(1, -700), math.Ldexp(1, -990)}

// Weights have any size from 10⁻³⁰⁰ to the largest float64, and their sum may be too large
// for one; sizes that differ may stand side by side (rule 6).
func TestMagnitudes(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	for _, scale := range scales {
		weights := append(dyadic(r, below(r, 2, 4)), 3, 3) // whose sum is too large, times the largest scale
		table := newTable(t, scaled(weights, scale))
		probs := []float64{}
		for i := range weights {
			probs = append(probs, table.Prob(i))
		}
		o.Floats("probabilities", probs, relative)
		drawn(o, table, weights, 40_000)
	}
	// Five weights whose sum is not too large, and five times the largest is.
	weights := append(dyadic(r, 4), 3.875)
	drawn(o, newTable(t, scaled(weights, math.Ldexp(1, 1020))), weights, 40_000)
	manyOfOneSize(t, o)
	few := positive(r, 3)
	mixed := []float64{1e-300, few[0] * 1e300, 0, few[1] * 1e300, 1, few[2] * 1e300, 1e-20}
	table := newTable(t, mixed)
	o.Floats("mixed probabilities", []float64{table.Prob(0), table.Prob(1), table.Prob(4), table.Prob(5), table.Prob(6)}, relative)
	ordinary := []float64{0, few[0], 0, few[1], 0, few[2], 0} // the others never come
	drawn(o, table, ordinary, 40_000)
	one := make([]float64, below(r, 2, 9))
	for i := range one {
		one[i] = math.Ldexp(1+r.Float64(), -below(r, 300, 990))
	}
	one[r.IntN(len(one))] = math.Ldexp(1, below(r, 300, 1000))
	o.Ints("the largest by far", []int{newTable(t, one).Draw(g), newTable(t, one).Draw(g)})
	for _, factor := range anyFactors(r) {
		weights := append(dyadic(r, 2), 3, 3)
		epochs(o, config{Weights: scaled(weights, factor), Samples: 20_000, Replacement: true}, 1, func(list []int) {
			one := newTally(weights, 1)
			for _, i := range list {
				one.add(i)
			}
			one.independent(o, "epochs of any size")
		})
	}
}

// manyOfOneSize is about thousands of weights of any one size: the sum of those that are large is
// thousands of times the largest float64.
func manyOfOneSize(t *testing.T, o *observe.Observer) {
	t.Helper()
	r := o.Rand()
	for _, scale := range []float64{scales[0], scales[len(scales)-1]} {
		four, weights := fours(r, below(r, 5000, 6000), scale)
		table, g := newTable(t, weights), chance(r)
		o.Floats("probabilities of many", []float64{table.Prob(0), table.Prob(2), table.Prob(len(weights) - 1)}, relative)
		draws := make([]int, 2000)
		for k := range draws {
			draws[k] = table.Draw(g)
		}
		byFours(o, "draws of many", four, draws)
		epochs(o, config{Weights: weights, Samples: 2000, Replacement: true}, 1, func(list []int) {
			byFours(o, "epochs of many", four, list)
		})
	}
	n := below(r, 66_000, 70_000)
	table := newTable(t, scaled(equals(n), math.MaxFloat64))
	o.Floats("probabilities of many", []float64{table.Prob(0), table.Prob(n - 1)}, relative)
}

// fours repeats four weights n times, the first of which is far below the others, and returns
// the four as they are and all times scale.
func fours(r *rand.Rand, n int, scale float64) (four, all []float64) {
	four = []float64{float64(below(r, 32, 64)) / 64, 3.5, 3.75, 3.875}
	return four, scaled(slices.Repeat(four, n), scale)
}

// byFours counts indices of fours by which of the four they are.
func byFours(o *observe.Observer, name string, four []float64, indices []int) {
	one := newTally(four, 1)
	for _, i := range indices {
		one.add(i % 4)
	}
	if one.n >= 1000 { // else there is nothing to count, which is for others
		one.independent(o, name)
	}
}

// anyFactors are factors that weights of ordinary size are multiplied by: large and small ones,
// and one for which their sum is too large for a float64.
func anyFactors(r *rand.Rand) []float64 {
	return []float64{math.Ldexp(1, below(r, 60, 1000)), math.Ldexp(1, -below(r, 14, 990)), math.Ldexp(1, 1022)}
}

// epochs gives the lists of so many epochs to f, if they are as long as they should be: whether
// they are is for others.
func epochs(o *observe.Observer, cfg config, n int, f func(list []int)) {
	cfg.Seed, cfg.Ranks = o.Rand().Uint64(), 1
	epoch := o.Rand().IntN(100)
	s, err := sampler.New(cfg)
	for i := 0; i < n && err == nil && s != nil; i++ {
		if list := first(s.Epoch(epoch+i), cfg.Samples); len(list) == cfg.Samples {
			f(list)
		}
	}
}

// The weights are left as they are, and what is written into them later changes nothing
// (rule 7).
func TestOwnWeights(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	for _, scale := range []float64{1, 1e-20, 1e20} {
		weights := scaled(holes(r, below(r, 3, 5)), scale)
		before := slices.Clone(weights)
		table := newTable(t, weights)
		s := newSampler(t, config{Weights: weights, Samples: 3, Ranks: 1, Seed: r.Uint64()})
		again := newSampler(t, config{Weights: weights, Samples: 30, Replacement: true, Ranks: 1, Seed: r.Uint64()})
		lists := [][]int{slices.Collect(s.Epoch(1)), slices.Collect(again.Epoch(1))}
		distinct(t, weights, 3, g)
		// Those that are used only after the weights have changed.
		cfg := config{Weights: weights, Samples: 3, Ranks: 1, Seed: r.Uint64()}
		late, lateTable := newSampler(t, cfg), newTable(t, weights)
		cfg.Samples, cfg.Replacement = 30, true
		lateAgain := newSampler(t, cfg)
		o.Floats("weights", weights, relative)
		o.Bool("weights as they were", slices.Equal(weights, before))
		for weights[0] == 0 { // as many are above 0, and others
			copy(weights, weights[1:])
			weights[len(weights)-1] = 0
		}
		o.Float("a probability", table.Prob(0))
		o.Float("another probability", table.Prob(1)+table.Prob(2), relative)
		drawn(o, table, scaled(before, 1/scale), 40_000)
		drawn(o, lateTable, scaled(before, 1/scale), 40_000)
		o.Float("a probability of a late one", lateTable.Prob(0))
		cfg.Weights = before
		o.Bool("a late list, with replacement", slices.Equal(slices.Collect(lateAgain.Epoch(2)), list(t, cfg, 2)))
		cfg.Samples, cfg.Replacement = 3, false
		o.Bool("a late list, without replacement", slices.Equal(slices.Collect(late.Epoch(2)), list(t, cfg, 2)))
		o.Ints("the other list", []int{len(lists[0]), len(lists[1])})
		o.Bool("the same list, without replacement", slices.Equal(slices.Collect(s.Epoch(1)), lists[0]))
		o.Bool("the same list, with replacement", slices.Equal(slices.Collect(again.Epoch(1)), lists[1]))
	}
}

// Draw and Distinct depend on the weights and on what r gives, and nothing else: equal
// generators give equal draws, and others give others (rule 11).
func TestSameDraws(t *testing.T) {
	o := observe.New(t)
	r := o.Rand()
	g := chance(r)
	for range 5 {
		weights := holes(r, below(r, 20, 40))
		a, b := r.Uint64(), r.Uint64()
		draws := func(table *sampler.Table, a, b uint64) (indices []int) {
			g := rand.New(rand.NewPCG(a, b)) // of its own
			for range 60 {
				indices = append(indices, table.Draw(g))
			}
			return append(indices, distinct(t, weights, 20, g)...)
		}
		table := newTable(t, weights)
		want := draws(table, a, b)
		table.Draw(g)
		same := slices.Equal(draws(table, a, b), want)
		newTable(t, holes(r, 5)).Draw(g)
		o.Bool("the same once more", same)
		o.Bool("the same of an equal table", slices.Equal(draws(newTable(t, weights), a, b), want))
		o.Bool("the same of another generator", slices.Equal(draws(table, b, a), want))
		o.Int("draws", len(want))
	}
}
