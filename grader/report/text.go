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

// TextOptions describe the reader's terminal.
type TextOptions struct {
	Color bool // ANSI colours; without them there is no escape code in the report
	Width int  // columns to break lines at; 0: lines are never broken

	Counted *gradebook.Cell // what the submission counts; nil: no rules were applied
}

// gutter precedes text of a submission, so that none of it starts a line.
const gutter = "│ "

// Text writes r for a person: the verdict, its reasons, and then how it was graded. The
// zero options suit a pipe: plain, one fact a line, independent of any terminal.
func Text(w io.Writer, r *verdict.Result, o TextOptions) error {
	t := &text{Palette: terminal.NewPalette(o.Color), width: o.Width}
	t.header(r)
	t.problems(r)
	t.checks(r)
	t.warnings(r)
	t.counted(wording.CountedResult(o.Counted, wording.MaxPoints(r)))
	t.footer(r)
	if _, err := io.WriteString(w, t.b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// text is a report being written.
type text struct {
	terminal.Palette
	width int
	b     strings.Builder
}

func (t *text) line(s string) {
	t.b.WriteString(strings.TrimRight(s, " "))
	t.b.WriteByte('\n')
}

// hang writes s behind first, its further lines behind rest.
func (t *text) hang(first, rest, s string) {
	width := 0
	if t.width > 0 {
		width = max(20, t.width-terminal.Width(first))
	}
	for i, l := range terminal.Wrap(s, width) {
		if i > 0 {
			first = rest
		}
		t.line(first + l)
	}
}

func (t *text) header(r *verdict.Result) {
	line := t.Bold(terminal.Escape(r.Exercise)) + "  "
	score := fmt.Sprintf("%d of %d points", r.Score, r.MaxScore)
	if all := wording.MaxPoints(r); r.MaxScore < all {
		score = fmt.Sprintf("%d of %d selected points (%d in all)", r.Score, r.MaxScore, all)
	}
	switch {
	case r.Verdict != verdict.Graded:
		line += t.Bold(t.Red(wording.Verdict(r.Verdict))) + ", " + score
	case r.Score == r.MaxScore:
		line += t.Bold(t.Green(score))
	default:
		line += t.Bold(t.Yellow(score)) + t.notRun(r)
	}
	if !r.Sandbox.Official {
		line += ", " + t.Yellow("unofficial")
	}
	t.line(line)
}

// notRun says how many of the selected points belong to checks that did not run.
func (t *text) notRun(r *verdict.Result) string {
	if n := wording.PointsNotRun(r) - max(0, wording.MaxPoints(r)-r.MaxScore); n > 0 {
		return fmt.Sprintf(", %d not run", n)
	}
	return ""
}

func (t *text) problems(r *verdict.Result) {
	if len(r.Problems) == 0 {
		return
	}
	t.line("")
	for i, p := range r.Problems {
		if i == wording.MaxProblems {
			t.line(fmt.Sprintf("  … and %d more", len(r.Problems)-i))
			break
		}
		place := terminal.Excerpt(p.File, wording.MaxName)
		if p.Line > 0 {
			place = fmt.Sprintf("%s:%d", place, p.Line)
		}
		if p.Rule != "" {
			place = t.Bold(place) + t.Dim(" ["+terminal.Excerpt(p.Rule, wording.MaxName)+"]")
		}
		t.line("  " + t.Red("✗") + " " + place)
		t.quote(p.Message)
	}
	if r.Verdict != verdict.Graded {
		t.line("")
		t.line("Nothing was run. Fix the problems above and submit again.")
	}
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
		t.line(indent + fmt.Sprintf("… and %d more lines", more))
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

// counted writes what counts, and below it what each rule did.
func (t *text) counted(said []string) {
	for i, s := range said {
		if i == 0 {
			t.line("")
			t.line(t.Bold(s))
			continue
		}
		indent := "  " + t.Dim(gutter)
		t.hang(indent, indent, s)
	}
}

func (t *text) footer(r *verdict.Result) {
	t.line("")
	t.fact("files", wording.Files(r.Submission.Files))
	t.fact("ignored", wording.Files(r.Submission.Ignored))
	t.fact("time", wording.Phases(r.Phases))
	t.fact("graded", terminal.Escape(wording.GradedBy(r)))
	t.fact("seed", terminal.Escape(r.Seed))
}

// fact writes one line of the footer, or nothing if s is empty.
func (t *text) fact(name, s string) {
	if s == "" {
		return
	}
	t.hang(t.Dim(terminal.Pad(name, 9)), "       "+t.Dim(gutter), s)
}
