package report

import (
	"fmt"
	"io"
	"slices"

	"grade/grader/gradebook"
	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// maxShown is how many problems of one submission a report of many shows.
const maxShown = 3

// writeMarkdownBook writes b as a comment: a table of students and exercises, and below it
// each submission of which there is something to say. What does not fit is counted.
func writeMarkdownBook(w io.Writer, b *gradebook.Book) error {
	return markdownBookWithin(w, b, maxComment)
}

// writeSummaryBook writes the same for the summary of a step of GitHub Actions, with its cap.
func writeSummaryBook(w io.Writer, b *gradebook.Book) error {
	return markdownBookWithin(w, b, maxSummary)
}

func markdownBookWithin(w io.Writer, b *gradebook.Book, limit int) error {
	m := &markdown{limit: limit}
	m.block("## " + escapeMarkdown(bookTitle(b)) + ": " + count(b).String())
	m.gradebook(b)
	for _, s := range submissions(b) {
		if lines := markdownSubmission(s); len(lines) > 0 {
			m.block(slices.Concat([]string{"### " + codeSpan(name(s.Student)) + " " + codeSpan(name(s.Exercise)) + " " + s.headline(), ""}, lines)...)
		}
	}
	if m.cut > 0 {
		fmt.Fprintf(&m.b, "\n… and %s more than fit here\n", plural(m.cut, "submission"))
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
		head, line = head+" "+cell(codeSpan(name(c.Exercise)))+" |", line+"---:|"
	}
	if !b.Partial {
		head, line = head+" Total |", line+"---:|"
	}
	lines := []string{head, line}
	size, room := 0, m.limit/4*3
	for i, r := range b.Rows {
		row := "| " + cell(codeSpan(name(r.Student))) + " |"
		for _, c := range r.Cells {
			row += " " + cellWords(b, c) + " |"
		}
		if !b.Partial {
			row += " " + totalWords(r) + " |"
		}
		if size += len(row) + 1; size > room {
			m.block(lines...)
			m.block("… and " + plural(len(b.Rows)-i, "student") + " more than fit here")
			return
		}
		lines = append(lines, row)
	}
	m.block(lines...)
}

// markdownSubmission lists which attempt is told of, what each rule did and what did not pass. Of problems, it has
// the first; the student's own report has them all.
func markdownSubmission(s submission) (lines []string) {
	if s.Cell.Missing != nil {
		lines = append(lines, "- "+escapeMarkdown(told(s.Cell.Missing)))
	}
	for _, rule := range noteList(s.Cell) {
		lines = append(lines, "- "+escapeMarkdown(rule))
	}
	if r := s.result(); r != nil {
		lines = append(lines, markdownProblems(r)...)
	}
	for _, c := range s.failed() {
		said := fmt.Sprintf("- %s %s %s, %s", mark(c), codeSpan(name(c.Name)), points(c), verdictWord(c))
		if hint := oneLine(c.Hint); hint != "" {
			said += ": " + escapeMarkdown(hint)
		}
		lines = append(lines, said)
	}
	return lines
}

func markdownProblems(r *verdict.Result) (lines []string) {
	if r.Verdict != verdict.Graded {
		lines = append(lines, "- ❌ "+word(r.Verdict))
	}
	for i, p := range r.Problems {
		if i == maxShown {
			return append(lines, fmt.Sprintf("- … and %d more", len(r.Problems)-i))
		}
		said := terminal.Truncate(squeezed(p.Message), maxLine)
		lines = append(lines, "- "+codeSpan(place(p.File, p.Line, p.Rule))+" "+codeSpan(said))
	}
	return lines
}
