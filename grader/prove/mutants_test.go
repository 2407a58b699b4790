package prove

import (
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/mutate"
	"grade/grader/verdict"
)

func TestFateOf(t *testing.T) {
	result := func(score int, verdicts ...verdict.Verdict) *verdict.Result {
		r := &verdict.Result{Verdict: verdict.Graded, Score: score, MaxScore: 100}
		for _, v := range verdicts {
			r.Checks = append(r.Checks, verdict.CheckResult{Verdict: v})
		}
		return r
	}
	for _, test := range []struct {
		name   string
		result *verdict.Result
		want   mutantOutcome
	}{
		{"all points", result(100, verdict.Passed, verdict.NotRun), survived},
		{"a wrong answer", result(50, verdict.Passed, verdict.WrongAnswer, verdict.NotRun), killed},
		{"a loop without end", result(50, verdict.Passed, verdict.TimeLimit, verdict.NotRun), timedOut},
		{"slow, and wrong as well", result(0, verdict.TimeLimit, verdict.WrongAnswer), killed},
		{"too slow by its own measure", result(50, verdict.Passed, verdict.TooSlow), killed},
		{"it does not compile", &verdict.Result{Verdict: verdict.CompileError, MaxScore: 100}, refused},
	} {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, outcomeOf(test.result)) })
	}
}

// A mutant that does not build, or was not graded, counts for nothing; a marked one is neither killed nor a
// survivor, even if it timed out; a mark on a killed one is a fault. A mark may be a pattern.
func TestSum(t *testing.T) {
	marks := []course.Equivalent{{Mutant: "marked", Line: 2}, {Mutant: "same but slow", Line: 3}, {Mutant: "caught", Line: 4}, {Mutant: "unbuilt", Line: 5},
		{Mutant: "text:*", Line: 6}}
	r := &mutation{exercise: &course.Exercise{Name: "e"}, options: MutationOptions{Equivalent: marks}}
	for id, f := range map[string]mutantOutcome{"caught": killed, "slow": timedOut, "same but slow": timedOut, "marked": survived, "missed": survived, "unbuilt": refused, "late": notGraded,
		"text:1": survived, "text:2": refused, "text:3": killed} {
		r.mutants, r.verdicts = append(r.mutants, mutate.Mutant{ID: id}), append(r.verdicts, f)
	}
	m := r.sum()
	assert.Equal(t, []int{7, 3, 1, 3, 1}, []int{m.Total, m.Killed, m.TimedOut, m.Equivalent, m.LeftOut})
	assert.Equal(t, []Survivor{{ID: "missed"}}, m.Survivors)
	assert.InDelta(t, 3.0/4, m.Score, 1e-9)
	assert.Equal(t, []Finding{
		{"exercises/e/equivalent.yaml", 4, "caught is killed, and so not equivalent; remove it"},
		{"exercises/e/equivalent.yaml", 5, "unbuilt does not build, and so counts for nothing; remove it"},
		{"exercises/e/equivalent.yaml", 6, "text:* fits text:3, which is killed, and so not equivalent; remove it"},
	}, m.Faults)
}

// Without mutants the score is 1.
func TestSumOfNone(t *testing.T) {
	r := &mutation{exercise: &course.Exercise{Name: "e"}}
	assert.InDelta(t, 1, r.sum().Score, 0)
}

// A fault of a mark without a mutant names the mutants that may replace it.
func TestSuccessor(t *testing.T) {
	mutants := []mutate.Mutant{{ID: "a.go:F:boundary:1"}, {ID: "a.go:F:boundary:2"}, {ID: "a.go:F:boundary:3"}, {ID: "a.go:G:boundary:4"}}
	marks := []course.Equivalent{{Mutant: "a.go:F:boundary:0"}, {Mutant: "a.go:F:boundary:2"}}
	assert.Equal(t, " (perhaps into a.go:F:boundary:1 or a.go:F:boundary:3)", successor(marks[0], mutants, marks))
	assert.Empty(t, successor(course.Equivalent{Mutant: "a.go:H:boundary:0"}, mutants, marks))
	assert.Empty(t, successor(course.Equivalent{Mutant: "nonsense"}, mutants, marks))
}

func TestChoose(t *testing.T) {
	mutants := []mutate.Mutant{{ID: "a.go:F:bound:1"}, {ID: "a.go:F:drop:2"}, {ID: "b.go:G:bound:3"}, {ID: "b.go:G:drop:4"}}
	chosen, err := Choose(mutants, nil)
	require.NoError(t, err)
	assert.Equal(t, mutants, chosen)
	chosen, err = Choose(mutants, []string{"a.go:F:*", "*:drop:*"})
	require.NoError(t, err)
	assert.Equal(t, []mutate.Mutant{mutants[0], mutants[1], mutants[3]}, chosen)
	_, err = Choose(mutants, []string{"c.go:*"})
	require.EqualError(t, err, "no mutant's id fits")
	_, err = Choose(mutants, []string{"["})
	require.ErrorIs(t, err, path.ErrBadPattern)
	assert.Equal(t, []mutate.Mutant{mutants[0], mutants[2]}, Spread(mutants, 2))
	assert.Equal(t, mutants, Spread(mutants, 9))
	assert.Equal(t, mutants, Spread(mutants, 0))
}
