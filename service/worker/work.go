package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/fault"
	"grade/grader/results"
	"grade/service"
	"grade/service/engine"
)

// work grades one job, and ends it one way or another.
func (w *Worker) work(ctx context.Context, bench Bench, t *engine.Taken) {
	log := w.config.Log.With("student", t.Job.Student, "exercise", t.Job.Exercise, "attempt", t.Job.Number)
	id := w.begin(t)
	defer w.end(id)
	keeping, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	go t.Keep(keeping)
	t.Tell(service.Progress{Stage: service.Grading})

	started := time.Now()
	record, err := w.grade(ctx, bench, t)
	switch {
	case err == nil:
		w.well()
		log.Info("graded", "score", record.Result.Score, "verdict", record.Result.Verdict, "took_ms", time.Since(started).Milliseconds())
		err = w.give(ctx, t, *record)
	case ctx.Err() != nil:
		log.Info("given back", "because", "the worker stops")
		err = t.Return(0)
	default:
		err = w.failed(ctx, bench, t, err)
	}
	switch {
	case errors.Is(err, engine.ErrSecond):
		log.Info("the result came second, and is not kept")
	case err != nil:
		log.Error("a job did not end well; it is given out again", "because", err)
	}
}

func (w *Worker) begin(t *engine.Taken) service.JobID {
	id := t.Job.ID()
	id.Since = time.Now().UTC()
	w.mu.Lock()
	w.grading = append(w.grading, id)
	w.mu.Unlock()
	return id
}

func (w *Worker) end(id service.JobID) {
	w.mu.Lock()
	w.grading = slices.DeleteFunc(w.grading, func(j service.JobID) bool { return j == id })
	w.mu.Unlock()
	w.announce()
}

// giveGrace is how long a worker that was told to stop goes on giving a result: it is done,
// and would only be graded again.
const giveGrace = 10 * time.Second

// lasting calls do with a context that ends giveGrace after ctx.
func lasting(ctx context.Context, do func(context.Context) error) error {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(giveGrace, func() { cancel(context.Cause(ctx)) })
	})()
	return do(longer)
}

// give gives a result. One that the service does not take would be graded again and again.
func (w *Worker) give(ctx context.Context, t *engine.Taken, r results.Record) error {
	err := lasting(ctx, func(ctx context.Context) error { return t.Give(ctx, r) })
	if err == nil || errors.Is(err, engine.ErrSecond) || ctx.Err() != nil {
		return err
	}
	w.config.Log.Error("no verdict: the service does not take the result", "student", t.Job.Student, "exercise", t.Job.Exercise, "attempt", t.Job.Number, "because", err)
	return t.Fail(ctx, why(t, err), "")
}

// grade takes a job to its record. Its time is left open: the engine's clock decides.
func (w *Worker) grade(ctx context.Context, bench Bench, t *engine.Taken) (*results.Record, error) {
	if t.Tries > w.config.Crashes {
		return nil, errCrashed
	}
	e, err := w.exercise(ctx, t.Job)
	if err != nil {
		return nil, err
	}
	s, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	result, err := bench.Grade(ctx, s, e, t.Job.Seed, func(event grader.Event) {
		t.Tell(service.Progress{Stage: service.Grading, Event: &event})
	})
	if err != nil {
		return nil, err
	}
	return &results.Record{
		Key: results.Key(t.Job.Content, e, bench.Identity()), Limits: results.LimitsOf(e.Limits), Result: result,
		Worker: w.jobs.Name(), Host: w.config.Host,
	}, nil
}

var errCrashed = errors.New("the workers that had it went down or were stopped, each time")

// failed decides about a job that could not be graded. A fault of the exercise, or of the
// student, comes again with every try. If the bench does not work, the job is not to blame.
func (w *Worker) failed(ctx context.Context, bench Bench, t *engine.Taken, err error) error {
	w.config.Log.Warn("no verdict", "student", t.Job.Student, "exercise", t.Job.Exercise, "attempt", t.Job.Number, "try", t.Tries, "because", err)
	if fault.KindOf(err) != fault.Ours || errors.Is(err, errCrashed) {
		return t.Fail(ctx, why(t, err), fault.Told(err))
	}
	if broken := bench.Check(ctx); broken != nil {
		w.stop(broken.Error())
		return t.Return(0)
	}
	w.ails(t.Job.ID(), err)
	if t.Tries >= w.config.Tries {
		return t.Fail(ctx, why(t, err), "")
	}
	return t.Return(w.config.Pause)
}

// well says that a job was graded here.
func (w *Worker) well() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ailing = ailing{}
}

// ails says that a job has failed here by a fault of ours.
func (w *Worker) ails(id service.JobID, err error) {
	w.mu.Lock()
	w.ailing.failed(id, err, time.Now(), w.config.Pause)
	why := w.ailing.why(time.Now())
	w.mu.Unlock()
	if why != "" {
		w.stop(why)
	}
}

func why(t *engine.Taken, err error) string {
	if t.Tries == 1 {
		return err.Error()
	}
	return fmt.Sprintf("%v (try %d)", err, t.Tries)
}

// maxCourses is how many versions of the course a worker holds.
const maxCourses = 3

// loaded is an exercise of a version of the course.
type loaded struct{ course, exercise string }

// exercise returns the very exercise that a job is for.
func (w *Worker) exercise(ctx context.Context, j service.Job) (*course.Exercise, error) {
	w.mu.Lock()
	e := w.exercises[loaded{j.Course, j.Exercise}]
	w.mu.Unlock()
	if e == nil {
		fsys, err := w.jobs.Course(ctx, j.Course)
		if err != nil {
			return nil, err
		}
		if e, err = course.Open(fsys).Load(j.Exercise); err != nil {
			return nil, fault.Exercise(err)
		}
		w.remember(j, e)
	}
	if e.Hash != j.Hash {
		return nil, fmt.Errorf("exercise %s is another version than the job wants", j.Exercise)
	}
	return e, nil
}

func (w *Worker) remember(j service.Job, e *course.Exercise) {
	w.mu.Lock()
	defer w.mu.Unlock()
	courses := map[string]bool{j.Course: true}
	for k := range w.exercises {
		courses[k.course] = true
	}
	if len(courses) > maxCourses {
		clear(w.exercises)
	}
	w.exercises[loaded{j.Course, j.Exercise}] = e
}
