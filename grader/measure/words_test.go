package measure

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/grader/verdict"
	"grade/sandbox"
)

// A report says what was measured, what is allowed and what to look for.
func TestDetails(t *testing.T) {
	slow := Speed{Verdict: verdict.TooSlow, Ratio: 3.1415}
	assert.Equal(t, "took 3.14 times the reference's CPU time for the same work, where 2 times is allowed; "+timeAdvice, slow.Detail(2))
	slow.Ratio, slow.Note = 120.4, "this is near the limit"
	assert.Equal(t, "took 120 times the reference's CPU time for the same work, where 2.5 times is allowed; this is near the limit; "+timeAdvice, slow.Detail(2.5))
	assert.Empty(t, Speed{Verdict: verdict.Passed, Ratio: 1}.Detail(2))
	assert.Equal(t, "too close to tell", Speed{Verdict: verdict.Passed, Ratio: 2, Note: "too close to tell"}.Detail(2))

	fat := Memory{Verdict: verdict.TooMuchMemory, Ratio: 3, Allowed: 20 << 20, refLeast: 10 << 20}
	assert.Equal(t, "held up to 3 times as much memory as the reference for the same work, where 2 times is allowed; "+memoryAdvice, fat.Detail(2))
	fat.Allowed = fat.refLeast + memorySlack
	assert.Equal(t, "held up to 3 times as much memory as the reference for the same work, where 8 MiB more than it are allowed; "+memoryAdvice, fat.Detail(1.5))
	fat = Memory{Verdict: verdict.TooMuchMemory, Ratio: 24, Allowed: memorySlack}
	assert.Equal(t, "held 24 MiB for the same work, and the reference hardly any, where 8 MiB more than it are allowed; "+memoryAdvice, fat.Detail(4))
	assert.Empty(t, Memory{Verdict: verdict.Passed}.Detail(2))

	assert.Contains(t, Unfinished("exceeded its limit on CPU time", sandbox.Outcome{Peak: 12 << 20}), "exceeded its limit on CPU time; it held 12 MiB until then")
	assert.Contains(t, Control{Ratio: 0.5, Spread: 1.2}.Words(), "differed by 100 % in time")
}

// Two peaks that are lost in what was held before are alike, and no ratio is 0.
func TestRatioOfNothing(t *testing.T) {
	for _, c := range []struct{ ref, sub, want float64 }{{0, 0, 1}, {0.2, 0.7, 1}, {0.5, 3, 3}, {4, 0, 0.25}, {4, 8, 2}} {
		m, err := judgePeaks(mibs(c.ref), mibs(c.sub), 5<<20, 2, true)
		assert.NoError(t, err)
		assert.InDelta(t, c.want, m.Ratio, 1e-6)
	}
}
