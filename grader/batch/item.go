package batch

import (
	"context"
	"errors"
	"time"

	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Item is what became of one submission.
type Item struct {
	intake.Submission
	Record *results.Record // nil: there is no verdict, and Err says why
	Before *results.Record // what the same attempt had before, if it was graded anew
	Cached bool
	Err    error

	content string // see [results.Content]; empty: it could not be read
}

// Count sums up items.
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

// Ungraded are the items of submissions where nothing could be graded.
func Ungraded(ctx context.Context, list []intake.Submission, why error) (items []Item) {
	for _, s := range list {
		i := Item{Submission: s, Err: why}
		i.identify(ctx)
		items = append(items, i)
	}
	return items
}

// KeepPending keeps which of the items have no verdict, and that others have one now.
func KeepPending(store results.Store, items []Item, now time.Time) error {
	var outcomes []results.Outcome
	for _, i := range items {
		outcomes = append(outcomes, i.outcome(now))
	}
	return store.UpdatePending(outcomes)
}

// PendingID says which pending submission it is, if it is one.
func (i Item) PendingID() results.PendingID { return i.outcome(time.Time{}).ID() }

// Pending is what to keep of a submission that has no verdict.
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

// identify finds out what was handed in, if it can be read: by its content a submission is
// known again. An interrupt does not stop it.
func (i *Item) identify(ctx context.Context) {
	if i.content != "" || i.Exercise == "" {
		return
	}
	if s, err := i.read(context.WithoutCancel(ctx)); err == nil {
		i.content = results.Content(s)
	}
}

// read takes the snapshot of a submission. A folder without a Go file is a submission with
// nothing in it.
func (i Item) read(ctx context.Context) (*submission.Snapshot, error) {
	take := i.Read
	if take == nil {
		take = func(context.Context) (*submission.Snapshot, error) { return submission.Take(i.Path) }
	}
	s, err := take(ctx)
	if empty := (*fault.Error)(nil); errors.As(err, &empty) && empty.Told != "" && empty.Err == nil && i.Exercise != "" {
		s, err = submission.Of(i.Path, nil), nil
		s.Problems = []verdict.Problem{{Rule: "no-files", Message: "there is no Go file here; submit the solution's"}}
	}
	return s, err
}
