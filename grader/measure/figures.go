package measure

import (
	"fmt"
	"slices"
	"time"

	"grade/grader/fault"
	"grade/grader/verdict"
	"grade/sandbox"
)

// Figures returns the figures of one run.
func Figures(o sandbox.Outcome) verdict.Figures {
	return verdict.Figures{
		CPUMs: verdict.Milliseconds(o.CPU), WallMs: verdict.Milliseconds(o.Wall),
		PeakBytes: o.Peak, PeakSource: o.PeakSource.String(), Runs: 1,
	}
}

// boxOverhead is more than a box commonly holds besides its program: the supervisor, and what the
// kernel keeps for both. Measured were 5 to 6 MiB.
const boxOverhead = 16 << 20 // bytes

// Held is an outcome with what its program held wherever it lies. Memory that no page of
// the process maps any more shows in the account of the box, which never falls: if a run has
// raised it beyond what the box held before, by more than the program and the overhead,
// the rest is the program's too, and the source says so. The overhead is at least what the
// reference's box has shown ([Beside]): what a box keeps grows with what a test records.
func Held(o sandbox.Outcome, before, overhead int64) sandbox.Outcome {
	overhead = max(overhead, boxOverhead)
	if Beside(o, before) > overhead {
		o.Peak, o.PeakSource = o.BoxPeak-overhead, o.BoxPeakSource
	}
	return o
}

// Beside is what the box of a run held beside its program, in bytes; 0 if the run has not raised
// what the box held before, which may be another run's.
func Beside(o sandbox.Outcome, before int64) int64 {
	if o.BoxPeakSource == sandbox.SourceNone || before <= 0 || o.BoxPeak <= before {
		return 0
	}
	return o.BoxPeak - o.Peak
}

// SpeedFigures returns the medians of the measured windows, and the least peaks.
func (s *Series) SpeedFigures() (ref, sub verdict.Figures) {
	ref, sub = leastPeak(s.Refs), leastPeak(s.Subs)
	var r, t []time.Duration
	for _, p := range withOverhead(s.pairs) {
		r, t = append(r, p.Reference), append(t, p.Submission)
	}
	ref.CPUMs, sub.CPUMs = verdict.Milliseconds(middle(r)), verdict.Milliseconds(middle(t))
	return ref, sub
}

// middle returns the median, or the upper one of two middle figures, where package quantile
// has their mean. It is shown and decides nothing; results have always shown this figure.
func middle(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// MemoryFigures returns the figures of the runs with the least peaks.
func (s *Series) MemoryFigures() (ref, sub verdict.Figures) {
	return leastPeak(s.Refs), leastPeak(s.Subs)
}

func leastPeak(runs []sandbox.Outcome) verdict.Figures {
	o := slices.MinFunc(runs, func(a, b sandbox.Outcome) int { return int(a.Peak - b.Peak) })
	f := Figures(o)
	f.Runs = len(runs)
	return f
}

// judgeMemory judges the peaks of several runs of each side, above the least that the
// reference held when its measured windows opened. An error is a fault of the exercise or
// ours.
func judgeMemory(refs, subs []sandbox.Outcome, limit float64, last bool) (Memory, error) {
	baseline, err := opening(refs)
	if err != nil {
		return Memory{}, err
	}
	return judgePeaks(peaks(refs), peaks(subs), baseline, limit, last)
}

// opening is the least that runs held when their measured windows opened.
func opening(runs []sandbox.Outcome) (int64, error) {
	var least int64
	for i, o := range runs {
		if len(o.Marks) == 0 {
			return 0, fault.Exercise(fmt.Errorf("weigh the reference: %w", errMarks))
		}
		if held := o.Marks[0].Memory; i == 0 || held < least {
			least = held
		}
	}
	return least, nil
}

func peaks(runs []sandbox.Outcome) (list []peak) {
	for _, o := range runs {
		list = append(list, peak{Bytes: o.Peak, Source: o.PeakSource})
	}
	return list
}
