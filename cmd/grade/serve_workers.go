package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"grade/grader/batch"
	"grade/service/engine"
	"grade/service/worker"
)

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
	done := b.done
	b.done = func() error {
		p.use(nil)
		return done()
	}
	p.use(b)
	return b, nil
}

func (p *inProcess) use(b *bench) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bench = b
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
