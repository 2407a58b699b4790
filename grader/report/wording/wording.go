// Package wording describes gradings and courses in plain text, once for every format of a
// report. Its texts hold printable characters and newlines only and are cut at a stated
// length, whatever a submission has put into a result. It knows no format: each format
// escapes these texts for the place where they are read.
//
// A text about one grading takes a [verdict.Result] or one of its checks; a text about many
// takes a [gradebook.Book], a cell of it or a [Submission].
package wording

import (
	"fmt"
	"strings"

	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// The limits for text of a submission. A cut is visible.
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
		lines = append(lines, "… and "+Plural(more, "more line"))
	}
	for i, l := range lines {
		// A runner of GitHub obeys such a line, should the report be printed in a log.
		if rest := strings.TrimLeft(l, " "); strings.HasPrefix(rest, "::") {
			lines[i] = l[:len(l)-len(rest)] + `\` + rest
		}
	}
	return strings.Join(lines, "\n")
}

// Squeezed is [Plain] in one line, without indents, as a sentence.
func Squeezed(s string) string { return strings.Join(strings.Fields(OneLine(s)), " ") }

// Name is [Plain] for a short text of one line.
func Name(s string) string { return terminal.Excerpt(s, MaxName) }

// Whole is [Name] without the cap. A program that looks a name up needs all of it: a part
// of it names something else.
func Whole(s string) string { return terminal.Escape(s) }

// MaxPoints returns the points of the whole exercise. Checks that were not selected count
// too, because a grading of a part must not look like one of the whole.
func MaxPoints(r *verdict.Result) int {
	n := 0
	for _, c := range r.Checks {
		n += c.MaxPoints
	}
	return n
}

// Headline returns the grade in a line.
func Headline(r *verdict.Result) string {
	s := fmt.Sprintf("%d of %d points", r.Score, MaxPoints(r))
	if r.Verdict != verdict.Graded {
		s = Verdict(r.Verdict) + ", " + s
	}
	if !r.Sandbox.Official {
		s += ", unofficial"
	}
	notRun, notAsked := PointsNotRun(r)
	if notRun > 0 {
		s += fmt.Sprintf(", %d not run", notRun)
	}
	if notAsked > 0 {
		s += fmt.Sprintf(", %d not asked for", notAsked)
	}
	return s
}

// PointsNotRun returns the points of checks that were not run, of a submission that was: of
// those that were reached too late, and of those that were not selected.
func PointsNotRun(r *verdict.Result) (notRun, notAsked int) {
	for _, c := range r.Checks {
		switch {
		case r.Verdict != verdict.Graded || c.Verdict != verdict.NotRun:
		case NotAsked(c):
			notAsked += c.MaxPoints
		default:
			notRun += c.MaxPoints
		}
	}
	return notRun, notAsked
}

// NotAsked reports whether a check was not selected. A check that was selected and not
// reached, because those before it used up the time, has a detail that says so: the
// submission is the reason.
func NotAsked(c verdict.CheckResult) bool { return c.Verdict == verdict.NotRun && c.Detail == "" }

// CheckVerdict returns the words of a check's verdict.
func CheckVerdict(c verdict.CheckResult) string {
	if c.SelfReported {
		return Verdict(c.Verdict) + ", self-reported"
	}
	return Verdict(c.Verdict)
}

// Explain returns why a check has its verdict: the hint if it did not pass, the detail, the
// lines of the source, the check that explains this one, and what was measured.
func Explain(c verdict.CheckResult) string {
	var parts []string
	if !c.Verdict.Earns() {
		parts = append(parts, Plain(c.Hint))
	}
	return Paragraphs(append(parts, What(c))...)
}

// What returns what happened in a check, without its hint.
func What(c verdict.CheckResult) string {
	parts := append([]string{Plain(c.Detail)}, Places(c)...)
	return Paragraphs(append(parts, Cause(c), Figures(c))...)
}

// Place returns where a problem is, and which rule it breaks.
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

// Problems returns each problem with its place, and how many are beyond the cap.
func Problems(r *verdict.Result) []string {
	var list []string
	for i, p := range r.Problems {
		if i == MaxProblems {
			return append(list, fmt.Sprintf("… and %d more", len(r.Problems)-i))
		}
		list = append(list, Paragraphs(Place(p.File, p.Line, p.Rule)+":", Plain(p.Message), Source(p.Source)))
	}
	return list
}

// Source returns a line of a submission's source behind a bar, so that it is not taken for
// a sentence, or nothing.
func Source(line string) string {
	code := Squeezed(line)
	if code == "" {
		return ""
	}
	return "| " + code
}

// Warnings returns each warning, and how many are beyond the cap.
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

// Standing says what is left to do, in the words of grade's exit status. It is empty for a
// submission that was not graded, whose verdict says it.
func Standing(r *verdict.Result) string {
	switch {
	case r.Verdict != verdict.Graded:
		return ""
	case r.Score == r.MaxScore:
		return "every point asked for was reached"
	}
	return "points are missing"
}

// Overview returns everything that is not about a single check.
func Overview(r *verdict.Result) string {
	parts := append([]string{Name(r.Exercise) + ": " + Headline(r)}, Problems(r)...)
	for _, w := range Warnings(r) {
		parts = append(parts, "warning: "+w)
	}
	return Paragraphs(append(parts, "graded by "+terminal.Escape(GradedBy(r)), "seed "+Name(r.Seed))...)
}

// Paragraphs joins the texts that are not empty with newlines.
func Paragraphs(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "\n")
}
