package prove

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/grader/verdict"
)

// A machine without the race detector finds no fault with an exercise; a hidden test that
// races with itself is one.
func TestFaulty(t *testing.T) {
	ran := verdict.Figures{Runs: 1}
	for want, list := range map[bool][]verdict.CheckResult{
		false: {{Verdict: verdict.Passed, Submission: ran}, {Verdict: verdict.Waived}},
		true:  {{Verdict: verdict.Waived, Submission: ran}, {Verdict: verdict.WrongAnswer, Submission: ran}, {Verdict: verdict.NotRun}},
	} {
		for _, c := range list {
			assert.Equal(t, want, faulty(c), "%v", c)
		}
	}
}
