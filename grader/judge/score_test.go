package judge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/verdict"
)

func TestScore(t *testing.T) {
	list := []course.Check{{Name: "A", Points: 50}, {Name: "B", Points: 30}, {Name: "C", Points: 20}}
	for _, test := range []struct {
		name    string
		results []verdict.CheckResult
		want    int
	}{
		{"nothing", nil, 0},
		{"everything", []verdict.CheckResult{{Name: "C", Verdict: verdict.Passed}, {Name: "A", Verdict: verdict.Passed}, {Name: "B", Verdict: verdict.Passed}}, 100},
		{"what is absent earns nothing", []verdict.CheckResult{{Name: "B", Verdict: verdict.Passed}}, 30},
		{"points that a result claims count for nothing", []verdict.CheckResult{{Name: "A", Verdict: verdict.WrongAnswer, Points: 50, MaxPoints: 500}}, 0},
	} {
		points, most, err := Score(list, test.results)
		require.NoError(t, err, test.name)
		assert.Equal(t, test.want, points, test.name)
		assert.Equal(t, 100, most, test.name)
	}
	for name, results := range map[string][]verdict.CheckResult{
		"two results":              {{Name: "A", Verdict: verdict.Passed}, {Name: "A", Verdict: verdict.Passed}},
		"not asked for":            {{Name: "D", Verdict: verdict.Passed}},
		"invalid verdict \"fine\"": {{Name: "A", Verdict: "fine"}},
		`""`:                       {{Name: "A"}},
	} {
		_, _, err := Score(list, results)
		assert.ErrorContains(t, err, name)
	}
}

func TestOnlyWhatIsAskedForCounts(t *testing.T) {
	list := []course.Check{{Name: "A", Points: 60}, {Name: "B", Points: 30}}
	results := []verdict.CheckResult{{Name: "A", Verdict: verdict.Passed}, {Name: "B", Verdict: verdict.WrongAnswer}, {Name: "C", Verdict: verdict.NotRun}}
	points, most, err := Score(list, results)
	require.NoError(t, err)
	assert.Equal(t, 60, points)
	assert.Equal(t, 90, most)
}

func TestPassedAndWaivedEarnPoints(t *testing.T) {
	for _, v := range append(verdict.CheckVerdicts, "", verdict.Graded) {
		want := 0
		if v == verdict.Passed || v == verdict.Waived {
			want = 7
		}
		assert.Equal(t, want, Points(course.Check{Points: 7}, v), v)
	}
}
