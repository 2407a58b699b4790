package main

import (
	"context"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/batch"
	"grade/grader/intake"
	"grade/grader/prove"
	"grade/grader/report"
	"grade/grader/report/progress"
	"grade/grader/results/file"
)

// watch is a progress line on a terminal, and nil elsewhere.
func (a *app) watch(quiet bool) *progress.Line {
	if quiet || !a.err.Live {
		return nil
	}
	return progress.New(a.err, a.now)
}

// grade has work use a grader, and shows how far it is.
func (a *app) grade(ctx context.Context, f gradingFlags, work func(*grader.Grader, prove.Progress) error) error {
	s := f.sandbox
	var tell prove.Progress
	if line := a.watch(f.quiet); line != nil {
		defer line.Start()()
		tell, s.Progress = line.Work, line.Work
	}
	g, done, err := openGrader(ctx, s)
	if err != nil {
		return err
	}
	err = work(g, tell)
	a.closed(done())
	return err
}

// write writes a result as it was asked for.
func (a *app) write(asJSON bool, result any, text func() string) error {
	if !asJSON {
		return a.print("%s", text())
	}
	return report.PlainJSON(a.out, result)
}

// batchWith is how a batch uses a grader.
func (a *app) batchWith(ctx context.Context, f gradingFlags, g *grader.Grader, tell prove.Progress, all []*course.Exercise) (batch.Options, error) {
	by, err := identity(ctx, g)
	o := batch.Options{Exercises: all, Grader: by, Workers: f.workers, Now: a.now, Grade: gradeWith(g)}
	if tell != nil {
		o.OnEvent = func(e batch.Event) { tell(progress.OfBatch(e), 0, 0) }
	}
	return o, err
}

// gradeAll has an engine grade what is not kept yet.
func (a *app) gradeAll(ctx context.Context, f gradingFlags, store *file.Store, list []intake.Submission, all []*course.Exercise) (items []batch.Item, err error) {
	err = a.grade(ctx, f, func(g *grader.Grader, tell prove.Progress) error {
		with, err := a.batchWith(ctx, f, g, tell, all)
		if err != nil {
			return err
		}
		items, err = batch.Run(ctx, store, list, with)
		return err
	})
	return items, err
}
