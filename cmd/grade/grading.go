package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/batch"
	"grade/grader/intake"
	"grade/grader/prove"
	"grade/grader/report"
	"grade/grader/report/progress"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// gradingFlags are what the commands have in common that grade many folders.
type gradingFlags struct {
	workers int
	json    bool
	quiet   bool
	sandbox sandboxOptions
}

func (f *gradingFlags) add(cmd *cobra.Command, workers int) {
	flags := cmd.Flags()
	flags.IntVar(&f.workers, "workers", workers, "grade so many at a time; what is measured has a CPU to itself")
	flags.BoolVar(&f.json, "json", false, "write the result as JSON")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	f.sandbox.addFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("workers", cobra.NoFileCompletions)
}

// batchWorkers is one more than there are CPUs: of some gradings, all but one wait to measure.
func batchWorkers() int { return runtime.NumCPU() + 1 }

// check refuses values of flags before anything is read.
func (f *gradingFlags) check() error {
	if f.workers < 1 {
		return usage("", "--workers %d: want at least 1", f.workers)
	}
	return f.sandbox.check()
}

// checkFor refuses values of flags of a command that grades what strangers wrote, and
// sandboxes in which nothing of theirs may run.
func (f *gradingFlags) checkFor(command string) error {
	f.sandbox.Kind, f.sandbox.Apart = cmp.Or(f.sandbox.Kind, sandboxDocker), true
	if err := f.check(); err != nil {
		return err
	}
	if f.sandbox.Kind == sandboxDocker {
		return nil
	}
	return usage("check your own work with: grade submit --sandbox "+f.sandbox.Kind, "%s grades what others wrote, and the %s sandbox contains nothing hostile", command, f.sandbox.Kind)
}

// checkMany refuses flags of a command that grades what strangers wrote and reports on it.
func checkMany(command string, grading *gradingFlags, reports *reportFlags) error {
	if err := errors.Join(grading.checkFor(command), reports.check()); err != nil {
		return err
	}
	if _, taken := reports.targets.OnStdout(); taken && grading.json {
		return usage("give the report a file", "--json and a report both go to standard output")
	}
	return nil
}

// watch is a progress line if somebody may be watching, and nil if not.
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
func (a *app) gradeAll(ctx context.Context, f gradingFlags, ledger *batch.Ledger, list []intake.Submission, all []*course.Exercise) (fates []batch.Fate, err error) {
	err = a.grade(ctx, f, func(g *grader.Grader, tell prove.Progress) error {
		with, err := a.batchWith(ctx, f, g, tell, all)
		if err != nil {
			return err
		}
		fates, err = batch.Run(ctx, ledger, list, with)
		return err
	})
	return fates, err
}

// gradeWith is how a batch sees a grader. It measures until the verdict is sure: to know
// the ratio more precisely would take most of the time, and change no points.
func gradeWith(g *grader.Grader) batch.GradeFunc {
	return func(ctx context.Context, snapshot *submission.Snapshot, e *course.Exercise, seed string) (*verdict.Result, error) {
		return g.Grade(ctx, snapshot.Dir, e, grader.Options{Snapshot: snapshot, Seed: seed, Hasty: true})
	}
}

// identity is all that a result depends on besides submission and exercise: this very
// program, the images, whose names are hashes of Go and all else in them, and the
// runtime.
func identity(ctx context.Context, g *grader.Grader) (string, error) {
	info, err := g.Prepare(ctx)
	if err != nil {
		return "", err
	}
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x %q %q %q", h.Sum(nil), info.Build, info.Image, info.Runtime), nil
}
