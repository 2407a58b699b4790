package gradebook

import (
	"fmt"
	"slices"
	"time"
)

// list gives the attempts of one student at one exercise, which are in order, the times by
// the table: what a row with the attempt's number says, what the row for the last attempt
// says, or what the table said when the attempt was graded.
func (p *Policy) list(cell []Attempt) {
	p.row(cell)
	listed := make([]bool, len(cell))
	for i := range cell {
		a := &cell[i]
		if at := p.Listed.At(a.Student, a.Exercise, a.Number); !at.IsZero() {
			a.Listed, a.ListedIn, a.Later = at, p.Times, time.Time{}
		}
		if listed[i] = !a.Listed.IsZero(); listed[i] {
			a.Submitted, a.Source = a.Listed, a.ListedIn
		}
		if !a.Submitted.IsZero() {
			a.Submitted = a.Submitted.In(p.Zone) // one column has the times of all
		}
		a.Unlisted = p.Listed != nil && !listed[i]
	}
	between(cell, listed)
}

// row applies the row without a number, which is about the last attempt. A later time than
// the one that was kept with that attempt does not count: the row may be about work that was
// not graded yet, or the same was handed in again. A time that is no later than another
// attempt's is that one's: the row is older than the last attempt.
func (p *Policy) row(cell []Attempt) {
	last := &cell[len(cell)-1]
	at := p.Listed.At(last.Student, last.Exercise, 0)
	older := slices.ContainsFunc(cell[:len(cell)-1], func(a Attempt) bool { return !a.Listed.IsZero() && !at.After(a.Listed) })
	switch {
	case at.IsZero() || older:
	case last.Listed.IsZero() || at.Before(last.Listed):
		last.Listed, last.ListedIn = at, p.Times
	case at.After(last.Listed):
		last.Later = at
	}
}

// between moves the times of attempts that the table lacks between those of its neighbours
// that the table has. Other clocks say when a file was changed: by these alone, the work
// before would have been handed in after the work that replaced it.
func between(cell []Attempt, listed []bool) {
	for i := range cell {
		a := &cell[i]
		if listed[i] || a.Submitted.IsZero() {
			continue
		}
		for j, b := range cell {
			if listed[j] && (j > i && b.Submitted.Before(a.Submitted) || j < i && b.Submitted.After(a.Submitted)) {
				a.Submitted, a.Source = b.Submitted, fmt.Sprintf("the table's time of attempt %d", b.Number)
			}
		}
	}
}
