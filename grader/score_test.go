package grader

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises"
)

func TestScore(t *testing.T) {
	list := []exercises.Check{{Name: "A", Points: 50}, {Name: "B", Points: 30}, {Name: "C", Points: 20}}
	for _, test := range []struct {
		name    string
		results []CheckResult
		want    int
	}{
		{"nothing", nil, 0},
		{"everything", []CheckResult{{Name: "C", Verdict: Passed}, {Name: "A", Verdict: Passed}, {Name: "B", Verdict: Passed}}, 100},
		{"what is absent earns nothing", []CheckResult{{Name: "B", Verdict: Passed}}, 30},
		{"points that a result claims count for nothing", []CheckResult{{Name: "A", Verdict: WrongAnswer, Points: 50, MaxPoints: 500}}, 0},
	} {
		points, most, err := score(list, test.results)
		require.NoError(t, err, test.name)
		assert.Equal(t, test.want, points, test.name)
		assert.Equal(t, 100, most, test.name)
	}
	for name, results := range map[string][]CheckResult{
		"two results":  {{Name: "A", Verdict: Passed}, {Name: "A", Verdict: Passed}},
		"nobody asked": {{Name: "D", Verdict: Passed}},
		"is none":      {{Name: "A", Verdict: "fine"}},
		`""`:           {{Name: "A"}},
	} {
		_, _, err := score(list, results)
		assert.ErrorContains(t, err, name)
	}
}

func TestOnlyWhatIsAskedForCounts(t *testing.T) {
	list := []exercises.Check{{Name: "A", Points: 60}, {Name: "B", Points: 30}}
	results := []CheckResult{{Name: "A", Verdict: Passed}, {Name: "B", Verdict: WrongAnswer}, {Name: "C", Verdict: NotRun}}
	points, most, err := score(list, results)
	require.NoError(t, err)
	assert.Equal(t, 60, points)
	assert.Equal(t, 90, most)
}

func TestOnlyPassedEarnsPoints(t *testing.T) {
	for _, v := range append(CheckVerdicts, "", Graded) {
		want := 0
		if v == Passed {
			want = 7
		}
		assert.Equal(t, want, pointsFor(exercises.Check{Points: 7}, v), v)
	}
}
