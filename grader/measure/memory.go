package measure

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"grade/grader/verdict"
	"grade/sandbox"
)

// The least that a submission may use beyond the reference, whatever the limit:
// the peak of a collected heap wanders that far by itself.
const (
	memorySlack    = 8 << 20 // bytes
	minMemoryRatio = 1.3
)

// memoryFloor replaces a peak that is lost in the baseline, on either side, so that there is
// a ratio, and that of two such peaks is 1.
const memoryFloor = 1 << 20 // bytes

// peak is the most resident memory of one run.
type peak struct {
	Bytes  int64
	Source sandbox.Source
}

// Memory is the judgement on a submission's memory.
type Memory struct {
	Verdict  verdict.Verdict // Passed, TooMuchMemory, or "" while undecided
	Ratio    float64         // the peak that decides to the reference's least, both above the baseline
	Interval [2]float64      // the ratio of the submission's least peak and of its greatest
	Allowed  int64           // bytes above the baseline
	Note     string

	refLeast int64
}

// MemoryRuns is how often a memory workload runs on each side; a single run far above what
// is allowed is not believed, and makes it [moreMemoryRuns]. Where no figure is shown,
// [fewMemoryRuns] that are all clearly within it are enough.
const (
	fewMemoryRuns  = 2
	MemoryRuns     = 5
	moreMemoryRuns = 10
)

// clearly is the share of what is allowed that few runs have to be within.
const clearly = 0.7

// Peaks says in words how many runs of each side are weighed.
func Peaks() string {
	return fmt.Sprintf("%d of each, or %d that are clearly within the limit", MemoryRuns, fewMemoryRuns)
}

// needed is how many of n runs have to be within what is allowed: two of five. Noise
// raises a peak and never lowers it, so that the doubt is the submission's.
func needed(n int) int { return (2*n + 4) / 5 }

// spared is how many of n runs may be [far] above what is allowed: one of ten.
func spared(n int) int { return n / 10 }

// far is the multiple of what is allowed that no noise explains, as long as the
// reference's own peaks agree: a program that takes so much in some of its runs and not
// in others behaves in two ways, and the greedy one counts.
const far = 1.5

// judgePeaks compares peaks of several runs of each side, because a collected heap has a
// noisy one, above the baseline: what the reference's process held when its measured
// window opened, inputs and files included. Both sides share the reference's baseline,
// because a submission's own would hide what its init allocates.
//
// It is undecided if one run more than may be is far above, and there can be more.
// Peaks of different sources do not compare; that is an error of ours.
func judgePeaks(ref, sub []peak, baseline int64, limit float64, last bool) (Memory, error) {
	if err := sameSource(ref, sub); err != nil {
		return Memory{}, fmt.Errorf("judge memory: %w", err)
	}
	refs, subs := above(ref, baseline), above(sub, baseline)
	n, refLeast := len(subs), refs[0]
	m := Memory{
		Ratio:    times(subs[needed(n)-1], refLeast),
		Interval: [2]float64{times(subs[0], refLeast), times(subs[n-1], refLeast)},
		Allowed:  allowedPeak(refLeast, limit),
		refLeast: refLeast,
	}
	if n < MemoryRuns && !last {
		if float64(subs[n-1]) <= clearly*float64(m.Allowed) {
			m.Verdict = verdict.Passed
		}
		return m, nil
	}
	greedy := countAbove(subs, int64(far*float64(m.Allowed)*ownScatter(refs)))
	switch {
	case subs[needed(n)-1] > m.Allowed:
		m.Verdict = verdict.TooMuchMemory
	case greedy > spared(n)+1 || greedy > spared(n) && last:
		m.Verdict = verdict.TooMuchMemory
		m.Ratio = m.Interval[1]
		m.Note = fmt.Sprintf("in %d of %d runs, and less in others, where the reference takes the same in all, so the greedy runs count", greedy, n)
	case greedy > spared(n):
	default:
		m.Verdict = verdict.Passed
		m.Note = m.passedNote(limit)
	}
	return m, nil
}

// times is a ratio of peaks above the baseline.
func times(sub, ref int64) float64 {
	return float64(max(sub, memoryFloor)) / float64(max(ref, memoryFloor))
}

func (m Memory) passedNote(limit float64) string {
	if m.Ratio <= limit || m.refLeast < memoryFloor {
		return ""
	}
	return fmt.Sprintf("above the limit by less than the %d MiB and the factor of %.1f that do not count", memorySlack>>20, minMemoryRatio)
}

// allowedPeak is the highest peak above the baseline that passes.
func allowedPeak(refLeast int64, limit float64) int64 {
	return max(int64(math.Ceil(max(limit, minMemoryRatio)*float64(refLeast))), refLeast+memorySlack)
}

// ownScatter is how far the reference's own peaks, which are sorted, lie apart, as a factor.
// What does not count in a verdict does not count here.
func ownScatter(refs []int64) float64 {
	return float64(refs[len(refs)-1]+memorySlack) / float64(refs[0]+memorySlack)
}

func countAbove(sorted []int64, bound int64) (n int) {
	for _, x := range sorted {
		if x > bound {
			n++
		}
	}
	return n
}

// above returns peaks above the baseline, sorted.
func above(peaks []peak, baseline int64) []int64 {
	list := make([]int64, len(peaks))
	for i, p := range peaks {
		list[i] = max(0, p.Bytes-baseline)
	}
	slices.Sort(list)
	return list
}

// sameSource refuses peaks that do not compare. A submission's may be the account of its box,
// which [Held] prefers where it shows more.
func sameSource(ref, sub []peak) error {
	if len(ref) == 0 || len(sub) == 0 {
		return fmt.Errorf("%d runs of the reference and %d of the submission", len(ref), len(sub))
	}
	want := ref[0].Source
	if want == sandbox.SourceNone {
		return errors.New("the reference's peak was not read")
	}
	for i, p := range slices.Concat(ref, sub) {
		if p.Source != want && (i < len(ref) || !p.Source.OfBox()) {
			return fmt.Errorf("peaks from two sources, %v and %v", want, p.Source)
		}
	}
	return nil
}
