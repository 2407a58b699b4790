package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grade/grader/gradebook"
	"grade/grader/report/terminal"
	"grade/grader/results/file"
)

type gradebookOptions struct {
	app     *app
	results string
	policy  string
	reports bookReports
}

func newGradebook(a *app) *cobra.Command {
	o := &gradebookOptions{app: a}
	cmd := &cobra.Command{
		Use:     "gradebook",
		Short:   "Show what everybody has, out of kept results",
		GroupID: groupAuthors,
		Long: `Show the results that grade batch keeps, as they count under the rules of the course:
one row a student, one column an exercise. Nothing is graded, and no engine is needed.`,
		Example: `  grade gradebook --results grades
  grade gradebook --results grades --report canvas=canvas.csv --report html=course.html
  grade gradebook --results grades --report html=pages/{student}/{exercise}.html`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return o.run() },
	}
	resultsFlag(cmd, &o.results, "the folder `DIR` in which grade batch keeps results")
	rulesFlag(cmd, &o.policy)
	o.reports.addFlag(cmd)
	return cmd
}

func (o *gradebookOptions) run() error {
	if err := o.reports.check(); err != nil {
		return err
	}
	rules, err := o.app.rulesIn(o.policy)
	if err != nil {
		return err
	}
	ledger, err := file.Read(o.results)
	if err != nil {
		return err
	}
	book := rules.book(ledger.Attempts(), ledger.Pending(), nil)
	for _, c := range book.Columns {
		if !slices.Contains(rules.names, c.Exercise) {
			o.app.closed(fmt.Errorf("the course has no exercise %s: it weighs nothing; if it is of another one, give that: --course DIR", c.Exercise))
		}
	}
	if n := len(ledger.Pending()); n > 0 {
		o.app.closed(fmt.Errorf("no verdict yet on %s, where an older grade stands if there is one: start grade batch again, or the job", several(n, "submission")))
	}
	o.app.doubts(rules, o.reports, book)
	if err := o.reports.write(o.app.out, book); err != nil || o.reports.onStdout() {
		return err
	}
	return o.app.print("%s", bookText(book))
}

// bookText is a table for a terminal, and below it what the rules did and what has no
// verdict.
func bookText(b *gradebook.Book) string {
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

// placeOf is where something lies, in words, if that is known.
func placeOf(m gradebook.Missing) string {
	if m.Folder == "" {
		return ""
	}
	return " on what is in " + terminal.Escape(m.Folder)
}

// numberOr is a number, or what stands in its place where there is none.
func numberOr(none string, x *float64) string {
	if x == nil {
		return none
	}
	return gradebook.Number(*x)
}
