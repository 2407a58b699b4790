package wording

import (
	"fmt"

	"grade/grader/gradebook"
	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// What reports of many gradings say in words is put together here, once, as plain text.

// Submission is what a student has of an exercise, in a report of many.
type Submission struct {
	gradebook.Entry
	Shown *gradebook.Attempt // whose checks are told; nil: there is none
	max   int                // points of the exercise
}

// Submissions are all in which there is something, by student and then by exercise, and
// after them those of which no exercise is known.
func Submissions(b *gradebook.Book) (list []Submission) {
	most := map[string]int{}
	for _, c := range b.Columns {
		most[c.Exercise] = c.Max
	}
	for _, e := range b.Entries() {
		list = append(list, Submission{Entry: e, Shown: e.Cell.Shown(), max: most[e.Exercise]})
	}
	for _, row := range b.Rows {
		for _, m := range row.Unknown {
			s := Submission{Entry: gradebook.Entry{Student: m.Student, Exercise: m.Exercise, Folder: m.Folder, Cell: gradebook.Cell{Missing: &m}}}
			if s.Exercise == "" {
				s.Exercise = "unknown exercise (" + m.Folder + ")"
			}
			list = append(list, s)
		}
	}
	return list
}

// Result is what is told of s; nil: nothing.
func (s Submission) Result() *verdict.Result {
	if s.Shown == nil {
		return nil
	}
	return s.Shown.Result
}

// Headline says in a line what s counts.
func (s Submission) Headline() string { return Counts(s.Cell, s.max) }

// Counts says in a line what a cell counts, of so many points.
func Counts(c gradebook.Cell, max int) string {
	switch {
	case c.Points == nil && c.Missing != nil:
		return "no verdict"
	case c.Points == nil:
		return "nothing handed in"
	case c.Missing != nil:
		return fmt.Sprintf("%s of %d points, newest submission not graded yet", gradebook.Number(*c.Points), max)
	}
	return fmt.Sprintf("%s of %d points", gradebook.Number(*c.Points), max)
}

// Cell say the same in a table of b, where the maximum stands elsewhere.
func Cell(b *gradebook.Book, c gradebook.Cell) string {
	switch {
	case NotTold(b, c):
		return ""
	case c.Points == nil && c.Missing != nil:
		return "no verdict"
	case c.Points == nil:
		return "–"
	}
	return gradebook.Number(*c.Points)
}

// NotTold reports whether b says nothing of a cell: what else somebody has handed in is
// not in the gradebook of one run.
func NotTold(b *gradebook.Book, c gradebook.Cell) bool {
	return b.Partial && c.Points == nil && c.Missing == nil
}

// Total say a total; where there is none, why.
func Total(r gradebook.Row) string {
	if r.Total == nil {
		return "–"
	}
	return gradebook.Number(*r.Total) + " %"
}

// Rules says what each rule did, and how many there are beyond the cap.
func Rules(c gradebook.Cell) (list []string) {
	for i, s := range c.Rules {
		if i == MaxProblems {
			return append(list, fmt.Sprintf("… and %d more", len(c.Rules)-i))
		}
		list = append(list, OneLine(s))
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
	return fmt.Sprintf("Shown here: attempt %d of %d, which scored %d of %d points.", a.Number, len(c.Attempts), a.Result.Score, MaxPoints(a.Result))
}

// Notes says which attempt is told of, and what each rule did.
func Notes(c gradebook.Cell) []string {
	if said := shownWords(c); said != "" {
		return append([]string{said}, Rules(c)...)
	}
	return Rules(c)
}

// CountedResult says what a submission counts, of so many points, which attempt
// is told of, and what each rule did; nothing where no rules were asked.
func CountedResult(c *gradebook.Cell, max int) []string {
	if c == nil {
		return nil
	}
	return append([]string{"Counted result: " + Counts(*c, max)}, Notes(*c)...)
}

// NoVerdict is what a report says of a submission without a verdict: never an error of ours,
// which could carry what only whoever runs the course may read.
func NoVerdict(m *gradebook.Missing) string {
	if said := OneLine(m.Told); said != "" {
		return "No verdict. The submission cannot be graded as it is: " + said
	}
	return "No verdict: the grader could not finish. This says nothing about the submission."
}

// Failed are the checks of s that did not pass, of those that somebody asked for.
func (s Submission) Failed() (list []verdict.CheckResult) {
	r := s.Result()
	if r == nil || r.Verdict != verdict.Graded {
		return nil
	}
	for _, c := range r.Checks {
		if c.Verdict != verdict.Passed && !NotAsked(c) {
			list = append(list, c)
		}
	}
	return list
}

// Tally counts what a gradebook holds.
type Tally struct{ Students, Submissions, Missing int }

func TallyOf(b *gradebook.Book) Tally {
	t := Tally{Students: len(b.Rows)}
	for _, s := range Submissions(b) {
		t.Submissions++
		if s.Cell.Missing != nil {
			t.Missing++
		}
	}
	return t
}

// String says it in a line.
func (t Tally) String() string {
	s := Plural(t.Students, "student") + ", " + Plural(t.Submissions, "submission")
	if t.Missing > 0 {
		s += fmt.Sprintf(", %d without a verdict", t.Missing)
	}
	return s
}

func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Title is what a course is called.
func Title(b *gradebook.Book) string {
	if t := terminal.Excerpt(b.Title, MaxName); t != "" {
		return t
	}
	return "Gradebook"
}
