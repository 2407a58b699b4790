package grader

import (
	"context"
	"fmt"

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
		t.excusing = t.mayBeExcusedBy(done)
		if len(t.excusing) == 0 {
			t.ref, t.sub = sandbox.Outcome{}, sandbox.Outcome{} // which may be large
			announce(t)
		}
		done = append(done, t)
		if ends {
			return decided, nil
		}
	}
	waiting, err := r.settle(done)
	if err != nil {
		return nil, err
	}
	for _, t := range waiting {
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
	excusing []string // failed checks that may excuse this one
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

// settle decides which of the tests of a round are excused, and by which failed ones. It
// returns those that had to wait for this.
func (r *grading) settle(done []tested) (waiting []tested, err error) {
	failed := map[string]int{}
	var claims []judge.Claim
	for _, t := range done {
		switch {
		case len(t.excusing) > 0:
			c, err := r.claim(t)
			if err != nil {
				return nil, err
			}
			waiting, claims = append(waiting, t), append(claims, c)
		case lost(t.got) && t.got.Verdict != verdict.NotRun:
			failed[t.Name] = t.Points
		}
	}
	granted := judge.Excuses(failed, claims)
	for i, t := range waiting {
		if by := granted[t.Name]; by != nil {
			if waiting[i].got.Verdict, waiting[i].got.Detail, err = r.excused(t, by); err != nil {
				return nil, err
			}
			r.excuses[t.Name] = by
		}
	}
	return waiting, nil
}

// claim is what would excuse a test. Its records are decoded once for all that is tried: they
// may be megabytes.
func (r *grading) claim(t tested) (judge.Claim, error) {
	run, err := judge.Read(t.Check, t.ref, t.sub, r.lang.CrashWords)
	if err != nil {
		return judge.Claim{}, err
	}
	return judge.Claim{Check: t.Name, Points: t.Points, By: judge.Enough(t.excusing, func(failed []string) bool {
		v, _ := run.Verdict(failed...)
		return v == verdict.Passed
	})}, nil
}

// excused judges a test again, where some failed checks excuse what rests on them.
func (r *grading) excused(t tested, failed []string) (v verdict.Verdict, detail string, err error) {
	return judge.Test(t.Check, t.ref, t.sub, r.lang.CrashWords, failed...)
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
	t.got.Verdict, t.got.Detail, err = r.excused(t, nil)
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
