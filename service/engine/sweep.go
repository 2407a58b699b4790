package engine

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// sweepEvery is how often the engine looks for attempts that wait and have no job.
const sweepEvery = 30 * time.Second

// sweepAlways sweeps until the context ends.
func (e *Engine) sweepAlways(ctx context.Context) {
	t := time.NewTicker(sweepEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.state.wake:
			e.queueJobless(ctx)
		case <-t.C:
			if err := e.sweep(ctx); err != nil && ctx.Err() == nil {
				e.log.Warn("the queue could not be compared with the log", "because", err)
			}
		}
	}
}

// sweep queues every attempt that waits and has no job: after a crash between the two, or
// for a grader of another version. It looks at the jobs first and at the log afterwards, so
// that a job which ends meanwhile is seen to have ended.
func (e *Engine) sweep(ctx context.Context) error {
	if !e.hasCourse() {
		return nil
	}
	jobs, err := e.jobSubjects(ctx)
	if err != nil {
		return err
	}
	if err := e.caughtUp(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	cells := e.state.line.cells()
	e.mu.Unlock()
	var lost error
	for _, id := range cells {
		if _, _, err := e.exercise(id.exercise); err != nil {
			continue // the course has it no more: nothing can grade it
		}
		if jobs[e.names.job(e.config.Grader, id)] == 0 {
			lost = errors.Join(lost, e.requeue(ctx, id))
		}
	}
	return lost
}

// queueJobless queues at once what no longer has a job. The job of the attempt that has ended
// may still be there, unacknowledged: it is replaced.
func (e *Engine) queueJobless(ctx context.Context) {
	e.mu.Lock()
	cells := e.state.jobless
	e.state.jobless = map[cellID]bool{}
	e.mu.Unlock()
	for id := range cells {
		if err := e.requeue(ctx, id); err != nil && ctx.Err() == nil {
			e.log.Warn("a job is queued later", "student", id.student, "exercise", id.exercise, "because", err)
		}
	}
}

func (e *Engine) requeue(ctx context.Context, id cellID) error {
	defer e.busy.lock(id)()
	return e.queue(ctx, id)
}

// jobSubjects counts the jobs of each subject.
func (e *Engine) jobSubjects(ctx context.Context) (list map[string]uint64, err error) {
	err = again(ctx, func(ctx context.Context) error {
		s, err := e.js.Stream(ctx, e.names.jobs())
		if err != nil {
			return err
		}
		info, err := s.Info(ctx, jetstream.WithSubjectFilter(e.names.all(kindJob)))
		if err == nil {
			list = info.State.Subjects
		}
		return err
	})
	return list, err
}
