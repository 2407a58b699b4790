package measure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"grade/grader/fault"
	"grade/grader/measure/quantile"
	"grade/grader/verdict"
)

// A look is one moment at which the sequential test may decide.
type look struct {
	pairs int
	rank  int     // the interval is from the rank-th smallest ratio to the rank-th largest
	pass  float64 // passes if the interval's upper end is below pass x limit; 0: passes unless it fails
	fail  float64 // fails if the interval's lower end is above fail x limit
}

// looks are the moments, in order.
//
// The interval of order statistics needs no assumption on how the noise is
// distributed. Whatever it is, a ratio is above the true median with
// probability 1/2, independently of the others, so with the true median at the
// limit the lower end is above the limit with probability
//
//	look  5, smallest of 5:       2^-5                    = 0.03125
//	look 10, smallest of 10:      2^-10                   = 0.00098
//	look 20, 5th smallest of 20:  P(Bin(20, 1/2) <= 4)    = 0.00591
//	look 40, 10th smallest of 40: P(Bin(40, 1/2) <= 9)    = 0.00034
//	look 60, 20th smallest of 60: P(Bin(60, 1/2) <= 19)   = 0.00311
//
// The early looks ask for more than the limit. The exact probability that a
// submission whose true ratio is the limit fails at any of them is
//
//	0.00853  if no ratio is ever above 1.2 times the limit
//	0.00912  if half of them are, but none above twice the limit
//	0.03763  if half of them are above twice the limit
//
// The last is no noise of a machine, which [ControlOf] calls noisy long before;
// it takes a submission whose own time varies by that factor. Passing early
// only lowers these figures, and they fall steeply with the true ratio: at 0.9
// of the limit and 5 % noise a run the figure is below one in a thousand million.
//
// The look at 2 passes what is far below the limit and fails nothing. An error there is in
// the submission's favour.
//
// The looks from 20 on leave open what seems to behave in two ways ([twoWays]), which has to
// show it in twice as many runs before it counts, and what neither is above the limit nor
// stays below it in three of four pairs. The last one is for the latter: it asks for less of
// an interval, so that who is 1.3 times above the limit fails where a neighbour slows a quarter
// of all runs by up to a half.
var looks = []look{
	{pairs: 2, rank: 1, pass: 0.5, fail: math.Inf(1)},
	{pairs: 5, rank: 1, pass: 0.7, fail: 2},
	{pairs: 10, rank: 1, pass: 0.85, fail: 1.2},
	{pairs: 20, rank: 5, pass: 1, fail: 1},
	{pairs: 40, rank: 10, pass: 1, fail: 1},
	{pairs: 60, rank: 20, pass: 0, fail: 1},
}

// sensitivity is the factor by which an exercise's limit must be away from every
// solution it is meant to tell apart. A failure within it is told to be near.
const sensitivity = 1.5

// Looks says in words when the sequential test may decide.
func Looks() string {
	var after []string
	for _, l := range looks {
		after = append(after, strconv.Itoa(l.pairs))
	}
	return "looks after " + strings.Join(after, ", ")
}

// isLook reports whether the test may decide after n pairs.
func isLook(n int) bool {
	return slices.ContainsFunc(looks, func(l look) bool { return l.pairs == n })
}

// isLast reports whether n pairs are the last look, or more.
func isLast(n int) bool { return nextLook(n) == 0 }

// nextLook returns how many pairs the next look needs after n pairs, or 0 if none is left.
func nextLook(n int) int {
	for _, l := range looks {
		if n < l.pairs {
			return l.pairs
		}
	}
	return 0
}

// Speed is the judgement on a submission's speed.
type Speed struct {
	Verdict  verdict.Verdict // Passed, TooSlow, or "" while undecided
	Ratio    float64         // submission to reference: the centre of the pairs' ratios
	Interval [2]float64      // where the true median surely lies
	Pairs    int             // how many the decision rests on
	Note     string          // what to know about the verdict, or ""
}

// JudgeSpeed decides at the last look that the pairs suffice for. An error is a fault of
// the exercise: its workload is too small to be judged.
func JudgeSpeed(pairs []Pair, limit float64) (Speed, error) {
	l, ok := lastLook(len(pairs))
	if !ok {
		return Speed{Pairs: len(pairs)}, nil
	}
	pairs = withOverhead(pairs[:l.pairs])
	if ref := typicalReference(pairs); ref < minWindow {
		return Speed{}, fault.Exercise(fmt.Errorf("judge speed: the reference's window takes %v of CPU time, and below %v nothing can be judged: enlarge the workload", ref, minWindow))
	}
	sorted := ratios(pairs)
	lower, upper := sorted[l.rank-1], sorted[l.pairs-l.rank]
	s := Speed{Ratio: math.Exp(centre(logs(sorted))), Interval: [2]float64{lower, upper}, Pairs: l.pairs}
	switch {
	case lower > l.fail*limit:
		s.Verdict = verdict.TooSlow
		if lower <= sensitivity*limit {
			s.Note = "this is near the limit, so a small change can be enough"
		}
	case l.pairs == provesTwoWays && twoWays(pairs, upper, limit):
		s.Verdict, s.Ratio = verdict.TooSlow, upper
		s.Note = "not in every run: it is faster in others, where the reference takes the same time in all, so the slow runs count"
	case l.pass == 0 || upper < l.pass*limit:
		s.Verdict = verdict.Passed
		if upper > limit {
			s.Note = "too close to the limit to tell, which counts as passed"
		}
	}
	return s, nil
}

// bimodal is the multiple of the limit, and of what the reference's slowest run exceeds its
// typical one by, that the interval's upper end has to be above before a doubt is the
// submission's own doing.
const bimodal = 1.25

// twoWays reports whether a submission whose interval holds the limit behaves in two ways:
// a quarter of its runs are above the limit by more than the machine's noise explains. The
// doubt is for noise of the machine. A program that is fast in some of its runs and slow
// in others could otherwise save memory in those where it is slow, and have both.
//
// The noise is that of the reference's slowest run, and not of its quartiles: those see
// nothing of a neighbour that slows a quarter of all runs.
func twoWays(pairs []Pair, upper, limit float64) bool {
	return !ControlOf(references(pairs)).Noisy && upper > bimodal*noiseOf(pairs)*limit
}

// noiseOf is by how much the reference's slowest run exceeds its typical one. What it takes
// outside of the window belongs to it, as it does to the ratios: in short windows most of the
// noise comes from there.
func noiseOf(pairs []Pair) float64 {
	var windows, outside []float64
	for _, p := range pairs {
		windows, outside = append(windows, float64(p.Reference)), append(outside, float64(p.Outside))
	}
	slices.Sort(windows)
	slices.Sort(outside)
	last := len(pairs) - 1
	return (windows[last] + outside[last] - quantile.Median(outside)) / quantile.Median(windows)
}

func references(pairs []Pair) (list []time.Duration) {
	for _, p := range pairs {
		list = append(list, p.Reference)
	}
	return list
}

// againAt is the first look at pairs that are taken again.
const againAt = 10

// provesTwoWays is the look at which slow runs among fast ones count, a quarter of them.
const provesTwoWays = 40

// Decide decides on a submission that is still undecided when no more pairs can be had. Its
// runs have used up the time that there is, so that the ratio of all of them counts as it is,
// and a quarter of them far above the limit: who sleeps until measuring ends gains nothing by
// the doubt, nor by a few runs that were fast. Very few pairs fail what is far above it in the
// middle or in one run, or always above it: a slow run may be chance, but so may a fast one.
func (s Speed) Decide(pairs []Pair, limit float64) Speed {
	if s.Verdict != "" {
		return s
	}
	sorted := ratios(withOverhead(pairs))
	s.Pairs, s.Ratio, s.Interval = len(pairs), math.Exp(centre(logs(sorted))), [2]float64{sorted[0], sorted[len(sorted)-1]}
	s.Verdict, s.Note = verdict.Passed, fmt.Sprintf("measuring ended after %d runs, because all together had taken the time that they may", s.Pairs)
	tooSlow := s.Ratio > limit
	if s.Pairs < fewPairs {
		tooSlow = s.Ratio > bimodal*limit || s.Interval[0] > limit
	}
	if tooSlow || quantile.Of(sorted, 0.75) > sensitivity*limit {
		s.Verdict = verdict.TooSlow
	}
	return s
}

// fewPairs is the number of pairs below which a ratio just above the limit may be chance: at 20 %
// of noise, the centre of two pairs of a submission at 0.8 of the limit is above it once in seven times.
const fewPairs = 5

func lastLook(n int) (last look, ok bool) {
	for _, l := range looks {
		if n >= l.pairs {
			last, ok = l, true
		}
	}
	return last, ok
}

func typicalReference(pairs []Pair) time.Duration {
	refs := make([]float64, len(pairs))
	for i, p := range pairs {
		refs[i] = float64(p.Reference)
	}
	slices.Sort(refs)
	return time.Duration(quantile.Median(refs))
}

// ratios returns the sorted ratios of pairs. A time of zero, which a clock may show, counts
// as one nanosecond. They are quotients and not differences of logarithms, so that a ratio
// of exactly the limit is not above it.
func ratios(pairs []Pair) []float64 {
	r := make([]float64, len(pairs))
	for i, p := range pairs {
		r[i] = float64(max(p.Submission, 1)) / float64(max(p.Reference, 1))
	}
	slices.Sort(r)
	return r
}

// logs returns logarithms in the same order.
func logs(ratios []float64) []float64 {
	l := make([]float64, len(ratios))
	for i, r := range ratios {
		l[i] = math.Log(r)
	}
	return l
}

// centre estimates the centre of values that scatter evenly: the median of the means of all
// pairs of them (Hodges and Lehmann, 1963). Like the median it resists outliers, and it
// needs two thirds of the values for the same precision.
func centre(values []float64) float64 {
	var means []float64
	for i, a := range values {
		for _, b := range values[i:] {
			means = append(means, (a+b)/2)
		}
	}
	slices.Sort(means)
	return quantile.Median(means)
}

// The bounds of a quiet machine, as factors between two runs of the reference.
const (
	maxDrift  = 1.10
	maxSpread = 1.30
)

// minControl is how many ratios a control needs to say anything.
const minControl = 4

// Control measures the machine's noise by comparing the reference with itself.
type Control struct {
	Ratio  float64 // median of each run to the one before it
	Spread float64 // upper quartile of these ratios to the lower
	Runs   int
	Noisy  bool
}

// ControlOf judges the machine by the reference's windows in the order of the runs. Too few
// of them are only counted.
func ControlOf(windows []time.Duration) Control {
	c := Control{Runs: len(windows)}
	if len(windows)-1 < minControl {
		return c
	}
	adjacent := make([]Pair, len(windows)-1)
	for i := range adjacent {
		adjacent[i] = Pair{Reference: windows[i], Submission: windows[i+1]}
	}
	sorted := logs(ratios(adjacent))
	drift, spread := quantile.Median(sorted), quantile.Of(sorted, 0.75)-quantile.Of(sorted, 0.25)
	c.Ratio, c.Spread = math.Exp(drift), math.Exp(spread)
	c.Noisy = math.Abs(drift) > math.Log(maxDrift) || spread > math.Log(maxSpread)
	return c
}
