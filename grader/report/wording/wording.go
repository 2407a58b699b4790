// Package wording says gradings and courses in plain text: once, for every format of a
// report. Its texts hold printable characters and newlines only and are cut at a stated
// length, whatever a submission has put into a result. It knows no format: each format
// escapes these texts for the place where they are read.
//
// A text about one grading takes a [verdict.Result] or one of its checks; a text about
// many takes a [gradebook.Book], a cell of it or a [Submission].
package wording

import (
	"fmt"
	"strings"

	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// What a submission can make a report say is cut, and the cut is visible.
const (
	MaxProblems = 40  // problems shown
	maxNames    = 12  // files named in a list
	MaxName     = 80  // columns of one of them there
	MaxLines    = 20  // lines of one message or detail
	MaxLine     = 400 // columns of one of them
)

// Plain makes text from elsewhere harmless, keeps its lines and cuts it.
func Plain(s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	lines, more := terminal.Lines(s, MaxLines, MaxLine)
	if more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more lines", more))
	}
	for i, l := range lines {
		// A runner of GitHub obeys such a line, should the report be printed in a log.
		if rest := strings.TrimLeft(l, " "); strings.HasPrefix(rest, "::") {
			lines[i] = l[:len(l)-len(rest)] + `\` + rest
		}
	}
	return strings.Join(lines, "\n")
}

// Squeezed is plain text in one line, as a sentence: indents are gone with the lines.
func Squeezed(s string) string { return strings.Join(strings.Fields(OneLine(s)), " ") }

// Name is plain for what is one line and short.
func Name(s string) string { return terminal.Excerpt(s, MaxName) }

// Whole is name without the cap, for what a program looks up: a part of it names
// something else.
func Whole(s string) string { return terminal.Escape(s) }

// MaxPoints is what all checks of the exercise add up to. It counts checks that were not
// asked for: a grading of a part must not look like one of the whole.
func MaxPoints(r *verdict.Result) int {
	n := 0
	for _, c := range r.Checks {
		n += c.MaxPoints
	}
	return n
}

// Headline says the grade in a line.
func Headline(r *verdict.Result) string {
	s := fmt.Sprintf("%d of %d points", r.Score, MaxPoints(r))
	if r.Verdict != verdict.Graded {
		s = Verdict(r.Verdict) + ", " + s
	}
	if !r.Sandbox.Official {
		s += ", unofficial"
	}
	if n := PointsNotRun(r); n > 0 {
		s += fmt.Sprintf(", %d not run", n)
	}
	return s
}

// PointsNotRun are those that nobody tried for, of a submission that was run.
func PointsNotRun(r *verdict.Result) int {
	n := 0
	for _, c := range r.Checks {
		if r.Verdict == verdict.Graded && c.Verdict == verdict.NotRun {
			n += c.MaxPoints
		}
	}
	return n
}

// NotAsked reports whether nobody asked for a check. One that was asked for and not
// reached, because those before it took all the time there is, says so in its detail:
// it is the submission that lacks it.
func NotAsked(c verdict.CheckResult) bool { return c.Verdict == verdict.NotRun && c.Detail == "" }

// CheckVerdict says what came of a check.
func CheckVerdict(c verdict.CheckResult) string {
	if c.SelfReported {
		return Verdict(c.Verdict) + ", self-reported"
	}
	return Verdict(c.Verdict)
}

// Explain says why a check has its verdict: the hint where it did not pass, the
// detail, and what was measured.
func Explain(c verdict.CheckResult) string {
	var parts []string
	if c.Verdict != verdict.Passed {
		parts = append(parts, Plain(c.Hint))
	}
	parts = append(parts, Plain(c.Detail), Figures(c))
	return Paragraphs(parts...)
}

// Place says where a problem is, and which rule it breaks.
func Place(file string, line int, rule string) string {
	s := Name(file)
	if line > 0 {
		s = fmt.Sprintf("%s:%d", s, line)
	}
	if rule != "" {
		s += " [" + Name(rule) + "]"
	}
	return s
}

// Problems says each problem with its place, and how many there are beyond the cap.
func Problems(r *verdict.Result) []string {
	var list []string
	for i, p := range r.Problems {
		if i == MaxProblems {
			return append(list, fmt.Sprintf("… and %d more", len(r.Problems)-i))
		}
		list = append(list, Paragraphs(Place(p.File, p.Line, p.Rule)+":", Plain(p.Message)))
	}
	return list
}

// Warnings says each warning, and how many there are beyond the cap.
func Warnings(r *verdict.Result) []string {
	var list []string
	for i, w := range r.Warnings {
		if i == MaxProblems {
			return append(list, fmt.Sprintf("… and %d more", len(r.Warnings)-i))
		}
		list = append(list, OneLine(w))
	}
	return list
}

// Overview says everything that is not about a single check.
func Overview(r *verdict.Result) string {
	parts := append([]string{Name(r.Exercise) + ": " + Headline(r)}, Problems(r)...)
	for _, w := range Warnings(r) {
		parts = append(parts, "warning: "+w)
	}
	return Paragraphs(append(parts, "graded by "+terminal.Escape(GradedBy(r)), "seed "+Name(r.Seed))...)
}

// Paragraphs joins what there is with newlines.
func Paragraphs(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "\n")
}
