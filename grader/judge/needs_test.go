package judge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/lang/golang"
	"grade/grader/verdict"
	"grade/observe/wire"
)

// resting needs TestLoss for what begins with "loss", and TestOrder for nothing.
var resting = course.Check{Name: "TestRun", Kind: verdict.Correctness, Feedback: course.FeedbackHint, Needs: []course.Need{
	{Check: "TestOrder"}, {Check: "TestLoss", Observations: []string{"loss*"}},
}}

func epochs(first, second float64, weights int64, more ...wire.Record) []wire.Record {
	return append([]wire.Record{record("loss 1", float(first)), record("weights", integer(weights)), record("loss 2", float(second))}, more...)
}

// Where a needed check has failed, the observations that rest on it do not count, and all
// others do.
func TestExcused(t *testing.T) {
	const told = "observations that rest on TestLoss, which failed, do not count here"
	for _, test := range []struct {
		name   string
		failed []string
		got    []wire.Record
		want   verdict.Verdict
		detail string
	}{
		{"nothing has failed", nil, epochs(1, 9, 7), verdict.WrongAnswer, `one value differs from what is expected: "loss 2"`},
		{"it has failed", []string{"TestLoss"}, epochs(8, 9, 7), verdict.Passed, told},
		{"a need without observations has failed", []string{"TestOrder"}, epochs(1, 9, 7), verdict.WrongAnswer, `one value differs from what is expected: "loss 2"`},
		{"a check that is not needed has failed", []string{"TestLosses"}, epochs(1, 9, 7), verdict.WrongAnswer, `one value differs from what is expected: "loss 2"`},
		{"what counts differs too", []string{"TestLoss"}, epochs(1, 9, 6), verdict.WrongAnswer, `the value differs from what is expected: "weights"; ` + told},
		{"nothing differs", []string{"TestLoss"}, epochs(1, 2, 7), verdict.Passed, ""},
		{"it is left out", []string{"TestLoss"}, epochs(1, 2, 7)[1:2], verdict.Passed, told},
		{"there are more of it", []string{"TestLoss"}, epochs(1, 2, 7, record("loss 3", float(3))), verdict.Passed, told},
		{"there are more of what counts", []string{"TestLoss"}, epochs(1, 2, 7, record("weights", integer(7))), verdict.WrongAnswer, "the test observed all that is expected, and then more: something happens once too often; " + told},
		{"what counts is left out", []string{"TestLoss"}, epochs(1, 2, 7)[:1], verdict.WrongAnswer, `the test ended where "weights" should be, the first that it observes: something did not happen; ` + told},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, detail, err := Test(resting, ran(stream(wire.Passed, epochs(1, 2, 7)...)), ran(stream(wire.Passed, test.got...)), golang.CrashWords, test.failed...)
			require.NoError(t, err)
			assert.Equal(t, test.want, v)
			assert.Equal(t, test.detail, detail)
		})
	}
}

// A failed check excuses differences alone: no crash, and no test that ends as failed.
func TestOnlyDifferencesAreExcused(t *testing.T) {
	ref := ran(stream(wire.Passed, epochs(1, 2, 7)...))
	crashed := ran(stream(0, epochs(1, 2, 7)...))
	crashed.ExitCode = 2
	v, _, err := Test(resting, ref, crashed, golang.CrashWords, "TestLoss")
	require.NoError(t, err)
	assert.Equal(t, verdict.RuntimeError, v)
	v, _, err = Test(resting, ref, ran(stream(wire.Failed, epochs(1, 9, 7)...)), golang.CrashWords, "TestLoss")
	require.NoError(t, err)
	assert.Equal(t, verdict.WrongAnswer, v)
}

// A check all of whose observations can be excused would be passed by failing another:
// that is the author's fault, whatever the submission does.
func TestSomethingAlwaysCounts(t *testing.T) {
	reported := record("weights", integer(7))
	reported.SelfReported = true
	for _, records := range [][]wire.Record{{record("loss", float(1))}, {record("loss", float(1)), reported}} {
		check, run := resting, ran(stream(wire.Passed, records...))
		_, _, err := Test(check, run, run, golang.CrashWords)
		assert.ErrorIs(t, err, fault.ErrExercise)
		check.SelfReported = true
		_, _, err = Test(check, run, run, golang.CrashWords)
		assert.Equal(t, len(records) == 2, err == nil)
	}
}

// The cause of a failed check is the failed one at the root of what it needs.
func TestCauses(t *testing.T) {
	checks := []course.Check{
		{Name: "A"}, {Name: "B", Needs: []course.Need{{Check: "A"}}}, {Name: "C", Needs: []course.Need{{Check: "D"}, {Check: "B"}}}, {Name: "D"},
		{Name: "X", Needs: []course.Need{{Check: "Y"}}}, {Name: "Y", Needs: []course.Need{{Check: "X"}}},
	}
	for _, test := range []struct{ failed, want map[string]string }{
		{map[string]string{"A": "", "B": "", "C": ""}, map[string]string{"B": "A", "C": "A"}},
		{map[string]string{"B": "", "C": ""}, map[string]string{"C": "B"}},
		{map[string]string{"A": "", "C": ""}, map[string]string{}}, // what stands between is passed
		{map[string]string{"C": "", "D": "", "B": ""}, map[string]string{"C": "D"}},
		{map[string]string{"X": "", "Y": ""}, map[string]string{"X": "Y", "Y": "X"}}, // the loader refuses it
	} {
		var results []verdict.CheckResult
		for _, c := range checks {
			v := verdict.Passed
			if _, ok := test.failed[c.Name]; ok {
				v = verdict.RuntimeError
			}
			results = append(results, verdict.CheckResult{Name: c.Name, Verdict: v})
		}
		got := map[string]string{}
		for _, r := range Causes(checks, results) {
			if r.Cause != "" {
				got[r.Name] = r.Cause
			}
		}
		assert.Equal(t, test.want, got, "%v", test.failed)
		assert.Empty(t, results[1].Cause, "the argument is not changed")
	}
	assert.Empty(t, Causes(checks, []verdict.CheckResult{{Name: "B", Verdict: verdict.WrongAnswer}, {Name: "A", Verdict: verdict.NotRun}})[0].Cause)
}

// A failed check excuses as many points as it costs, in all.
func TestAllowance(t *testing.T) {
	need := func(names ...string) (list []course.Need) {
		for _, n := range names {
			list = append(list, course.Need{Check: n, Observations: []string{"*"}})
		}
		return list
	}
	a := NewAllowance([]course.Check{{Name: "A", Points: 3}, {Name: "B", Points: 2}, {Name: "C", Points: 4}})
	assert.Equal(t, []string{"A"}, a.Excusing([]string{"A", "B"}, 3))
	assert.Equal(t, []string{"A", "B"}, a.Excusing([]string{"B", "A"}, 2))
	assert.Empty(t, a.Excusing([]string{"A", "B"}, 4))
	a.Spend(course.Check{Name: "D", Needs: need("B", "A")}, []string{"A", "B"}, 2)
	assert.Equal(t, []string{"A"}, a.Excusing([]string{"A", "B"}, 1))
	a.Spend(course.Check{Name: "E", Needs: need("B", "A")}, []string{"A"}, 1)
	assert.Equal(t, []string{"A"}, a.Excusing([]string{"A", "B"}, 2))
	a.Spend(course.Check{Name: "F"}, []string{"A"}, 2)
	assert.Equal(t, []string{"A"}, a.Excusing([]string{"A", "B"}, 2), "it needs neither")
}
