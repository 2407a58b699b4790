package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"

	"grade"
	"grade/exercises/course"
	"grade/grader"
	"grade/grader/batch"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service/engine"
	"grade/service/worker"
)

// graderID names which graders may grade a job: those of the same deciding sources and Go.
func graderID() (string, error) {
	sources, err := results.SourceDigest(grade.Deciding)
	return sources + " " + runtime.Version(), err
}

// openServiceEngine opens the engine of a service.
func openServiceEngine(ctx context.Context, data string, f engineFlags, log *slog.Logger, now func() time.Time) (*engine.Engine, error) {
	id, err := graderID()
	if err != nil {
		return nil, err
	}
	return engine.Open(ctx, engine.Config{DataDir: data, NATS: f.nats, Creds: f.creds, Grader: id, Log: log, Now: now})
}

// bench is a grader in a sandbox, as workers use one.
type bench struct {
	*grader.Grader
	identity string
	check    func(context.Context) error
	done     func() error
}

// Grade grades a snapshot and tells each event.
func (b *bench) Grade(ctx context.Context, s *submission.Snapshot, e *course.Exercise, seed string, tell func(grader.Event)) (*verdict.Result, error) {
	return b.Grader.Grade(ctx, s, e, grader.Options{Purpose: grader.ForBatch, Seed: seed, OnEvent: tell})
}

// Identity is what else decides a result.
func (b *bench) Identity() string { return b.identity }

// Check returns an error if the sandbox does not answer.
func (b *bench) Check(ctx context.Context) error { return b.check(ctx) }

// Close closes the grader and its sandbox.
func (b *bench) Close() error { return b.done() }

// openBench opens a grader for a worker.
func openBench(ctx context.Context, s sandboxFlags) (*bench, error) {
	g, done, err := openGrader(ctx, s)
	if err != nil {
		return nil, err
	}
	id, err := identity(ctx, g)
	if err != nil {
		return nil, errors.Join(err, done())
	}
	check := func(ctx context.Context) error {
		_, err := g.Prepare(ctx)
		return err
	}
	return &bench{g, id, check, done}, nil
}

// inProcess are the workers of a service's own process.
type inProcess struct {
	worker *worker.Worker
	slots  int

	mu    sync.Mutex
	bench *bench // that grades now; nil: none
}

// openWorkers makes the workers of this process; nil: there are none.
func (o *serveOptions) openWorkers(ctx context.Context, e *engine.Engine, log *slog.Logger) (*inProcess, error) {
	if o.workers == 0 {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	jobs, err := e.Jobs(ctx, host)
	if err != nil {
		return nil, err
	}
	p := &inProcess{slots: o.workers}
	p.worker = worker.New(jobs, worker.Config{
		Slots: o.workers, Host: host, Version: buildVersionHere(), Log: log,
		Open: func(ctx context.Context) (worker.Bench, error) { return p.open(ctx, o.sandbox) },
	})
	return p, nil
}

func (p *inProcess) open(ctx context.Context, s sandboxFlags) (worker.Bench, error) {
	b, err := openBench(ctx, s)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bench = b
	return b, nil
}

func (p *inProcess) run(ctx context.Context) error { return p.worker.Run(ctx) }

// errNoBench says that nothing can be graded now.
var errNoBench = errors.New("no sandbox answers on this machine: the page of the queue says why")

// regrade returns what grades kept results anew on this machine.
func (p *inProcess) regrade(c *servedCourse, now func() time.Time) func() (batch.Options, error) {
	return func() (batch.Options, error) {
		p.mu.Lock()
		b := p.bench
		p.mu.Unlock()
		if b == nil {
			return batch.Options{}, errNoBench
		}
		return batch.Options{Exercises: c.read().Exercises, Grade: gradeWith(b.Grader), Grader: b.identity, Workers: p.slots, Now: now}, nil
	}
}
