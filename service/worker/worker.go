// Package worker takes jobs from the engine and grades them, several at a time. It knows
// neither sandboxes nor how jobs travel: a [Bench] grades, and package engine carries.
//
// A worker takes a job, loads the very exercise that the job names, keeps the job while it
// is graded, tells each event, and gives the result. What it cannot grade by a fault of
// ours it gives back; after some tries the attempt has no verdict, for staff to see. If the
// bench does not work, such as when the machine's Docker engine is gone, the worker takes
// no jobs and says why, until it works again.
package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service"
	"grade/service/engine"
)

// Bench is what a worker grades on.
type Bench interface {
	// Grade grades a snapshot. An error says that there is no verdict.
	Grade(ctx context.Context, s *submission.Snapshot, e *course.Exercise, seed string, tell func(grader.Event)) (*verdict.Result, error)
	// Identity is what else decides a result, see [results.Key].
	Identity() string
	// Setup says to people what the machine compiles and runs with, see [service.WorkerState].
	Setup() string
	// Check returns an error if the bench cannot grade now.
	Check(ctx context.Context) error
	Close() error
}

// Config says how a worker works.
type Config struct {
	Slots   int    // gradings at a time
	Host    string // of the machine, for people
	Version string // of the program
	// Open opens the bench. It is called again when the bench has failed its check.
	Open func(ctx context.Context) (Bench, error)
	Log  *slog.Logger // nil: none

	Tries   int           // given out so often, a job that fails has no verdict; 0: [DefaultTries]
	Crashes int           // given out so often, a job is not begun again; 0: [DefaultCrashes]
	Pause   time.Duration // of a job that failed, and between two checks of a bench that does not work; 0: [DefaultPause]
	Beat    time.Duration // see [engine.Config]; 0: [engine.DefaultBeat]
}

// The defaults of a configuration. A job that takes its workers down is given out more
// often than one that fails: a worker also goes down with its machine, or is stopped.
const (
	DefaultTries   = 3
	DefaultCrashes = 10
	DefaultPause   = 5 * time.Second
)

// Worker takes jobs and grades them.
type Worker struct {
	config Config
	jobs   *engine.Jobs

	mu        sync.Mutex // guards what follows
	bench     Bench      // nil: it does not work
	using     sync.WaitGroup
	why       string // the worker takes no jobs
	grading   []service.JobID
	exercises map[loaded]*course.Exercise
	ailing    ailing
	refusal   string // why it could not take a job last
}

// New returns a worker for jobs.
func New(jobs *engine.Jobs, c Config) *Worker {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Slots = max(1, c.Slots)
	for _, d := range []struct {
		field *int
		value int
	}{{&c.Tries, DefaultTries}, {&c.Crashes, DefaultCrashes}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.Pause == 0 {
		c.Pause = DefaultPause
	}
	if c.Beat == 0 {
		c.Beat = engine.DefaultBeat
	}
	return &Worker{config: c, jobs: jobs, why: "it is starting", exercises: map[loaded]*course.Exercise{}}
}

// Run works until the context ends. Then it takes no more jobs, and gives back at once what
// it has: another worker begins it anew sooner than this one would end it.
func (w *Worker) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	announcing, silent := context.WithCancel(context.WithoutCancel(ctx))
	parts.Go(func() { w.announceAlways(announcing) })
	var slots sync.WaitGroup
	slots.Go(func() { w.mind(ctx) })
	for range w.config.Slots {
		slots.Go(func() { w.slot(ctx) })
	}
	slots.Wait()
	w.stop("it is stopping")
	silent()
	parts.Wait()
	return w.closeBench()
}

// idleWait is how long a slot waits for a job at a time; a worker that is told to stop
// waits no longer for one.
const idleWait = time.Second

// slot takes one job after another.
func (w *Worker) slot(ctx context.Context) {
	for ctx.Err() == nil {
		bench := w.take()
		if bench == nil {
			pause(ctx, idleWait/4)
			continue
		}
		t, err := w.jobs.Next(ctx, idleWait)
		switch {
		case err != nil:
			w.done()
			w.refused(err)
			pause(ctx, idleWait/2)
		case t == nil:
			w.done()
		default:
			w.work(ctx, bench, t)
			w.done()
		}
	}
}

// refused tells why no job can be taken, once for each reason.
func (w *Worker) refused(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if why := err.Error(); why != w.refusal && !errors.Is(err, context.Canceled) {
		w.refusal = why
		w.config.Log.Warn("no job can be taken", "because", err)
	}
}

// take returns the bench for one job; nil: the worker takes none. The caller calls done.
func (w *Worker) take() Bench {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bench == nil || w.why != "" {
		return nil
	}
	w.using.Add(1)
	return w.bench
}

func (w *Worker) done() { w.using.Done() }

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// mind opens the bench, looks after it, and says when the worker takes no jobs.
func (w *Worker) mind(ctx context.Context) {
	for ctx.Err() == nil {
		if why := w.trouble(ctx); ctx.Err() == nil {
			w.stop(why)
		}
		pause(ctx, w.config.Pause)
	}
}

// trouble returns why the worker can take no jobs; "": it can.
func (w *Worker) trouble(ctx context.Context) string {
	w.mu.Lock()
	bench, measuring := w.bench, len(w.grading) > 0 && w.why == ""
	w.mu.Unlock()
	if bench != nil {
		if measuring { // the check would disturb it, and a job that fails asks for one
			return w.connected(ctx)
		}
		if err := bench.Check(ctx); err != nil {
			w.stop(err.Error())
			w.config.Log.Error("the worker takes no jobs", "because", err)
			if err := w.closeBench(); err != nil {
				w.config.Log.Warn("the bench is not closed well", "because", err)
			}
			return err.Error()
		}
	} else if err := w.open(ctx); err != nil {
		return err.Error()
	}
	return w.connected(ctx)
}

// connected returns why a worker whose bench works can take no jobs; "": it can.
func (w *Worker) connected(ctx context.Context) string {
	if err := w.jobs.Connected(ctx); err != nil {
		return err.Error()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ailing.why(time.Now())
}

func (w *Worker) open(ctx context.Context) error {
	b, err := w.config.Open(ctx)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bench = b
	return nil
}

// closeBench closes the bench when no job uses it any more.
func (w *Worker) closeBench() error {
	w.mu.Lock()
	bench := w.bench
	w.bench = nil
	w.mu.Unlock()
	if bench == nil {
		return nil
	}
	w.using.Wait()
	return bench.Close()
}

// stop says why the worker takes no jobs; "": it does.
func (w *Worker) stop(why string) {
	w.mu.Lock()
	changed := w.why != why
	w.why = why
	w.mu.Unlock()
	if changed {
		w.announce()
	}
}

// announceAlways tells the engine how the worker is, every beat.
func (w *Worker) announceAlways(ctx context.Context) {
	t := time.NewTicker(w.config.Beat)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			w.announce()
		}
	}
}

func (w *Worker) announce() {
	if err := w.jobs.Announce(w.State()); err != nil && !errors.Is(err, context.Canceled) {
		w.config.Log.Debug("the worker is not heard", "because", err)
	}
}

// State says how the worker is.
func (w *Worker) State() service.WorkerState {
	w.mu.Lock()
	defer w.mu.Unlock()
	state := service.WorkerState{
		Name: w.jobs.Name(), Host: w.config.Host, Slots: w.config.Slots, Version: w.config.Version, Why: w.why,
		Grading: append([]service.JobID{}, w.grading...),
	}
	if w.bench != nil {
		state.Setup = w.bench.Setup()
	}
	return state
}
