package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/verdict"
)

// falseFailure is the exact probability that any of the looks before end and
// from first on fails a submission, when a ratio is above what those looks ask
// for with probability p and counts as below otherwise. It walks over the number
// of ratios below, dropping what has failed.
func falseFailure(p float64, active ...bool) float64 {
	if len(active) != len(looks) {
		panic(fmt.Sprintf("say of each of the %d looks whether it may fail a submission, and not of %d", len(looks), len(active)))
	}
	failed := 0.0
	alive := []float64{1} // alive[k]: not failed, k ratios below
	done := 0
	for i, l := range looks {
		for ; done < l.pairs; done++ {
			next := make([]float64, len(alive)+1)
			for k, q := range alive {
				next[k] += q * p
				next[k+1] += q * (1 - p)
			}
			alive = next
		}
		for k := range alive {
			// The lower end is above if fewer than rank ratios are below.
			if active[i] && k < l.rank {
				failed += alive[k]
				alive[k] = 0
			}
		}
	}
	return failed
}

// failureAt is falseFailure at the limit of a set of looks, whose first is 1.
func failureAt(set int) float64 {
	active := make([]bool, len(looks))
	for i := range active {
		active[i] = set&(1<<i) != 0
	}
	return falseFailure(0.5, active...)
}

// The figures in the comment on looks.
func TestExactErrorAtTheLimit(t *testing.T) {
	const two, five, ten, twenty, forty, sixty = 1, 2, 4, 8, 16, 32
	for set, want := range map[int]float64{
		five: 0.03125, ten: 0.00098, twenty: 0.00591, forty: 0.00034, sixty: 0.00311,
		twenty | forty | sixty: 0.00853, ten | twenty | forty | sixty: 0.00912, five | ten | twenty | forty | sixty: 0.03763,
	} {
		assert.InDelta(t, want, failureAt(set), 5e-6, "looks %b", set)
	}

	// 5 % noise on each of the two runs, at 0.9 of the limit: the sum over the
	// looks is at least the probability of any.
	sum := 0.0
	for i, l := range looks {
		z := math.Log(l.fail/0.9) / (0.05 * math.Sqrt2)
		only := make([]bool, len(looks))
		only[i] = true
		sum += falseFailure(math.Erfc(z/math.Sqrt2)/2, only...)
	}
	assert.Less(t, sum, 1e-9)
}

// noise multiplies a time.
type noise func(r *rand.Rand) float64

func lognormal(sigma float64) noise {
	return func(r *rand.Rand) float64 { return math.Exp(sigma * r.NormFloat64()) }
}

// outliers make a quarter of the runs slower, by the worst at most.
func outliers(worst float64) noise {
	quiet := lognormal(0.05)
	return func(r *rand.Rand) float64 {
		x := quiet(r)
		if r.Float64() < 0.25 {
			x *= 1 + (worst-1)*r.Float64()
		}
		return x
	}
}

// simulate grades a submission of the given true ratio, as the pipeline would:
// pairs are taken up to the next look until one decides.
func simulate(t *testing.T, r *rand.Rand, ratio, limit float64, n noise) Speed {
	var pairs []Pair
	for {
		for range nextLook(len(pairs)) - len(pairs) {
			pairs = append(pairs, Pair{
				Reference:  time.Duration(60e6 * n(r)),
				Submission: time.Duration(60e6 * ratio * n(r)),
			})
		}
		s, err := JudgeSpeed(pairs, limit)
		require.NoError(t, err)
		if s.Verdict != "" {
			return s
		}
	}
}

func failures(t *testing.T, gradings int, ratio, limit float64, n noise) int {
	r := rand.New(rand.NewPCG(uint64(gradings), math.Float64bits(ratio/limit)))
	failed := 0
	for range gradings {
		if simulate(t, r, ratio, limit, n).Verdict == verdict.TooSlow {
			failed++
		}
	}
	return failed
}

func TestNoFalseFailureOfTheReferenceItself(t *testing.T) {
	for _, test := range []struct {
		name  string
		limit float64
		noise noise
	}{
		{"5 % noise, limit 2", 2, lognormal(0.05)},
		{"5 % noise, limit 1.3", 1.3, lognormal(0.05)},
		{"25 % noise, limit 1.5", 1.5, lognormal(0.25)},
		{"a quarter up to 3 times slower, limit 1.5", 1.5, outliers(3)},
		{"a quarter up to 20 times slower, limit 2", 2, outliers(20)},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Zero(t, failures(t, 1000, 1, test.limit, test.noise))
		})
	}
}

func TestPlantedSlownessFails(t *testing.T) {
	for _, limit := range []float64{1.5, 2, 4} {
		assert.GreaterOrEqual(t, failures(t, 1000, 1.5*limit, limit, lognormal(0.05)), 990)
		assert.GreaterOrEqual(t, failures(t, 1000, 1.5*limit, limit, outliers(1.25)), 990)
		assert.GreaterOrEqual(t, failures(t, 1000, 4*limit, limit, outliers(3)), 990)
	}
}

// At the limit itself the simulation meets the exact figure, and the doubt is
// the submission's.
func TestFailuresAtTheLimit(t *testing.T) {
	const gradings = 5000
	exact := gradings * failureAt(8|16|32)
	assert.InDelta(t, exact, failures(t, gradings, 2, 2, lognormal(0.05)), 4*math.Sqrt(exact))
}

func TestFarFromTheLimitFewPairsDecide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		assert.Equal(t, 2, simulate(t, r, 0.6, 2, lognormal(0.05)).Pairs)
		assert.Equal(t, 5, simulate(t, r, 1.2, 2, lognormal(0.01)).Pairs)
		assert.Equal(t, 5, simulate(t, r, 10, 2, lognormal(0.05)).Pairs)
	}
}

// steady makes n pairs of these ratios, over and over.
func steady(n int, ratios ...float64) []Pair {
	pairs := make([]Pair, n)
	for i := range pairs {
		pairs[i] = Pair{Reference: 50 * time.Millisecond, Submission: time.Duration(50e6 * ratios[i%len(ratios)])}
	}
	return pairs
}

// shaken slows one of the reference's runs, threefold.
func shaken(pairs []Pair) []Pair {
	pairs[2].Reference *= 3
	pairs[2].Submission *= 3
	return pairs
}

func TestJudgeSpeed(t *testing.T) {
	const limit = 4
	few := append(steady(4, 3), steady(16, 4.1)...)  // the 5th smallest is above
	more := append(steady(5, 3), steady(15, 4.1)...) // and here it is not
	for _, test := range []struct {
		name    string
		pairs   []Pair
		verdict verdict.Verdict
		used    int
		note    string
	}{
		{"nothing yet", nil, "", 0, ""},
		{"too few", steady(1, 1), "", 1, ""},
		{"clearly fast", steady(2, 1.9), verdict.Passed, 2, ""},
		{"not clearly fast", steady(4, 2), "", 2, ""},
		{"two never fail", steady(2, 500), "", 2, ""},
		{"surely fast", steady(5, 2, 2.7), verdict.Passed, 5, ""},
		{"not surely fast", steady(5, 2, 2.9), "", 5, ""},
		{"surely slow", steady(5, 8.1, 50), verdict.TooSlow, 5, ""},
		{"not surely slow", steady(5, 7.9, 50), "", 5, ""},
		{"between looks the last one counts", append(steady(5, 2, 3), steady(4, 50)...), "", 5, ""},
		{"fast at the second", steady(10, 2, 3.3), verdict.Passed, 10, ""},
		{"slow at the second", steady(10, 4.9, 50), verdict.TooSlow, 10, "near the limit"},
		{"open at the second", steady(10, 4.7), "", 10, ""},
		{"slow at twenty", few, verdict.TooSlow, 20, "near the limit"},
		{"slow without a doubt", steady(20, 6.1), verdict.TooSlow, 20, ""},
		{"inconclusive", more, "", 20, ""},
		{"inconclusive at forty", steady(40, 3.9, 4.1), "", 40, ""},
		{"inconclusive at the last", steady(60, 3.9, 4.1), verdict.Passed, 60, "too close to the limit to tell"},
		{"slow in three of four at the last", steady(60, 3.9, 4.1, 4.1, 4.1), verdict.TooSlow, 60, "near the limit"},
		{"just within", steady(20, 3.9), verdict.Passed, 20, ""},
		{"on the limit", steady(60, 4), verdict.Passed, 60, ""},
		{"two ways, in twenty runs", steady(20, 3, 9), "", 20, ""},
		{"two ways, in forty", steady(40, 3, 9), verdict.TooSlow, 40, "so the slow runs count"},
		{"two ways, and a quarter is slow", steady(40, 3, 3, 3, 9), verdict.TooSlow, 40, "so the slow runs count"},
		{"less than a quarter is slow", steady(40, 3, 3, 3, 3, 9), verdict.Passed, 40, ""},
		{"two ways, as the reference does", shaken(steady(40, 3, 9)), "", 40, ""},
		{"more than asked for", append(steady(60, 4), steady(20, 50)...), verdict.Passed, 60, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := JudgeSpeed(test.pairs, limit)
			require.NoError(t, err)
			assert.Equal(t, test.verdict, s.Verdict)
			assert.Equal(t, test.used, s.Pairs)
			if test.note == "" {
				assert.Empty(t, s.Note)
			} else {
				assert.Contains(t, s.Note, test.note)
			}
			assert.LessOrEqual(t, s.Interval[0], s.Interval[1])
		})
	}
}

func TestTooSlowOnlyAboveTheLimit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		s := simulate(t, r, 2*r.Float64()+1, 2, outliers(1+3*r.Float64()))
		if s.Verdict == verdict.TooSlow {
			assert.Greater(t, s.Interval[0], 2.0)
		}
	}
}

func TestDecide(t *testing.T) {
	s := Speed{}.Decide(steady(7, 4), 4)
	assert.Equal(t, verdict.Passed, s.Verdict)
	assert.Contains(t, s.Note, "measuring ended after 7 runs")
	assert.Equal(t, verdict.TooSlow, Speed{}.Decide(steady(7, 4.1), 4).Verdict, "no doubt is left to buy")
	s = Speed{Pairs: 2, Ratio: 1}.Decide(append(steady(2, 1), steady(5, 9)...), 4)
	assert.Equal(t, verdict.TooSlow, s.Verdict, "of all pairs, and not of those of the last look")
	assert.Equal(t, [2]float64{1, 9}, s.Interval)
	assert.Equal(t, verdict.TooSlow, Speed{Verdict: verdict.TooSlow}.Decide(nil, 4).Verdict)
	for name, c := range map[string]struct {
		ratios []float64
		want   verdict.Verdict
	}{
		"one above, and by little":   {[]float64{3.6, 4.6}, verdict.Passed},
		"all above":                  {[]float64{4.1, 4.2}, verdict.TooSlow},
		"far above, but one":         {[]float64{3.9, 5.9, 6}, verdict.TooSlow},
		"a fast one and a slow":      {[]float64{1, 10}, verdict.TooSlow},
		"enough, with a quarter far": {[]float64{1, 1, 1, 9, 9}, verdict.TooSlow},
	} {
		assert.Equal(t, c.want, Speed{}.Decide(steady(len(c.ratios), c.ratios...), 4).Verdict, name)
	}
}

func TestASmallWorkloadIsTheExercisesFault(t *testing.T) {
	pairs := steady(5, 1)
	for i := range pairs {
		pairs[i].Reference = minWindow - 1
	}
	_, err := JudgeSpeed(pairs, 2)
	assert.ErrorContains(t, err, "enlarge the workload")
}

func TestNextLook(t *testing.T) {
	for n, want := range map[int]int{0: 2, 1: 2, 2: 5, 4: 5, 5: 10, 9: 10, 10: 20, 19: 20, 20: 40, 39: 40, 40: 60, 59: 60, 60: 0, 200: 0} {
		assert.Equal(t, want, nextLook(n), n)
	}
}

func TestControl(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	run := func(n int, drift float64, each noise) Control {
		windows := make([]time.Duration, n)
		for i := range windows {
			windows[i] = time.Duration(60e6 * math.Pow(drift, float64(i)) * each(r))
		}
		return ControlOf(windows)
	}
	assert.False(t, run(4, 1, lognormal(1)).Noisy, "too few to tell")
	quiet, drifting, loud := 0, 0, 0
	for range 200 {
		if run(20, 1, lognormal(0.05)).Noisy {
			quiet++
		}
		if run(20, 1.2, lognormal(0.05)).Noisy {
			drifting++
		}
		if run(20, 1, lognormal(0.4)).Noisy {
			loud++
		}
	}
	assert.LessOrEqual(t, quiet, 2)
	assert.GreaterOrEqual(t, drifting, 198)
	assert.GreaterOrEqual(t, loud, 190)
}

// Looks come in order. The last one passes what is in doubt.
func TestLooks(t *testing.T) {
	for i, l := range looks {
		assert.Equal(t, isLast(l.pairs), l.pass == 0, "after %d pairs", l.pairs)
		assert.True(t, i == 0 || looks[i-1].pairs < l.pairs, "after %d pairs", l.pairs)
	}
}

// A pass beside another program of the submission counts only below half of the limit, also where
// the end of the time forces it.
func TestPassesNear(t *testing.T) {
	series := func(pairs int, ratio float64) *Series {
		s := &Series{Workload: Workload{Speed: 4, BesideOwn: true}}
		for range pairs {
			window := time.Duration(ratio * float64(100*time.Millisecond))
			ref, sub := timed(time.Millisecond, 100*time.Millisecond, 101*time.Millisecond), timed(time.Millisecond, window, time.Millisecond+window)
			detail, err := s.Add(ref, sub)
			require.NoError(t, err)
			require.Empty(t, detail)
		}
		return s
	}
	for name, c := range map[string]struct {
		pairs int
		ratio float64
		last  bool
		near  bool
	}{
		"far below": {2, 1.9, false, false},
		"half":      {5, 2, false, false},
		"above":     {5, 2.1, false, true},
		"forced":    {3, 2.1, true, true},
		"too slow":  {5, 9, false, false},
	} {
		s := series(c.pairs, c.ratio)
		d, err := s.Decide(c.last)
		require.NoError(t, err)
		require.True(t, d.Done, name)
		assert.Equal(t, c.near, d.Near, name)
		s.BesideOwn = false
		d, err = s.Decide(c.last)
		require.NoError(t, err)
		assert.False(t, d.Near, name)
	}
}
