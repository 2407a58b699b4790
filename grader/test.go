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
	"grade/observe/wire"
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
		return nil, fault.Exercise(fmt.Errorf("exercise %s: the reference does not start (status %d, signal %d): %s", r.exercise.Name, ref.ExitCode, ref.Signal, detail))
	}
	v, detail := judge.Start(sub, r.lang.CrashWords)
	if v == "" {
		return nil, nil
	}
	for _, c := range r.plan.Checks() {
		got := notRun(c)
		got.Verdict, got.Detail = v, "before any test began, in the package's own initialisation: "+detail
		crashed = append(crashed, r.decide(Start, c, got))
	}
	return crashed, nil
}

// test decides the checks of correctness: each hidden test in a process of its
// own, with the same seed on both sides. The two sides do not wait for each
// other; a check is decided when both are through with it.
func (r *grading) test(ctx context.Context, l *boxes.Lease) (decided []verdict.CheckResult, err error) {
	if len(r.plan.Tests) == 0 {
		return nil, nil
	}
	defer r.phase(Test)()
	group, ctx := errgroup.WithContext(ctx)
	refs, enough := make(chan sandbox.Outcome, len(r.plan.Tests)*r.plan.Runs), make(chan struct{})
	group.Go(func() error { return r.testReference(ctx, l.Reference, refs, enough) })
	group.Go(func() (err error) {
		defer close(enough)
		decided, err = r.testSubmission(ctx, l, refs)
		return err
	})
	return decided, group.Wait()
}

// testReference runs every test on the reference's side, until that is enough.
func (r *grading) testReference(ctx context.Context, runner *boxes.Runner, refs chan<- sandbox.Outcome, enough <-chan struct{}) error {
	for _, c := range r.plan.Tests {
		for i := range r.plan.Runs {
			select {
			case <-enough:
				return nil
			default:
			}
			ref, err := runner.Run(ctx, r.lang.Test(r.exercise, c, r.seedFor(c, i)))
			if err != nil {
				return fmt.Errorf("run the reference in %s: %w", c.Func, err)
			}
			refs <- ref
		}
	}
	return nil
}

// testSubmission runs every test on the submission's side, and judges it.
func (r *grading) testSubmission(ctx context.Context, l *boxes.Lease, refs <-chan sandbox.Outcome) (decided []verdict.CheckResult, err error) {
	exceeded := budget(l)
	for _, c := range r.plan.Tests {
		result, err := r.testRepeatedly(ctx, c, l.Submission, refs, exceeded)
		if err != nil {
			return nil, err
		}
		decided = append(decided, r.decide(Test, c, result))
		if r.plan.Purpose.stopEarly() && result.Verdict != verdict.Passed {
			break
		}
	}
	return decided, nil
}

// testRepeatedly decides one check: the first run that is not passed counts, or the
// last.
func (r *grading) testRepeatedly(ctx context.Context, c course.Check, sub *boxes.Runner, refs <-chan sandbox.Outcome, exceeded func() bool) (result verdict.CheckResult, err error) {
	for i := range r.plan.Runs {
		if exceeded() {
			result = notRun(c)
			result.Detail = "not run: the tests before it took longer than all together may"
			return result, nil
		}
		got, err := r.testOnce(ctx, c, i, sub, refs)
		if err != nil {
			return got, err
		}
		if i == 0 || result.Verdict == verdict.Passed {
			result = got
		}
	}
	return result, nil
}

// testOnce runs a test on the submission's side and takes the next of refs, which
// is that of the same run.
func (r *grading) testOnce(ctx context.Context, c course.Check, repetition int, runner *boxes.Runner, refs <-chan sandbox.Outcome) (verdict.CheckResult, error) {
	got := notRun(c)
	sub, err := runner.Run(ctx, r.lang.Test(r.exercise, c, r.seedFor(c, repetition)))
	if err != nil {
		return got, fmt.Errorf("run %s: %w", c.Func, err)
	}
	select {
	case ref := <-refs:
		if got.Verdict, got.Detail, err = judge.Test(c, ref, sub, r.lang.CrashWords); err != nil {
			return got, fmt.Errorf("exercise %s: %w", r.exercise.Name, err)
		}
		got.Reference, got.Submission = measure.Figures(ref), measure.Figures(sub)
		return got, r.observed(c, ref)
	case <-ctx.Done():
		return got, ctx.Err()
	}
}

// observed tells what the reference's run, which was judged by, has recorded.
func (r *grading) observed(c course.Check, ref sandbox.Outcome) error {
	if r.options.Observed == nil {
		return nil
	}
	s, err := wire.Decode(ref.Observations)
	if err != nil {
		return err
	}
	r.options.Observed(c, s.Records)
	return nil
}
