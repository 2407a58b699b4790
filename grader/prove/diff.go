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

// Difference is the effect of a changed exercise on stored submissions.
type Difference struct {
	Exercise    string    `json:"exercise"`
	OldHash     string    `json:"old_hash"` // course.Exercise.Hash
	NewHash     string    `json:"new_hash"`
	Submissions int       `json:"submissions"` // graded under both
	Unchanged   int       `json:"unchanged"`
	Changes     []*Change `json:"changes"`  // the greatest loss first
	Ungraded    []Left    `json:"ungraded"` // folders without a submission
	Failed      []Left    `json:"failed"`   // not graded for a fault of grade or the exercise
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

// NewDifference returns the difference of two versions of an exercise before any
// submission is graded.
func NewDifference(before, after *course.Exercise) *Difference {
	return &Difference{
		Exercise: after.Name, OldHash: before.Hash, NewHash: after.Hash,
		Changes: []*Change{}, Ungraded: []Left{}, Failed: []Left{},
	}
}

// Diff grades submissions under two versions of an exercise, each with the same seed
// under both. It goes on with the others if one cannot be graded.
func Diff(ctx context.Context, g *grader.Grader, before, after *course.Exercise, list []Stored, o DiffOptions) (*Difference, error) {
	d := &diffing{grader: g, before: before, after: after, options: o, total: len(list), difference: NewDifference(before, after)}
	workers := max(1, o.Workers)
	if d.measures() {
		workers = 1 // a second grading would keep the machine busy and change the ratios
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

// measures reports whether the gradings will measure anything.
func (d *diffing) measures() bool {
	return slices.ContainsFunc(slices.Concat(d.before.Checks, d.after.Checks), func(c course.Check) bool {
		return c.Kind.Measured() && (len(d.options.Only) == 0 || slices.Contains(d.options.Only, c.Kind))
	})
}

// one grades a submission under both versions. It records a fault of grade or of the
// exercise and goes on; an error is a usage error or the end of ctx.
func (d *diffing) one(ctx context.Context, s Stored) error {
	snapshot, err := s.Take()
	var theirs *fault.Error
	if errors.As(err, &theirs) {
		d.add(func(r *Difference) { r.Ungraded = append(r.Ungraded, Left{s.Name, err.Error()}) })
		return nil
	}
	var change *Change
	if err == nil {
		change, err = d.compare(ctx, s, snapshot)
	}
	// Near a limit a ratio falls on either side, so that a single difference is chance.
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

// add records the outcome of a submission.
func (d *diffing) add(to func(*Difference)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	to(d.difference)
	d.done++
	if d.options.Progress != nil {
		d.options.Progress("grading twice", int64(d.done), int64(d.total))
	}
}
