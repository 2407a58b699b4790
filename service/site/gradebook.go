package site

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/report"
	"grade/grader/report/page"
	"grade/grader/report/wording"
	"grade/grader/results"
	"grade/service/people"
)

// book computes the gradebook of the course from all that is kept, as grade gradebook does
// from an export of it, but for what staff have handed in to try the course.
func (q *request) book() (*gradebook.Book, error) {
	all, err := q.Door.People(q.Context())
	if err != nil {
		return nil, err
	}
	teaches := map[string]bool{}
	for _, p := range all {
		teaches[strings.ToLower(p.Login)] = p.Role.Teaches()
	}
	attempts := slices.DeleteFunc(q.Results.Attempts(), func(r results.Record) bool { return teaches[strings.ToLower(r.Student)] })
	pending := slices.DeleteFunc(q.Results.Pending(), func(p results.Pending) bool { return teaches[strings.ToLower(p.Student)] })
	return batch.Book(q.course().Policy, attempts, pending, nil), nil
}

// storyOf is the address of a student's page.
func storyOf(student string) string { return "/course/students/" + url.PathEscape(student) }

// attemptsOf is the address of a student's attempts at an exercise, but for their numbers.
func attemptsOf(student, exercise string) string {
	return storyOf(student) + "/" + exercise + "/attempts/"
}

// gradebookView is the gradebook.
type gradebookView struct {
	Main    template.HTML   `json:"-"`
	Formats []report.Format `json:"-"`
	Title   string          `json:"title"`
	Columns []string        `json:"exercises"`
	Rows    []gradebookRow  `json:"students"`
	Absent  []people.Person `json:"nothing_handed_in"` // students of the course
}

type gradebookRow struct {
	Student string          `json:"student"`
	Total   *float64        `json:"total"` // percent; nil: not known
	Cells   []gradebookCell `json:"exercises"`
}

type gradebookCell struct {
	Points    *float64 `json:"points"` // nil: none
	Attempts  int      `json:"attempts"`
	Late      bool     `json:"late"`
	NoVerdict bool     `json:"no_verdict"`
	Rules     []string `json:"rules"`
}

func (q *request) gradebookPage() error {
	book, err := q.book()
	if err != nil {
		return err
	}
	v := gradebookView{Title: wording.Title(book), Columns: []string{}, Rows: []gradebookRow{}, Absent: []people.Person{}}
	for _, f := range report.Formats() {
		if f.OfMany() {
			v.Formats = append(v.Formats, f)
		}
	}
	for _, c := range book.Columns {
		v.Columns = append(v.Columns, c.Exercise)
	}
	for _, row := range book.Rows {
		r := gradebookRow{Student: row.Student, Total: row.Total}
		for _, c := range row.Cells {
			r.Cells = append(r.Cells, gradebookCell{c.Points, len(c.Attempts), c.Late, c.Missing != nil, slices.Concat([]string{}, c.Rules)})
		}
		v.Rows = append(v.Rows, r)
	}
	if err := v.absent(q); err != nil {
		return err
	}
	if !wantsJSON(q.Request) {
		var b bytes.Buffer
		pages := func(student, exercise string) string { return storyOf(student) + "#" + exercise }
		if err := page.CourseMain(&b, book, pages); err != nil {
			return err
		}
		v.Main = template.HTML(b.String())
	}
	return q.show("gradebook", v)
}

// absent lists the students who are in no row, because they have handed nothing in.
func (v *gradebookView) absent(q *request) error {
	all, err := q.Door.People(q.Context())
	in := map[string]bool{}
	for _, r := range v.Rows {
		in[strings.ToLower(r.Student)] = true
	}
	for _, p := range all {
		if p.Role == people.Student && !in[strings.ToLower(p.Login)] {
			v.Absent = append(v.Absent, p)
		}
	}
	return err
}

// kinds are the types of downloads whose names say no type.
var kinds = map[string][2]string{
	"html": {"html", "text/html; charset=utf-8"}, "markdown": {"md", "text/markdown; charset=utf-8"}, "json": {"json", "application/json"},
	"junit": {"xml", "application/xml"}, "csv": {"csv", "text/csv; charset=utf-8"}, "canvas": {"csv", "text/csv; charset=utf-8"},
	"gitlab-codequality": {"json", "application/json"},
}

// download sends the gradebook in a format of grade gradebook.
func (q *request) download() error {
	f, ok := report.FormatNamed(q.PathValue("format"))
	if !ok || !f.OfMany() {
		return notFound(fmt.Sprintf("there is no gradebook as %q", q.PathValue("format")), "the page of the gradebook lists the formats")
	}
	book, err := q.book()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := f.WriteCourse(&b, book); err != nil {
		return unprocessable("docs/grade-yaml.md says what the format needs", "%s", err)
	}
	kind, ok := kinds[f.Name]
	if !ok {
		kind = [2]string{"txt", "text/plain; charset=utf-8"}
	}
	return q.send(f.Name+"-gradebook."+kind[0], kind[1], b.Bytes())
}
