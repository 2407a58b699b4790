// Package summary says what work on many submissions came to: a batch, a push, a regrading, a
// proof of an exercise. Each is a value with JSON tags, and a text in columns. Names and
// messages come from what strangers wrote, so that all of them are escaped for a terminal
// and none begins a line of a log. It decides nothing about points.
package summary

import (
	"fmt"
	"strings"

	"grade/grader/batch"
	"grade/grader/report/terminal"
	"grade/grader/results"
	"grade/grader/verdict"
)

// Batch is what a batch comes to.
type Batch struct {
	Graded    int               `json:"graded"`
	Cached    int               `json:"cached"`
	NoVerdict []NoVerdict       `json:"no_verdict"`
	Results   []*results.Record `json:"results"`
}

// NewBatch sums up what became of each submission.
func NewBatch(fates []batch.Item) Batch {
	r := Batch{NoVerdict: []NoVerdict{}, Results: []*results.Record{}}
	r.Graded, r.Cached, _ = batch.Count(fates)
	for _, f := range fates {
		if f.Record != nil {
			r.Results = append(r.Results, f.Record)
		} else {
			r.NoVerdict = append(r.NoVerdict, NoVerdict{f.Student, f.Exercise, f.Path, f.Err.Error()})
		}
	}
	return r
}

// NoVerdict is a submission without a verdict.
type NoVerdict struct {
	Student  string `json:"student"`
	Exercise string `json:"exercise"`
	Path     string `json:"path"`
	Why      string `json:"why"`
}

// table has a line for each submission.
func table(records []*results.Record, missing []NoVerdict) string {
	student, exercise := len("student"), len("exercise")
	for _, r := range records {
		student, exercise = max(student, terminal.Width(terminal.Start(r.Student))), max(exercise, len(r.Exercise))
	}
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "%s  %s  %3d of %d", terminal.Pad(terminal.Start(r.Student), student), terminal.Pad(r.Exercise, exercise), r.Result.Score, r.Result.MaxScore)
		if r.Result.Verdict != verdict.Graded {
			fmt.Fprintf(&b, "  %s", r.Result.Verdict)
		}
		b.WriteString("\n")
	}
	for _, m := range missing {
		fmt.Fprintf(&b, "%s  %s  no verdict: %s\n", terminal.Pad(terminal.Start(m.Student), student), terminal.Pad(m.Exercise, exercise), terminal.Escape(m.Why))
	}
	return b.String()
}

// Text has a line for each submission, then what has changed for attempts that were graded
// anew, and in the last line how many there were of each kind.
func (r Batch) Text(fates []batch.Item) string {
	return fmt.Sprintf("%s%sgraded %d, cached %d, no verdict %d\n", table(r.Results, r.NoVerdict), anew(fates), r.Graded, r.Cached, len(r.NoVerdict))
}
