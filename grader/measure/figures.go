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

// SpeedFigures returns the medians of the measured windows, and the least peaks.
func SpeedFigures(pairs []Pair, refs, subs []sandbox.Outcome) (ref, sub verdict.Figures) {
	ref, sub = leastPeak(refs), leastPeak(subs)
	var r, s []time.Duration
	for _, p := range withOverhead(pairs) {
		r, s = append(r, p.Reference), append(s, p.Submission)
	}
	ref.CPUMs, sub.CPUMs = verdict.Milliseconds(middle(r)), verdict.Milliseconds(middle(s))
	return ref, sub
}

// middle returns the median, or the upper one of two middle figures, where package quantile
// has their mean. It is shown and decides nothing; results have always shown this figure.
func middle(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// MemoryFigures returns the figures of the runs with the least peaks.
func MemoryFigures(refs, subs []sandbox.Outcome) (ref, sub verdict.Figures) {
	return leastPeak(refs), leastPeak(subs)
}

func leastPeak(runs []sandbox.Outcome) verdict.Figures {
	o := slices.MinFunc(runs, func(a, b sandbox.Outcome) int { return int(a.Peak - b.Peak) })
	f := Figures(o)
	f.Runs = len(runs)
	return f
}

// JudgeMemory judges the peaks of several runs of each side, above the least that the
// reference held when its measured windows opened. An error is a fault of the exercise or
// ours.
func JudgeMemory(refs, subs []sandbox.Outcome, limit float64) (Memory, error) {
	baseline, err := opening(refs)
	if err != nil {
		return Memory{}, err
	}
	return judgePeaks(peaks(refs), peaks(subs), baseline, limit)
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
