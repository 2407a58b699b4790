package prove

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/verdict"
)

// Each test that the starter passes has points for nothing, however few they are.
func TestStarterEarnsNothing(t *testing.T) {
	c := begun(result(verdict.WrongAnswer, verdict.WrongAnswer, verdict.NotRun))
	require.NoError(t, c.starter(t.Context(), &Explanations{}))
	assert.Empty(t, findings(c))

	r := result(verdict.WrongAnswer, verdict.Passed, verdict.NotRun)
	r.Checks[1].Points, r.Score = 5, 5
	c = begun(r)
	require.NoError(t, c.starter(t.Context(), &Explanations{}))
	require.Len(t, findings(c), 1)
	assert.Contains(t, findings(c)[0], "exercises/mean/exercise.yaml:8: TestB: the starter passes it, and earns its 5 points: it is a solution already, or the test asks nothing of a submission")

	c.exercise.Checks[1].Needs = []course.Need{{Check: "TestA"}}
	c.report.Findings = nil
	require.NoError(t, c.starter(t.Context(), &Explanations{}))
	require.Len(t, findings(c), 1)
	assert.Contains(t, findings(c)[0], "earns its 5 points: because what rests on TestA does not count where that failed")
}
