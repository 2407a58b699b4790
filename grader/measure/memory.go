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

// memoryFloor replaces a reference's peak that is lost in the baseline, so that there is a
// ratio.
const memoryFloor = 1 << 20 // bytes

// peak is the most resident memory of one run.
type peak struct {
	Bytes  int64
	Source sandbox.Source
}

// Memory is the judgement on a submission's memory.
type Memory struct {
	Verdict  verdict.Verdict // Passed or TooMuchMemory
	Ratio    float64         // least peak of the submission to the reference's, both above the baseline
	Interval [2]float64      // the ratio of the submission's least peak and of its greatest
	Allowed  int64           // bytes above the baseline
	Note     string
}

// judgePeaks compares the least peak of several runs of each side, because a collected
// heap has a noisy one, above the baseline: what the reference's process held when its
// measured window opened, inputs and files included. Both sides share the reference's
// baseline, because a submission's own would hide what its init allocates.
//
// Peaks of different sources do not compare; that is an error of ours.
func judgePeaks(ref, sub []peak, baseline int64, limit float64) (Memory, error) {
	if err := sameSource(ref, sub); err != nil {
		return Memory{}, fmt.Errorf("judge memory: %w", err)
	}
	refLeast, _ := extremes(ref, baseline)
	least, most := extremes(sub, baseline)
	allowed := max(int64(math.Ceil(max(limit, minMemoryRatio)*float64(refLeast))), refLeast+memorySlack)
	base := float64(max(refLeast, memoryFloor))
	m := Memory{
		Verdict:  verdict.Passed,
		Ratio:    float64(least) / base,
		Interval: [2]float64{float64(least) / base, float64(most) / base},
		Allowed:  allowed,
	}
	switch {
	case least > allowed:
		m.Verdict = verdict.TooMuchMemory
	case m.Ratio > limit:
		m.Note = fmt.Sprintf("above the limit by less than the %d MiB and the factor of %.1f that do not count", memorySlack>>20, minMemoryRatio)
	}
	return m, nil
}

// Detail explains the verdict to the student.
func (m Memory) Detail(limit float64) string {
	return measured("peaks at", m.Ratio, "memory", limit, m.Verdict == verdict.TooMuchMemory, m.Note)
}

// extremes returns the least and the greatest peak above the baseline.
func extremes(peaks []peak, baseline int64) (least, most int64) {
	least = math.MaxInt64
	for _, p := range peaks {
		above := max(0, p.Bytes-baseline)
		least, most = min(least, above), max(most, above)
	}
	return least, most
}

func sameSource(ref, sub []peak) error {
	if len(ref) == 0 || len(sub) == 0 {
		return fmt.Errorf("%d runs of the reference and %d of the submission", len(ref), len(sub))
	}
	want := ref[0].Source
	if want == sandbox.SourceNone {
		return errors.New("the reference's peak was not read")
	}
	for _, p := range slices.Concat(ref, sub) {
		if p.Source != want {
			return fmt.Errorf("peaks from two sources, %v and %v", want, p.Source)
		}
	}
	return nil
}
