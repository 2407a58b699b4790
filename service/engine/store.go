package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"grade/grader/results"
	"grade/grader/submission"
	"grade/service"
)

// Store keeps results in the engine: the [results.Store] of a service. It holds what was
// handed in to the engine as well as what a batch enters.
type Store struct {
	e        *Engine
	drafting sync.Mutex
}

var _ results.Store = (*Store)(nil)

// Store returns the store of the course's results.
func (e *Engine) Store() *Store { return e.store }

// Last returns the record that holds for a student's last attempt at an exercise.
func (s *Store) Last(student, exercise string) (results.Record, bool) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	return s.e.state.index.Last(student, exercise)
}

// ByKey returns the newest record of a key.
func (s *Store) ByKey(key string) (results.Record, bool) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	return s.e.state.index.ByKey(key)
}

// Attempts returns the records that hold, in the order in which the attempts were first
// kept.
func (s *Store) Attempts() []results.Record {
	s.e.mu.Lock()
	all := s.e.state.index.All() // it only grows
	s.e.mu.Unlock()
	return results.Holding(all)
}

// Pending lists the submissions without a verdict: what a batch has left, and of what was
// handed in the last attempts that wait, are being graded, or could not be graded.
func (s *Store) Pending() []results.Pending {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	var list []results.Pending
	for id := range s.e.state.cells {
		if p := s.e.state.pendingOf(id); p != nil {
			list = append(list, *p)
		}
	}
	slices.SortFunc(list, func(a, b results.Pending) int {
		return cmp.Or(strings.Compare(a.Student, b.Student), strings.Compare(a.Exercise, b.Exercise))
	})
	return list
}

// PendingOf returns what [Store.Pending] lists of a student at an exercise; false: nothing.
func (e *Engine) PendingOf(student, exercise string) (results.Pending, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.state.pendingOf(cellID{student, exercise})
	if p == nil {
		return results.Pending{}, false
	}
	return *p, true
}

// pendingOf returns what is pending of a cell; nil: nothing.
func (s *state) pendingOf(id cellID) *results.Pending {
	last, _ := s.index.Last(id.student, id.exercise)
	if p, ok := s.kept[results.PendingID{Student: id.student, Exercise: id.exercise}]; ok && p.Content != last.Content {
		return &p
	}
	c := s.cells[id]
	if c == nil || len(c.handed) == 0 {
		return nil
	}
	h := c.handed[len(c.handed)-1]
	p := results.Pending{
		Schema: results.PendingSchema, Student: id.student, Exercise: id.exercise, Content: h.Content, Path: h.Dir,
		Submitted: h.Submitted, Source: h.Source, Recorded: h.Submitted,
	}
	switch s.stageOf(c, h) {
	case service.Waiting:
		p.Why = "it waits for a worker"
	case service.Grading:
		p.Why = "a worker grades it"
	case service.NoVerdict:
		p.Recorded, p.Why, p.PublicReason = h.failure.At, h.failure.Why, h.failure.Told
	default:
		return nil
	}
	return &p
}

// Enter numbers a submission when it comes in. The number is in memory alone: what lasts is
// what [Engine.HandIn] has numbered.
func (s *Store) Enter(entry results.Entry) (results.Attempt, error) {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	c := s.e.state.cell(cellID{entry.Student, entry.Exercise})
	a := results.Number(s.e.state.index.History(entry.Student, entry.Exercise), s.e.state.enteredOf(c), s.e.state.pendingOf(c.id), entry)
	if a.Held == nil {
		c.entered = append(c.entered, a)
	}
	return a, nil
}

// Withdraw gives back the number of an attempt that came to no verdict, when every caller
// that entered it has withdrawn it.
func (s *Store) Withdraw(a results.Attempt) error {
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	c := s.e.state.cell(cellID{a.Student, a.Exercise})
	if i := slices.IndexFunc(c.entered, func(b results.Attempt) bool { return b.Number == a.Number }); i >= 0 {
		c.entered = slices.Delete(c.entered, i, i+1)
	}
	return nil
}

// Append keeps a record for good. It is refused if another writer has kept one of the same
// attempt since this engine has looked.
func (s *Store) Append(r results.Record) error {
	id := cellID{r.Student, r.Exercise}
	s.e.mu.Lock()
	expected := s.e.state.cell(id).results[r.Attempt]
	s.e.mu.Unlock()
	r.Schema = results.RecordSchema
	_, err := s.e.keep(context.Background(), s.e.names.numbered(kindResult, id, r.Attempt), r, &expected)
	if err != nil {
		return fmt.Errorf("keep a result: %w", err)
	}
	return nil
}

// UpdatePending stores which submissions have no verdict.
func (s *Store) UpdatePending(outcomes []results.Outcome) error {
	for _, o := range outcomes {
		if err := s.updatePending(o); err != nil {
			return fmt.Errorf("keep what has no verdict: %w", err)
		}
	}
	return nil
}

func (s *Store) updatePending(o results.Outcome) error {
	id := cellID{o.Student, o.Exercise}
	s.e.mu.Lock()
	var was *results.Pending
	if p, ok := s.e.state.kept[o.ID()]; ok {
		was = &p
	}
	last, _ := s.e.state.index.Last(o.Student, o.Exercise)
	s.e.mu.Unlock()
	is := results.NextPending(was, last.Content, o)
	subject := s.e.names.cell(kindPending, id)
	switch {
	case is == was:
		return nil
	case is == nil:
		seq, err := publish(context.Background(), s.e.js, subject, nil, nil)
		if err != nil {
			return err
		}
		return s.e.await(context.Background(), seq)
	}
	_, err := s.e.keep(context.Background(), subject, is, nil)
	return err
}

// KeepFiles stores the files of a submission by its content.
func (s *Store) KeepFiles(content string, snapshot *submission.Snapshot) error {
	if len(snapshot.Problems) > 0 {
		return nil
	}
	err := s.e.submissions.put(context.Background(), content, func() ([]byte, error) { return packed(snapshot) })
	if err != nil {
		return fmt.Errorf("keep a submission: %w", err)
	}
	return nil
}

// Files returns the files of a record's submission, under the name that it had.
func (s *Store) Files(r results.Record) (*submission.Snapshot, error) {
	if r.Content != r.Result.Submission.Hash && r.Result.Submission.Hash != "" { // it was refused when it was read, and would be again
		return nil, fmt.Errorf("the files of this submission were not kept: %w", fs.ErrNotExist)
	}
	data, err := s.e.submissions.get(context.Background(), r.Content)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the files of this submission were not kept: %w", fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	snapshot, err := unpacked(data, handIn{Dir: r.Result.Submission.Dir, Content: r.Content})
	if err == nil {
		snapshot.Ignored = r.Result.Submission.Ignored
	}
	return snapshot, err
}
