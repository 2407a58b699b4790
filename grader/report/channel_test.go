package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/grader/verdict"
)

// The time of a hidden test is a submission's to choose: it has few values.
func TestTheTimeOfAHiddenTestIsCoarse(t *testing.T) {
	told := map[string]bool{}
	for ms := range 20_000 {
		told[checkSeconds(verdict.CheckResult{Submission: verdict.Figures{CPUMs: float64(ms)}})] = true
	}
	assert.LessOrEqual(t, len(told), 13)
	assert.Equal(t, "0.040", checkSeconds(verdict.CheckResult{Submission: verdict.Figures{CPUMs: 21}}))
	assert.Equal(t, "0.021", checkSeconds(verdict.CheckResult{Ratio: new(1.5), Submission: verdict.Figures{CPUMs: 21}}), "what was measured is what its student asks for")
}
