package main

import (
	"cmp"
	"context"
	"runtime"

	"github.com/spf13/cobra"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/batch"
	"grade/grader/prove"
	"grade/grader/report"
)

// proving is what the commands have in common that grade many folders.
type proving struct {
	app     *app
	workers int // before flags are read, the default; 0: as many as there are CPUs
	json    bool
	quiet   bool
	sandbox sandboxOptions
}

func (p *proving) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&p.workers, "workers", cmp.Or(p.workers, runtime.NumCPU()), "grade so many at a time; what is measured has a CPU to itself")
	f.BoolVar(&p.json, "json", false, "write the result as JSON")
	f.BoolVarP(&p.quiet, "quiet", "q", false, "no progress")
	p.sandbox.addFlags(cmd)
	_ = cmd.RegisterFlagCompletionFunc("workers", cobra.NoFileCompletions)
}

// check refuses values of flags before anything is read.
func (p *proving) check() error {
	if p.workers < 1 {
		return usage("", "--workers %d: want at least 1", p.workers)
	}
	return p.sandbox.check()
}

// grade has work use a grader, and shows how far it is.
func (p *proving) grade(ctx context.Context, work func(*grader.Grader, prove.Progress) error) error {
	s := p.sandbox
	var tell prove.Progress
	if bar := p.app.watch(p.quiet); bar != nil {
		defer bar.start()()
		tell, s.Progress = bar.beside, bar.beside
	}
	g, done, err := openGrader(ctx, s)
	if err != nil {
		return err
	}
	err = work(g, tell)
	p.app.closed(done())
	return err
}

// write writes a result as it was asked for.
func (p *proving) write(result any, text func() error) error {
	if !p.json {
		return text()
	}
	return report.PlainJSON(p.app.out, result)
}

// checkFor refuses values of flags of a command that grades what strangers wrote, and
// sandboxes in which nothing of theirs may run.
func (p *proving) checkFor(command string) error {
	p.sandbox.Kind, p.sandbox.Apart = cmp.Or(p.sandbox.Kind, sandboxDocker), true
	if err := p.check(); err != nil {
		return err
	}
	if p.sandbox.Kind == sandboxDocker {
		return nil
	}
	return usage("check your own work with: grade submit --sandbox "+p.sandbox.Kind, "%s grades what others wrote, and the %s sandbox contains nothing hostile", command, p.sandbox.Kind)
}

// batchWith is how a batch uses a grader.
func (p *proving) batchWith(ctx context.Context, g *grader.Grader, progress prove.Progress, all []*course.Exercise) (batch.Options, error) {
	by, err := identity(ctx, g)
	o := batch.Options{Exercises: all, Grader: by, Workers: p.workers, Now: p.app.now, Grade: gradeWith(g)}
	if progress != nil {
		o.OnEvent = func(e batch.Event) { progress(standing(e), 0, 0) }
	}
	return o, err
}
