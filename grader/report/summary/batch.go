// Package summary sums up work on many submissions: a batch, a push, a regrading, a proof
// of an exercise. Each summary is a value with JSON tags, and a text in columns. Students
// write the names and messages in it, so that the package escapes all of them for a
// terminal and begins no line of a log with one. It awards no points.
package summary

import (
	"fmt"
	"strings"

	"grade/grader/batch"
	"grade/grader/report/terminal"
	"grade/grader/report/wording"
	"grade/grader/results"
	"grade/grader/verdict"
)

// Batch is the summary of a batch.
type Batch struct {
	Graded    int               `json:"graded"`
	Cached    int               `json:"cached"`
	NoVerdict []NoVerdict       `json:"no_verdict"`
	Results   []*results.Record `json:"results"`
}

// NewBatch sums up the items of a batch.
func NewBatch(items []batch.Item) Batch {
	r := Batch{NoVerdict: []NoVerdict{}, Results: []*results.Record{}}
	r.Graded, r.Cached, _ = batch.Count(items)
	for _, f := range items {
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
	widen := func(s, e string) {
		student, exercise = max(student, terminal.Width(terminal.Start(s))), max(exercise, len(e))
	}
	for _, r := range records {
		widen(r.Student, r.Exercise)
	}
	for _, m := range missing {
		widen(m.Student, m.Exercise)
	}
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintf(&b, "%s  %s  %3d of %d", terminal.Pad(terminal.Start(r.Student), student), terminal.Pad(r.Exercise, exercise), r.Result.Score, r.Result.MaxScore)
		if r.Result.Verdict != verdict.Graded {
			fmt.Fprintf(&b, "  %s", refusal(r.Result))
		}
		b.WriteString("\n")
	}
	for _, m := range missing {
		fmt.Fprintf(&b, "%s  %s  no verdict: %s\n", terminal.Pad(terminal.Start(m.Student), student), terminal.Pad(m.Exercise, exercise), terminal.Escape(m.Why))
	}
	return b.String()
}

// Item is the line of one submission.
func Item(i batch.Item) string {
	who := terminal.Start(i.Student) + "  " + terminal.Escape(i.Exercise) + "  "
	switch {
	case i.Record == nil:
		return who + "no verdict: " + terminal.Escape(i.Err.Error())
	case i.Record.Result.Verdict != verdict.Graded:
		return who + fmt.Sprintf("%d of %d  %s", i.Record.Result.Score, i.Record.Result.MaxScore, refusal(i.Record.Result))
	}
	return who + fmt.Sprintf("%d of %d", i.Record.Result.Score, i.Record.Result.MaxScore)
}

// mostOfReason is how many characters of a reason a line shows.
const mostOfReason = 120

// refusal is the verdict of a submission that did not run, with its first reason.
func refusal(r *verdict.Result) string {
	if len(r.Problems) == 0 {
		return wording.Verdict(r.Verdict)
	}
	p := r.Problems[0]
	why, _, _ := strings.Cut(p.Message, "\n")
	if short := []rune(why); len(short) > mostOfReason {
		why = string(short[:mostOfReason]) + "…"
	}
	if p.File != "" && p.Line > 0 {
		why = fmt.Sprintf("%s:%d: %s", p.File, p.Line, why)
	} else if p.File != "" {
		why = p.File + ": " + why
	}
	if more := len(r.Problems) - 1; more > 0 {
		why += fmt.Sprintf(" (and %d more)", more)
	}
	return wording.Verdict(r.Verdict) + ": " + terminal.Escape(why)
}

// Text returns a line for each submission, then what changed for attempts that were graded
// anew, and last the numbers of each kind.
func (r Batch) Text(items []batch.Item) string {
	return fmt.Sprintf("%s%sgraded %d, cached %d, no verdict %d\n", table(r.Results, r.NoVerdict), anew(items), r.Graded, r.Cached, len(r.NoVerdict))
}
