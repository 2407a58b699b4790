package prove

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/observe/wire"
)

// begun is the check of an exercise whose gradings give the same result each, of which the
// grader hears the runs.
func begun(got verdict.Result, heard ...grader.Run) *Checking {
	e := &course.Exercise{Name: "mean", Starter: []course.File{{Name: "mean.go"}}, Checks: []course.Check{
		{Name: "TestA", Kind: verdict.Correctness, Points: 60, Line: 7},
		{Name: "TestB", Kind: verdict.Correctness, Points: 30, Line: 8},
		{Name: "BenchmarkC/speed", Kind: verdict.Speed, Points: 10, Limit: 3, Line: 9},
	}}
	c := &Checking{exercise: e, report: &Report{Exercise: "mean"}}
	c.shipped = FixturesBy(e, nil, func(_ context.Context, _ *submission.Snapshot, o grader.Options) (*verdict.Result, error) {
		for _, run := range heard {
			o.Judged(run)
		}
		return &got, nil
	})
	return c
}

// result is one with these verdicts of TestA, TestB and BenchmarkC/speed.
func result(a, b, speed verdict.Verdict) verdict.Result {
	r := verdict.Result{Verdict: verdict.Graded, MaxScore: 100, Checks: []verdict.CheckResult{
		{Name: "TestA", Kind: "correctness", Verdict: a, MaxPoints: 60},
		{Name: "TestB", Kind: "correctness", Verdict: b, MaxPoints: 30},
		{Name: "BenchmarkC/speed", Kind: "speed", Verdict: speed, MaxPoints: 10},
	}}
	for i, got := range r.Checks {
		if got.Verdict.Earns() {
			r.Checks[i].Points = got.MaxPoints
			r.Score += got.MaxPoints
		}
	}
	return r
}

// differs is a run of a test in which a submission answers 1, and the reference 2.
func differs(check string) (run grader.Run) {
	run = grader.Run{Check: course.Check{Name: check}, Seed: "5eed", Verdict: verdict.WrongAnswer}
	run.Submission.Observations, run.Reference.Observations = recorded(1), recorded(2)
	return run
}

func recorded(x int64) []byte {
	one := wire.Record{Name: "mean", Comparison: wire.Comparison{Op: wire.Exact}, Value: wire.Value{Kind: wire.Int, Int: x}}
	return wire.AppendEnd(wire.Append([]byte(wire.Magic), one), wire.Passed)
}

// findings are those of a check.
func findings(c *Checking) (list []string) {
	c.sort()
	for _, f := range c.report.Findings {
		list = append(list, f.String())
	}
	return list
}

// stopping is the result of a solution that a limit stops.
func stopping(a verdict.Verdict) verdict.Result {
	r, ratio := result(a, verdict.Passed, verdict.TooSlow), 6.02
	r.Checks[2].Ratio, r.Checks[2].Detail = &ratio, "took 6.02 times the reference's CPU time: look for work done again and again"
	return r
}

// An accepted solution that a limit stops has one finding, at the limit.
func TestLimitStopsARightSolution(t *testing.T) {
	c := begun(stopping(verdict.Passed))
	require.NoError(t, c.submission(t.Context(), shipped("accepted/ring", fixture.Accepted, 100, ""), &Explanations{}))
	c.separate()
	assert.Equal(t, []string{"exercises/mean/exercise.yaml:9: the limit 3 of BenchmarkC/speed stops accepted/ring, which takes 6.02 times the reference's CPU time: want at least 9.1 (1.5 times as much)"}, findings(c))
}

// What else it loses is told as well, with the score.
func TestLimitIsNotAll(t *testing.T) {
	c := begun(stopping(verdict.RuntimeError))
	require.NoError(t, c.submission(t.Context(), shipped("accepted/ring", fixture.Accepted, 100, ""), &Explanations{}))
	require.Len(t, findings(c), 2)
	assert.Contains(t, findings(c)[1], "exercise.yaml:9: the limit 3 of")
	assert.Contains(t, findings(c)[0], "not as declared: score 30, want 100; TestA: runtime_error; ")
}

// Where accepted solutions agree against the reference, it is the suspect. Checks that were not run
// do not make the score a finding of its own.
func TestSuspects(t *testing.T) {
	grade := func(all int, names ...string) []string {
		t.Helper()
		c := begun(result(verdict.WrongAnswer, verdict.Passed, verdict.NotRun), differs("TestA"))
		c.stored = slices.Repeat([]fixture.Submission{{Class: fixture.Accepted}}, all)
		for _, name := range names {
			heard := &Explanations{}
			heard.Hear(differs("TestA"))
			require.NoError(t, c.submission(t.Context(), shipped(name, fixture.Accepted, 100, ""), heard))
		}
		c.suspects()
		return findings(c)
	}
	both := grade(2, "accepted/ring", "accepted/sums")
	require.Len(t, both, 1)
	assert.Equal(t, `reference/mean: TestA: all 2 accepted solutions differ from the reference, so that the reference is the suspect: "mean" is 1, want 2 (want: the reference's); seed 5eed`, both[0])
	one := grade(1, "accepted/ring")
	require.Len(t, one, 1)
	assert.Contains(t, one[0], `accepted/ring/expect.yaml: TestA: this solution and the reference disagree, so that one of them is wrong`)
	assert.Len(t, grade(3, "accepted/ring", "accepted/sums"), 2, "the third one was not asked")
}

// One accepted solution that agrees with the reference clears it.
func TestNoSuspect(t *testing.T) {
	c := begun(verdict.Result{})
	c.doubts, c.accepted = []doubt{{check: "TestA", at: Finding{File: "a"}}, {check: "TestA", at: Finding{File: "b"}}}, 3
	c.suspects()
	for _, f := range findings(c) {
		assert.Contains(t, f, "one of them is wrong")
	}
	assert.Len(t, findings(c), 2)
}

// Of a mistake that its check does not find, it is told what does.
func TestUndeclared(t *testing.T) {
	grade := func(r verdict.Result) string {
		c := begun(r)
		one := fixture.Submission{Name: "wrong_answer/sum", Dir: "sum", Class: fixture.WrongAnswer, Files: []course.File{{Name: "a.go"}},
			Expect: fixture.Expect{Verdict: verdict.Graded, Checks: map[string]verdict.Verdict{"TestA": verdict.WrongAnswer}}}
		require.NoError(t, c.submission(t.Context(), one, &Explanations{}))
		require.Len(t, findings(c), 1)
		return findings(c)[0]
	}
	const begins = "sum/expect.yaml: not as declared: TestA: "
	assert.Equal(t, begins+"passed, want wrong_answer: it loses no points of this check, and none of any other that was run", grade(result(verdict.Passed, verdict.Passed, verdict.NotRun)))
	assert.Equal(t, begins+"passed, want wrong_answer: it loses no points of this check, and fails TestB (runtime_error)", grade(result(verdict.Passed, verdict.RuntimeError, verdict.NotRun)))
	assert.Equal(t, begins+"missing, want wrong_answer", grade(result(verdict.Missing, verdict.Passed, verdict.NotRun)))
}

// A reference that is refused has run no test: one finding says so, and none is about a test.
func TestRefusedReference(t *testing.T) {
	r := result(verdict.NotRun, verdict.NotRun, verdict.NotRun)
	r.Verdict, r.Problems = verdict.Invalid, []verdict.Problem{{File: "mean.go", Line: 3, Rule: "import", Message: "imports net"}}
	c := begun(r)
	c.options.Seeds, c.sources = 3, []course.File{{Name: "mean.go"}}
	heard := &Explanations{}
	require.NoError(t, c.reference(t.Context(), heard))
	require.NoError(t, c.seeds(t.Context(), heard))
	assert.Equal(t, []string{"reference/mean/mean.go:3: the reference is refused or does not compile: imports net"}, findings(c))
}

// Which grading ends first is no matter of the report's.
func TestReportHasAnOrder(t *testing.T) {
	const suspect = "reference/mean: TestA: all 2 accepted solutions differ from the reference, so that the reference is the suspect: "
	ring := doubt{"TestA", "ring's", Finding{File: "accepted/ring/expect.yaml", Line: 3}}
	sums := doubt{"TestA", "sums'", Finding{File: "accepted/sums/expect.yaml", Line: 3}}
	a, b, c := Explanation{Submission: "accepted/ring", Check: "TestB"}, Explanation{Submission: "accepted/ring", Check: "TestA"}, Explanation{Submission: "accepted/sums"}
	check := begun(verdict.Result{})
	check.accepted, check.doubts, check.stored = 2, []doubt{sums, ring}, []fixture.Submission{{Class: fixture.Accepted}, {Class: fixture.Accepted}}
	check.report.Explanations = []Explanation{c, a, b}
	check.conclude(false)
	assert.Equal(t, []string{suspect + "ring's"}, findings(check))
	assert.Equal(t, []Explanation{a, b, c}, check.report.Explanations, "the checks of a submission keep their order")
}
