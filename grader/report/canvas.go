package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/gradebook"
	"grade/grader/report/wording"
)

// canvasMaximum marks the row of what each assignment is worth.
const canvasMaximum = "Points Possible"

// writeCanvas writes b as a file that Canvas' gradebook imports. Students on the roster
// have the names that Canvas uses, in its order. Without a roster, students have their name
// here, as name and as login; beside one, others have no row: Canvas looks for a student by the
// name too, which is a folder's here.
//
// An empty cell deletes the score that Canvas has. So a cell is empty only if nothing was
// handed in, and a student who lacks a verdict through a fault of ours has no row: Canvas
// leaves those scores as they are.
func writeCanvas(w io.Writer, b *gradebook.Book) error {
	if b.Partial {
		return errors.New("one run does not have everything that was handed in, and Canvas would take each gap for nothing handed in: write it from the gradebook of all kept results")
	}
	columns, err := canvasAssignments(b)
	if err != nil {
		return err
	}
	header, maxima := slices.Clone(course.CanvasColumns), []string{"    " + canvasMaximum, "", "", "", ""}
	for _, c := range columns {
		header, maxima = append(header, c.name), append(maxima, gradebook.Number(c.worth))
	}
	rows := [][]string{header, maxima}
	students, _ := canvasStudents(b)
	for _, s := range students {
		if !s.complete() || s.unknown && len(b.Roster) > 0 {
			continue
		}
		row := s.columns()
		for _, c := range columns {
			row = append(row, c.points(s))
		}
		rows = append(rows, row)
	}
	return writeRows(w, rows)
}

// canvasAssignment is an exercise as an assignment of Canvas.
type canvasAssignment struct {
	name  string
	worth float64 // points there
	known bool    // the roster says so
	max   int     // points here
	at    int     // column of the gradebook
}

// points returns a student's points, scaled to what the assignment is worth in Canvas.
func (c canvasAssignment) points(s canvasStudent) string {
	if s.row == nil || s.row.Cells[c.at].Points == nil {
		return ""
	}
	points := *s.row.Cells[c.at].Points
	if c.worth != float64(c.max) {
		points = math.Round(points*c.worth/float64(c.max)*100) / 100
	}
	return amount(&points)
}

// canvasWarnings lists what Canvas would misread in the file.
func canvasWarnings(b *gradebook.Book) (warnings []string) {
	columns, err := canvasAssignments(b)
	if err != nil {
		return nil // writeCanvas returns the error
	}
	for _, c := range columns {
		if !c.known && len(b.Maxima) > 0 {
			warnings = append(warnings, fmt.Sprintf("canvas: the roster has no assignment %q: Canvas will make a new one; give its name, with its number, as canvas: of %s in grade.yaml", c.name, wording.Whole(b.Columns[c.at].Exercise)))
		}
	}
	if len(b.Roster) > 0 && len(b.Maxima) == 0 && len(columns) > 0 {
		warnings = append(warnings, "canvas: the roster lacks the row with what each assignment is worth: the points are exported as they are here; give Canvas's own export, with its row "+canvasMaximum+", as roster: in grade.yaml")
	}
	students, same := canvasStudents(b)
	for _, s := range students {
		if s.row != nil && s.unknown && len(b.Roster) > 0 {
			warnings = append(warnings, fmt.Sprintf("canvas: %s is not on the roster, and has no row: Canvas would find whose it is by the name", wording.Whole(s.row.Student)))
		}
		if !s.complete() {
			warnings = append(warnings, fmt.Sprintf("canvas: %s has no row, because a submission has no verdict", wording.Whole(s.row.Student)))
		}
	}
	if len(b.Roster) == 0 {
		warnings = append(warnings, "canvas: without a roster, names of folders are used as logins; export Canvas's gradebook and give it as roster: in grade.yaml")
	}
	return append(warnings, same...)
}

// canvasAssignments names every exercise of the rules, and refuses a name that is there
// twice: Canvas takes the first column, which for an exercise called ID would be the number
// of every student.
func canvasAssignments(b *gradebook.Book) (list []canvasAssignment, err error) {
	seen := map[string]bool{}
	for _, name := range course.CanvasColumns {
		seen[name] = true
	}
	for i, c := range b.Columns {
		if c.Extra {
			continue // the rules do not list it, so Canvas may lack it
		}
		name := cmp.Or(c.Canvas, c.Exercise)
		a := canvasAssignment{name: cellText(name), worth: float64(c.Max), max: c.Max, at: i}
		if seen[a.name] {
			return nil, fmt.Errorf("two columns would be called %q in Canvas: give exercise %s another canvas: in grade.yaml", a.name, wording.Whole(c.Exercise))
		}
		if worth, ok := b.Maxima[name]; ok {
			a.worth, a.known = worth, true
		}
		seen[a.name] = true
		list = append(list, a)
	}
	return list, nil
}

// canvasStudent has a place on the roster, or a row in the gradebook, or both.
type canvasStudent struct {
	gradebook.Person
	row     *gradebook.Row // nil: the student has handed nothing in
	unknown bool           // the roster lacks the student
}

// canvasStudents returns the students of the roster, and then the others. It leaves out
// logins that are one person on the roster and returns them as same, because their points
// cannot be told apart. It leaves out who teaches: empty cells would take away what they have
// in Canvas.
func canvasStudents(b *gradebook.Book) (list []canvasStudent, same []string) {
	rows := map[gradebook.Person][]*gradebook.Row{}
	var others []canvasStudent
	for i := range b.Rows {
		r := &b.Rows[i]
		if p, ok := b.Roster.Find(r.Student); ok {
			rows[p] = append(rows[p], r)
		} else {
			others = append(others, canvasStudent{gradebook.Person{Name: r.Student, SISLoginID: r.Student}, r, true})
		}
	}
	for _, p := range b.Roster {
		switch found := rows[p]; {
		case p.Teaches():
		case len(found) == 0:
			list = append(list, canvasStudent{Person: p})
		case len(found) == 1:
			list = append(list, canvasStudent{Person: p, row: found[0]})
		default:
			same = append(same, fmt.Sprintf("canvas: students %s and %s are the same person on the roster, and neither has a row", wording.Whole(found[0].Student), wording.Whole(found[1].Student)))
		}
	}
	return append(list, others...), same
}

// complete reports whether no cell is empty for lack of a verdict.
func (s canvasStudent) complete() bool {
	if s.row == nil {
		return true
	}
	for _, c := range s.row.Cells {
		if c.Missing != nil && c.Points == nil {
			return false
		}
	}
	return len(s.row.Unknown) == 0 // it could be of any of them
}

// columns returns the cells before the assignments. A student with the name of the row of
// maxima would set the maxima for all.
func (s canvasStudent) columns() []string {
	name := strings.ReplaceAll(cellText(s.Name), canvasMaximum, strings.ToLower(canvasMaximum))
	return []string{name, cellText(s.ID), cellText(s.SISUserID), cellText(s.SISLoginID), cellText(s.Section)}
}
