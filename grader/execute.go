package grader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/judge"
	"grade/grader/verdict"
	"grade/observe/wire"
	"grade/sandbox"
)

const (
	runPids = 256 // a Go program of this size starts some ten threads
	// budget is the wall time that the tests of one submission may take together,
	// and again its measuring, beyond budgetFactor times what the reference took: a
	// submission that hangs in every test shall not hold up the next one.
	budget       = 60 * time.Second
	budgetFactor = 20
)

// execute is everything that needs a sandbox.
func (r *grading) execute(ctx context.Context) (err error) {
	r.sub, r.ref = r.station(), r.spares.take(r.exercise)
	if r.ref == nil {
		r.ref = r.station()
	}
	defer func() { r.release(err) }()
	group, beside := errgroup.WithContext(ctx)
	group.Go(func() error { return r.start(beside) })
	group.Go(func() error { return r.build(beside) })
	if err = group.Wait(); errors.Is(err, errRefused) {
		return nil
	} else if err != nil {
		return err
	}
	if died, err := r.greet(ctx); died || err != nil {
		return err
	}
	if err := r.test(ctx); err != nil {
		return err
	}
	return r.measure(ctx)
}

// release gives back the boxes. After an error, what the reference's is doing is
// anyone's guess.
func (r *grading) release(err error) {
	r.sub.close()
	if r.builder != nil {
		r.builder.Close()
	}
	if err != nil {
		r.ref.close()
		return
	}
	r.spares.put(r.exercise, r.ref, r.aside())
}

func (r *grading) station() *station {
	l := r.exercise.Limits
	return &station{sandbox: r.sandbox, spec: sandbox.Spec{Purpose: sandbox.Run, Memory: l.Memory, Pids: runPids, Scratch: l.Scratch, CPUs: r.aside()}}
}

// start opens both boxes while the build is on its way: not before the build has
// its own, which everything waits for.
func (r *grading) start(ctx context.Context) error {
	select {
	case <-r.building:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer r.phase("start", &r.result.Phases.StartMs)()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.sub.open(ctx) })
	if r.ref.box == nil {
		group.Go(func() error { return r.ref.open(ctx) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	r.learn(r.sub)
	return nil
}

// greet runs both programs without any test. A submission that does not get
// through its own initialisation fails every check in the same way, and is not
// given the time of every check to do so.
func (r *grading) greet(ctx context.Context) (died bool, err error) {
	q := r.request("^$", "", forTesting)
	ref, sub, err := r.both(ctx, q, q)
	if err != nil {
		return false, err
	}
	if err := r.started(ref); err != nil {
		return false, err
	}
	v, detail := judge.Kill(sub)
	if v == "" && (sub.ExitCode != 0 || sub.Signal != 0) {
		v, detail = verdict.RuntimeError, judge.Crash(sub)
	}
	if v == "" {
		return false, nil
	}
	for _, c := range r.checks(verdict.Correctness, verdict.Memory, verdict.Speed) {
		got := newCheckResult(c)
		got.Verdict, got.Detail = v, "before any test began, in the package's own initialisation: "+detail
		r.decide(got)
	}
	return true, nil
}

// started makes sure that the reference's program ran without any test.
func (r *grading) started(ref sandbox.Outcome) error {
	if v, detail := judge.Kill(ref); v != "" || ref.ExitCode != 0 || ref.Signal != 0 {
		return fault.Exercise(fmt.Errorf("exercise %s: the reference does not start (status %d, signal %d): %s", r.exercise.Name, ref.ExitCode, ref.Signal, detail))
	}
	return nil
}

// test decides the checks of correctness: each hidden test in a process of its
// own, with the same seed on both sides. The two sides do not wait for each
// other; a check is decided when both are through with it.
func (r *grading) test(ctx context.Context) error {
	checks := r.checks(verdict.Correctness)
	if len(checks) == 0 {
		return nil
	}
	defer r.phase("test", &r.result.Phases.TestMs)()
	group, ctx := errgroup.WithContext(ctx)
	refs, enough := make(chan sandbox.Outcome, len(checks)*r.repetitions()), make(chan struct{})
	group.Go(func() error {
		for _, c := range checks {
			for i := range r.repetitions() {
				select {
				case <-enough:
					return nil
				default:
				}
				ref, err := r.ref.run(ctx, r.testRequest(c, i))
				if err != nil {
					return fmt.Errorf("run the reference in %s: %w", c.Func, err)
				}
				refs <- ref
			}
		}
		return nil
	})
	group.Go(func() error {
		defer close(enough)
		return r.testAll(ctx, checks, refs)
	})
	return group.Wait()
}

// repetitions is how often each test runs.
func (r *grading) repetitions() int { return max(1, r.options.Repeat) }

func (r *grading) testRequest(c course.Check, repetition int) sandbox.Request {
	return r.request("^"+c.Func+"$", r.seedFor(c, repetition), forTesting)
}

// testAll is the submission's side of test.
func (r *grading) testAll(ctx context.Context, checks []course.Check, refs <-chan sandbox.Outcome) error {
	overdrawn := r.budget()
	for _, c := range checks {
		result := newCheckResult(c)
		for i := range r.repetitions() {
			if overdrawn() {
				result = newCheckResult(c)
				result.Detail = "not run: the tests before it took longer than all together may"
				break
			}
			got, err := r.testOnce(ctx, c, i, refs)
			if err != nil {
				return err
			}
			if i == 0 || result.Verdict == verdict.Passed {
				result = got
			}
		}
		r.decide(result)
		if r.options.FailFast && result.Verdict != verdict.Passed {
			break
		}
	}
	return nil
}

// testOnce runs a test on the submission's side and takes the next of refs, which
// is that of the same run.
func (r *grading) testOnce(ctx context.Context, c course.Check, repetition int, refs <-chan sandbox.Outcome) (verdict.CheckResult, error) {
	got := newCheckResult(c)
	sub, err := r.sub.run(ctx, r.testRequest(c, repetition))
	if err != nil {
		return got, fmt.Errorf("run %s: %w", c.Func, err)
	}
	select {
	case ref := <-refs:
		if got.Verdict, got.Detail, err = judge.Test(c, ref, sub); err != nil {
			return got, fmt.Errorf("exercise %s: %w", r.exercise.Name, err)
		}
		got.Reference, got.Submission = figures(ref), figures(sub)
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

// budget starts a budget; the function returned reports whether the submission
// has overdrawn it. One that has been overdrawn stays so, though what the
// reference takes meanwhile adds to it.
func (r *grading) budget() (overdrawn func() bool) {
	sub, ref := r.sub.spent.Load(), r.ref.spent.Load()
	over := false
	return func() bool {
		over = over || r.sub.spent.Load()-sub > int64(budget)+budgetFactor*(r.ref.spent.Load()-ref)
		return over
	}
}

// both runs a request at each station, at the same time.
func (r *grading) both(ctx context.Context, forRef, forSub sandbox.Request) (ref, sub sandbox.Outcome, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		ref, err = r.ref.run(ctx, forRef)
		return err
	})
	group.Go(func() (err error) {
		sub, err = r.sub.run(ctx, forSub)
		return err
	})
	return ref, sub, group.Wait()
}

// settings are the Go runtime's in a program that runs.
type settings struct {
	threads int    // that run Go code
	gc      string // GOGC
}

// In tests, threads enough that a missing lock shows; one where something is
// measured. Where it is CPU time, garbage is collected only when the memory limit
// comes near: how much of a collection falls into a window is a matter of when it
// happens to start, and made two runs of one program differ by a half. What a
// solution allocates still costs it the allocating; what it holds, the memory
// checks see.
var (
	forTesting = settings{threads: 4, gc: "100"}
	forMemory  = settings{threads: 1, gc: "100"}
	forSpeed   = settings{threads: 1, gc: "off"}
)

// request runs the tests whose names match, with the kit's environment.
func (r *grading) request(tests, seed string, with settings) sandbox.Request {
	l := r.exercise.Limits
	return sandbox.Request{
		Args: []string{"-test.run=" + tests, "-test.count=1"},
		Env: []string{
			"GRADE_OBSERVE=v1", "GRADE_SEED=" + seed, "HOME=/nonexistent", "GOTRACEBACK=none",
			"GODEBUG=", "GOGC=" + with.gc,
			fmt.Sprintf("GOMAXPROCS=%d", with.threads), fmt.Sprintf("GOMEMLIMIT=%d", l.Memory/10*9),
		},
		Limits: sandbox.Limits{
			Wall: l.Wall, CPU: l.CPU, Memory: l.Memory, Stdout: l.Output, Stderr: l.Output, Observations: wire.MaxSize,
		},
	}
}

// figures are what one run took.
func figures(o sandbox.Outcome) verdict.Figures {
	return verdict.Figures{
		CPUMs: milliseconds(o.CPU), WallMs: milliseconds(o.Wall), PeakBytes: o.Peak, PeakSource: o.PeakSource.String(), Runs: 1,
	}
}
