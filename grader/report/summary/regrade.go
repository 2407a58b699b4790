package summary

import (
	"cmp"
	"fmt"
	"strings"

	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/prove"
	"grade/grader/report/terminal"
)

// Regrading is the summary of a regrading.
type Regrading struct {
	Regraded int             `json:"regraded"` // attempts that had to be graded, and were
	Changes  []*prove.Change `json:"changes"`
	Counts   []Counted       `json:"counts"` // under the rules of the course
	Stay     []NoVerdict     `json:"stay"`   // that could not be graded: their results stand
	Applied  bool            `json:"applied"`
}

// Counted is a change of what counts for a student's exercise; without an exercise, of the
// total in percent.
type Counted struct {
	Student  string   `json:"student"`
	Exercise string   `json:"exercise"`
	Old      *float64 `json:"old"`
	New      *float64 `json:"new"`
}

// NewRegrading sums up attempts that were graded anew, and the changes of what counts.
func NewRegrading(list []batch.Regraded, counts []Counted, applied bool) Regrading {
	r := Regrading{Changes: []*prove.Change{}, Counts: counts, Stay: []NoVerdict{}, Applied: applied}
	for _, x := range list {
		if x.New == nil {
			r.Stay = append(r.Stay, NoVerdict{x.Old.Student, x.Old.Exercise, x.Old.Path, x.Err.Error()})
			continue
		}
		r.Regraded++
		if c := compareRecords(x.Old, *x.New); c != nil {
			r.Changes = append(r.Changes, c)
		}
	}
	return r
}

// Differing lists the differences between two gradebooks of one course.
func Differing(before, after *gradebook.Book) []Counted {
	list := []Counted{}
	add := func(student, exercise string, was, is *float64) {
		if (was == nil) != (is == nil) || was != nil && *was != *is {
			list = append(list, Counted{student, exercise, was, is})
		}
	}
	for i, row := range after.Rows {
		for j, cell := range row.Cells {
			add(row.Student, after.Columns[j].Exercise, before.Rows[i].Cells[j].Points, cell.Points)
		}
		add(row.Student, "", before.Rows[i].Total, row.Total)
	}
	return list
}

// Text returns a table of the results that change, and why; then what counts; then the
// figures. If nothing was applied, apply tells the reader how to apply it.
func (r Regrading) Text(apply string) string {
	var b strings.Builder
	b.WriteString(changeTable(r.Changes))
	for i, c := range r.Counts {
		if i == 0 {
			b.WriteString("\nWhat counts:\n")
		}
		what := cmp.Or(c.Exercise, "total, %")
		fmt.Fprintf(&b, "%s  %s  %s → %s\n", terminal.Start(c.Student), what, numberOr("none", c.Old), numberOr("none", c.New))
	}
	for _, s := range r.Stay {
		fmt.Fprintf(&b, "%s  %s  not graded: %s\n", terminal.Start(s.Student), s.Exercise, terminal.Escape(s.Why))
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "regraded %d, changed %d, not graded %d", r.Regraded, len(r.Changes), len(r.Stay))
	switch {
	case r.Applied:
		b.WriteString("; the new results count now\n")
	case r.Regraded > 0:
		fmt.Fprintf(&b, "; the old results still count: %s\n", apply)
	default:
		b.WriteString("\n")
	}
	return b.String()
}
