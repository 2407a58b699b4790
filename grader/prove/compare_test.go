package prove

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"grade/grader/verdict"
)

// got returns a result whose score is the sum of its checks.
func got(checks ...verdict.CheckResult) *verdict.Result {
	r := &verdict.Result{Verdict: verdict.Graded, MaxScore: 100, Checks: checks, Seed: "5e"}
	for _, c := range checks {
		r.Score += c.Points
	}
	return r
}

func tested(name string, v verdict.Verdict, points int) verdict.CheckResult {
	return verdict.CheckResult{Name: name, Kind: "correctness", Verdict: v, Points: points, Hint: "the rule of " + name}
}

func TestCompare(t *testing.T) {
	refused := &verdict.Result{Verdict: verdict.CompileError, MaxScore: 100, Seed: "5e", Problems: []verdict.Problem{{File: "a.go", Line: 3, Message: "no Len"}},
		Checks: []verdict.CheckResult{tested("TestA", verdict.NotRun, 0)}}
	full := Outcome{verdict.Graded, 100, 100, ""}
	none := Outcome{verdict.Graded, 0, 100, ""}
	a, b := tested("TestA", verdict.Passed, 100), tested("TestB", verdict.Passed, 100)
	for _, test := range []struct {
		name          string
		before, after *verdict.Result
		want          *Change
		scores        bool
	}{
		{"nothing differs", got(a), got(a), nil, false},
		{"both are refused", refused, refused, nil, false},
		{
			"a check fails now", got(a), got(tested("TestA", verdict.WrongAnswer, 0)),
			&Change{Old: full, New: none, Checks: []CheckChange{{"TestA", verdict.Passed, verdict.WrongAnswer, 100, 0, "the rule of TestA", verdict.Correctness}}}, true,
		}, {
			"a check is passed now, and what it said before is why", got(tested("TestA", verdict.Missing, 0)), got(a),
			&Change{Old: none, New: full, Checks: []CheckChange{{"TestA", verdict.Missing, verdict.Passed, 0, 100, "the rule of TestA", verdict.Correctness}}}, true,
		}, {
			"it fails in another way, for the same points", got(tested("TestA", verdict.TimeLimit, 0)), got(tested("TestA", verdict.RuntimeError, 0)),
			&Change{Old: none, New: none, Checks: []CheckChange{{"TestA", verdict.TimeLimit, verdict.RuntimeError, 0, 0, "the rule of TestA", verdict.Correctness}}}, false,
		}, {
			"a check is called otherwise", got(a), got(b),
			&Change{Old: full, New: full, Checks: []CheckChange{
				{"TestB", "", verdict.Passed, 0, 100, "", verdict.Correctness}, {"TestA", verdict.Passed, "", 100, 0, "", verdict.Correctness},
			}}, false,
		}, {
			"points move", got(tested("TestA", verdict.Passed, 60)), got(tested("TestA", verdict.Passed, 50)),
			&Change{Old: Outcome{verdict.Graded, 60, 100, ""}, New: Outcome{verdict.Graded, 50, 100, ""},
				Checks: []CheckChange{{"TestA", verdict.Passed, verdict.Passed, 60, 50, "", verdict.Correctness}}}, true,
		}, {
			"a new check that was not asked for", got(a), got(a, tested("BenchmarkA/speed", verdict.NotRun, 0)), nil, false,
		}, {
			"it does not compile any more: no check says more than that", got(a), refused,
			&Change{Old: full, New: Outcome{verdict.CompileError, 0, 100, "a.go:3: no Len"}, Checks: []CheckChange{}}, true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.want != nil {
				test.want.Submission, test.want.Seed = "ada", "5e"
			}
			c := Compare("ada", test.before, test.after)
			assert.Equal(t, test.want, c)
			assert.Equal(t, test.scores, c != nil && c.Scores())
		})
	}
}

// A problem is told with as much of its place as is known.
func TestOutcomeOfProblem(t *testing.T) {
	for want, p := range map[string]verdict.Problem{
		"a.go:3: no Len":    {File: "a.go", Line: 3, Message: "no Len"},
		"a.go: is a link":   {File: "a.go", Message: "is a link"},
		"too many Go files": {Message: "too many Go files"},
	} {
		got := outcome(&verdict.Result{Verdict: verdict.Invalid, MaxScore: 100, Problems: []verdict.Problem{p}})
		assert.Equal(t, Outcome{verdict.Invalid, 0, 100, want}, got)
	}
}

// Only a check that was measured under both versions may differ by chance.
func TestChangeThatMayBeChance(t *testing.T) {
	speed := func(v verdict.Verdict) verdict.CheckResult {
		return verdict.CheckResult{Name: "BenchmarkA/speed", Kind: "speed", Verdict: v}
	}
	a, wrong := tested("TestA", verdict.Passed, 0), tested("TestA", verdict.WrongAnswer, 0)
	assert.True(t, Compare("", got(a, speed(verdict.Passed)), got(a, speed(verdict.TooSlow))).measured())
	assert.True(t, Compare("", got(a, speed(verdict.Passed)), got(wrong, speed(verdict.TooSlow))).measured(), "and something else")
	assert.False(t, Compare("", got(a, speed(verdict.Passed)), got(wrong, speed(verdict.Passed))).measured())
	assert.False(t, Compare("", got(a), got(a, speed(verdict.TooSlow))).measured(), "a new check is no chance")
	assert.False(t, Compare("", got(a), &verdict.Result{Verdict: verdict.Invalid}).measured())
}

// A measured check counts if it differs in the same way twice; any other counts at once.
func TestConfirmed(t *testing.T) {
	check := func(name string, kind verdict.Kind, was, is verdict.Verdict, old, new int) CheckChange {
		return CheckChange{Name: name, Old: was, New: is, OldPoints: old, NewPoints: new, kind: kind}
	}
	fast := check("BenchmarkA/speed", verdict.Speed, verdict.Passed, verdict.TooSlow, 5, 0)
	slow := check("BenchmarkA/speed", verdict.Speed, verdict.TooSlow, verdict.Passed, 0, 5)
	test := check("TestA", verdict.Correctness, verdict.Passed, verdict.Passed, 10, 7)
	change := func(list ...CheckChange) *Change {
		c := &Change{Old: Outcome{verdict.Graded, 80, 100, ""}, New: Outcome{verdict.Graded, 80, 100, ""}, Checks: list}
		for _, one := range list {
			c.New.Score += one.NewPoints - one.OldPoints
		}
		return c
	}
	assert.Equal(t, change(fast, test), change(fast, test).confirmed(change(test, fast)))
	assert.Equal(t, change(test), change(fast, test).confirmed(change(test)))
	assert.Equal(t, change(test), change(fast, test).confirmed(change(slow, test)), "the other way round is no agreement")
	assert.Equal(t, change(test), change(test).confirmed(nil), "a test is no chance")
	assert.Nil(t, change(fast).confirmed(change(slow)))
	assert.Nil(t, change(fast).confirmed(nil))
}

func TestDifferencesAreSorted(t *testing.T) {
	change := func(name string, was, is int) *Change {
		return &Change{Submission: name, Old: Outcome{Score: was}, New: Outcome{Score: is}}
	}
	d := &Difference{Changes: []*Change{change("d", 0, 9), change("c", 9, 9), change("b", 9, 0), change("a", 9, 9)}, Failed: []Left{{"y", ""}, {"x", ""}}}
	d.sort()
	names := ""
	for _, c := range d.Changes {
		names += c.Submission
	}
	assert.Equal(t, "bacd", names)
	assert.Equal(t, []Left{{"x", ""}, {"y", ""}}, d.Failed)
}
