// Package gradebook computes what submissions count under the rules of a course: the
// attempt that counts, the deduction for being late, the total. It is pure: the caller
// passes the time of each submission, and the time of grading plays no part. It knows
// neither sandboxes nor what a report looks like.
//
// A caller collects [Attempt]s and submissions without a verdict, and calls [New].
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
	Number    int             // from 1, for one student at one exercise; in a Book it grows with time, where that is known
	Submitted time.Time       // zero: not known
	Source    string          // of that time, in words, such as "the commit"
	Listed    time.Time       // by the table of times when this was graded; zero: not known
	ListedIn  string          // the name of that table
	Later     time.Time       // what the table has now, if it is later than Listed, which counts
	Unlisted  bool            // a table of times exists and lacks this attempt
	Folder    string          // slash-separated, from the repository's root; empty: not known
	Result    *verdict.Result // never nil
	// Current marks the attempt that a run is about. The run's reports show it even if
	// another attempt is newer: an old job may be repeated.
	Current bool
}

// Missing is a submission without a verdict. The fault is ours, the author's or the
// caller's.
type Missing struct {
	Student  string
	Exercise string // empty: not known
	Folder   string
	Why      string // for the teacher
	Told     string // for the student, in reports; empty: reports say only that there is no verdict
}

// Book is the gradebook of a course: what each student has in each exercise.
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
	Extra bool // the rules do not list it: it is shown and has no weight
}

// Row is one student.
type Row struct {
	Student string
	Cells   []Cell // one for each column
	// Total is the weighted mean in percent, where work that was not handed in counts 0. It
	// is nil where a submission has neither a verdict nor an older grade, or all weights
	// are 0.
	Total *float64
	// Unknown lists submissions whose exercise is not known.
	Unknown []Missing
}

// Cell is the work of one student at one exercise. The zero Cell means that the student has
// handed nothing in.
type Cell struct {
	Attempts []Attempt // in the order they were handed in
	Counts   *Attempt  // one of them; nil: none
	Points   *float64  // what it counts, in hundredths; nil: nothing was graded
	Rules    []string  // what each rule did, a sentence each
	Late     bool      // what counts was handed in late, or nothing counts for being late
	Missing  *Missing  // the newest submission has no verdict; an older one's grade stands
}

// Shown returns the attempt that reports show, which a student learns from: the one that a
// run is about, or else the newest, whichever counts. It returns nil if nothing was graded,
// or if the newest submission has no verdict: it may have mended the faults of older ones.
func (c Cell) Shown() *Attempt {
	if c.Missing != nil || len(c.Attempts) == 0 {
		return nil
	}
	if i := slices.IndexFunc(c.Attempts, func(a Attempt) bool { return a.Current }); i >= 0 {
		return &c.Attempts[i]
	}
	return &c.Attempts[len(c.Attempts)-1]
}

// Last is the number of the newest attempt; 0 if nothing was graded.
func (c Cell) Last() int {
	if len(c.Attempts) == 0 {
		return 0
	}
	return c.Attempts[len(c.Attempts)-1].Number
}

// Result returns the result of the attempt that reports show, or nil.
func (c Cell) Result() *verdict.Result {
	if a := c.Shown(); a != nil {
		return a.Result
	}
	return nil
}

// New computes the gradebook of a course with the exercises names. If the policy lists
// exercises, the others have no weight and are shown only if a student has handed one in;
// the same holds for exercises that the course lacks.
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

// shelf is the work of each student, by name.
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

// exercises returns the exercises with a submission, sorted.
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
	delete(names, "") // the exercise is not known
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

// InOrder sorts the attempts of one student at one exercise by time of submission, if all
// times are known. Their numbers stay if they grow in that order, with gaps where a later
// submission took the place of one that waited; else the attempts are numbered from 1: a
// longer grading may have stored the earlier attempt later.
func InOrder(list []Attempt) {
	known := !slices.ContainsFunc(list, func(a Attempt) bool { return a.Submitted.IsZero() })
	slices.SortFunc(list, func(a, b Attempt) int {
		if known {
			return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.Number, b.Number))
		}
		return cmp.Compare(a.Number, b.Number)
	})
	if grow(list) {
		return
	}
	for i := range list {
		list[i].Number = i + 1
	}
}

// grow reports whether the numbers of attempts grow.
func grow(list []Attempt) bool {
	before := 0
	for _, a := range list {
		if a.Number <= before {
			return false
		}
		before = a.Number
	}
	return true
}

// total returns the weighted mean.
func (b *Book) total(row Row) *float64 {
	if len(row.Unknown) > 0 {
		return nil
	}
	var sum, weights float64
	for i, c := range row.Cells {
		if c.Missing != nil && c.Points == nil && b.Columns[i].Weight > 0 {
			return nil // a verdict is missing, so the total is unknown
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

// Part reduces b to what one run is about. It drops totals, and exercises and students
// without work in the run, because the run says nothing about them.
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

// Find returns the cell of a student's exercise. Logins are compared without case.
func (b *Book) Find(student, exercise string) (Cell, bool) {
	i := slices.IndexFunc(b.Rows, func(r Row) bool { return strings.EqualFold(r.Student, student) })
	j := slices.IndexFunc(b.Columns, func(c Column) bool { return c.Exercise == exercise })
	if i < 0 || j < 0 {
		return Cell{}, false
	}
	return b.Rows[i].Cells[j], true
}

// Entry is a submission in a report.
type Entry struct {
	Student, Exercise, Folder string
	Cell                      Cell
}

// Entries returns all cells with work in them, by student and then by column.
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

// String returns the name of a submission in a report about many.
func (e Entry) String() string { return strings.Join([]string{e.Student, e.Exercise}, "/") }
