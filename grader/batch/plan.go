package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/results"
	"grade/grader/submission"
)

// planner decides what a run has to do with each submission, before anything is graded: it
// reads it, finds its exercise, numbers it, and looks for a known result.
type planner struct {
	options Options
	store   results.Store
	held    sync.Map // while submissions are read: the students' work at an exercise of which there is some
	files   sync.Map // while submissions are read: the files of each content, held once
}

// step is one submission on its way through a run. A step whose item has a record or an
// error is done; the others have to be graded.
type step struct {
	Item
	snapshot *submission.Snapshot // nil: it could not be read, or is not needed any more
	exercise *course.Exercise
	key      string
	attempt  results.Attempt
}

// String returns the step's line of a printed plan.
func (s *step) String() string {
	what := "grade"
	switch {
	case s.Err != nil:
		what = "no verdict: " + s.Err.Error()
	case s.Record != nil:
		return fmt.Sprintf("%s %s: attempt %d is known", s.Student, s.Exercise, s.Record.Attempt)
	case s.attempt.Held != nil && s.attempt.Held.Key == s.key:
		what = fmt.Sprintf("keep the time of attempt %d", s.attempt.Number)
	case s.attempt.Held != nil:
		what = fmt.Sprintf("grade attempt %d anew", s.attempt.Number)
	case s.attempt.Number > 0:
		what = fmt.Sprintf("grade attempt %d", s.attempt.Number)
	}
	return fmt.Sprintf("%s %s: %s", s.Student, s.Exercise, what)
}

func (s *step) planned() bool { return s.Record != nil || s.Err != nil }

// stop ends a step if there is a cause: with the record that it holds if nothing has
// changed since, and else with the cause as its error. It reports whether the step has
// ended.
func (s *step) stop(cause error) bool {
	if cause == nil {
		return false
	}
	if held := s.attempt.Held; held != nil && held.Key == s.key {
		s.Record, s.Cached = held, true
	} else {
		s.Err = cause
	}
	return true
}

// read reads several submissions at a time, and makes a step of each student's work at an
// exercise.
func (p *planner) read(ctx context.Context, list []intake.Submission) []*step {
	steps := make([]*step, len(list))
	for i, s := range list {
		steps[i] = &step{Item: Item{Submission: nameable(s)}}
	}
	ctx, release := afterwards(ctx)
	defer release()
	p.each(steps, func(s *step) { p.readOne(ctx, s) })
	defer p.files.Clear()
	p.held.Clear() // one of several is read again, to be refused
	return p.dedupe(ctx, steps)
}

// each calls do for every step, for several at a time.
func (p *planner) each(steps []*step, do func(*step)) {
	var group errgroup.Group
	group.SetLimit(max(1, p.options.Workers))
	for _, s := range steps {
		group.Go(func() error {
			do(s)
			return nil
		})
	}
	_ = group.Wait() // no step returns an error
}

// readOne takes the snapshot of a submission, and finds its exercise.
func (p *planner) readOne(ctx context.Context, s *step) {
	s.content = ""
	if s.Err = context.Cause(ctx); s.Err != nil {
		return
	}
	if s.snapshot, s.Err = s.Item.read(ctx); s.Err != nil {
		return
	}
	if s.exercise, s.Err = intake.ExerciseOf(s.Exercise, s.snapshot, p.options.Exercises); s.Err != nil {
		s.Err = nameless(s.Err)
		return
	}
	s.Exercise, s.content = s.exercise.Name, results.Content(s.snapshot)
	if s.twice(p) {
		s.snapshot.Files = nil // of several places none is graded, and a student may make thousands
		return
	}
	if files, ok := p.files.LoadOrStore(s.content, s.snapshot.Files); ok {
		s.snapshot.Files = files.([]submission.File)
	}
}

// twice reports whether other files of a student's at this exercise were read before.
func (s *step) twice(p *planner) bool {
	if s.empty() {
		return false
	}
	_, twice := p.held.LoadOrStore(s.PendingID(), true)
	return twice
}

// nameless returns the error of a submission of an unknown exercise: its student can mend
// that, whatever else is wrong with it.
func nameless(err error) error {
	const advice = "name the folder after an exercise, or mend the package clause"
	said := "cannot tell the exercise: " + err.Error()
	return &fault.Error{Message: said + "; " + advice, Told: said + "; " + advice}
}

var errBegun = errors.New("a run has begun with it, and did not end")

// begin stores unknown submissions as pending: if this process is killed, they are not
// lost.
func (p *planner) begin(ctx context.Context, steps []*step) error {
	pending := map[results.PendingID]bool{}
	for _, w := range p.store.Pending() {
		pending[w.ID()] = true
	}
	var unknown []Item
	ctx, release := afterwards(ctx)
	defer release()
	for _, s := range steps {
		i := Item{Submission: s.Submission, Err: errBegun, content: s.content}
		if _, graded := p.store.Last(i.Student, i.Exercise); !graded && !pending[i.PendingID()] {
			i.identify(ctx)
			unknown = append(unknown, i)
		}
	}
	return KeepPending(p.store, unknown, p.options.Now())
}

// enter plans each submission that could be read.
func (p *planner) enter(ctx context.Context, steps []*step) {
	p.each(steps, func(s *step) {
		if !s.planned() {
			p.enterOne(ctx, s)
		}
		if s.planned() {
			s.snapshot = nil
		}
	})
}

// enterOne numbers a submission, unless it repeats the last attempt and its grading.
func (p *planner) enterOne(ctx context.Context, s *step) {
	s.key = results.Key(s.content, s.exercise, p.options.Grader)
	last, ok := p.store.Last(s.Student, s.Exercise)
	same := ok && last.Key == s.key
	stopped := context.Cause(ctx)
	if same && (!last.Submitted.IsZero() && !p.listsEarlier(last) || stopped != nil) {
		s.Record, s.Cached = &last, true
		return
	}
	if s.Err = stopped; s.Err != nil {
		return
	}
	if s.Err = s.date(ctx); s.Err != nil && !p.dated(s, last.Attempt) {
		return
	}
	entry := results.Entry{Student: s.Student, Exercise: s.Exercise, Content: s.content, Submitted: s.At, Source: s.Source}
	entry.Listed, entry.ListedIn = p.listed(s.Student, s.Exercise, 0)
	if s.attempt, s.Err = p.store.Enter(entry); s.Err != nil {
		return
	}
	if at, name := p.listed(s.Student, s.Exercise, s.attempt.Number); results.Earlier(at, s.attempt.Listed) {
		s.attempt.Listed, s.attempt.ListedIn = at, name
	}
	held := s.attempt.Held
	if held != nil && held.Key == s.key && held.Submitted.Equal(s.attempt.Submitted) && held.Listed.Equal(s.attempt.Listed) { // a run that is repeated
		s.Record, s.Cached = held, true
	}
}

// listed returns what the table of times has of an attempt.
func (p *planner) listed(student, exercise string, attempt int) (time.Time, string) {
	if p.options.Listed == nil {
		return time.Time{}, ""
	}
	at, name := p.options.Listed(student, exercise, attempt)
	return at.UTC(), name
}

// dated takes the time of a step as unknown if the caller's repository cannot tell it and the
// table of times has the attempt, which comes after the last one, or is it.
func (p *planner) dated(s *step, last int) bool {
	if fault.KindOf(s.Err) != fault.Caller {
		return false
	}
	for _, attempt := range []int{0, last, last + 1} {
		if at, _ := p.listed(s.Student, s.Exercise, attempt); !at.IsZero() {
			s.Err = nil
			return true
		}
	}
	return false
}

// listsEarlier reports whether the table of times may have an earlier time for an attempt
// than its record.
func (p *planner) listsEarlier(r results.Record) bool {
	for _, attempt := range []int{0, r.Attempt} {
		if at, _ := p.listed(r.Student, r.Exercise, attempt); results.Earlier(at, r.Listed) {
			return true
		}
	}
	return false
}

// dateTimeout bounds the search for the time of a submission.
const dateTimeout = time.Minute

// date sets the time of a submission. An interrupt does not stop it, because an unknown
// time would be stored.
func (s *step) date(ctx context.Context) (err error) {
	if s.At.IsZero() && s.Submitted != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dateTimeout)
		defer cancel()
		s.At, s.Source, err = s.Submitted(ctx)
	}
	if s.At = s.At.UTC(); s.At.IsZero() || s.At.Year() < 1 || s.At.Year() > 9999 { // JSON has no such year: take it as unknown
		s.At, s.Source = time.Time{}, ""
	}
	return err
}

// end withdraws the numbers of attempts without a verdict, and stores which submissions
// have none. Err is why the run stopped early.
func (p *planner) end(ctx context.Context, steps []*step, err error) (items []Item, lost error) {
	reading, release := afterwards(ctx)
	defer release()
	for _, s := range steps {
		if s.Record == nil {
			if s.Err == nil { // the run has ended before it
				s.Err = err
			}
			s.identify(reading)
			lost = errors.Join(lost, p.store.Withdraw(s.attempt))
		}
		items = append(items, s.Item)
	}
	return items, errors.Join(lost, KeepPending(p.store, items, p.options.Now()))
}
