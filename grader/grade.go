package grader

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader/boxes"
	"grade/grader/judge"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
)

// Options are of one grading.
type Options struct {
	Purpose Purpose
	Seed    string         // 64 hexadecimal digits; empty: a fresh one
	Only    []verdict.Kind // empty: all
	Checks  []string       // names of those to run, of these kinds; empty: all
	Repeat  int            // how often each test runs, on inputs of its own every time; 0: once
	OnEvent func(Event)    // called from one goroutine at a time; may be nil
	// Judged hears of each run that is judged, one at a time; may be nil. It is for the
	// exercise's author: a run holds what the reference gave.
	Judged func(Run)
}

// Run is one run of a check on both sides.
type Run struct {
	Check course.Check // without a name: the run without any test, in which the reference crashes
	Seed  string       // a grading with this seed repeats the run of a test
	// Verdict is empty where the reference's run is no measure.
	Verdict               verdict.Verdict
	Reference, Submission sandbox.Outcome
}

// heard tells of a run.
func (r *grading) heard(run Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.options.Judged != nil {
		r.options.Judged(run)
	}
}

// Grade grades a submission. An error says that there is no verdict, by a fault of the
// exercise ([fault.ErrExercise]) or of ours; if the context has ended, it is its cause.
func (g *Grader) Grade(ctx context.Context, s *submission.Snapshot, e *course.Exercise, o Options) (result *verdict.Result, err error) {
	defer func() { err = causeOf(ctx, err) }()
	r, err := g.begin(s, PlanOf(e, o), o)
	if err != nil {
		return nil, err
	}
	if refused := r.vet(); refused.Any() {
		return r.refused(refused)
	}
	lease := g.boxes.Lease(e.Hash, boxSpec(e))
	reference := r.runAhead(ctx, lease)
	defer func() {
		reference.stop()
		lease.Release(err)
	}()

	refused, err := r.build(ctx, lease, reference) // and opens the boxes meanwhile
	if err != nil {
		return nil, err
	}
	if refused.Any() {
		return r.refused(refused)
	}
	crashed, err := r.smoke(ctx, lease, reference)
	if err != nil {
		return nil, err
	}
	if len(crashed) > 0 {
		return r.judged(crashed)
	}
	tests, err := r.test(ctx, lease, reference)
	if err != nil {
		return nil, err
	}
	raced, figures, err := r.raceAndMeasure(ctx, lease, reference, tests)
	if err != nil {
		return nil, err
	}
	return r.judged(judge.Causes(r.exercise.Checks, slices.Concat(tests, raced, figures)))
}

// raceAndMeasure does both at a time: what is measured has a CPU of its own, and the race
// detector a box of its own. Beside other gradings, which use the CPUs meanwhile, the race comes
// first: what passes near a limit beside it would be measured twice.
func (r *grading) raceAndMeasure(ctx context.Context, l *boxes.Lease, a *ahead, tests []verdict.CheckResult) (raced, figures []verdict.CheckResult, err error) {
	group, ctx := errgroup.WithContext(ctx)
	r.race = newRaceSpan()
	group.Go(func() (err error) {
		defer close(r.race.ended)
		raced, err = r.decideRace(ctx, l, a, tests)
		return err
	})
	group.Go(func() (err error) {
		if r.plan.Purpose.besideFirst() {
			<-r.race.ended
		}
		figures, err = r.measure(ctx, l)
		return err
	})
	return raced, figures, group.Wait()
}

// causeOf is err, or why the context has ended that err came of.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// runPids is enough for a Go program of this size, which starts some ten threads.
const runPids = 256

// boxSpec is the box that an exercise's programs run in.
func boxSpec(e *course.Exercise) sandbox.Spec {
	return sandbox.Spec{Purpose: sandbox.Run, Memory: e.Limits.Memory, Pids: runPids, Scratch: e.Limits.Scratch}
}
