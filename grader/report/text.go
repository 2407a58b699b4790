package report

import (
	"fmt"
	"io"
	"strings"

	"grade/grader/gradebook"
	"grade/grader/report/terminal"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// TextOptions describe the reader's terminal, and how much is to be read.
type TextOptions struct {
	Color bool // ANSI colours; without them there is no escape code in the report
	Width int  // columns to break lines at; 0: lines are never broken
	// Brief shortens what comes after the first things to mend, so that the report fits on
	// a screen. Verbose lists the checks that passed.
	Brief, Verbose bool

	Counted *gradebook.Cell // what the submission counts; nil: no rules were applied
}

// gutter precedes text of a submission, so that none of it starts a line.
const gutter = "│ "

// Text writes r for a person, who reads its end first: how it was graded, the points by
// kind, what went wrong with the first things to mend last, and the score. The zero options
// suit a pipe: plain, one fact a line, independent of any terminal.
func Text(w io.Writer, r *verdict.Result, o TextOptions) error {
	t := &text{Palette: terminal.NewPalette(o.Color), TextOptions: o}
	t.facts(r)
	t.warnings(r)
	t.problems(r)
	t.checks(r)
	t.score(r)
	if _, err := io.WriteString(w, t.b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// text is a report being written.
type text struct {
	terminal.Palette
	TextOptions
	b strings.Builder
}

func (t *text) line(s string) {
	t.b.WriteString(strings.TrimRight(s, " "))
	t.b.WriteByte('\n')
}

// hang writes s behind first, its further lines behind rest.
func (t *text) hang(first, rest, s string) {
	width := 0
	if t.Width > 0 {
		width = max(20, t.Width-terminal.Width(first))
	}
	for i, l := range terminal.Wrap(s, width) {
		if i > 0 {
			first = rest
		}
		t.line(first + l)
	}
}

// score writes the grade, and what is left to do.
func (t *text) score(r *verdict.Result) {
	line := fmt.Sprintf("%d of %d points", r.Score, r.MaxScore)
	if all := wording.MaxPoints(r); r.MaxScore < all {
		line = fmt.Sprintf("%d of %d selected points (%d in all)", r.Score, r.MaxScore, all)
	}
	switch {
	case r.Verdict != verdict.Graded:
		line = t.Bold(t.Red(wording.Verdict(r.Verdict))) + ", " + line
	case r.Score == r.MaxScore:
		line = t.Bold(t.Green(line))
	default:
		line = t.Bold(t.Yellow(line)) + t.notRun(r)
	}
	if !r.Sandbox.Official {
		line += ", " + t.Yellow("unofficial")
	}
	if s := wording.Standing(r); s != "" {
		line += ": " + s
	}
	t.line("")
	t.hang(t.Bold(terminal.Escape(r.Exercise))+"  ", "  ", line)
	t.counted(wording.CountedResult(t.Counted, wording.MaxPoints(r)))
}

// notRun says how many of the selected points belong to checks that did not run.
func (t *text) notRun(r *verdict.Result) string {
	if n, _ := wording.PointsNotRun(r); n > 0 {
		return fmt.Sprintf(", %d not run", n)
	}
	return ""
}

// briefProblems is how many problems a screen shows.
const briefProblems = 10

func (t *text) problems(r *verdict.Result) {
	most := wording.MaxProblems
	if t.Brief {
		most = briefProblems
	}
	for i, p := range r.Problems {
		t.line("")
		if i == most {
			t.line(fmt.Sprintf("  … and %d more", len(r.Problems)-i))
			break
		}
		t.problem(p)
	}
	if r.Verdict != verdict.Graded {
		t.line("")
		t.line("Nothing was run. Fix the problems above and submit again.")
	}
}

func (t *text) problem(p verdict.Problem) {
	place := terminal.Excerpt(p.File, wording.MaxName)
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, p.Line)
	}
	if p.Rule != "" {
		place = t.Bold(place) + t.Dim(" ["+terminal.Excerpt(p.Rule, wording.MaxName)+"]")
	}
	t.line("  " + t.Red("✗") + " " + place)
	t.quote(p.Message)
	t.code(p.Source)
}

// code writes one line of the submission's source, set off from what is said about it.
func (t *text) code(source string) {
	line := wording.Squeezed(source)
	if line == "" {
		return
	}
	indent := "    " + t.Dim(gutter) + "    "
	t.line(indent + t.rest(line, terminal.Width(indent)))
}

// quote writes text from elsewhere behind a gutter, escaped and cut.
func (t *text) quote(s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	indent := "    " + t.Dim(gutter)
	lines, more := terminal.Lines(s, wording.MaxLines, wording.MaxLine)
	for _, l := range lines {
		t.hang(indent, indent, l)
	}
	if more > 0 {
		t.line(indent + "… and " + wording.Plural(more, "more line"))
	}
}

func (t *text) warnings(r *verdict.Result) {
	if len(r.Warnings) == 0 {
		return
	}
	t.line("")
	for _, w := range r.Warnings {
		t.hang("  "+t.Yellow("!")+" ", "  "+t.Dim(gutter), wording.OneLine(w))
	}
}

// counted writes what each rule of the course did, and last what counts.
func (t *text) counted(said []string) {
	if len(said) == 0 {
		return
	}
	for _, s := range said[1:] {
		indent := "  " + t.Dim(gutter)
		t.hang(indent, indent, s)
	}
	t.line(t.Bold(said[0]))
}

func (t *text) facts(r *verdict.Result) {
	t.fact("graded", terminal.Escape(wording.GradedBy(r)))
	t.fact("files", wording.Files(r.Submission.Files))
	t.fact("ignored", wording.Files(r.Submission.Ignored))
	t.fact("time", wording.Phases(r.Phases))
	t.fact("seed", terminal.Escape(r.Seed))
}

// fact writes one line about the grading, or nothing if s is empty.
func (t *text) fact(name, s string) {
	if s == "" {
		return
	}
	t.hang(t.Dim(terminal.Pad(name, 9)), "       "+t.Dim(gutter), s)
}
