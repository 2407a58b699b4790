package summary

import (
	"fmt"
	"strings"

	"grade/grader/gradebook"
	"grade/grader/report/terminal"
)

// Book returns a table of what counts, and below it what the rules did and which
// submissions lack a verdict.
func Book(b *gradebook.Book) string {
	width := len("student")
	for _, r := range b.Rows {
		width = max(width, terminal.Width(terminal.Start(r.Student)))
	}
	var s, notes strings.Builder
	s.WriteString(terminal.Pad("student", width))
	for _, c := range b.Columns {
		fmt.Fprintf(&s, "  %*s", max(len(c.Exercise), 6), c.Exercise)
	}
	s.WriteString("  total %\n")
	for _, r := range b.Rows {
		s.WriteString(terminal.Pad(terminal.Start(r.Student), width))
		for i, c := range r.Cells {
			points := numberOr("-", c.Points)
			if c.Missing != nil && c.Points == nil {
				points = "?"
			}
			fmt.Fprintf(&s, "  %*s", max(len(b.Columns[i].Exercise), 6), points)
			for _, why := range c.Rules {
				fmt.Fprintf(&notes, "%s  %s  %s\n", terminal.Start(r.Student), b.Columns[i].Exercise, terminal.Escape(why))
			}
			if c.Missing != nil {
				fmt.Fprintf(&notes, "%s  %s  no verdict%s: %s\n", terminal.Start(r.Student), b.Columns[i].Exercise, placeOf(*c.Missing), terminal.Escape(c.Missing.Why))
			}
		}
		for _, m := range r.Unknown {
			fmt.Fprintf(&notes, "%s  no verdict%s: %s\n", terminal.Start(r.Student), placeOf(m), terminal.Escape(m.Why))
		}
		fmt.Fprintf(&s, "  %7s\n", numberOr("-", r.Total))
	}
	if notes.Len() > 0 {
		s.WriteString("\n")
	}
	return s.String() + notes.String()
}

// placeOf names the place of a submission, if it is known.
func placeOf(m gradebook.Missing) string {
	if m.Folder == "" {
		return ""
	}
	return " on what is in " + terminal.Escape(m.Folder)
}

// numberOr writes a number, or none for nil.
func numberOr(none string, x *float64) string {
	if x == nil {
		return none
	}
	return gradebook.Number(*x)
}
