package grader

import (
	"context"
	"fmt"
	"slices"

	"grade/exercises/course"
	"grade/grader/boxes"
	"grade/grader/fault"
	"grade/grader/judge"
	"grade/grader/measure"
	"grade/grader/verdict"
	"grade/sandbox"
)

// patience is how many times the reference's time a run may take, where that is more
// than the exercise's limits: they were chosen on one machine, and hold on one that is
// slow enough for the reference alone to come near them.
const patience = 10

// smoke runs the submission without any test, as the reference was. One that does not get
// through its own initialisation fails every check in the same way, and is not
// given the time of every check to do so.
func (r *grading) smoke(ctx context.Context, l *boxes.Lease, a *ahead) (crashed []verdict.CheckResult, err error) {
	sub, err := l.Submission.Run(ctx, r.lang.Smoke(r.exercise))
	if err != nil {
		return nil, err
	}
	ref, err := a.next(ctx, a.start)
	if err != nil {
		return nil, err
	}
	if v, detail := judge.Start(ref, r.lang.CrashWords); v != "" {
		r.heard(Run{Seed: r.roundSeed(0), Reference: ref, Submission: sub})
		return nil, fault.Exercise(fmt.Errorf("exercise %s: the reference does not start (status %d, signal %d): %s", r.exercise.Name, ref.ExitCode, ref.Signal, detail))
	}
	v, detail := judge.Start(sub, r.lang.CrashWords)
	if v == "" {
		return nil, nil
	}
	for _, c := range r.plan.Checks() {
		got := notRun(c)
		got.Verdict, got.Detail = v, "before any test began, in the package's own initialisation: "+detail
		r.locate(&got, sub)
		crashed = append(crashed, r.decide(Start, c, got))
	}
	return crashed, nil
}

// test decides the checks of correctness: each hidden test in a process of its
// own, with the same seed on both sides. The two sides do not wait for each
// other; a check is decided when both are through with it.
func (r *grading) test(ctx context.Context, l *boxes.Lease, a *ahead) (decided []verdict.CheckResult, err error) {
	if len(r.plan.Tests)+len(r.plan.Race) == 0 {
		return nil, a.end()
	}
	defer r.phase(Test)()
	decided, err = r.testSubmission(ctx, l, a)
	close(a.enough)
	if err != nil {
		return nil, err
	}
	return decided, a.end()
}

// testSubmission runs every test on the submission's side, and judges it. Where tests run
// several times, all of them run on the inputs of one seed before they run on those of the
// next: what a failed check excuses in another is a matter of one seed.
func (r *grading) testSubmission(ctx context.Context, l *boxes.Lease, a *ahead) (decided []verdict.CheckResult, err error) {
	failed := map[string]verdict.CheckResult{}
	for round := range r.plan.Runs {
		if decided, err = r.testRound(ctx, l, round, a, failed); err != nil {
			return nil, err
		}
		if r.plan.Purpose.stopEarly() && len(failed) > 0 {
			break
		}
	}
	return decided, nil
}

// testRound runs every test once. Failed holds what earlier rounds have come to where that
// was not passed, which decides; the last round announces it. A check that other failed
// checks may excuse waits for the end of the round.
func (r *grading) testRound(ctx context.Context, l *boxes.Lease, round int, a *ahead, failed map[string]verdict.CheckResult) (decided []verdict.CheckResult, err error) {
	together := newBudget(l.Submission.Spent)
	var done []tested
	ends := false
	announce := func(t tested) {
		if _, before := failed[t.Name]; !before && !t.got.Verdict.Earns() {
			failed[t.Name] = t.got
		}
		if before, ok := failed[t.Name]; ok {
			t.got = before
		}
		ends = ends || r.plan.Purpose.stopEarly() && len(failed) > 0
		if ends || round == r.plan.Runs-1 {
			t.got = r.decide(Test, t.Check, t.got)
		}
		decided = append(decided, t.got)
	}
	for _, c := range r.plan.Tests {
		t, err := r.testOnce(ctx, testRun{c, round, together.exceeded()}, l.Submission, a)
		if err != nil {
			return nil, err
		}
		together.credit(t.ref)
		if t.claim, t.told, err = r.claim(t, done); err != nil {
			return nil, err
		}
		t.ref, t.sub = sandbox.Outcome{}, sandbox.Outcome{} // which may be large
		if t.claim == nil {
			announce(t)
		}
		done = append(done, t)
		if ends {
			return decided, nil
		}
	}
	for _, t := range r.settle(done) {
		announce(t)
	}
	return decided, nil
}

// testRun is one run of one test.
type testRun struct {
	course.Check
	round   int
	tooLate bool // the time for all tests is used up
}

// tested is what a run has come to, if nothing is excused.
type tested struct {
	testRun
	ref, sub sandbox.Outcome
	got      verdict.CheckResult
	claim    *judge.Claim // what would excuse it; nil: no failed check may
	told     []string     // the detail where a set of the claim's excuses it
}

// mayBeExcusedBy names those of the tests before this one that have failed and may excuse it.
func (t tested) mayBeExcusedBy(done []tested) []string {
	if t.got.Verdict != verdict.WrongAnswer {
		return nil
	}
	var failed []verdict.CheckResult
	for _, d := range done {
		failed = append(failed, d.got)
	}
	return judge.Excusing(t.Check, judge.Failed(failed))
}

// claim is what would excuse a test; nil if no failed one before it may. Its records are decoded
// once for all that is tried, and at once: they may be megabytes, of every test.
func (r *grading) claim(t tested, done []tested) (c *judge.Claim, told []string, err error) {
	excusing := t.mayBeExcusedBy(done)
	if len(excusing) == 0 {
		return nil, nil, nil
	}
	run, err := judge.Read(t.Check, t.ref, t.sub, r.lang.CrashWords)
	if err != nil {
		return nil, nil, err
	}
	c = &judge.Claim{Check: t.Name, Points: t.Points}
	c.By = judge.Enough(excusing, func(failed []string) bool {
		v, _ := run.Verdict(failed...)
		return v == verdict.Passed
	})
	for _, by := range c.By {
		_, detail := run.Verdict(by...)
		told = append(told, detail)
	}
	return c, told, nil
}

// settle decides which of the tests of a round are excused, and by which failed ones. It
// returns those that had to wait for this.
func (r *grading) settle(done []tested) (waiting []tested) {
	failed := map[string]int{}
	var claims []judge.Claim
	for _, t := range done {
		switch {
		case t.claim != nil:
			waiting, claims = append(waiting, t), append(claims, *t.claim)
		case lost(t.got) && t.got.Verdict != verdict.NotRun:
			failed[t.Name] = t.Points
		}
	}
	granted := judge.Excuses(failed, claims)
	for i, t := range waiting {
		if by := granted[t.Name]; by != nil {
			at := slices.IndexFunc(t.claim.By, func(set []string) bool { return slices.Equal(set, by) })
			waiting[i].got.Verdict, waiting[i].got.Detail = verdict.Passed, t.told[at]
			r.excuses[t.Name] = by
		}
	}
	return waiting
}

// testOnce runs a test on the submission's side and takes the next of the reference's
// runs, which is that of the same one.
func (r *grading) testOnce(ctx context.Context, run testRun, runner *boxes.Runner, a *ahead) (t tested, err error) {
	t = tested{testRun: run, got: notRun(run.Check)}
	q := r.lang.Test(r.exercise, t.Check, r.testSeed(t.Check, t.round))
	if !t.tooLate {
		if t.sub, err = runner.Run(ctx, q); err != nil {
			return t, fmt.Errorf("run %s: %w", t.Func, err)
		}
	}
	if t.ref, err = a.next(ctx, a.tests); err != nil {
		return t, err
	}
	if t.tooLate {
		t.got.Detail = "not run: the tests before it used up the time that all tests together may take. Mend those that took longest"
		return t, nil
	}
	if t.sub, err = again(ctx, runner, q, t.sub, t.ref); err != nil {
		return t, fmt.Errorf("run %s again: %w", t.Func, err)
	}
	t.got.Verdict, t.got.Detail, err = judge.Test(t.Check, t.ref, t.sub, r.lang.CrashWords)
	r.heard(Run{Check: t.Check, Seed: r.roundSeed(t.round), Verdict: t.got.Verdict, Reference: t.ref, Submission: t.sub})
	if err != nil {
		return t, fmt.Errorf("exercise %s: %w", r.exercise.Name, err)
	}
	r.locate(&t.got, t.sub)
	t.got.Reference, t.got.Submission = measure.Figures(t.ref), measure.Figures(t.sub)
	return t, nil
}

// patient raises limits to [patience] times what the reference took for the same inputs.
func patient(l sandbox.Limits, ref sandbox.Outcome) sandbox.Limits {
	l.CPU, l.Wall = max(l.CPU, patience*ref.CPU), max(l.Wall, patience*ref.Wall)
	if l.Idle > 0 {
		l.Idle = max(l.Idle, patience*ref.Wall)
	}
	return l
}

// again runs a program again that its limits on time have ended, if they were too low for
// this machine.
func again(ctx context.Context, runner *boxes.Runner, q sandbox.Request, o, ref sandbox.Outcome) (sandbox.Outcome, error) {
	before := q.Limits
	q.Limits = patient(q.Limits, ref)
	if raised(o.Cause, before, q.Limits) {
		return runner.Run(ctx, q)
	}
	return o, nil
}

// raised reports whether the limit that has ended a run is higher now.
func raised(ended sandbox.Cause, before, now sandbox.Limits) bool {
	switch ended {
	case sandbox.CauseCPU:
		return now.CPU > before.CPU
	case sandbox.CauseWall:
		return now.Wall > before.Wall
	case sandbox.CauseIdle:
		return now.Idle > before.Idle
	}
	return false
}

// locate adds where in the submission a program crashed, or was when its time was over.
func (r *grading) locate(got *verdict.CheckResult, o sandbox.Outcome) {
	if !endsAtPlaces(got.Verdict) {
		return
	}
	places, foreign := r.lang.CrashPlaces(o, r.exercise, r.snapshot)
	if r.tellsPlaces() {
		got.Places = places
	}
	if foreign {
		got.Detail += judge.InTheTest
	}
}
