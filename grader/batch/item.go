package batch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/results"
	"grade/grader/submission"
)

// Item is the outcome of one submission in a run.
type Item struct {
	intake.Submission
	Record *results.Record // nil: there is no verdict, and Err says why
	Before *results.Record // what the same attempt had before, if it was graded anew
	Cached bool
	Err    error

	content string // see [results.Content]; empty: it could not be read
}

// Count counts the items that were graded, found in the store, and left without a verdict.
func Count(items []Item) (graded, cached, without int) {
	for _, i := range items {
		switch {
		case i.Record == nil:
			without++
		case i.Cached:
			cached++
		default:
			graded++
		}
	}
	return graded, cached, without
}

// Ours counts the items without a verdict that the student cannot mend: these are a reason
// to run again, the others are not.
func Ours(items []Item) (n int) {
	for _, i := range items {
		if i.Record == nil && fault.KindOf(i.Err) != fault.Student {
			n++
		}
	}
	return n
}

// Ungraded returns items without a verdict for all submissions, if grading could not begin.
// Their exercises are among all; nil: these could not be read.
func Ungraded(ctx context.Context, list []intake.Submission, all []*course.Exercise, why error) (items []Item) {
	ctx, release := afterwards(ctx)
	defer release()
	for _, s := range list {
		i := Item{Submission: s, Err: why}
		i.find(ctx, all)
		i.identify(ctx)
		items = append(items, i)
	}
	return items
}

// KeepPending stores which of the items are pending, and removes the others from the
// pending ones.
func KeepPending(store results.Store, items []Item, now time.Time) error {
	var outcomes []results.Outcome
	for _, i := range items {
		outcomes = append(outcomes, i.outcome(now))
	}
	return store.UpdatePending(outcomes)
}

// Strays returns the items of which no exercise is known, for a reason that their students
// can mend.
func Strays(items []Item, now time.Time) (list []results.Pending) {
	for _, i := range items {
		if i.Exercise == "" && fault.KindOf(i.Err) == fault.Student {
			list = append(list, i.Pending(now))
		}
	}
	return list
}

// Seen returns a function that reports whether a run has seen what there is of a student. An
// item that it could not read, as when it was stopped, tells nothing.
func Seen(items []Item) func(student string) bool {
	seen := map[string]bool{}
	for _, i := range items {
		if i.Exercise != "" || fault.KindOf(i.Err) == fault.Student {
			seen[i.Student] = true
		}
	}
	return func(student string) bool { return seen[student] }
}

// PendingID returns the identity that the item has, or would have, as a pending submission.
func (i Item) PendingID() results.PendingID { return i.outcome(time.Time{}).ID() }

// Pending returns the record of a submission without a verdict.
func (i Item) Pending(now time.Time) results.Pending { return i.outcome(now).Pending }

func (i Item) outcome(now time.Time) results.Outcome {
	o := results.Outcome{Graded: i.Record != nil, LiesThere: i.Submitted != nil}
	o.Pending = results.Pending{
		Schema: results.PendingSchema, Student: i.Student, Exercise: i.Exercise, Content: i.content, Path: i.Path, Folder: i.Folder,
		Submitted: i.At, Source: i.Source, Recorded: now.UTC(),
	}
	if i.Err != nil {
		o.Why = i.Err.Error()
	}
	o.PublicReason = fault.Told(i.Err)
	return o
}

// interruptGrace is how long an interrupted run may go on to read submissions.
const interruptGrace = 300 * time.Millisecond

// afterwards returns a context that ends [interruptGrace] after ctx.
func afterwards(ctx context.Context) (longer context.Context, release func()) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(interruptGrace, func() { cancel(context.Cause(ctx)) })
	})
	return longer, func() {
		stop()
		cancel(nil)
	}
}

// find sets the exercise of a submission that its package alone tells: without one it is in no
// column of a gradebook, as if it was never handed in.
func (i *Item) find(ctx context.Context, all []*course.Exercise) {
	if i.Exercise != "" || len(all) == 0 || ctx.Err() != nil {
		return
	}
	s, err := i.read(ctx)
	if err != nil {
		return
	}
	if e, err := intake.ExerciseOf("", s, all); err == nil {
		i.Exercise, i.content = e.Name, results.Content(s)
	}
}

// identify sets the content of a submission that can be read: the content identifies it
// later.
func (i *Item) identify(ctx context.Context) {
	if i.content != "" || i.Exercise == "" || ctx.Err() != nil {
		return
	}
	if s, err := i.read(ctx); err == nil {
		i.content = results.Content(s)
	}
}

// read takes the snapshot of a submission. A folder without a Go file is an empty
// submission.
func (i Item) read(ctx context.Context) (*submission.Snapshot, error) {
	take := i.Read
	if take == nil {
		take = func(context.Context) (*submission.Snapshot, error) { return takeBelow(i.Submission) }
	}
	s, err := take(ctx)
	if empty := (*fault.Error)(nil); errors.As(err, &empty) && empty.Told != "" && empty.Err == nil && i.Exercise != "" {
		return submission.Refused(i.Path, "", gradebook.RuleNoFiles, "there is no Go file here; submit the solution's"), nil
	}
	if err != nil && i.Read == nil {
		err = changed(i.Path, err)
	}
	return s, err
}

// takeFound takes the snapshot of what stands at a submission's path. What was found as an archive
// is taken as one, or not at all.
func takeFound(found intake.Submission) (*submission.Snapshot, error) {
	if found.Archive {
		return submission.TakeArchive(found.Path)
	}
	return submission.Take(found.Path)
}

// movedAway are the errors of what another has moved, replaced or reserved in the meantime.
var movedAway = []error{submission.ErrNoArchive, fs.ErrNotExist, syscall.ELOOP, syscall.ENOTDIR, syscall.ENXIO, syscall.EAGAIN}

// gone reports whether a path leads to nothing that can be a submission.
func gone(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() && !submission.IsArchive(path)
}

// changed returns the error of reading what was found at a path, which may be gone or
// something else by now.
func changed(path string, err error) error {
	moved := slices.ContainsFunc(movedAway, func(why error) bool { return errors.Is(err, why) })
	if !moved && !gone(path) {
		return err
	}
	const told = "the submission was moved away while it was read; hand it in again"
	return &fault.Error{Message: "read the submission", Advice: "leave the folder as it is while it is graded", Err: err, Told: told}
}
