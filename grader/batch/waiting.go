package batch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grade/grader/fault"
	"grade/grader/intake"
)

// WaitingSchema names the format of [Waiting] as JSON.
const WaitingSchema = "grade/waiting/v1"

// Waiting is a submission that a run has found and come to no verdict on. Without it,
// whoever reads the results would take it for work that was never handed in.
type Waiting struct {
	Schema    string    `json:"schema"`
	Student   string    `json:"student"`
	Exercise  string    `json:"exercise"`
	Content   string    `json:"content,omitempty"` // SHA-256 of what was handed in, if it could be read
	Path      string    `json:"path"`
	Folder    string    `json:"folder,omitempty"` // from the root of the submissions' repository
	Submitted time.Time `json:"submitted,omitzero"`
	Source    string    `json:"submitted_source,omitempty"` // of that time
	Recorded  time.Time `json:"recorded"`
	Why       string    `json:"why"`
	Told      string    `json:"told,omitempty"` // why, for the student, where that is the student's affair
}

// waitingFile holds a line for each of those that wait, and is written anew by each run.
// One of which not even the exercise is known is not there: it is in no column of a
// gradebook.
const waitingFile = "no-verdict.jsonl"

// Waited tells submissions apart that wait: by student and exercise, or, as long as no
// exercise is known, by where they lie.
type Waited struct{ student, exercise, path string }

// Waited says which submission it is.
func (w Waiting) Waited() Waited { return Waited{w.Student, w.Exercise, ""} }

// Waited says which submission it is.
func (f Fate) Waited() Waited {
	if f.Exercise == "" {
		return Waited{f.Student, "", f.Path}
	}
	return Waited{f.Student, f.Exercise, ""}
}

// Waiting is what to keep of a submission that has no verdict.
func (f Fate) Waiting(now time.Time) Waiting {
	w := Waiting{
		Schema: WaitingSchema, Student: f.Student, Exercise: f.Exercise, Content: f.content, Path: f.Path, Folder: f.Folder,
		Submitted: f.At, Source: f.Source, Recorded: now.UTC(), Why: f.Err.Error(),
	}
	if u := (*fault.UsageError)(nil); errors.As(f.Err, &u) {
		w.Told = u.Student
	}
	return w
}

// earlier reports whether it is known to have been handed in before a time, which may be
// unknown.
func (w Waiting) earlier(at time.Time) bool {
	return !w.Submitted.IsZero() && (at.IsZero() || w.Submitted.Before(at))
}

// after reports whether a submission was handed in after one that waits, or could be: what
// a run has found lying in a folder is what is there now.
func (f Fate) after(w Waiting) bool {
	return f.Submitted != nil || w.Submitted.IsZero() || !f.At.IsZero() && !f.At.Before(w.Submitted)
}

// Ungraded are the fates of submissions where nothing could be graded.
func Ungraded(ctx context.Context, list []intake.Submission, why error) (fates []Fate) {
	for _, s := range list {
		f := Fate{Submission: s, Err: why}
		f.look(ctx)
		fates = append(fates, f)
	}
	return fates
}

// look learns what was handed in, if it can be read. An interrupt does not keep it from that:
// by its content a submission is known again.
func (f *Fate) look(ctx context.Context) {
	if f.content != "" || f.Exercise == "" {
		return
	}
	if s, err := f.snapshot(context.WithoutCancel(ctx)); err == nil {
		f.content = contentOf(s)
	}
}

// Waiting lists the submissions that were found by a run and have no verdict. Where the files
// of two runs were put together, one may still wait that the other has graded.
func (l *Ledger) Waiting() []Waiting {
	list := slices.DeleteFunc(slices.Collect(maps.Values(l.waiting)), func(w Waiting) bool {
		last, ok := l.Last(w.Student, w.Exercise)
		return ok && last.Content == w.Content
	})
	slices.SortFunc(list, func(a, b Waiting) int {
		return cmp.Or(strings.Compare(a.Student, b.Student), strings.Compare(a.Exercise, b.Exercise))
	})
	return list
}

var errBegun = errors.New("a run has begun with it, and did not end")

// begin takes down the submissions of which nothing is known: if this process is killed,
// somebody has handed them in all the same.
func (l *Ledger) begin(ctx context.Context, list []intake.Submission, now time.Time) error {
	var fates []Fate
	for _, s := range list {
		f := Fate{Submission: s, Err: errBegun}
		_, graded := l.Last(s.Student, s.Exercise)
		if _, waits := l.waiting[f.Waited()]; !graded && !waits {
			f.look(ctx)
			fates = append(fates, f)
		}
	}
	return l.Await(fates, now)
}

// Await takes down which submissions have no verdict, and that others have one now. What
// has not changed since it was graded has one; what is older than what waits says nothing
// about that.
func (l *Ledger) Await(fates []Fate, now time.Time) error {
	changed := false
	for _, f := range fates {
		key := f.Waited()
		w, waits := l.waiting[key]
		last, _ := l.Last(f.Student, f.Exercise)
		switch {
		case f.Exercise == "":
		case f.Record == nil && (f.content == "" || f.content != last.Content):
			is := f.Waiting(now)
			if is.Content == "" { // it cannot be read now
				is.Content = w.Content
			}
			if waits && w.Content == is.Content && w.earlier(is.Submitted) {
				is.Submitted, is.Source = w.Submitted, w.Source
			}
			l.waiting[key], changed = is, true
		case waits && (w.Content == f.content || f.after(w)):
			delete(l.waiting, key)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	var lines bytes.Buffer
	for _, w := range l.Waiting() {
		line, err := json.Marshal(w)
		if err != nil {
			return fmt.Errorf("keep what has no verdict: %w", err)
		}
		lines.Write(append(line, '\n'))
	}
	if err := writeWhole(filepath.Join(l.dir, waitingFile), lines.Bytes()); err != nil {
		return fmt.Errorf("keep what has no verdict: %w", err)
	}
	return nil
}

// readWaiting takes in those who wait. Of two lines, as after two files were put together,
// the newer one holds.
func (l *Ledger) readWaiting() error {
	name := filepath.Join(l.dir, waitingFile)
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open results: %w", err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var w Waiting
		if err := json.Unmarshal(line, &w); err != nil || w.Schema != WaitingSchema || w.Exercise == "" {
			return errors.Join(fmt.Errorf("open results: %s: line %d: not of the kind %s; put the file aside: what it names is then taken for not handed in until it is graded", name, n, WaitingSchema), err)
		}
		if other, ok := l.waiting[w.Waited()]; !ok || w.Recorded.After(other.Recorded) {
			l.waiting[w.Waited()] = w
		}
	}
	return nil
}
