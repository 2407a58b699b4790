package report

import (
	"fmt"
	"io"
	"slices"

	"grade/grader/gradebook"
	"grade/grader/report/terminal"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// maxShown is how many problems of one submission a report of many shows.
const maxShown = 3

// writeMarkdownCourse writes b as a comment: a table of students and exercises, and below
// it the submissions with something to report. It counts what does not fit.
func writeMarkdownCourse(w io.Writer, b *gradebook.Book) error {
	return markdownCourseWithin(w, b, maxComment)
}

// writeSummaryCourse writes the same for the summary of a step of GitHub Actions, with its cap.
func writeSummaryCourse(w io.Writer, b *gradebook.Book) error {
	return markdownCourseWithin(w, b, maxSummary)
}

func markdownCourseWithin(w io.Writer, b *gradebook.Book, limit int) error {
	m := &markdown{limit: limit}
	m.block("## " + escapeMarkdown(wording.Title(b)) + ": " + wording.TallyOf(b).String())
	m.gradebook(b)
	for _, s := range wording.Submissions(b) {
		if lines := markdownSubmission(s); len(lines) > 0 {
			m.block(slices.Concat([]string{"### " + codeSpan(wording.Name(s.Student)) + " " + codeSpan(wording.Name(s.Exercise)) + " " + s.Headline(), ""}, lines)...)
		}
	}
	if m.cut > 0 {
		fmt.Fprintf(&m.b, "\n… and %s that did not fit here\n", wording.Plural(m.cut, "more submission"))
	}
	_, err := io.WriteString(w, m.b.String())
	return err
}

// gradebook writes the table, as many students as fit in three quarters of the room.
func (m *markdown) gradebook(b *gradebook.Book) {
	if len(b.Rows) == 0 {
		m.block("Nothing was handed in.")
		return
	}
	head, line := "| Student |", "|---|"
	for _, c := range b.Columns {
		head, line = head+" "+cell(codeSpan(wording.Name(c.Exercise)))+" |", line+"---:|"
	}
	if !b.Partial {
		head, line = head+" Total |", line+"---:|"
	}
	lines := []string{head, line}
	size, room := 0, m.limit/4*3
	for i, r := range b.Rows {
		row := "| " + cell(codeSpan(wording.Name(r.Student))) + " |"
		for _, c := range r.Cells {
			row += " " + wording.Cell(b, c) + " |"
		}
		if !b.Partial {
			row += " " + wording.Total(r) + " |"
		}
		if size += len(row) + 1; size > room {
			m.block(lines...)
			m.block("… and " + wording.Plural(len(b.Rows)-i, "more student") + " that did not fit here")
			return
		}
		lines = append(lines, row)
	}
	m.block(lines...)
}

// markdownSubmission lists the attempt that is shown, what each rule did and the failed
// checks. It has the first problems only; the student's own report has them all.
func markdownSubmission(s wording.Submission) (lines []string) {
	if s.Cell.Missing != nil {
		lines = append(lines, "- "+escapeMarkdown(wording.NoVerdict(s.Cell.Missing)))
	}
	for _, rule := range wording.Notes(s.Cell) {
		lines = append(lines, "- "+escapeMarkdown(rule))
	}
	if r := s.Result(); r != nil {
		lines = append(lines, markdownProblems(r)...)
	}
	for _, c := range s.Failed() {
		said := fmt.Sprintf("- %s %s %s, %s", mark(c), codeSpan(wording.Name(c.Name)), wording.Points(c), wording.CheckVerdict(c))
		if hint := wording.OneLine(c.Hint); hint != "" {
			said += ": " + escapeMarkdown(hint)
		}
		lines = append(lines, said)
	}
	return lines
}

func markdownProblems(r *verdict.Result) (lines []string) {
	if r.Verdict != verdict.Graded {
		lines = append(lines, "- ❌ "+wording.Verdict(r.Verdict))
	}
	for i, p := range r.Problems {
		if i == maxShown {
			return append(lines, fmt.Sprintf("- … and %d more", len(r.Problems)-i))
		}
		said := terminal.Truncate(wording.Squeezed(p.Message), wording.MaxLine)
		lines = append(lines, "- "+codeSpan(wording.Place(p.File, p.Line, p.Rule))+" "+codeSpan(said))
	}
	return lines
}
