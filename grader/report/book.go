package report

import (
	"fmt"

	"grade/grader/gradebook"
	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// What reports of many gradings say in words is put together here, once, as plain text.

// submission is what a student has of an exercise, in a report of many.
type submission struct {
	gradebook.Entry
	shown *gradebook.Attempt // whose checks are told; nil: there is none
	max   int                // points of the exercise
}

// submissions are all in which there is something, by student and then by exercise, and
// after them those of which no exercise is known.
func submissions(b *gradebook.Book) (list []submission) {
	most := map[string]int{}
	for _, c := range b.Columns {
		most[c.Exercise] = c.Max
	}
	for _, e := range b.Entries() {
		list = append(list, submission{Entry: e, shown: e.Cell.Shown(), max: most[e.Exercise]})
	}
	for _, row := range b.Rows {
		for _, m := range row.Unknown {
			s := submission{Entry: gradebook.Entry{Student: m.Student, Exercise: m.Exercise, Folder: m.Folder, Cell: gradebook.Cell{Missing: &m}}}
			if s.Exercise == "" {
				s.Exercise = "unknown exercise (" + m.Folder + ")"
			}
			list = append(list, s)
		}
	}
	return list
}

// result is what is told of s; nil: nothing.
func (s submission) result() *verdict.Result {
	if s.shown == nil {
		return nil
	}
	return s.shown.Result
}

// headline says in a line what s counts.
func (s submission) headline() string { return counted(s.Cell, s.max) }

// counted says in a line what a cell counts, of so many points.
func counted(c gradebook.Cell, max int) string {
	switch {
	case c.Points == nil && c.Missing != nil:
		return "no verdict"
	case c.Points == nil:
		return "nothing handed in"
	case c.Missing != nil:
		return fmt.Sprintf("%s of %d points, newest without a verdict", gradebook.Number(*c.Points), max)
	}
	return fmt.Sprintf("%s of %d points", gradebook.Number(*c.Points), max)
}

// cellWords say the same in a table of b, where the maximum stands elsewhere.
func cellWords(b *gradebook.Book, c gradebook.Cell) string {
	switch {
	case unsaid(b, c):
		return ""
	case c.Points == nil && c.Missing != nil:
		return "no verdict"
	case c.Points == nil:
		return "–"
	}
	return gradebook.Number(*c.Points)
}

// unsaid reports whether b says nothing of a cell: what else somebody has handed in is
// not in a book of one run.
func unsaid(b *gradebook.Book, c gradebook.Cell) bool {
	return b.Partial && c.Points == nil && c.Missing == nil
}

// totalWords say a total; where there is none, why.
func totalWords(r gradebook.Row) string {
	if r.Total == nil {
		return "–"
	}
	return gradebook.Number(*r.Total) + " %"
}

// ruleList says what each rule did, and how many there are beyond the cap.
func ruleList(c gradebook.Cell) (list []string) {
	for i, s := range c.Rules {
		if i == maxProblems {
			return append(list, fmt.Sprintf("… and %d more", len(c.Rules)-i))
		}
		list = append(list, oneLine(s))
	}
	return list
}

// shownWords say which attempt is told of, where there are several: it need not be the one
// that counts.
func shownWords(c gradebook.Cell) string {
	a := c.Shown()
	if a == nil || len(c.Attempts) < 2 {
		return ""
	}
	return fmt.Sprintf("Shown is attempt %d of %d, graded %d of %d points.", a.Number, len(c.Attempts), a.Result.Score, most(a.Result))
}

// noteList says which attempt is told of, and what each rule did.
func noteList(c gradebook.Cell) []string {
	if said := shownWords(c); said != "" {
		return append([]string{said}, ruleList(c)...)
	}
	return ruleList(c)
}

// standing says what a submission counts, of so many points, which attempt
// is told of, and what each rule did; nothing where no rules were asked.
func standing(c *gradebook.Cell, max int) []string {
	if c == nil {
		return nil
	}
	return append([]string{"What counts: " + counted(*c, max)}, noteList(*c)...)
}

// told is what a report says of a submission without a verdict: never an error of ours,
// which could carry what only whoever runs the course may read.
func told(m *gradebook.Missing) string {
	if said := oneLine(m.Told); said != "" {
		return "No verdict, this cannot be graded as it is: " + said
	}
	return "No verdict: the grader could not finish. This says nothing about the submission."
}

// failed are the checks of s that did not pass, of those that somebody asked for.
func (s submission) failed() (list []verdict.CheckResult) {
	r := s.result()
	if r == nil || r.Verdict != verdict.Graded {
		return nil
	}
	for _, c := range r.Checks {
		if c.Verdict != verdict.Passed && !unasked(c) {
			list = append(list, c)
		}
	}
	return list
}

// tally counts what a book holds.
type tally struct{ students, submissions, graded, missing int }

func count(b *gradebook.Book) tally {
	t := tally{students: len(b.Rows)}
	for _, s := range submissions(b) {
		t.submissions++
		if s.Cell.Missing != nil {
			t.missing++
		} else {
			t.graded++
		}
	}
	return t
}

// String says it in a line.
func (t tally) String() string {
	s := plural(t.students, "student") + ", " + plural(t.submissions, "submission")
	if t.missing > 0 {
		s += fmt.Sprintf(", %d without a verdict", t.missing)
	}
	return s
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// bookTitle is what a course is called.
func bookTitle(b *gradebook.Book) string {
	if t := terminal.Excerpt(b.Title, maxName); t != "" {
		return t
	}
	return "Gradebook"
}
