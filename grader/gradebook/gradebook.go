// Package gradebook says what submissions count under the rules of a course: which
// attempt, what being late takes off, what it comes to in total. It is pure: times are
// those of submissions, told by its caller, and the hour at which something was graded
// plays no part. It knows neither sandboxes nor what a report looks like.
//
// A caller collects [Attempt]s and what has no verdict, and calls [New].
package gradebook

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"grade/exercises/course"
	"grade/grader/verdict"
)

// Attempt is a submission that was graded.
type Attempt struct {
	Student   string
	Exercise  string
	Number    int             // from 1, of one student's at one exercise; in a Book by time, where that is known
	Submitted time.Time       // zero: not known
	Source    string          // of that time, in words, such as "the commit"
	Unlisted  bool            // there is a table of times, and it does not have this one
	Folder    string          // slash-separated, from the repository's root; empty: not known
	Result    *verdict.Result // never nil
	// Current tells that a run was about this one, and so are its reports, even if another
	// was handed in later: an old job may be repeated.
	Current bool
}

// Missing is a submission without a verdict: a fault of ours, or of whoever runs the
// course.
type Missing struct {
	Student  string
	Exercise string // empty: not even that is known
	Folder   string
	Why      string // for whoever runs the course
	Told     string // for the student, and so for reports; empty: only that there is none
}

// Book is what everybody has.
type Book struct {
	Title   string
	Columns []Column           // exercises, in the order of the rules
	Rows    []Row              // students, sorted by name
	Roster  Roster             // who is in the course; empty: not known
	Maxima  map[string]float64 // what Canvas has its assignments worth, by name; empty: not known
	Partial bool               // see [Book.Part]
}

// Column is one exercise.
type Column struct {
	course.Rules
	Max   int  // points
	Extra bool // not in the rules: it is shown, and weighs nothing
}

// Row is one student.
type Row struct {
	Student string
	Cells   []Cell // one for each column
	// Total is the weighted mean in percent, what was not handed in counting 0; nil
	// where something has no verdict and no older grade, or nothing weighs anything.
	Total *float64
	// Unknown are submissions of which not even the exercise is known.
	Unknown []Missing
}

// Cell is what one student has in one exercise. The zero Cell is of one who has handed
// nothing in.
type Cell struct {
	Attempts []Attempt // in the order they were handed in
	Counts   *Attempt  // one of them; nil: none
	Points   *float64  // what it counts, in hundredths; nil: nothing was graded
	Rules    []string  // what each rule did, a sentence each
	Missing  *Missing  // the newest submission has no verdict; an older one's grade stands
}

// Shown is the attempt that reports tell of, since its student learns from it: the one that
// a run was about, or else the newest, whichever counts. Nil: nothing was graded, or the
// newest submission has no verdict, so that an older one's faults may be mended by now.
func (c Cell) Shown() *Attempt {
	if c.Missing != nil || len(c.Attempts) == 0 {
		return nil
	}
	if i := slices.IndexFunc(c.Attempts, func(a Attempt) bool { return a.Current }); i >= 0 {
		return &c.Attempts[i]
	}
	return &c.Attempts[len(c.Attempts)-1]
}

// Result is the grading of the attempt that reports tell of; nil: there is none.
func (c Cell) Result() *verdict.Result {
	if a := c.Shown(); a != nil {
		return a.Result
	}
	return nil
}

// New computes the book of a course that has the exercises names. Where the policy lists
// some of them, the others weigh nothing, and are shown only if somebody handed one in;
// so are exercises that the course does not have.
func New(p *course.Policy, names []string, attempts []Attempt, missing []Missing) *Book {
	b := &Book{Title: p.Title}
	for _, r := range p.Exercises {
		b.Columns = append(b.Columns, Column{Rules: r, Max: course.MaxScore})
	}
	if len(p.Exercises) == 0 {
		for _, name := range names {
			r, _ := p.RulesOf(name)
			b.Columns = append(b.Columns, Column{Rules: r, Max: course.MaxScore})
		}
	}
	all := shelve(attempts, missing)
	for _, name := range all.exercises() {
		if !b.has(name) {
			r, _ := p.RulesOf(name)
			r.Weight = 0
			b.Columns = append(b.Columns, Column{r, course.MaxScore, true})
		}
	}
	for _, student := range slices.Sorted(maps.Keys(all)) {
		b.Rows = append(b.Rows, b.row(p, student, all[student]))
	}
	return b
}

func (b *Book) has(exercise string) bool {
	return slices.ContainsFunc(b.Columns, func(c Column) bool { return c.Exercise == exercise })
}

// shelf is what there is of each student.
type shelf map[string]*work

type work struct {
	attempts []Attempt
	missing  []Missing
}

func shelve(attempts []Attempt, missing []Missing) shelf {
	s := shelf{}
	of := func(student string) *work {
		if s[student] == nil {
			s[student] = &work{}
		}
		return s[student]
	}
	for _, a := range attempts {
		of(a.Student).attempts = append(of(a.Student).attempts, a)
	}
	for _, m := range missing {
		of(m.Student).missing = append(of(m.Student).missing, m)
	}
	return s
}

// exercises are those that anybody has handed in, sorted.
func (s shelf) exercises() []string {
	names := map[string]bool{}
	for _, w := range s {
		for _, a := range w.attempts {
			names[a.Exercise] = true
		}
		for _, m := range w.missing {
			names[m.Exercise] = true
		}
	}
	delete(names, "") // not even that is known
	return slices.Sorted(maps.Keys(names))
}

func (b *Book) row(p *course.Policy, student string, w *work) Row {
	row := Row{Student: student}
	for _, c := range b.Columns {
		var cell Cell
		for _, a := range w.attempts {
			if a.Exercise == c.Exercise {
				cell.Attempts = append(cell.Attempts, a)
			}
		}
		for _, m := range w.missing {
			if m.Exercise == c.Exercise {
				cell.Missing = &m
			}
		}
		InOrder(cell.Attempts)
		due, extended := p.DueFor(student, c.Rules)
		cell.decide(ruling{c.Rules, due, extended, p.Zone})
		row.Cells = append(row.Cells, cell)
	}
	for _, m := range w.missing {
		if !b.has(m.Exercise) {
			row.Unknown = append(row.Unknown, m)
		}
	}
	row.Total = b.total(row)
	return row
}

// InOrder sorts the attempts of one student at one exercise by when they were handed in, where that is known of all, and
// numbers them so: a run that took longer may have kept the earlier one later.
func InOrder(list []Attempt) {
	known := !slices.ContainsFunc(list, func(a Attempt) bool { return a.Submitted.IsZero() })
	slices.SortFunc(list, func(a, b Attempt) int {
		if known {
			return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.Number, b.Number))
		}
		return cmp.Compare(a.Number, b.Number)
	})
	for i := range list {
		list[i].Number = i + 1
	}
}

// total is the weighted mean.
func (b *Book) total(row Row) *float64 {
	if len(row.Unknown) > 0 {
		return nil
	}
	var sum, weights float64
	for i, c := range row.Cells {
		if c.Missing != nil && c.Points == nil && b.Columns[i].Weight > 0 {
			return nil // whatever it comes to, it is not this
		}
		weights += b.Columns[i].Weight
		if c.Points != nil {
			sum += b.Columns[i].Weight * *c.Points / float64(b.Columns[i].Max)
		}
	}
	if weights == 0 {
		return nil
	}
	total := hundredths(100 * sum / weights)
	return &total
}

// Part makes b one of a run alone, which says nothing of what it was not about: there are
// no totals, no exercises of which nobody has anything here, and nobody who has nothing.
func (b *Book) Part() {
	b.Partial, b.Roster = true, nil
	for i := len(b.Columns) - 1; i >= 0; i-- {
		if slices.ContainsFunc(b.Rows, func(r Row) bool { return !r.Cells[i].empty() }) {
			continue
		}
		b.Columns = slices.Delete(b.Columns, i, i+1)
		for j := range b.Rows {
			b.Rows[j].Cells = slices.Delete(b.Rows[j].Cells, i, i+1)
		}
	}
	for j := range b.Rows {
		b.Rows[j].Total = nil
	}
}

func (c Cell) empty() bool { return c.Missing == nil && len(c.Attempts) == 0 }

// Find is the cell of a student's exercise. Logins know no case.
func (b *Book) Find(student, exercise string) (Cell, bool) {
	i := slices.IndexFunc(b.Rows, func(r Row) bool { return strings.EqualFold(r.Student, student) })
	j := slices.IndexFunc(b.Columns, func(c Column) bool { return c.Exercise == exercise })
	if i < 0 || j < 0 {
		return Cell{}, false
	}
	return b.Rows[i].Cells[j], true
}

// Entry is a submission that reports tell of.
type Entry struct {
	Student, Exercise, Folder string
	Cell                      Cell
}

// Entries are all cells in which there is something, by student and then by column.
func (b *Book) Entries() (list []Entry) {
	for _, row := range b.Rows {
		for i, c := range row.Cells {
			e := Entry{row.Student, b.Columns[i].Exercise, "", c}
			switch shown := c.Shown(); {
			case c.Missing != nil:
				e.Folder = c.Missing.Folder
			case shown != nil:
				e.Folder = shown.Folder
			default:
				continue
			}
			list = append(list, e)
		}
	}
	return list
}

// String is the name of a submission in a report about many.
func (e Entry) String() string { return strings.Join([]string{e.Student, e.Exercise}, "/") }
