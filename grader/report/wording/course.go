package wording

import (
	"fmt"

	"grade/grader/gradebook"
	"grade/grader/report/terminal"
	"grade/grader/verdict"
)

// Submission is one student's work on one exercise, in a report of many gradings. Shown is
// the attempt whose checks the report lists; nil: there is none.
type Submission struct {
	gradebook.Entry
	Shown *gradebook.Attempt
	max   int // points of the exercise
}

// Submissions lists what was handed in, by student and then by exercise. Work whose
// exercise is not known comes last.
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

// Result returns the grading that the report lists checks of; nil: there is none.
func (s Submission) Result() *verdict.Result {
	if s.Shown == nil {
		return nil
	}
	return s.Shown.Result
}

// Headline returns what s counts, in a line.
func (s Submission) Headline() string { return Counts(s.Cell, s.max) }

// Counts returns what a cell counts, out of max points, in a line.
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

// Cell returns the words of one cell in a table of b, whose head has the maximum.
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

// NotTold reports whether b has nothing to say of a cell. The gradebook of one run does not
// know what else was handed in, so that an empty cell means nothing there.
func NotTold(b *gradebook.Book, c gradebook.Cell) bool {
	return b.Partial && c.Points == nil && c.Missing == nil
}

// Total returns a student's total in percent, or a dash while there is none.
func Total(r gradebook.Row) string {
	if r.Total == nil {
		return "–"
	}
	return gradebook.Number(*r.Total) + " %"
}

// Rules returns what each rule of the course did, and how many rules are beyond the cap.
func Rules(c gradebook.Cell) (list []string) {
	for i, s := range c.Rules {
		if i == MaxProblems {
			return append(list, fmt.Sprintf("… and %d more", len(c.Rules)-i))
		}
		list = append(list, OneLine(s))
	}
	return list
}

// shownWords names the attempt that the report shows, where there are several: it need not
// be the one that counts.
func shownWords(c gradebook.Cell) string {
	a := c.Shown()
	if a == nil || len(c.Attempts) < 2 {
		return ""
	}
	return fmt.Sprintf("Shown here: attempt %d of %d, which scored %d of %d points.", a.Number, c.Last(), a.Result.Score, MaxPoints(a.Result))
}

// Notes returns which attempt is shown, and what each rule of the course did.
func Notes(c gradebook.Cell) []string {
	if said := shownWords(c); said != "" {
		return append([]string{said}, Rules(c)...)
	}
	return Rules(c)
}

// CountedResult returns what a submission counts, out of max points, as a first line, then
// its [Notes]. It is empty if no rules were applied (c is nil).
func CountedResult(c *gradebook.Cell, max int) []string {
	if c == nil {
		return nil
	}
	return append([]string{"Counted result: " + Counts(*c, max)}, Notes(*c)...)
}

// NoVerdict explains to a student why there is no verdict. It never holds an error of ours,
// which could carry what only the teachers may read.
func NoVerdict(m *gradebook.Missing) string {
	if said := OneLine(m.Told); said != "" {
		return "No verdict. The submission cannot be graded as it is: " + said
	}
	return "No verdict: the grader could not finish. This says nothing about the submission."
}

// Failed returns the checks of s that were selected and did not pass.
func (s Submission) Failed() (list []verdict.CheckResult) {
	r := s.Result()
	if r == nil || r.Verdict != verdict.Graded {
		return nil
	}
	for _, c := range r.Checks {
		if !c.Verdict.Earns() && !NotAsked(c) {
			list = append(list, c)
		}
	}
	return list
}

// Tally counts what a gradebook holds.
type Tally struct{ Students, Submissions, Missing int }

// TallyOf counts what b holds.
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

// String returns the tally in a line.
func (t Tally) String() string {
	s := Plural(t.Students, "student") + ", " + Plural(t.Submissions, "submission")
	if t.Missing > 0 {
		s += fmt.Sprintf(", %d without a verdict", t.Missing)
	}
	return s
}

// Plural returns n things, with an s where it is needed.
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Unfailed says that no check failed in n submissions, which were built and tested.
func Unfailed(n int) string {
	switch n {
	case 0:
		return "No submission was built and tested."
	case 1:
		return "No check failed in the one submission that was built and tested."
	}
	return fmt.Sprintf("No check failed in any of the %d submissions that were built and tested.", n)
}

// Title returns the name of a course, or a word in its place.
func Title(b *gradebook.Book) string {
	if t := terminal.Excerpt(b.Title, MaxName); t != "" {
		return t
	}
	return "Gradebook"
}
