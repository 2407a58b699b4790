package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go/jetstream"

	"grade/grader/fault"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/service"
)

// maxKeeping is how many submissions are kept at a time. Each is some synced writes, one after
// another for all: of a rush of hundreds at once, none would be written within its time.
const maxKeeping = 32

// maxName is the longest name of a student, in bytes: it is part of a subject.
const maxName = 200

// HandIn keeps a submission, numbers it by the rules of [results.Number] and queues it. It
// returns when all of it is on the disk. What is still waiting of the same student at the
// same exercise is replaced, unless the upload says that it comes beside it. The same content
// again is the same attempt; if that one has no verdict by a fault of ours, it is tried again.
func (e *Engine) HandIn(ctx context.Context, u service.Upload) (service.Attempt, error) {
	if err := checkName(u.Student); err != nil {
		return service.Attempt{}, err
	}
	if _, _, err := e.exercise(u.Exercise); err != nil {
		return service.Attempt{}, err
	}
	if err := e.usable(); err != nil {
		return service.Attempt{}, fmt.Errorf("keep a submission: %w", err)
	}
	if u.At.IsZero() {
		u.At = e.config.Now()
	}
	id := cellID{u.Student, u.Exercise}
	defer e.busy.lock(id)()
	e.keeping <- struct{}{}
	defer func() { <-e.keeping }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTimeout) // half of it kept is no use
	defer cancel()
	content := results.Content(u.Snapshot)
	if err := e.submissions.put(ctx, content, func() ([]byte, error) { return packed(u.Snapshot) }); err != nil {
		return service.Attempt{}, fmt.Errorf("keep a submission: %w", err)
	}
	number, err := e.number(ctx, id, u, content)
	if err != nil {
		return service.Attempt{}, fmt.Errorf("keep a submission: %w", err)
	}
	// From here on it is kept: a job that cannot be queued now is queued by the next sweep.
	if err := e.queue(ctx, id); err != nil {
		e.log.Error("a job is queued later", "student", u.Student, "exercise", u.Exercise, "because", err)
	}
	a, _ := e.Attempt(u.Student, u.Exercise, number)
	return a, nil
}

// checkName refuses names that no subject can hold.
func checkName(name string) error {
	switch {
	case name == "":
		return &fault.Error{Message: "hand in: the student has no name"}
	case len(name) > maxName:
		return &fault.Error{Message: fmt.Sprintf("hand in: the student's name is longer than %d bytes", maxName)}
	case !utf8.ValidString(name):
		return &fault.Error{Message: "hand in: the student's name is not UTF-8"}
	}
	return nil
}

// number keeps an attempt under a number of its own. If another engine keeps one of the
// same student at the same time, it looks again.
func (e *Engine) number(ctx context.Context, id cellID, u service.Upload, content string) (int, error) {
	for {
		a, entry, last, again := e.plan(id, u, content)
		switch {
		case again: // it has no verdict
			return a.Number, e.retry(ctx, id, a.Number)
		case entry == nil: // it is there
			return a.Number, nil
		}
		_, err := e.keep(ctx, e.names.cell(kindAttempt, id), entry, &last)
		if err == nil {
			return a.Number, nil
		}
		if !errors.Is(err, errConflict) {
			return 0, err
		}
		if err := e.catchUp(ctx, e.names.cell(kindAttempt, id), last); err != nil {
			return 0, err
		}
	}
}

// plan decides which attempt an upload is, and what the log needs to have of it; nil:
// nothing more. Last is the sequence that the cell's last attempt has.
func (e *Engine) plan(id cellID, u service.Upload, content string) (a results.Attempt, entry *attemptEntry, last uint64, again bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.state.cell(id)
	was := e.state.enteredOf(c)
	a = results.Number(e.state.index.History(id.student, id.exercise), was, e.state.pendingOf(id), results.Entry{
		Student: u.Student, Exercise: u.Exercise, Content: content, Submitted: u.At.UTC(), Source: u.Source,
	})
	h := c.of(a.Number)
	if h != nil && h.Submitted.Equal(a.Submitted) || h == nil && a.Held != nil && a.Held.Submitted.Equal(a.Submitted) {
		return a, nil, c.last, h != nil && e.state.stageOf(c, h) == service.NoVerdict
	}
	return a, &attemptEntry{
		Schema: attemptSchema, Student: u.Student, Exercise: u.Exercise, Number: a.Number, Content: content,
		Submitted: a.Submitted, Source: a.Source, Dir: u.Snapshot.Dir, Ignored: u.Snapshot.Ignored, Problems: u.Snapshot.Problems,
		Beside: u.Beside != nil && u.Beside(e.state.attempts(c)), Keeps: c.begun(),
	}, c.last, false
}

// begun returns the attempts without an end that no later one replaces.
func (c *cell) begun() (numbers []int) {
	for _, h := range c.handed {
		if h.kept && !h.settled() {
			numbers = append(numbers, h.Number)
		}
	}
	return numbers
}

// enteredOf returns the attempts of a cell that have a number, as [results.Number] wants
// them.
func (s *state) enteredOf(c *cell) (list []results.Attempt) {
	for _, h := range c.handed {
		list = append(list, h.attempt())
	}
	return append(list, c.entered...)
}

// catchUp returns when the state has the last message of a subject, which comes after one
// that it knows.
func (e *Engine) catchUp(ctx context.Context, subject string, known uint64) error {
	const pause = 50 * time.Millisecond
	last := uint64(0)
	err := again(ctx, func(ctx context.Context) error {
		s, err := e.js.Stream(ctx, e.names.log())
		if err != nil {
			return err
		}
		m, err := s.GetLastMsgForSubject(ctx, subject)
		if err == nil {
			last = m.Sequence
		}
		return err
	})
	switch {
	case err != nil && !errors.Is(err, jetstream.ErrMsgNotFound):
		return err
	case last > known:
		return e.await(ctx, last)
	}
	select { // on a cluster, the other one may be on its way
	case <-ctx.Done():
		return errors.Join(errConflict, context.Cause(ctx))
	case <-time.After(pause):
		return nil
	}
}

// queue publishes the job of a cell's last attempt that waits for a worker. It takes the
// place of the job of an earlier one, which is queued again after it if it was not replaced,
// see [state.passTurn].
func (e *Engine) queue(ctx context.Context, id cellID) error {
	job, waits, err := e.job(id)
	for err == nil && waits {
		if err = e.publishJob(ctx, id, job); err != nil || e.config.NATS == "" {
			return err
		}
		// Another engine of the cluster may have queued a later attempt while this job was on its way.
		if err = e.caughtUp(ctx); err != nil {
			return err
		}
		queued := job.Number
		if job, waits, err = e.job(id); job.Number == queued {
			return err
		}
	}
	return err
}

func (e *Engine) publishJob(ctx context.Context, id cellID, job service.Job) error {
	data, err := json.Marshal(job)
	if err != nil {
		return err
	}
	_, err = publish(ctx, e.js, e.names.job(e.config.Grader, id), data, nil)
	return err
}

// job returns the job of a cell's last attempt that waits for a worker, and whether one does.
func (e *Engine) job(id cellID) (service.Job, bool, error) {
	x, hash, err := e.exercise(id.exercise)
	if err != nil {
		return service.Job{}, false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.state.cell(id)
	h := e.state.waiting(c)
	if h == nil {
		return service.Job{}, false, nil
	}
	return service.Job{
		Schema: service.JobSchema, Student: id.student, Exercise: id.exercise, Number: h.Number,
		Content: h.Content, Dir: h.Dir, Ignored: h.Ignored, Problems: h.Problems, Submitted: h.Submitted, Source: h.Source,
		Grader: e.config.Grader, Course: hash, Hash: x.Hash, After: c.results[h.Number],
	}, true, nil
}

// Retry puts an attempt without a verdict into the queue again.
func (e *Engine) Retry(ctx context.Context, student, exercise string, number int) error {
	id := cellID{student, exercise}
	defer e.busy.lock(id)() // no upload comes between, whose job this would take the place of
	return e.retry(ctx, id, number)
}

func (e *Engine) retry(ctx context.Context, id cellID, number int) error {
	a, ok := e.Attempt(id.student, id.exercise, number)
	if !ok || a.Stage != service.NoVerdict {
		return &fault.Error{Message: fmt.Sprintf("try attempt %d of %s at %s again: it is not without a verdict", number, id.student, id.exercise)}
	}
	f := failureEntry{Schema: failureSchema, Again: true, At: e.config.Now().UTC()}
	if _, err := e.keep(ctx, e.names.numbered(kindFailure, id, number), f, nil); err != nil {
		return fmt.Errorf("try again: %w", err)
	}
	return e.queue(ctx, id)
}

// Attempts lists what a student has handed in for an exercise, in the order of the numbers,
// with the attempts that an import or a batch has brought.
func (e *Engine) Attempts(student, exercise string) (list []service.Attempt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	id := cellID{student, exercise}
	c := e.state.cells[id]
	if c == nil {
		return nil
	}
	return e.state.attempts(c)
}

func (s *state) attempts(c *cell) (list []service.Attempt) {
	for n := 1; n <= s.lastNumber(c); n++ {
		if a, ok := s.attempt(c, n); ok {
			list = append(list, a)
		}
	}
	return list
}

// Attempt returns one attempt of a student.
func (e *Engine) Attempt(student, exercise string, number int) (service.Attempt, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.state.cells[cellID{student, exercise}]
	if c == nil {
		return service.Attempt{}, false
	}
	return e.state.attempt(c, number)
}

// NoVerdict lists the attempts without a verdict, by student, exercise and number: each of
// them waits for staff, whatever was handed in after it.
func (e *Engine) NoVerdict() (list []service.Attempt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.state.cells {
		for _, h := range c.handed {
			if h.failure == nil || e.state.stageOf(c, h) != service.NoVerdict {
				continue
			}
			if a, ok := e.state.attempt(c, h.Number); ok {
				list = append(list, a)
			}
		}
	}
	slices.SortFunc(list, func(a, b service.Attempt) int {
		return cmp.Or(strings.Compare(a.Student, b.Student), strings.Compare(a.Exercise, b.Exercise), a.Number-b.Number)
	})
	return list
}

// Cells lists the students and exercises of which there is anything, in no order.
func (e *Engine) Cells() (list [][2]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, c := range e.state.cells {
		if e.state.lastNumber(c) > 0 {
			list = append(list, [2]string{id.student, id.exercise})
		}
	}
	return list
}

func (s *state) lastNumber(c *cell) int {
	n := 0
	if len(c.handed) > 0 {
		n = c.handed[len(c.handed)-1].Number
	}
	if last, ok := s.index.Last(c.id.student, c.id.exercise); ok {
		n = max(n, last.Attempt)
	}
	return n
}

// attempt says what is known of an attempt of a cell.
func (s *state) attempt(c *cell, number int) (a service.Attempt, ok bool) {
	h := c.of(number)
	r, graded := s.index.Of(c.id.student, c.id.exercise, number)
	if h == nil && !graded {
		return a, false
	}
	a = service.Attempt{Student: c.id.student, Exercise: c.id.exercise, Number: number, Stage: service.Graded}
	if graded {
		a.Content, a.Submitted, a.Source, a.Worker, a.Record = r.Content, r.Submitted, r.Source, r.Worker, &r
		if before, ok := s.index.Before(c.id.student, c.id.exercise, number); ok {
			a.Before = &before
		}
		return a, true
	}
	a.Content, a.Submitted, a.Source, a.Stage = h.Content, h.Submitted, h.Source, s.stageOf(c, h)
	switch a.Stage {
	case service.Waiting:
		a.Ahead = s.line.before(s.placeOf(c, h))
	case service.Grading:
		a.Worker, a.Since = h.busy.worker, h.busy.since
	case service.NoVerdict:
		a.Why, a.Told, a.Worker = h.failure.Why, h.failure.Told, h.failure.Worker
	}
	return a, true
}

// Source returns what was handed in as an attempt.
func (e *Engine) Source(ctx context.Context, student, exercise string, number int) (*submission.Snapshot, error) {
	e.mu.Lock()
	h, found := handIn{}, false
	if c := e.state.cells[cellID{student, exercise}]; c != nil {
		if x := c.of(number); x != nil {
			h, found = x.handIn(), true
		} else if r, ok := e.state.index.Of(student, exercise, number); ok {
			h, found = handIn{Dir: r.Result.Submission.Dir, Content: r.Content, Ignored: r.Result.Submission.Ignored}, true
		}
	}
	e.mu.Unlock()
	if !found {
		return nil, &fault.Error{Message: fmt.Sprintf("there is no attempt %d of %s at %s", number, student, strings.TrimSpace(exercise))}
	}
	data, err := e.submissions.get(ctx, h.Content)
	if err != nil {
		return nil, fmt.Errorf("read a submission: %w", err)
	}
	s, err := unpacked(data, h)
	if err != nil {
		return nil, fmt.Errorf("read a submission: %w", err)
	}
	return s, nil
}
