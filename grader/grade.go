package grader

import (
	"context"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/observe/wire"
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
	// Observed hears what each run of a hidden test has recorded of the reference,
	// one at a time; may be nil.
	Observed func(course.Check, []wire.Record)
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
	defer func() { lease.Release(err) }()

	refused, err := r.build(ctx, lease) // and opens the boxes meanwhile
	if err != nil {
		return nil, err
	}
	if refused.Any() {
		return r.refused(refused)
	}
	crashed, err := r.smoke(ctx, lease)
	if err != nil {
		return nil, err
	}
	if len(crashed) > 0 {
		return r.judged(crashed)
	}
	tests, err := r.test(ctx, lease)
	if err != nil {
		return nil, err
	}
	figures, err := r.measure(ctx, lease)
	if err != nil {
		return nil, err
	}
	return r.judged(append(tests, figures...))
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
