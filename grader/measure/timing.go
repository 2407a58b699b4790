package measure

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"grade/grader/fault"
	"grade/grader/measure/quantile"
	"grade/sandbox"
)

// minWindow is the shortest CPU time of the reference, in a measured window,
// that speed can be judged by: a workload below it is a fault of the exercise.
const minWindow = 10 * time.Millisecond

// Pair is one measurement of speed: CPU time of the reference and of the
// submission on the same input, one run after the other on the same CPU.
type Pair struct {
	Reference  time.Duration // in the measured window
	Submission time.Duration
	Excess     time.Duration // of the submission outside its window, beyond the reference's there; may be below 0
}

// timing is where the CPU time of one measured run went.
type timing struct {
	window  time.Duration // between the two marks
	outside time.Duration // all the rest of the box's, before and after
	source  sandbox.Source
}

var errMarks = errors.New("the measured window is not marked by exactly two marks in order")

// timingOf reads a run's clocks. The total is what the box counted, which includes children
// that were never waited for, or else what wait4 reported; [NewPair] refuses a pair that
// mixes the two.
func timingOf(o sandbox.Outcome) (timing, error) {
	if len(o.Marks) != 2 || o.Marks[0].CPU < 0 || o.Marks[1].CPU < o.Marks[0].CPU || o.Marks[1].Wall < o.Marks[0].Wall {
		return timing{}, errMarks
	}
	t := timing{window: o.Marks[1].CPU - o.Marks[0].CPU, source: sandbox.SourceRusage}
	total := o.CPU
	if o.BoxCPUSource != sandbox.SourceNone {
		total, t.source = o.BoxCPU, o.BoxCPUSource
	}
	t.outside = max(0, total-t.window)
	return t, nil
}

// NewPair makes a pair of two runs that package judge passed.
//
// The detail is not empty if the submission's window is not marked as the kit marks it; the
// check then lacks its evidence. An error is ours.
func NewPair(ref, sub sandbox.Outcome) (p Pair, detail string, err error) {
	r, err := timingOf(ref)
	if err != nil {
		return Pair{}, "", fault.Exercise(fmt.Errorf("time the reference: %w", err))
	}
	s, err := timingOf(sub)
	if err != nil {
		return Pair{}, err.Error(), nil
	}
	if r.source != s.source {
		return Pair{}, "", fmt.Errorf("time a pair: the reference's CPU time comes from %v, the submission's from %v", r.source, s.source)
	}
	return Pair{Reference: r.window, Submission: s.window, Excess: s.outside - r.outside}, "", nil
}

// withOverhead adds to the submission's windows the CPU time that it spent outside them in
// excess of the reference. Work that moves to init, to a goroutine that outlives the window
// or to a result that is computed when read gains nothing.
//
// Two runs of one program differ there too, by some milliseconds on a busy machine. To
// count every excess, and only upwards, would make each submission look slower than it is.
// So an excess counts if it is large by itself, and a small one if it is there in three
// pairs of four: by chance alone half of them have one, and of five pairs three soon do.
func withOverhead(pairs []Pair) []Pair {
	var shares []float64
	for _, p := range pairs {
		shares = append(shares, float64(p.Excess)/float64(max(p.Reference, 1)))
	}
	least := largeExcess
	if slices.Sort(shares); len(shares) > 0 && quantile.Of(shares, 0.25) > steadyExcess {
		least = 0
	}
	pairs = slices.Clone(pairs)
	for i, p := range pairs {
		if float64(p.Excess) > least*float64(p.Reference) {
			pairs[i].Submission += p.Excess
		}
	}
	return pairs
}

// The thresholds of an excess, in parts of the reference's window.
const (
	largeExcess  = 0.5 // in one pair
	steadyExcess = 0.1 // as the lower quartile of all
)
