package measure

import (
	"fmt"
	"strconv"
	"strings"

	"grade/grader/verdict"
	"grade/sandbox"
)

// What to look for, in the words of a report.
const (
	timeAdvice   = "look for work that is done again and again and need not be: a search, a copy, an allocation inside a loop"
	memoryAdvice = "look for what is copied, or kept longer than it is needed"
)

// Detail tells the student what was measured, beside what is allowed.
func (s Speed) Detail(limit float64) string {
	if s.Verdict != verdict.TooSlow {
		return s.Note
	}
	return sentences(fmt.Sprintf("took %s times the reference's CPU time for the same work, where %g times is allowed", digits(s.Ratio), limit), s.Note, timeAdvice)
}

// Detail tells the student what was measured, beside what is allowed. Sizes are above what
// the reference held when the workload began.
func (m Memory) Detail(limit float64) string {
	if m.Verdict != verdict.TooMuchMemory {
		return m.Note
	}
	size := fmt.Sprintf("held up to %s times as much memory as the reference for the same work", digits(m.Ratio))
	if m.refLeast < memoryFloor {
		size = fmt.Sprintf("held %.0f MiB for the same work, and the reference hardly any", m.Ratio)
	}
	return sentences(fmt.Sprintf("%s, where %s", size, m.limit(limit)), m.Note, memoryAdvice)
}

// limit says what is allowed, as a multiple or, where the reference takes too little for
// one, as a size.
func (m Memory) limit(limit float64) string {
	if m.Allowed == m.refLeast+memorySlack {
		return fmt.Sprintf("%d MiB more than it are allowed", memorySlack>>20)
	}
	return fmt.Sprintf("%g times is allowed", limit)
}

// Unfinished explains a run that was only asked for its memory and did not end in time.
func Unfinished(detail string, o sandbox.Outcome) string {
	return sentences(detail, fmt.Sprintf("it held %d MiB until then, and how much it needs in all cannot be told before the work is done", o.Peak>>20), timeAdvice)
}

// Words tell of a noisy machine.
func (c Control) Words() string {
	return fmt.Sprintf("the machine was busy with other programs while this was measured: two runs of the reference differed by %s in time. The verdict allows for it; the figure may be another one the next time",
		percent(c.Ratio, c.Spread))
}

// percent is the larger of a drift and a spread, which are factors.
func percent(drift, spread float64) string {
	return fmt.Sprintf("%.0f %%", 100*(max(drift, 1/drift, spread)-1))
}

func sentences(list ...string) string {
	var parts []string
	for _, s := range list {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "; ")
}

// digits writes three significant digits, or all before the point.
func digits(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
