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

// No report but the course's own has more digits of what was measured than the others.
func TestGradescopeHasThreeDigits(t *testing.T) {
	c := newGradescopeTest(verdict.CheckResult{Ratio: new(1.23456), Interval: &[2]float64{1.11111, 2.22222}}, "1.1")
	assert.Equal(t, gradescopeFigures{Ratio: new(1.23), Interval: &[2]float64{1.11, 2.22}}, c.ExtraData)
}
