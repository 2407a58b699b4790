package batch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grade/grader"
)

// WaitingSchema names the format of [Waiting] as JSON.
const WaitingSchema = "grade/waiting/v1"

// Waiting is a submission that a run has found and come to no verdict on. Without it,
// whoever reads the results would take it for work that was never handed in.
type Waiting struct {
	Schema    string    `json:"schema"`
	Student   string    `json:"student"`
	Exercise  string    `json:"exercise,omitempty"` // empty: not even that is known
	Path      string    `json:"path"`
	Folder    string    `json:"folder,omitempty"` // from the root of the submissions' repository
	Submitted time.Time `json:"submitted,omitzero"`
	Source    string    `json:"submitted_source,omitempty"` // of that time
	Recorded  time.Time `json:"recorded"`
	Why       string    `json:"why"`
	Told      string    `json:"told,omitempty"` // why, for the student, where that is the student's affair
}

// waitingFile holds a line for each of those that wait, and is written anew by each run.
const waitingFile = "no-verdict.jsonl"

// Waited tells submissions apart that wait: by student and exercise, or, as long as no
// exercise is known, by where they lie.
type Waited struct{ student, exercise, path string }

// Waited says which submission it is.
func (w Waiting) Waited() Waited {
	return Fate{Submission: Submission{Student: w.Student, Exercise: w.Exercise, Path: w.Path}}.Waited()
}

// Waited says which submission it is.
func (f Fate) Waited() Waited {
	if f.Exercise == "" {
		return Waited{f.Student, "", f.Path}
	}
	return Waited{f.Student, f.Exercise, ""}
}

// Waiting lists the submissions that were found by this run or an earlier one, and of which
// there is no result since.
func (l *Ledger) Waiting() (list []Waiting) {
	for _, w := range l.waiting {
		if last, ok := l.Last(w.Student, w.Exercise); !ok || !last.Recorded.After(w.Recorded) {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b Waiting) int {
		return strings.Compare(fmt.Sprintf("%q %q %q", a.Student, a.Exercise, a.Path), fmt.Sprintf("%q %q %q", b.Student, b.Exercise, b.Path))
	})
	return list
}

// Await takes down which submissions have no verdict, and that others have one now.
func (l *Ledger) Await(fates []Fate, now time.Time) error {
	changed := false
	for _, f := range fates {
		if f.Record == nil {
			l.waiting[f.Waited()], changed = f.Waiting(now), true
			continue
		}
		unknown := f
		unknown.Exercise = "" // as it may have been before
		for _, k := range []Waited{f.Waited(), unknown.Waited()} {
			if _, ok := l.waiting[k]; ok {
				delete(l.waiting, k)
				changed = true
			}
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

// Waiting is what to keep of a submission that has no verdict.
func (f Fate) Waiting(now time.Time) Waiting {
	w := Waiting{
		Schema: WaitingSchema, Student: f.Student, Exercise: f.Exercise, Path: f.Path, Folder: f.Folder,
		Submitted: f.At, Source: f.Source, Recorded: now.UTC(), Why: f.Err.Error(),
	}
	if u := (*grader.UsageError)(nil); errors.As(f.Err, &u) {
		w.Told = u.Student
	}
	return w
}

// readWaiting takes in those who wait.
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
		n++
		var w Waiting
		if err := json.Unmarshal(line, &w); err != nil || w.Schema != WaitingSchema {
			return errors.Join(fmt.Errorf("open results: %s: line %d: not of the kind %s; put the file aside: what it names is then taken for not handed in until it is graded", name, n, WaitingSchema), err)
		}
		l.waiting[w.Waited()] = w
	}
	return nil
}
