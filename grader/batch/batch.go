// Package batch grades many submissions: it finds them, grades some at a time and
// keeps every result in a file that only grows, by the key of all that went into it,
// so that what has not changed is not graded again. It knows neither sandboxes nor
// what a report looks like.
//
// A caller finds submissions with [Find], opens a [Ledger], and calls [Run].
package batch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"grade/exercises"
	"grade/grader"
	"grade/grader/vet"
)

// GradeFunc grades what was read of a submission.
type GradeFunc func(ctx context.Context, s *grader.Snapshot, e *exercises.Exercise) (*grader.Result, error)

// Options say how a batch is graded.
type Options struct {
	Exercises []*exercises.Exercise
	Grade     GradeFunc
	Grader    string // of what else a result depends on: program, toolchain, image
	Workers   int    // gradings at a time
	Now       func() time.Time
	// OnEvent hears of every submission that is through. Calls do not overlap.
	OnEvent func(Event)
}

// Event is news of a batch.
type Event struct {
	Student, Exercise string
	Done, Total       int
}

// Fate is what became of one submission. Record is nil where there is no verdict;
// Err says why.
type Fate struct {
	Submission
	Record *Record
	Cached bool
	Err    error
}

// Run grades submissions, in their order, and returns what became of each. It goes on
// after one that could not be graded. An error is one of the ledger's: results can no
// longer be kept; or the context has ended, and the fates of the rest say so.
func Run(ctx context.Context, l *Ledger, list []Submission, o Options) ([]Fate, error) {
	r := &running{options: o, ledger: l, fates: make([]Fate, len(list))}
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Workers))
	for i, s := range list {
		r.fates[i].Submission = s
		group.Go(func() error {
			if err := r.one(gctx, &r.fates[i]); err != nil {
				return err
			}
			r.tell(r.fates[i], len(list))
			return nil
		})
	}
	err := group.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return r.fates, err
}

type running struct {
	options Options
	mu      sync.Mutex // guards what follows
	ledger  *Ledger
	fates   []Fate
	done    int
}

// one grades a submission, unless its like has been graded before.
func (r *running) one(ctx context.Context, f *Fate) error {
	snapshot, e, err := r.read(f)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		f.Err = err
		return nil
	}
	f.Exercise = e.Name
	key := keyOf(snapshot, e, r.options.Grader)
	if known, err := r.known(key, f); known || err != nil {
		return err
	}
	result, err := r.options.Grade(ctx, snapshot, e)
	if err != nil {
		f.Err = err
		return nil
	}
	return r.keep(f, Record{Key: key, Limits: limitsOf(e.Limits), Result: result})
}

// read takes the snapshot of a submission, and tells its exercise. A folder without
// a Go file is a submission with nothing in it.
func (r *running) read(f *Fate) (*grader.Snapshot, *exercises.Exercise, error) {
	s, err := grader.TakeSnapshot(f.Path)
	if empty := (*grader.UsageError)(nil); errors.As(err, &empty) && empty.Err == nil && f.Exercise != "" {
		s, err = grader.SnapshotOf(f.Path, nil), nil
		s.Problems = []vet.Problem{{Rule: "no-files", Message: "there is no Go file here; submit the solution's"}}
	}
	if err != nil {
		return nil, nil, err
	}
	e, err := r.exerciseOf(f.Exercise, s.Package)
	return s, e, err
}

// exerciseOf is the exercise of that name, or without one the exercise that alone has
// the package.
func (r *running) exerciseOf(name, pkg string) (found *exercises.Exercise, err error) {
	for _, e := range r.options.Exercises {
		switch {
		case name != "" && e.Name == name:
			return e, nil
		case name != "" || e.Package != pkg:
		case found != nil:
			return nil, fmt.Errorf("cannot tell the exercise: %s and %s have the package %q; name the folder after one", found.Name, e.Name, pkg)
		default:
			found = e
		}
	}
	if found == nil {
		return nil, fmt.Errorf("cannot tell the exercise: neither the folder's name nor the package %q is one's", pkg)
	}
	return found, nil
}

// keyOf is a SHA-256 over all that a result depends on, but for its draw of inputs.
func keyOf(s *grader.Snapshot, e *exercises.Exercise, by string) string {
	// Strings in JSON cannot run into each other.
	data, err := json.Marshal(map[string]any{"submission": s.Hash, "problems": s.Problems, "exercise": e.Hash, "grader": by})
	if err != nil {
		panic(err) // strings alone
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// known takes a result that is kept already, also of another student's submission
// that was the same; then it is kept once more, in the name of this one.
func (r *running) known(key string, f *Fate) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, ok := r.ledger.Last(f.Student, f.Exercise); ok && last.Key == key {
		f.Record, f.Cached = &last, true
		return true, nil
	}
	same, ok := r.ledger.ByKey(key)
	if !ok {
		return false, nil
	}
	f.Cached = true
	return true, r.append(f, same)
}

func (r *running) keep(f *Fate, record Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.append(f, record)
}

// append keeps a record in the name of a submission.
func (r *running) append(f *Fate, record Record) error {
	record.Student, record.Exercise, record.Path, record.Recorded = f.Student, f.Exercise, f.Path, r.options.Now().UTC()
	if err := r.ledger.Append(record); err != nil {
		return err
	}
	f.Record = &record
	return nil
}

func (r *running) tell(f Fate, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done++
	if r.options.OnEvent != nil {
		r.options.OnEvent(Event{Student: f.Student, Exercise: f.Exercise, Done: r.done, Total: total})
	}
}

// Count sums up fates.
func Count(fates []Fate) (graded, cached, without int) {
	for _, f := range fates {
		switch {
		case f.Record == nil:
			without++
		case f.Cached:
			cached++
		default:
			graded++
		}
	}
	return graded, cached, without
}
