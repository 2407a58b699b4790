package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/prove"
	"grade/grader/submission"
	"grade/grader/turn"
	"grade/grader/verdict"
)

// courseRoot is the course of this repository, with the submissions that the
// binary does not carry.
const courseRoot = "../.."

// counted are the exercises of which a mistake's whole cost is counted here: `exercise check`
// finds no cascade in them. An exercise is added when that holds of it.
var counted = []string{"autograd", "cosine", "earlystop", "loader", "logsumexp", "trainer"}

// Every submission shipped with an exercise gets the verdict that it declares, from the
// check that it declares, through a real sandbox. What was proved before, and has not
// changed, is graded in part, and of that part the whole cost of a mistake is counted.
func TestShippedSubmissions(t *testing.T) {
	t.Parallel()
	s := openEngine(t)
	g := graderIn(t, s)
	eachShipped(t, g, toGrade, func(t *testing.T, e *course.Exercise, shipped *prove.Fixtures, one shippedOne) {
		if *allTests || !*proving && !slices.Contains(timed, one.Class) && slices.Contains(counted, e.Name) && turn.Drawn(turn.Commit(), sampled, e.Name, one.Name) {
			holdWhole(t, e, shipped, one)
		} else {
			hold(t, shipped, one)
		}
	}, func(t *testing.T, e *course.Exercise, list, right []fixture.Submission) {
		if *proving {
			writeProof(t, e, list, right, s.Info())
		}
	})
}

// The process sandbox comes to the same verdicts on correctness, and says that
// they do not count.
func TestShippedSubmissionsInProcess(t *testing.T) {
	t.Parallel()
	s, err := openSandbox(t.Context(), sandboxFlags{Kind: sandboxProcess})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	g := graderIn(t, s)
	eachShipped(t, g, someOfSome, func(t *testing.T, e *course.Exercise, shipped *prove.Fixtures, one shippedOne) {
		if one.Name == "wrong_answer/offset-of-32-bits" {
			t.Skip("it is about a file of 4 GiB, which this sandbox lets nothing write")
		}
		for name := range one.Expect.Checks {
			i := slices.IndexFunc(e.Checks, func(c course.Check) bool { return c.Name == name })
			if e.Checks[i].Kind != verdict.Correctness {
				delete(one.Expect.Checks, name)
				if len(one.Expect.Checks) == 0 && one.Expect.Score == nil && one.Expect.MaxScore == nil {
					t.Skip("it is about what is not measured here")
				}
			}
		}
		r := hold(t, shipped, one)
		require.False(t, r.Sandbox.Official)
		require.NotEmpty(t, r.Warnings)
	}, func(*testing.T, *course.Exercise, []fixture.Submission, []fixture.Submission) {})
}

// What `grade start` hands out compiles, and earns nothing; one that is right by
// exercise.yaml earns all that is not measured, and nothing that is, for which some commits
// measure it.
func TestStarters(t *testing.T) {
	t.Parallel()
	g := graderIn(t, openEngine(t))
	eachExercise(t, func(t *testing.T, e *course.Exercise, _ []fixture.Submission) {
		t.Parallel()
		if e.Begin == course.BeginRight {
			startsRight(t, g, e)
			return
		}
		r := gradeFiles(t, g, e, "exercises/"+e.Name+"/starter", e.Starter, grader.Options{Only: []verdict.Kind{verdict.Correctness}})
		require.Equal(t, verdict.Graded, r.Verdict)
		require.Zero(t, r.Score)
	})
}

// startsRight grades a starter that has to be improved.
func startsRight(t *testing.T, g *grader.Grader, e *course.Exercise) {
	t.Helper()
	var o grader.Options
	if !turn.Drawn(turn.Commit(), sampledWhole, e.Name, "starter") {
		o.Only = notMeasured
	}
	grade := func() *verdict.Result { return gradeFiles(t, g, e, "exercises/"+e.Name+"/starter", e.Starter, o) }
	r := grade()
	if other := otherwise(r); len(other) > 0 {
		t.Logf("graded once more, on the same inputs, because of: %q", other)
		o.Seed = r.Seed
		r = grade()
	}
	require.Equal(t, verdict.Graded, r.Verdict)
	require.Empty(t, otherwise(r))
}

// otherwise returns what is not as a right starter that costs too much should have it.
func otherwise(r *verdict.Result) (list []string) {
	for _, got := range r.Checks {
		if cost := verdict.Kind(got.Kind).Measured() || got.SelfReported; cost == got.Verdict.Earns() {
			list = append(list, fmt.Sprintf("%s: %s %s", got.Name, got.Verdict, got.Detail))
		}
	}
	return list
}

// shippedOne is a shipped submission, and how to grade it.
type shippedOne struct {
	fixture.Submission
	grader.Options
}

// someOfSome takes a right one, a forgery, and half the sample of the rest, of every sixth
// exercise: what programs that misbehave do to a sandbox is its conformance suite's, what the
// judge makes of it the other sandbox's, and a verdict that counts is none of this one's.
// Which, the commit decides.
func someOfSome(t *testing.T, e *course.Exercise, list []fixture.Submission) (chosen []shippedOne) {
	t.Helper()
	now := proofOf(t, e, nil, "")
	if !hasTurn(t, now.Commit, e.Name) {
		return nil
	}
	o := grader.Options{Seed: now.seed(), Only: []verdict.Kind{verdict.Correctness}}
	for _, class := range []fixture.Class{fixture.Accepted, fixture.Forgery} {
		chosen = append(chosen, shippedOne{slices.MinFunc(ofClass(list, class), func(a, b fixture.Submission) int {
			return cmp.Compare(turn.Lot(now.Commit, e.Name, a.Name), turn.Lot(now.Commit, e.Name, b.Name))
		}), o})
	}
	for _, s := range list {
		if s.Class != fixture.Accepted && s.Class != fixture.Forgery && turn.Drawn(now.Commit, 2*sampled, e.Name, s.Name) {
			chosen = append(chosen, shippedOne{s, o})
		}
	}
	return chosen
}

// hasTurn reports whether an exercise is in the sixth that a commit takes.
func hasTurn(t *testing.T, commit, exercise string) bool {
	t.Helper()
	names, err := course.Open(os.DirFS(courseRoot)).Names()
	require.NoError(t, err)
	return (uint64(slices.Index(names, exercise))+turn.Lot(commit)%6)%6 == 0
}

// ofClass returns those of one class.
func ofClass(list []fixture.Submission, class fixture.Class) (some []fixture.Submission) {
	for _, s := range list {
		if s.Class == class {
			some = append(some, s)
		}
	}
	return some
}

// eachExercise calls test for each exercise of this repository, with the
// submissions that ship beside it.
func eachExercise(t *testing.T, test func(t *testing.T, e *course.Exercise, shipped []fixture.Submission)) {
	course := course.Open(os.DirFS(courseRoot))
	names, err := course.Names()
	require.NoError(t, err)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			e, err := course.Load(name)
			require.NoError(t, err)
			shipped, err := fixture.Load(course, name)
			require.NoError(t, err)
			test(t, e, shipped)
		})
	}
}

// eachShipped calls test for the chosen submissions of each exercise, some at a time, and
// done when all of an exercise are through, with all of them and with those that came out
// right.
func eachShipped(t *testing.T, g *grader.Grader, choose func(*testing.T, *course.Exercise, []fixture.Submission) []shippedOne,
	test func(t *testing.T, e *course.Exercise, shipped *prove.Fixtures, one shippedOne), done func(*testing.T, *course.Exercise, []fixture.Submission, []fixture.Submission),
) {
	if testing.Short() {
		t.Skip("grades every shipped submission, which takes minutes")
	}
	eachExercise(t, func(t *testing.T, e *course.Exercise, list []fixture.Submission) {
		shipped := prove.NewFixtures(g, e, list)
		for _, class := range []fixture.Class{fixture.Accepted, fixture.WrongAnswer, fixture.Forgery} {
			require.NotEmpty(t, ofClass(list, class), "none is of the class %s", class)
		}
		// In any order but by class: those that are measured wait for each other.
		mixed := choose(t, e, list)
		if !*proving { // a proof is written of one exercise after the other
			t.Parallel()
		}
		rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		var mu sync.Mutex
		var right []fixture.Submission
		t.Cleanup(func() { done(t, e, list, right) })
		for _, one := range mixed {
			t.Run(one.Name, func(t *testing.T) {
				t.Parallel()
				test(t, e, shipped, one)
				if mu.Lock(); !t.Failed() {
					right = append(right, one.Submission)
				}
				mu.Unlock()
			})
		}
	})
}

// hold grades one submission, which has to come out as it declares. One that has to be right, or
// to cost too much, is graded once more, on the same inputs: the tests beside this one may have
// left it too little of the machine, and what rests on the inputs comes again.
func hold(t *testing.T, shipped *prove.Fixtures, one shippedOne) *verdict.Result {
	t.Helper()
	one.Purpose = grader.ForBatch // verdicts are compared, not ratios
	h, err := shipped.Hold(t.Context(), one.Submission, one.Options)
	require.NoError(t, err)
	if first := h.Mismatches; slices.Contains(timed, one.Class) && len(first) > 0 {
		one.Seed = h.Result.Seed
		h, err = shipped.Hold(t.Context(), one.Submission, one.Options)
		require.NoError(t, err)
		h.FirstMismatches = first
	}
	if *proving {
		farFromLimits(t, one.Submission, h.Result)
	}
	return asDeclared(t, h)
}

// farEnough is how far from a limit a measured ratio has to be: that near to it, verdicts rest
// on the machine and on what else it does, and one that held in a proof fails a later run.
const farEnough = 1.3

// farFromLimits fails where a ratio that has to be too high is too near to its limit.
func farFromLimits(t *testing.T, one fixture.Submission, r *verdict.Result) {
	t.Helper()
	for _, got := range r.Checks {
		if want := one.Expect.Checks[got.Name]; want != verdict.Passed && got.Verdict == want && got.Ratio != nil {
			assert.GreaterOrEqual(t, *got.Ratio, farEnough**got.Limit, "%s is too near to its limit", got.Name)
		}
	}
}

// holdWhole is hold with all hidden tests, of which one mistake may not fail many.
func holdWhole(t *testing.T, e *course.Exercise, shipped *prove.Fixtures, one shippedOne) {
	t.Helper()
	one.Purpose = grader.ForBatch
	h, cascade, err := shipped.HoldWhole(t.Context(), one.Submission, one.Options)
	require.NoError(t, err)
	asDeclared(t, h)
	if cascade != nil {
		t.Logf("costs %d points beyond %q, in %q %s", cascade.Beyond, cascade.Declared, cascade.Others, cascade.Reason)
	}
	if cascade != nil && cascade.Reason == "" {
		assert.LessOrEqual(t, cascade.Beyond, prove.MostBeyond(e), "one mistake costs these points in %q, which its expect.yaml does not declare", cascade.Others)
	}
}

// asDeclared fails where a result is not the declared one. That a submission had to be graded
// twice is told.
func asDeclared(t *testing.T, h *prove.FixtureResult) *verdict.Result {
	t.Helper()
	if len(h.FirstMismatches) > 0 {
		t.Logf("graded once more because of: %q", h.FirstMismatches)
	}
	for _, difference := range h.Mismatches {
		t.Error(difference)
	}
	return h.Result
}

// graderIn is a grader in s for the length of a test.
func graderIn(t *testing.T, s openedSandbox) *grader.Grader {
	t.Helper()
	g, err := newGrader(t.Context(), s, sandboxFlags{})
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

// gradeFiles grades files of the course, which it has in dir.
func gradeFiles(t *testing.T, g *grader.Grader, e *course.Exercise, dir string, files []course.File, o grader.Options) *verdict.Result {
	t.Helper()
	snapshot, err := prove.Snapshot(dir, files)
	require.NoError(t, err)
	o.Purpose = grader.ForBatch // verdicts are compared, not ratios
	r, err := g.Grade(t.Context(), snapshot, e, o)
	require.NoError(t, err)
	return r
}

// openEngine opens the Docker sandbox. Without an engine the test is skipped on
// a laptop and fails where CI is set: there, a test that did not run proves
// nothing.
func openEngine(t *testing.T) openedSandbox {
	t.Helper()
	s, err := openDocker(t.Context(), sandboxFlags{})
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("NOT TESTED: no Docker engine: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// snapshotOf is a snapshot of a folder.
func snapshotOf(t *testing.T, dir string) *submission.Snapshot {
	t.Helper()
	s, err := submission.Take(dir)
	require.NoError(t, err)
	return s
}
