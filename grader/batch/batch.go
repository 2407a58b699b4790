// Package batch grades many submissions: it plans which of them to grade, grades several at
// a time, and keeps every result in a [results.Store]. It also grades kept results anew
// when what decided them has changed. It knows neither sandboxes, nor how results are kept,
// nor what a report looks like.
//
// A caller finds submissions with package intake, opens a store, and calls [Run]; or it
// opens a [Regrader] on a store.
package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader/intake"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// GradeFunc grades a snapshot with the inputs of a seed; an empty seed asks for fresh
// inputs.
type GradeFunc func(ctx context.Context, s *submission.Snapshot, e *course.Exercise, seed string) (*verdict.Result, error)

// Options configure a batch.
type Options struct {
	Exercises []*course.Exercise
	Grade     GradeFunc
	Grader    string // what else decides a result: sources, images, runtime; see [results.Key]
	Workers   int    // gradings at a time
	Now       func() time.Time
	// Listed returns when a table of times has an attempt, and the name of the table; for
	// attempt 0, what it has for a student's last one. Nil: there is no table.
	Listed func(student, exercise string, attempt int) (time.Time, string)
	// Refuses reports whether a grading would take no time: such submissions come first.
	// Nil: none.
	Refuses func(*submission.Snapshot, *course.Exercise) bool
	// OnEvent receives the progress, whenever a grading begins or a submission is done.
	// Calls do not overlap.
	OnEvent func(Event)
}

// Run grades submissions and returns an item for each, in their order. It refuses several
// submissions of one student at one exercise, as one item. It goes on after a submission
// that could not be graded. An error is one of the store's, which can keep no more results,
// or the end of the context, which the remaining items state too.
func Run(ctx context.Context, store results.Store, list []intake.Submission, o Options) ([]Item, error) {
	p := &planner{options: o, store: store}
	steps := p.read(ctx, list)
	if err := p.begin(ctx, steps); err != nil {
		return nil, err
	}
	p.enter(ctx, steps)
	r := &runner{options: o, store: store, progress: newProgress(o, len(steps))}
	err := r.run(ctx, steps)
	if err == nil {
		err = context.Cause(ctx)
	}
	items, ending := p.end(ctx, steps, err)
	return items, errors.Join(err, ending)
}

// runner carries out a plan.
type runner struct {
	options  Options
	store    results.Store
	progress *progress
	keys     sync.Map // a [sync.Mutex] for each key: equal submissions are graded once
}

// run takes every step. An error is one of the store's.
func (r *runner) run(ctx context.Context, steps []*step) error {
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, r.options.Workers))
	for _, s := range r.inOrder(steps) {
		group.Go(func() error {
			if err := r.step(gctx, s); err != nil {
				return err
			}
			r.progress.through(&s.Item)
			return nil
		})
	}
	return group.Wait()
}

// inOrder returns the steps in the order in which they are taken: first what is known, then
// what is refused at once, so that neither waits for what is measured.
func (r *runner) inOrder(steps []*step) []*step {
	rank := map[*step]int{}
	for _, s := range steps {
		switch {
		case s.planned():
		case r.options.Refuses != nil && r.options.Refuses(s.snapshot, s.exercise):
			rank[s] = 1
		default:
			rank[s] = 2
		}
	}
	ordered := slices.Clone(steps)
	slices.SortStableFunc(ordered, func(a, b *step) int { return rank[a] - rank[b] })
	return ordered
}

// step grades a submission, unless its plan says that it need not be or cannot be. An error
// is one of the store's, which the item has as well.
func (r *runner) step(ctx context.Context, s *step) error {
	defer func() { s.snapshot = nil }() // frees the memory: a batch is long
	if s.planned() {
		return nil
	}
	if s.stop(context.Cause(ctx)) {
		return nil
	}
	lock, _ := r.keys.LoadOrStore(s.key, &sync.Mutex{})
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	result := r.same(s)
	if s.Cached = result != nil; !s.Cached {
		if result, s.Err = r.grade(ctx, s); s.Err == nil {
			s.Err = r.store.KeepFiles(s.content, s.snapshot)
		}
		if s.Err != nil {
			return nil
		}
	}
	s.Err = r.keep(s, result)
	return s.Err
}

// same returns a known result with the same key. From another student's grading it takes
// the result only: the names of the folder and of the files left out belong to that
// student.
func (r *runner) same(s *step) *verdict.Result {
	if held := s.attempt.Held; held != nil && held.Key == s.key { // only its time is new
		return held.Result
	}
	record, ok := r.store.ByKey(s.key)
	if !ok {
		return nil
	}
	result := *record.Result
	result.Submission.Dir, result.Submission.Ignored = s.snapshot.Dir, s.snapshot.Ignored
	return &result
}

// grade grades a submission; an attempt that was graded before gets the inputs it had then.
func (r *runner) grade(ctx context.Context, s *step) (result *verdict.Result, err error) {
	end := r.progress.begin(s.Student, s.Exercise)
	defer func() { end(err) }()
	if s.attempt.Held == nil {
		return r.options.Grade(ctx, s.snapshot, s.exercise, "")
	}
	return gradeAgain(ctx, r.options.Grade, s.snapshot, s.exercise, s.attempt.Held.Result)
}

// keep stores the record of an attempt that is new, was graded anew, or has a new time.
func (r *runner) keep(s *step, result *verdict.Result) error {
	record := results.Record{
		Key: s.key, Student: s.Student, Exercise: s.Exercise, Attempt: s.attempt.Number,
		Submitted: s.attempt.Submitted, Source: s.attempt.Source, Listed: s.attempt.Listed, ListedIn: s.attempt.ListedIn,
		Content: s.content, Path: s.Path, Folder: s.Folder, Recorded: r.options.Now().UTC(),
		Limits: results.LimitsOf(s.exercise.Limits), Result: result,
	}
	if err := r.store.Append(record); err != nil {
		return err
	}
	record.Schema = results.RecordSchema
	s.Record = &record
	if held := s.attempt.Held; held != nil && held.Key != s.key {
		s.Before = held
	}
	return nil
}
