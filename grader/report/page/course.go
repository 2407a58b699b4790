package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"grade/grader/gradebook"
	"grade/grader/measure/quantile"
	"grade/grader/report/wording"
)

//go:embed course.tmpl
var courseTemplate string

//go:embed course.css
var courseOnly string

//go:embed course.js
var courseScript string

// Pages returns where the page of a submission lies, as a link from the page of the course;
// empty: there is none.
type Pages func(student, exercise string) string

// courseStyle is the style sheet of the page of one grading, with additions for a course.
var courseStyle = pageStyle + courseOnly

var coursePage = template.Must(template.New("course").Parse(courseTemplate))

// Course writes b as a page for the teachers of a course: one file that needs no other,
// under the policy of the page of one grading, which here names a script as well. Tables
// repeat all that the plots show. Pages may be nil.
func Course(w io.Writer, b *gradebook.Book, pages Pages) error {
	if pages == nil {
		pages = func(string, string) string { return "" }
	}
	data, err := newCourse(b, pages)
	if err != nil {
		return err
	}
	return coursePage.Execute(w, data)
}

// coursePolicy allows one script beside the style sheet, which is named by what is in it.
func coursePolicy() string {
	return pagePolicy(courseStyle) + "; script-src " + sourceHash(courseScript)
}

// The page's data: words that html/template escapes, and the style sheet and the plots,
// which are ours.
type (
	courseData struct {
		Policy    string
		Style     template.CSS
		Script    template.JS
		Title     string
		Summary   string
		Tally     []courseFact
		Missing   []courseMissing
		Heads     []string
		Rows      []courseRow
		Medians   []string
		Exercises []courseExercise
		Measured  bool // any of them
		Partial   bool // of one run: there are no totals
		Students  []courseStudent
	}
	courseFact    struct{ Value, Name string }
	courseMissing struct{ Student, Link, Exercise, Told string }
	courseRow     struct {
		Name, Link string
		Cells      []courseCell
		Total      courseCell
	}
	courseCell struct {
		Words, Class, Link string
		Value              string // a number to sort by; empty: none
		Late               bool
	}
	courseExercise struct {
		ID, Name, Scores string
		Attempts         string
		ScoresPlot       template.HTML
		Bars             []courseBar
		Graded           int // built and tested
		FailuresPlot     template.HTML
		Checks           []courseCheck
		StripsPlot       template.HTML
		Strips           []courseStrip
	}
	courseBar    struct{ Name, Count string }
	courseCheck  struct{ Name, Failed, Share string }
	courseStrip  struct{ Name, Count, Median, Lowest, Highest, Limit, Beyond string }
	courseResult struct {
		Exercise, Points, Attempts, Told, Link string
		Rules                                  []string
	}
	courseStudent struct {
		ID, Name, Total string
		Results         []courseResult
	}
)

// factOf counts things: 1 exercise, 2 exercises.
func factOf(n int, what string) courseFact {
	if n != 1 {
		what += "s"
	}
	return courseFact{fmt.Sprint(n), what}
}

func newCourse(b *gradebook.Book, pages Pages) (*courseData, error) {
	t := wording.TallyOf(b)
	p := &courseData{
		Policy: coursePolicy(), Style: template.CSS(courseStyle), Script: template.JS(courseScript), Title: wording.Title(b), Summary: t.String(), Partial: b.Partial,
		Tally: []courseFact{
			factOf(t.Students, "student"), factOf(len(b.Columns), "exercise"), factOf(t.Submissions, "submission"),
			{fmt.Sprint(t.Missing), "without a verdict"},
		},
	}
	for i, row := range b.Rows {
		student := newCourseStudent(b, row, pages, fmt.Sprintf("student%d", i+1))
		p.Students = append(p.Students, student)
		p.Rows = append(p.Rows, newCourseRow(b, row, pages, student.ID))
		p.Missing = append(p.Missing, missingOf(b, row, student)...)
	}
	var totals []float64
	for _, row := range b.Rows {
		if row.Total != nil {
			totals = append(totals, *row.Total)
		}
	}
	for i, c := range b.Columns {
		p.Heads = append(p.Heads, wording.Name(c.Exercise))
		s := statsOf(b, i)
		p.Medians = append(p.Medians, medianWords(s.points, ""))
		e, err := newCourseExercise(fmt.Sprintf("exercise%d", i+1), s)
		if err != nil {
			return nil, err
		}
		p.Measured = p.Measured || len(e.Strips) > 0
		p.Exercises = append(p.Exercises, e)
	}
	if !b.Partial {
		slices.Sort(totals)
		p.Medians = slices.Insert(p.Medians, 0, medianWords(totals, " %"))
	}
	return p, nil
}

func medianWords(sorted []float64, unit string) string {
	if len(sorted) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.4g%s", quantile.Median(sorted), unit)
}

func newCourseRow(b *gradebook.Book, row gradebook.Row, pages Pages, link string) courseRow {
	out := courseRow{Name: wording.Name(row.Student), Link: link, Total: courseCell{Words: wording.Total(row), Value: sortable(row.Total)}}
	for i, c := range row.Cells {
		cell := courseCell{Words: wording.Cell(b, c), Class: cellClass(c, b.Columns[i].Max), Value: sortable(c.Points), Late: c.Late}
		if c.Result() != nil {
			cell.Link = pages(row.Student, b.Columns[i].Exercise)
		}
		out.Cells = append(out.Cells, cell)
	}
	return out
}

// sortable returns a number as a script reads it.
func sortable(x *float64) string {
	if x == nil {
		return ""
	}
	return gradebook.Number(*x)
}

// cellClass tints a cell, so that the eye finds few points. The number says it as well.
func cellClass(c gradebook.Cell, max int) string {
	switch {
	case c.Points == nil && c.Missing != nil:
		return "missing"
	case c.Points == nil || max <= 0:
		return "nothing"
	}
	return fmt.Sprintf("tint%d", int(4*min(1, *c.Points/float64(max))))
}

// missingOf returns the submissions of a student without a verdict.
func missingOf(b *gradebook.Book, row gradebook.Row, s courseStudent) (list []courseMissing) {
	for i, c := range row.Cells {
		if c.Missing != nil {
			list = append(list, courseMissing{s.Name, s.ID, wording.Name(b.Columns[i].Exercise), wording.NoVerdict(c.Missing)})
		}
	}
	for _, m := range row.Unknown {
		list = append(list, courseMissing{s.Name, s.ID, wording.Name(m.Folder), wording.NoVerdict(&m)})
	}
	return list
}

// newCourseStudent collects a student's work, and what each rule did.
func newCourseStudent(b *gradebook.Book, row gradebook.Row, pages Pages, id string) courseStudent {
	out := courseStudent{ID: id, Name: wording.Name(row.Student), Total: wording.Total(row)}
	for i, c := range row.Cells {
		if wording.NotTold(b, c) {
			continue
		}
		r := courseResult{Exercise: wording.Name(b.Columns[i].Exercise), Points: wording.Counts(c, b.Columns[i].Max), Attempts: attemptWords(c), Rules: wording.Rules(c)}
		if c.Missing != nil {
			r.Told = wording.NoVerdict(c.Missing)
		}
		if c.Result() != nil {
			r.Link = pages(row.Student, b.Columns[i].Exercise)
		}
		out.Results = append(out.Results, r)
	}
	for _, m := range row.Unknown {
		out.Results = append(out.Results, courseResult{Exercise: wording.Name(m.Folder), Points: "no verdict", Told: wording.NoVerdict(&m)})
	}
	return out
}

// attemptWords lists the score of each attempt, in their order, if there are several.
func attemptWords(c gradebook.Cell) string {
	if len(c.Attempts) < 2 {
		return ""
	}
	var said []string
	for _, a := range c.Attempts {
		said = append(said, fmt.Sprint(a.Result.Score))
	}
	return "Attempts, before the course's rules: " + strings.Join(said, " → ")
}

func newCourseExercise(id string, s *exerciseStats) (e courseExercise, err error) {
	e = courseExercise{ID: id, Name: wording.Name(s.name), Scores: s.scoreWords(), Attempts: s.attemptWords(), Graded: s.graded}
	if e.ScoresPlot, err = scoresPlot(id+"-scores-plot", s); err != nil {
		return e, err
	}
	if len(s.points) > 0 {
		for i, n := range histogram(s.points) {
			e.Bars = append(e.Bars, courseBar{barName(i), fmt.Sprint(n)})
		}
	}
	worst := s.worst()
	if e.FailuresPlot, err = failuresPlot(id+"-failures-plot", s.name, worst[:min(len(worst), maxFailures)]); err != nil {
		return e, err
	}
	for _, c := range worst {
		e.Checks = append(e.Checks, courseCheck{wording.Name(c.name), c.failedWords(), fmt.Sprintf("%.0f %%", 100*c.share())})
	}
	measured := s.measured()
	e.StripsPlot, err = stripsPlot(id+"-strips-plot", s.name, measured)
	for _, c := range measured {
		e.Strips = append(e.Strips, newCourseStrip(c))
	}
	return e, err
}

// Unfailed says that no check failed, and in how many submissions.
func (e courseExercise) Unfailed() string { return wording.Unfailed(e.Graded) }

// maxFailures is how many checks of an exercise are drawn; the table has them all.
const maxFailures = 8

func newCourseStrip(c checkStats) courseStrip {
	out := courseStrip{Name: wording.Name(c.name), Count: fmt.Sprint(len(c.ratios)), Limit: "–", Beyond: fmt.Sprint(c.beyond())}
	out.Median, out.Lowest, out.Highest = c.ratioWords()
	if c.limit > 0 {
		out.Limit = fmt.Sprintf("%.4g×", c.limit)
	}
	return out
}
