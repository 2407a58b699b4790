package report

import (
	"fmt"
	"strings"

	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// What the formats for other programs say in words is put together here, once, as
// plain text: printable characters and newlines only, capped. Each format escapes
// it for its own place.

// plain makes text from elsewhere harmless, keeps its lines and cuts it.
func plain(s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	lines, more := terminal.Lines(s, maxLines, maxLine)
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

// squeezed is plain text in one line, as a sentence: indents are gone with the lines.
func squeezed(s string) string { return strings.Join(strings.Fields(oneLine(s)), " ") }

// name is plain for what is one line and short.
func name(s string) string { return terminal.Excerpt(s, maxName) }

// whole is name without the cap, for what a program looks up: a part of it names
// something else.
func whole(s string) string { return terminal.Escape(s) }

// most is what all checks of the exercise add up to. It counts checks that were not
// asked for: a grading of a part must not look like one of the whole.
func most(r *verdict.Result) int {
	n := 0
	for _, c := range r.Checks {
		n += c.MaxPoints
	}
	return n
}

// headline says the grade in a line.
func headline(r *verdict.Result) string {
	s := fmt.Sprintf("%d of %d points", r.Score, most(r))
	if r.Verdict != verdict.Graded {
		s = word(r.Verdict) + ", " + s
	}
	if !r.Sandbox.Official {
		s += ", unofficial"
	}
	if n := pointsNotRun(r); n > 0 {
		s += fmt.Sprintf(", %d not run", n)
	}
	return s
}

// pointsNotRun are those that nobody tried for, of a submission that was run.
func pointsNotRun(r *verdict.Result) int {
	n := 0
	for _, c := range r.Checks {
		if r.Verdict == verdict.Graded && c.Verdict == verdict.NotRun {
			n += c.MaxPoints
		}
	}
	return n
}

// unasked reports whether nobody asked for a check. One that was asked for and not
// reached, because those before it took all the time there is, says so in its detail:
// it is the submission that lacks it.
func unasked(c verdict.CheckResult) bool { return c.Verdict == verdict.NotRun && c.Detail == "" }

// verdictWord says what came of a check.
func verdictWord(c verdict.CheckResult) string {
	if c.SelfReported {
		return word(c.Verdict) + ", self-reported"
	}
	return word(c.Verdict)
}

// explain says why a check has its verdict: the hint where it did not pass, the
// detail, and what was measured.
func explain(c verdict.CheckResult) string {
	var parts []string
	if c.Verdict != verdict.Passed {
		parts = append(parts, plain(c.Hint))
	}
	parts = append(parts, plain(c.Detail), figures(c))
	return paragraphs(parts...)
}

// figures says what was measured, in a line; nothing where nothing was.
func figures(c verdict.CheckResult) string {
	if c.Ratio == nil {
		return ""
	}
	s := ratio(c)
	if c.Submission.Runs > 0 && c.Reference.Runs > 0 {
		s += "; submission " + figure(c.Kind, c.Submission) + ", reference " + figure(c.Kind, c.Reference)
	}
	return s
}

// place says where a problem is, and which rule it breaks.
func place(file string, line int, rule string) string {
	s := name(file)
	if line > 0 {
		s = fmt.Sprintf("%s:%d", s, line)
	}
	if rule != "" {
		s += " [" + name(rule) + "]"
	}
	return s
}

// problemList says each problem with its place, and how many there are beyond the cap.
func problemList(r *verdict.Result) []string {
	var list []string
	for i, p := range r.Problems {
		if i == maxProblems {
			return append(list, fmt.Sprintf("… and %d more", len(r.Problems)-i))
		}
		list = append(list, paragraphs(place(p.File, p.Line, p.Rule)+":", plain(p.Message)))
	}
	return list
}

// warningList says each warning, and how many there are beyond the cap.
func warningList(r *verdict.Result) []string {
	var list []string
	for i, w := range r.Warnings {
		if i == maxProblems {
			return append(list, fmt.Sprintf("… and %d more", len(r.Warnings)-i))
		}
		list = append(list, oneLine(w))
	}
	return list
}

// overview says everything that is not about a single check.
func overview(r *verdict.Result) string {
	parts := append([]string{name(r.Exercise) + ": " + headline(r)}, problemList(r)...)
	for _, w := range warningList(r) {
		parts = append(parts, "warning: "+w)
	}
	return paragraphs(append(parts, "graded by "+terminal.Escape(graded(r)), "seed "+name(r.Seed))...)
}

// paragraphs joins what there is with newlines.
func paragraphs(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	return strings.Join(said, "\n")
}
