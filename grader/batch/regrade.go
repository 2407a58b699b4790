package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Regraded is the outcome of one attempt that a regrade was about.
type Regraded struct {
	Old results.Record
	New *results.Record // nil: there is nothing new, or Err says why not
	Err error
}

// Regrader grades kept results anew, and keeps the new ones as drafts beside those that
// hold.
type Regrader struct {
	store  results.Store
	drafts results.Drafts
}

// NewRegrader opens the drafts of a store, including those of an earlier regrade that were
// not applied. The caller closes it.
func NewRegrader(store results.Store) (*Regrader, error) {
	drafts, err := store.Drafts()
	if err != nil {
		return nil, err
	}
	return &Regrader{store, drafts}, nil
}

// Close lets another process regrade.
func (r *Regrader) Close() error { return r.drafts.Close() }

// Run grades anew all attempts whose exercise, grader, toolchain or image has changed, with
// the inputs that they were graded with. It returns the outcomes of those attempts alone,
// and changes no result that holds: [Regrader.Apply] does that. Errors are those of [Run].
func (r *Regrader) Run(ctx context.Context, o Options) ([]Regraded, error) {
	run := &regradeRun{Regrader: r, options: o}
	for _, old := range r.store.Attempts() {
		run.plan(old)
	}
	slices.SortStableFunc(run.list, func(a, b Regraded) int {
		return cmp.Or(strings.Compare(a.Old.Student, b.Old.Student), strings.Compare(a.Old.Exercise, b.Old.Exercise), a.Old.Attempt-b.Old.Attempt)
	})
	run.progress = newProgress(o, len(run.list))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Workers))
	for i := range run.list {
		group.Go(func() error {
			defer run.progress.through(nil)
			return run.one(gctx, &run.list[i])
		})
	}
	err := group.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return run.list, err
}

// regradeRun is one run of a regrader.
type regradeRun struct {
	*Regrader
	options  Options
	list     []Regraded
	progress *progress
}

func (r *regradeRun) exercise(name string) *course.Exercise {
	i := slices.IndexFunc(r.options.Exercises, func(e *course.Exercise) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return r.options.Exercises[i]
}

// plan adds an attempt to the list if it has to be graded, or cannot be any more.
func (r *regradeRun) plan(old results.Record) {
	e := r.exercise(old.Exercise)
	switch {
	case e == nil:
		r.list = append(r.list, Regraded{Old: old, Err: fmt.Errorf("the course has no exercise %s any more: its grade stands", old.Exercise)})
	case results.Key(old.Content, e, r.options.Grader) != old.Key:
		r.list = append(r.list, Regraded{Old: old})
	}
}

// one grades one attempt, unless a result of the same key is known. An error is one of the
// store's.
func (r *regradeRun) one(ctx context.Context, x *Regraded) error {
	if x.Err == nil {
		x.Err = context.Cause(ctx)
	}
	if x.Err != nil {
		return nil
	}
	e := r.exercise(x.Old.Exercise)
	record := x.Old
	record.Key, record.Limits = results.Key(x.Old.Content, e, r.options.Grader), results.LimitsOf(e.Limits)
	result, known := r.known(record)
	if x.Old.Content != x.Old.Result.Submission.Hash { // it was refused when it was read, and would be again
		result, known = x.Old.Result, true
	}
	if !known {
		end := r.progress.begin(record.Student, record.Exercise)
		result, x.Err = r.grade(ctx, x.Old, e)
		if end(x.Err); x.Err != nil {
			return nil
		}
	}
	record.Result, x.New = result, &record
	if known {
		return nil
	}
	return r.keep(record)
}

// known returns a result of the same key from an earlier regrade or another attempt.
func (r *regradeRun) known(record results.Record) (*verdict.Result, bool) {
	for _, byKey := range []func(string) (results.Record, bool){r.drafts.ByKey, r.store.ByKey} {
		if same, ok := byKey(record.Key); ok {
			result := *same.Result
			result.Submission = record.Result.Submission
			return &result, true
		}
	}
	return nil, false
}

// grade grades the stored files of an attempt.
func (r *regradeRun) grade(ctx context.Context, old results.Record, e *course.Exercise) (*verdict.Result, error) {
	s, err := r.store.Files(old)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: its grade stands", err)
	}
	if err != nil {
		return nil, err
	}
	return gradeAgain(ctx, r.options.Grade, s, e, old.Result)
}

// gradeAgain grades a submission on the inputs it had. If that takes points for memory or
// speed, it grades once more and returns the better result: near a limit a ratio falls on
// either side.
func gradeAgain(ctx context.Context, grade GradeFunc, s *submission.Snapshot, e *course.Exercise, old *verdict.Result) (*verdict.Result, error) {
	result, err := grade(ctx, s, e, old.Seed)
	if err != nil || measuredPoints(result) >= measuredPoints(old) {
		return result, err
	}
	again, err := grade(ctx, s, e, old.Seed)
	if err == nil && again.Score > result.Score {
		result = again
	}
	return result, err
}

// measuredPoints returns the points for memory and speed.
func measuredPoints(r *verdict.Result) (points int) {
	for _, c := range r.Checks {
		if verdict.Kind(c.Kind).Measured() {
			points += c.Points
		}
	}
	return points
}

// keep stores a result as a draft.
func (r *regradeRun) keep(record results.Record) error {
	record.Recorded = r.options.Now().UTC()
	return r.drafts.Append(record)
}

// Apply makes each new result the one that holds for its attempt. The store keeps the old
// ones.
func (r *Regrader) Apply(list []Regraded, o Options) error {
	for _, x := range list {
		if x.New == nil {
			continue
		}
		x.New.Recorded = o.Now().UTC()
		if err := r.store.Append(*x.New); err != nil {
			return err
		}
	}
	return r.drafts.Discard()
}
