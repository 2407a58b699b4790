package course

import (
	"slices"
	"strings"
	"time"
)

// PolicyFile is the name of the file, in the root of a course.
const PolicyFile = "grade.yaml"

// Policy says where the submissions of a course are, and what counts of them.
// [NewPolicy] is that of a course without a grade.yaml.
type Policy struct {
	Title       string
	Submissions Pattern        // of the submissions' folders; empty: any
	Zone        *time.Location // of times that state none
	Times       string         // a CSV file with the times of submissions, beside grade.yaml
	Roster      string         // a CSV file with students, beside grade.yaml
	Defaults    Rules          // of exercises that state nothing else
	Exercises   []Rules        // what counts, in the order of reports; none: all of the course, by Defaults
	Extensions  []Extension
}

// Rules are those of one exercise.
type Rules struct {
	Exercise string
	Weight   float64   // in the total of the course
	Due      time.Time // zero: never
	Late     *Late     // nil: late submissions count nothing
	Attempts int       // so many count; 0: all
	Count    Count     // which of them
	Canvas   string    // the name of the assignment there, such as Autograd (4711)
}

// NewPolicy asks for nothing: every exercise weighs the same and is never due.
func NewPolicy() *Policy {
	return &Policy{Zone: time.UTC, Defaults: Rules{Weight: 1, Count: CountBest}}
}

// Late is what is taken off for being late. Lateness begins when the grace after the due
// time is over, and is counted from the due time.
type Late struct {
	Grace  time.Duration
	Deduct float64       // percent of the submission's points
	Per    time.Duration // taken for each such time that has begun; 0: once
	Most   float64       // percent, at most
	Until  time.Duration // after the due time; later ones count nothing. 0: any time
}

// Count says which attempt counts. The zero value is invalid.
type Count string

// The values of Count.
const (
	CountBest Count = "best" // the one with the most points, after what is taken off
	CountLast Count = "last" // the last one that may count
)

// Extension is a later due time for one student.
type Extension struct {
	Student  string
	Exercise string // empty: of all
	Due      time.Time
}

// RulesOf are the rules of an exercise; those of a policy that lists none are the
// same for all.
func (p *Policy) RulesOf(exercise string) (Rules, bool) {
	i := slices.IndexFunc(p.Exercises, func(r Rules) bool { return r.Exercise == exercise })
	if i >= 0 {
		return p.Exercises[i], true
	}
	r := p.Defaults
	r.Exercise = exercise
	return r, len(p.Exercises) == 0
}

// DueFor is when an exercise is due for a student: the latest of the extensions, if
// there is one that is later than the rules say. Logins know no case.
func (p *Policy) DueFor(student string, r Rules) (due time.Time, extended bool) {
	due = r.Due
	for _, e := range p.Extensions {
		if strings.EqualFold(e.Student, student) && (e.Exercise == "" || e.Exercise == r.Exercise) && !r.Due.IsZero() && e.Due.After(due) {
			due, extended = e.Due, true
		}
	}
	return due, extended
}
