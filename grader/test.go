package grader

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader/boxes"
	"grade/grader/fault"
	"grade/grader/judge"
	"grade/grader/measure"
	"grade/grader/verdict"
	"grade/sandbox"
)

const (
	// timeBudget is the wall time that the tests of one submission may take together,
	// and again its measuring, beyond budgetFactor times what the reference took: a
	// submission that hangs in every test shall not hold up the next one.
	timeBudget   = 60 * time.Second
	budgetFactor = 20
)

// budget starts a time budget; the function returned reports whether the submission
// has exceeded it. Once exceeded it stays so, though what the reference takes
// meanwhile adds to it.
func budget(l *boxes.Lease) (exceeded func() bool) {
	sub, ref := l.Submission.Spent(), l.Reference.Spent()
	over := false
	return func() bool {
		over = over || l.Submission.Spent()-sub > timeBudget+budgetFactor*(l.Reference.Spent()-ref)
		return over
	}
}

// smoke runs both programs without any test. A submission that does not get
// through its own initialisation fails every check in the same way, and is not
// given the time of every check to do so.
func (r *grading) smoke(ctx context.Context, l *boxes.Lease) (crashed []verdict.CheckResult, err error) {
	ref, sub, err := l.Both(ctx, r.lang.Smoke(r.exercise))
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
func (r *grading) test(ctx context.Context, l *boxes.Lease) (decided []verdict.CheckResult, err error) {
	if len(r.plan.Tests)+len(r.plan.Race) == 0 {
		return nil, nil
	}
	defer r.phase(Test)()
	group, ctx := errgroup.WithContext(ctx)
	refs, enough := make(chan sandbox.Outcome, len(r.plan.Tests)*r.plan.Runs), make(chan struct{})
	group.Go(func() error {
		if err := r.testReference(ctx, l.Reference, refs, enough); err != nil {
			return err
		}
		return r.raceReference(ctx, l.Reference)
	})
	group.Go(func() (err error) {
		defer close(enough)
		decided, err = r.testSubmission(ctx, l, refs)
		return err
	})
	return decided, group.Wait()
}

// testReference runs every test on the reference's side, until that is enough.
func (r *grading) testReference(ctx context.Context, runner *boxes.Runner, refs chan<- sandbox.Outcome, enough <-chan struct{}) error {
	for round := range r.plan.Runs {
		for _, c := range r.plan.Tests {
			select {
			case <-enough:
				return nil
			default:
			}
			ref, err := runner.Run(ctx, r.lang.Test(r.exercise, c, r.testSeed(c, round)))
			if err != nil {
				return fmt.Errorf("run the reference in %s: %w", c.Func, err)
			}
			refs <- ref
		}
	}
	return nil
}

// testSubmission runs every test on the submission's side, and judges it. Where tests run
// several times, all of them run on the inputs of one seed before they run on those of the
// next: what a failed check excuses in another is a matter of one seed.
func (r *grading) testSubmission(ctx context.Context, l *boxes.Lease, refs <-chan sandbox.Outcome) (decided []verdict.CheckResult, err error) {
	failed := map[string]verdict.CheckResult{}
	for round := range r.plan.Runs {
		if decided, err = r.testRound(ctx, l, round, refs, failed); err != nil {
			return nil, err
		}
		if r.plan.Purpose.stopEarly() && len(failed) > 0 {
			break
		}
	}
	return decided, nil
}

// testRound runs every test once. Failed holds what earlier rounds have come to where that
// was not passed, which decides; the last round announces it.
func (r *grading) testRound(ctx context.Context, l *boxes.Lease, round int, refs <-chan sandbox.Outcome, failed map[string]verdict.CheckResult) (decided []verdict.CheckResult, err error) {
	exceeded := budget(l)
	r.allowance = judge.NewAllowance(r.exercise.Checks)
	var results []verdict.CheckResult // of this round
	for _, c := range r.plan.Tests {
		excusing := r.allowance.Excusing(judge.Failed(results), c.Points)
		got, err := r.testOnce(ctx, testRun{c, round, excusing, exceeded()}, l.Submission, refs)
		if err != nil {
			return nil, err
		}
		if excused(got) {
			r.allowance.Spend(c, excusing, c.Points)
		}
		results = append(results, got)
		if _, before := failed[c.Name]; !before && got.Verdict != verdict.Passed {
			failed[c.Name] = got
		}
		if before, ok := failed[c.Name]; ok {
			got = before
		}
		ends := r.plan.Purpose.stopEarly() && len(failed) > 0
		if ends || round == r.plan.Runs-1 {
			got = r.decide(Test, c, got)
		}
		decided = append(decided, got)
		if ends {
			break
		}
	}
	return decided, nil
}

// excused reports whether a check is passed because something in it does not count.
func excused(c verdict.CheckResult) bool { return c.Verdict == verdict.Passed && c.Detail != "" }

// testRun is one run of one test.
type testRun struct {
	course.Check
	round   int
	failed  []string // the checks that have failed in this round, and may excuse this one
	tooLate bool     // the time for all tests is used up
}

// testOnce runs a test on the submission's side and takes the next of refs, which
// is that of the same run.
func (r *grading) testOnce(ctx context.Context, t testRun, runner *boxes.Runner, refs <-chan sandbox.Outcome) (got verdict.CheckResult, err error) {
	got = notRun(t.Check)
	var sub sandbox.Outcome
	if !t.tooLate {
		if sub, err = runner.Run(ctx, r.lang.Test(r.exercise, t.Check, r.testSeed(t.Check, t.round))); err != nil {
			return got, fmt.Errorf("run %s: %w", t.Func, err)
		}
	}
	var ref sandbox.Outcome
	select {
	case ref = <-refs:
	case <-ctx.Done():
		return got, ctx.Err()
	}
	if t.tooLate {
		got.Detail = "not run: the tests before it used up the time that all tests together may take. Mend those that took longest"
		return got, nil
	}
	got.Verdict, got.Detail, err = judge.Test(t.Check, ref, sub, r.lang.CrashWords, t.failed...)
	r.heard(Run{Check: t.Check, Seed: r.roundSeed(t.round), Verdict: got.Verdict, Reference: ref, Submission: sub})
	if err != nil {
		return got, fmt.Errorf("exercise %s: %w", r.exercise.Name, err)
	}
	r.locate(&got, sub)
	got.Reference, got.Submission = measure.Figures(ref), measure.Figures(sub)
	return got, nil
}

// locate adds to a crash where in the submission it was.
func (r *grading) locate(got *verdict.CheckResult, o sandbox.Outcome) {
	if got.Verdict != verdict.RuntimeError {
		return
	}
	place, foreign := r.lang.CrashPlace(o.Stderr, r.exercise, r.snapshot)
	switch {
	case place != nil && r.tellsPlaces():
		got.Places = []verdict.Place{*place}
	case foreign:
		got.Detail += judge.InTheTest
	}
}
