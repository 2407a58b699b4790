package grader

import (
	"context"
	"fmt"

	"grade/exercises/course"
	"grade/grader/judge"
	"grade/grader/lang"
	"grade/sandbox"
)

// PublicRun is a run of the tests that students get.
type PublicRun struct {
	Ran     bool   // the starter has tests
	Failure string // how they ended; empty if they passed
	Said    []byte // by the tests and the runtime
}

// PublicTests runs the tests that students get with the reference, in a box of its own. An
// error with [fault.ErrExercise] says that they do not compile with it.
func (g *Grader) PublicTests(ctx context.Context, e *course.Exercise) (r PublicRun, err error) {
	b, err := g.lang.Public(e)
	if b == nil || err != nil {
		return r, err
	}
	program, err := g.buildPublic(ctx, b)
	if err != nil {
		return r, err
	}
	runner, release, err := g.boxes.Runner(ctx, boxSpec(e), program)
	if err != nil {
		return r, err
	}
	defer release()
	o, err := runner.Run(ctx, g.lang.PublicTests(e))
	if err != nil {
		return r, err
	}
	_, r.Failure = judge.Start(o, g.lang.CrashWords)
	r.Ran, r.Said = true, append(o.Stdout, o.Stderr...)
	return r, nil
}

func (g *Grader) buildPublic(ctx context.Context, b lang.Build) ([]byte, error) {
	if err := g.sandbox.Prepare(ctx, sandbox.Build); err != nil {
		return nil, err
	}
	box, err := g.boxes.Builder(ctx, g.lang.BuildBox())
	if err != nil {
		return nil, err
	}
	defer box.Close()
	o, err := box.Run(ctx, b.Request(box.Dirs()))
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	program, _, err := b.Reference(o)
	return program, err
}
