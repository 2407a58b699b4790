package main

import (
	"context"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/prove"
	"grade/grader/report"
	"grade/grader/report/progress"
	"grade/grader/report/summary"
	"grade/grader/results/file"
)

// watch returns a progress line if a person is watching, and else nil.
func (a *app) watch(quiet bool) *progress.Line {
	if quiet || !a.err.Live {
		return nil
	}
	return progress.New(a.err, a.now)
}

// grade calls work with a grader, and shows the progress.
func (a *app) grade(ctx context.Context, f gradingFlags, work func(*grader.Grader, prove.Progress) error) error {
	s := f.sandbox
	var tell prove.Progress
	if line := a.watch(f.quiet); line != nil {
		defer line.Start()()
		a.line, tell, s.Progress = line, line.Work, line.Work
	}
	g, done, err := openGrader(ctx, s)
	if err != nil {
		return err
	}
	err = work(g, tell)
	a.closed(done())
	return err
}

// write prints a result as JSON or as text.
func (a *app) write(asJSON bool, result any, text func() string) error {
	if !asJSON {
		return a.print("%s", text())
	}
	return report.PlainJSON(a.out, result)
}

// batchWith returns the options of a batch with a grader.
func (a *app) batchWith(ctx context.Context, f gradingFlags, g *grader.Grader, tell prove.Progress, all []*course.Exercise) (batch.Options, error) {
	info, err := g.Prepare(ctx)
	if err != nil {
		return batch.Options{}, err
	}
	by, err := identity(info)
	o := batch.Options{Exercises: all, Grader: by, Workers: f.workers, Now: a.now, Grade: gradeWith(g), Refuses: g.Refuses}
	if tell != nil {
		o.OnEvent = func(e batch.Event) {
			if e.Through != nil && a.line != nil {
				a.line.Say(summary.Item(*e.Through))
			}
			tell(progress.OfBatch(e), 0, 0)
		}
	}
	return o, err
}

// gradeAll grades the submissions that the store has no result of, and keeps the times that
// the policy's table has of them.
func (a *app) gradeAll(ctx context.Context, f gradingFlags, store *file.Store, list []intake.Submission, all []*course.Exercise, policy *gradebook.Policy) (items []batch.Item, err error) {
	err = a.grade(ctx, f, func(g *grader.Grader, tell prove.Progress) error {
		with, err := a.batchWith(ctx, f, g, tell, all)
		if err != nil {
			return err
		}
		with.Listed = policy.ListedAt
		items, err = batch.Run(ctx, store, list, with)
		return err
	})
	return items, err
}
