package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/fault"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Difference is what a changed exercise does to submissions that were stored.
type Difference struct {
	Exercise    string    `json:"exercise"`
	OldHash     string    `json:"old_hash"` // over all that influences a grade
	NewHash     string    `json:"new_hash"`
	Submissions int       `json:"submissions"` // graded under both
	Unchanged   int       `json:"unchanged"`
	Changes     []*Change `json:"changes"`  // what loses most comes first
	Ungraded    []Left    `json:"ungraded"` // no submissions at all
	Failed      []Left    `json:"failed"`   // that we could not grade
}

// Left is a folder without a result.
type Left struct {
	Submission string `json:"submission"`
	Reason     string `json:"reason"`
}

// DiffOptions say how submissions are graded under both versions.
type DiffOptions struct {
	Seed     string         // empty: a fresh one for each submission
	Only     []verdict.Kind // empty: all
	Workers  int            // gradings at a time, where nothing is measured
	Progress Progress       // of submissions
}

// NewDifference is that of two versions of an exercise before anything is graded.
func NewDifference(before, after *course.Exercise) *Difference {
	return &Difference{
		Exercise: after.Name, OldHash: before.Hash, NewHash: after.Hash,
		Changes: []*Change{}, Ungraded: []Left{}, Failed: []Left{},
	}
}

// Diff grades submissions under two versions of an exercise, each with the same
// inputs under both. One that cannot be graded keeps no other from it.
func Diff(ctx context.Context, g *grader.Grader, before, after *course.Exercise, list []Stored, o DiffOptions) (*Difference, error) {
	d := &diffing{grader: g, before: before, after: after, options: o, total: len(list), difference: NewDifference(before, after)}
	workers := max(1, o.Workers)
	if d.measures() {
		workers = 1 // beside other work of ours, ratios would be those of a busy machine
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for _, one := range list {
		group.Go(func() error { return d.one(ctx, one) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	d.difference.sort()
	return d.difference, nil
}

func (d *Difference) sort() {
	gain := func(c *Change) int { return c.New.Score - c.Old.Score }
	slices.SortFunc(d.Changes, func(a, b *Change) int {
		return cmp.Or(gain(a)-gain(b), strings.Compare(a.Submission, b.Submission))
	})
	for _, list := range [][]Left{d.Ungraded, d.Failed} {
		slices.SortFunc(list, func(a, b Left) int { return strings.Compare(a.Submission, b.Submission) })
	}
}

type diffing struct {
	grader        *grader.Grader
	before, after *course.Exercise
	options       DiffOptions
	total         int

	mu         sync.Mutex
	difference *Difference
	done       int
}

// measures reports whether anything is going to be measured.
func (d *diffing) measures() bool {
	return slices.ContainsFunc(slices.Concat(d.before.Checks, d.after.Checks), func(c course.Check) bool {
		return c.Kind != verdict.Correctness && (len(d.options.Only) == 0 || slices.Contains(d.options.Only, c.Kind))
	})
}

// one grades a submission under both versions. A fault that is not the submission's
// keeps no other from being graded; an error is a usage error, or the end of ctx.
func (d *diffing) one(ctx context.Context, s Stored) error {
	snapshot, err := s.Take()
	var theirs *fault.UsageError
	if errors.As(err, &theirs) {
		d.add(func(r *Difference) { r.Ungraded = append(r.Ungraded, Left{s.Name, err.Error()}) })
		return nil
	}
	var change *Change
	if err == nil {
		change, err = d.compare(ctx, s, snapshot)
	}
	// What is measured near a limit falls on either side: once is chance.
	if err == nil && change != nil && change.measured() {
		var again *Change
		if again, err = d.compare(ctx, s, snapshot); err == nil {
			change = change.confirmed(again)
		}
	}
	if errors.As(err, &theirs) || ctx.Err() != nil {
		return err
	}
	d.add(func(r *Difference) {
		switch {
		case err != nil:
			r.Failed = append(r.Failed, Left{s.Name, err.Error()})
			return
		case change == nil:
			r.Unchanged++
		default:
			r.Changes = append(r.Changes, change)
		}
		r.Submissions++
	})
	return nil
}

func (d *diffing) compare(ctx context.Context, s Stored, snapshot *submission.Snapshot) (*Change, error) {
	o := grader.Options{Seed: d.options.Seed, Only: d.options.Only}
	before, err := d.grader.Grade(ctx, snapshot, d.before, o)
	if err != nil {
		return nil, fmt.Errorf("under the old exercise: %w", err)
	}
	o.Seed = before.Seed
	after, err := d.grader.Grade(ctx, snapshot, d.after, o)
	if err != nil {
		return nil, fmt.Errorf("under the new exercise: %w", err)
	}
	return Compare(s.Name, before, after), nil
}

// add takes down what came of a submission.
func (d *diffing) add(to func(*Difference)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	to(d.difference)
	d.done++
	if d.options.Progress != nil {
		d.options.Progress("grading twice", int64(d.done), int64(d.total))
	}
}
