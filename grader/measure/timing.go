package measure

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"grade/grader/fault"
	"grade/sandbox"
)

// minWindow is the shortest CPU time of the reference, in a measured window, that speed
// can be judged by: a workload below it is a fault of the exercise. What a busy machine does
// to windows of this length turns no verdict (TestNoRecordedVerdictFlips), and the two marks
// of a window take a hundredth of it.
const minWindow = 2 * time.Millisecond

// MinWindow is the shortest window that this machine should see of an exercise, so that one
// twice as fast can judge it too.
const MinWindow = 2 * minWindow

// Pair is one measurement of speed: CPU time of the reference and of the
// submission on the same input, one run after the other on the same CPU.
type Pair struct {
	Reference  time.Duration // in the measured window
	Submission time.Duration
	Outside    time.Duration // of the reference, before and after its window
	Excess     Excess        // of the submission, outside its window
}

// Excess is what the submission took beyond the reference before the window and after it; may
// be below 0.
type Excess struct{ Before, After time.Duration }

// timing is where the CPU time of one measured run went.
type timing struct {
	before time.Duration // the first of the two marks
	window time.Duration // between them
	after  time.Duration // all the rest of the box's
	source sandbox.Source
}

var errMarks = errors.New("the measured window is not marked by exactly two marks in order")

// timingOf reads a run's clocks. The total is what the box counted, which includes children
// that were never waited for, or else what wait4 reported; [NewPair] refuses a pair that
// mixes the two.
func timingOf(o sandbox.Outcome) (timing, error) {
	if len(o.Marks) != 2 || o.Marks[0].CPU < 0 || o.Marks[1].CPU < o.Marks[0].CPU || o.Marks[1].Wall < o.Marks[0].Wall {
		return timing{}, errMarks
	}
	t := timing{before: o.Marks[0].CPU, window: o.Marks[1].CPU - o.Marks[0].CPU, source: sandbox.SourceRusage}
	total := o.CPU
	if o.BoxCPUSource != sandbox.SourceNone {
		total, t.source = o.BoxCPU, o.BoxCPUSource
	}
	t.after = max(0, total-o.Marks[1].CPU)
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
	return Pair{
		Reference: r.window, Submission: s.window, Outside: r.before + r.after,
		Excess: Excess{s.before - r.before, s.after - r.after},
	}, "", nil
}

// withOverhead adds to the submission's windows the CPU time that it spent outside them in
// excess of the reference. Work that moves to init, to a goroutine that outlives the window
// or to a result that is computed when read gains nothing, be it in all runs or in some.
//
// Two runs of one program differ there too, by some milliseconds on a busy machine. Each
// excess counts with its sign, so that chance moves the middle of the ratios to neither side:
// to leave out the small ones was a gift of half a window to what moved its work in two runs
// of three. Of less time outside no more is credited than chance explains, or a submission
// that makes the test's own work cheaper would be paid for it: by memory that it never touches,
// for which the collector hardly runs while the inputs are made. So what is saved before the
// window pays for nothing after it.
func withOverhead(pairs []Pair) []Pair {
	pairs = slices.Clone(pairs)
	for i, p := range pairs {
		credit := min(time.Duration(mostCredit*float64(p.Reference)), p.Submission/2)
		more := max(p.Excess.Before, 0) + max(p.Excess.After, 0)
		less := min(p.Excess.Before, 0) + min(p.Excess.After, 0)
		pairs[i].Submission += more + max(less, -credit)
	}
	return pairs
}

// mostCredit is what less time outside the window can take off, in parts of the reference's
// window.
const mostCredit = 0.1
