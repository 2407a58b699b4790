// Package batch grades many submissions: it grades some at a time and
// keeps every result in a file that only grows, by the key of all that went into it,
// so that what has not changed is not graded again. It knows neither sandboxes nor
// what a report looks like.
//
// A caller finds submissions with package intake, opens a [Ledger], and calls [Run].
package batch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// GradeFunc grades what was read of a submission, with the inputs of a seed; without
// one, with fresh inputs.
type GradeFunc func(ctx context.Context, s *submission.Snapshot, e *course.Exercise, seed string) (*verdict.Result, error)

// Options say how a batch is graded.
type Options struct {
	Exercises []*course.Exercise
	Grade     GradeFunc
	Grader    string // of what else a result depends on: program, toolchain, image
	Workers   int    // gradings at a time
	Now       func() time.Time
	// OnEvent hears of every grading that begins, and of every submission that is
	// through. Calls do not overlap.
	OnEvent func(Event)
}

// Fate is what became of one submission.
type Fate struct {
	intake.Submission
	Record *Record // nil: there is no verdict, and Err says why
	Before *Record // that the same attempt had, if it was graded anew
	Cached bool
	Err    error

	content string // SHA-256 of what was handed in, if it could be read
}

// Run grades submissions, in their order, and returns what became of each; several of one
// student at one exercise are one, which is refused. It goes on
// after one that could not be graded. An error is one of the ledger's: results can no
// longer be kept; or the context has ended, and the fates of the rest say so.
func Run(ctx context.Context, l *Ledger, list []intake.Submission, o Options) ([]Fate, error) {
	r := &running{options: o, ledger: l}
	list = r.sole(ctx, list)
	if err := l.begin(ctx, list, o.Now()); err != nil {
		return nil, err
	}
	r.fates, r.news = make([]Fate, len(list)), newNews(o, len(list))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Workers))
	for i, s := range list {
		r.fates[i].Submission = s
		group.Go(func() error {
			if err := r.one(gctx, &r.fates[i]); err != nil {
				return err
			}
			r.news.through()
			return nil
		})
	}
	err := group.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	for i := range r.fates {
		f := &r.fates[i]
		if f.Record == nil && f.Err == nil { // it was not begun with
			f.Err = err
		}
		if f.Record == nil {
			f.look(ctx)
		}
	}
	if lost := l.Await(r.fates, o.Now()); lost != nil {
		err = errors.Join(err, lost)
	}
	return r.fates, err
}

type running struct {
	options Options
	keys    sync.Map   // a [sync.Mutex] for each key: what is the same is graded once
	mu      sync.Mutex // guards what follows
	ledger  *Ledger
	fates   []Fate
	news    *news
}

// sole lists submissions so that a student has one at an exercise. Several are refused as
// one, in the place of the first: nobody could say which of them counts. Where a name says
// no exercise, packages do.
func (r *running) sole(ctx context.Context, list []intake.Submission) (sole []intake.Submission) {
	handed := map[string]int{}
	for _, s := range list {
		handed[s.Student]++
	}
	places := map[owner][]string{}
	first := map[owner]int{}
	for _, s := range list {
		if !utf8.ValidString(s.Student) {
			s.Read = unnameable
			s.Student = strconv.Quote(s.Student) // which no other's is
		}
		if s.Exercise == "" && handed[s.Student] > 1 {
			if _, e, err := r.read(ctx, &Fate{Submission: s}); err == nil {
				s.Exercise = e.Name
			}
		}
		o := owner{s.Student, s.Exercise, 0}
		i, again := first[o]
		if !again || s.Exercise == "" {
			first[o], places[o] = len(sole), []string{placeOf(s)}
			sole = append(sole, s)
			continue
		}
		places[o] = append(places[o], placeOf(s))
		sole[i].Read = several(sole[i].Path, places[o])
	}
	return sole
}

// unnameable is what is read of a student whose name no results file can hold: two such
// would be one there.
func unnameable(context.Context) (*submission.Snapshot, error) {
	const told = "the name of the folder is not UTF-8, in which results are kept"
	return nil, &fault.UsageError{Message: "read the submission", Hint: "give the folder another name", Student: told, Err: errors.New(told)}
}

// placeOf is where a submission is, for its student: no folder of ours is in it.
func placeOf(s intake.Submission) string {
	name := filepath.Base(s.Path)
	if s.Folder != "" {
		name = path.Join(path.Dir(s.Folder), name) // which has the end of an archive's
	}
	return verdict.Printable(name)
}

// several is what is read where a student has handed in more than one.
func several(dir string, places []string) func(context.Context) (*submission.Snapshot, error) {
	return func(context.Context) (*submission.Snapshot, error) {
		s := submission.Of(dir, nil)
		s.Problems = []verdict.Problem{{Rule: "several", Message: fmt.Sprintf("handed in %d times: as %s; leave one of them", len(places), strings.Join(places, ", "))}}
		return s, nil
	}
}

// one grades a submission, unless its like has been graded before. An error is one of the
// ledger's, which is the fate's as well.
func (r *running) one(ctx context.Context, f *Fate) error {
	snapshot, e, err := r.read(ctx, f)
	if err != nil {
		f.Err = err
		return nil
	}
	f.Exercise, f.content = e.Name, contentOf(snapshot)
	record := Record{Key: keyOf(f.content, e, r.options.Grader), Content: f.content, Limits: limitsOf(e.Limits)}
	last, again := r.last(f)
	same := again && last.Key == record.Key
	stopped := context.Cause(ctx)
	if same && (!last.Submitted.IsZero() || stopped != nil) {
		f.Record, f.Cached = &last, true
		return nil
	}
	if f.Err = stopped; stopped != nil {
		return nil
	}
	if f.Err = r.date(ctx, f, &record); f.Err != nil {
		return nil
	}
	lock, _ := r.keys.LoadOrStore(record.Key, &sync.Mutex{})
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	if same { // it is known at last when it was handed in
		record.Result = last.Result
	} else {
		record.Result = r.same(record.Key, snapshot)
	}
	if f.Cached = record.Result != nil; !f.Cached {
		if record.Result, f.Err = r.grade(ctx, f, snapshot, e, r.before(f, record).Result); f.Err == nil {
			f.Err = r.ledger.keepFiles(f.content, snapshot)
		}
		if f.Err != nil {
			return nil
		}
	}
	f.Err = r.keep(f, record)
	return f.Err
}

// grade grades a submission: what was graded before, on the inputs it had then.
func (r *running) grade(ctx context.Context, f *Fate, s *submission.Snapshot, e *course.Exercise, before *verdict.Result) (result *verdict.Result, err error) {
	end := r.news.begin(f.Student, f.Exercise)
	defer func() { end(err) }()
	if before == nil {
		return r.options.Grade(ctx, s, e, "")
	}
	return gradeAgain(ctx, r.options.Grade, s, e, before)
}

// last is the record of a student's last attempt.
func (r *running) last(f *Fate) (Record, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.Last(f.Student, f.Exercise)
}

// before is the record that the attempt has which a submission is; without one it is a new
// attempt.
func (r *running) before(f *Fate, record Record) Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.attemptOf(f.Student, f.Exercise, record.Content, record.Submitted)
}

// dateTimeout bounds how long it may take to find out when something was handed in.
const dateTimeout = time.Minute

// date says when a submission was handed in. An interrupt does not keep it from that: a
// time that was not found would be kept.
func (r *running) date(ctx context.Context, f *Fate, record *Record) (err error) {
	if f.At.IsZero() && f.Submitted != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dateTimeout)
		defer cancel()
		f.At, f.Source, err = f.Submitted(ctx)
	}
	if f.At = f.At.UTC(); f.At.IsZero() || f.At.Year() < 1 || f.At.Year() > 9999 { // nobody could write it down: it is a joke
		f.At, f.Source = time.Time{}, ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.ledger.waiting[f.Waited()]; w.Content == f.content && w.earlier(f.At) { // a run had no verdict on the same
		f.At, f.Source = w.Submitted, w.Source
	}
	record.Submitted, record.Source = f.At, f.Source
	return err
}

// same is the result of another submission that was the same: nothing in it but the names
// of its folder and of what was left out there is that student's own.
func (r *running) same(key string, s *submission.Snapshot) *verdict.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	record, ok := r.ledger.ByKey(key)
	if !ok {
		return nil
	}
	result := *record.Result
	result.Submission.Dir, result.Submission.Ignored = s.Dir, s.Ignored
	return &result
}

// read takes the snapshot of a submission, and tells its exercise.
func (r *running) read(ctx context.Context, f *Fate) (*submission.Snapshot, *course.Exercise, error) {
	s, err := f.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, err := intake.ExerciseOf(f.Exercise, s, r.options.Exercises)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot tell the exercise: %w; name the folder after one", err)
	}
	return s, e, nil
}

// snapshot takes the snapshot of a submission. A folder without a Go file is one with
// nothing in it.
func (f Fate) snapshot(ctx context.Context) (*submission.Snapshot, error) {
	take := f.Read
	if take == nil {
		take = func(context.Context) (*submission.Snapshot, error) { return submission.Take(f.Path) }
	}
	s, err := take(ctx)
	if empty := (*fault.UsageError)(nil); errors.As(err, &empty) && empty.Student != "" && empty.Err == nil && f.Exercise != "" {
		s, err = submission.Of(f.Path, nil), nil
		s.Problems = []verdict.Problem{{Rule: "no-files", Message: "there is no Go file here; submit the solution's"}}
	}
	return s, err
}

// contentOf is a SHA-256 over what was handed in: files, and what was refused of them.
func contentOf(s *submission.Snapshot) string {
	if len(s.Problems) == 0 {
		return s.Hash
	}
	return digest(s.Hash, s.Problems)
}

// keyOf is a SHA-256 over all that a result depends on, but for its draw of inputs.
func keyOf(content string, e *course.Exercise, by string) string {
	return digest(content, e.Hash, by)
}

// digest is a SHA-256 over JSON, in which strings cannot run into each other.
func digest(parts ...any) string {
	data, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings and numbers alone
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// keep keeps a record in the name of a submission: of a new attempt, or of one that was
// seen before and is graded anew.
func (r *running) keep(f *Fate, record Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	record.Student, record.Exercise, record.Path, record.Folder, record.Recorded = f.Student, f.Exercise, f.Path, f.Folder, r.options.Now().UTC()
	if before := r.ledger.attemptOf(f.Student, f.Exercise, record.Content, record.Submitted); before.Attempt > 0 {
		if record.Attempt = before.Attempt; !before.Submitted.IsZero() || record.Submitted.After(r.ledger.firstRecorded(before)) { // what was graded had been handed in
			record.Submitted, record.Source = before.Submitted, before.Source
		}
		if before.Key != record.Key {
			f.Before = &before
		} else if before.Submitted.Equal(record.Submitted) { // a run that is repeated
			f.Record, f.Cached = &before, true
			return nil
		}
	} else {
		last, _ := r.ledger.Last(f.Student, f.Exercise)
		record.Attempt = last.Attempt + 1
	}
	if err := r.ledger.Append(record); err != nil {
		return err
	}
	f.Record = &record
	return nil
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
