package course

import (
	"slices"
	"strings"
	"time"
)

// PolicyFile is the name of the policy's file in the root of a course.
const PolicyFile = "grade.yaml"

// Policy says where the submissions of a course are, and how much each counts.
// [NewPolicy] returns the policy of a course without a grade.yaml.
type Policy struct {
	Title       string
	Submissions Pattern        // of the submissions' folders; empty: any
	Zone        *time.Location // of times that state none
	Times       string         // a CSV file with the times of submissions, beside grade.yaml
	Roster      string         // a CSV file with students, beside grade.yaml
	Defaults    Rules          // of exercises that state nothing else
	Exercises   []Rules        // the exercises that count, in the order of reports; none: all, by Defaults
	Extensions  []Extension
	Board       bool // a service shows the fastest and leanest right solutions
}

// Rules are the rules of one exercise.
type Rules struct {
	Exercise string
	Weight   float64   // in the total of the course
	Due      time.Time // zero: never
	Late     *Late     // nil: late submissions count nothing
	Attempts int       // the number of attempts that count; 0: all
	Count    Count     // the one of them that gives the grade
	Canvas   string    // the name of the assignment in Canvas, such as Autograd (4711)
}

// NewPolicy returns a policy without demands: every exercise weighs the same and is
// never due.
func NewPolicy() *Policy {
	return &Policy{Zone: time.UTC, Defaults: Rules{Weight: 1, Count: CountBest}}
}

// Late is the deduction for a late submission. A submission is late after the due time
// and the grace, and its lateness counts from the due time.
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
	CountBest Count = "best" // the one with the most points after the deduction
	CountLast Count = "last" // the last one
)

// Extension is a later due time for one student.
type Extension struct {
	Student  string
	Exercise string // empty: of all
	Due      time.Time
}

// RulesOf returns the rules of an exercise, and whether it counts. A policy that lists
// no exercise has the same rules for all.
func (p *Policy) RulesOf(exercise string) (Rules, bool) {
	i := slices.IndexFunc(p.Exercises, func(r Rules) bool { return r.Exercise == exercise })
	if i >= 0 {
		return p.Exercises[i], true
	}
	r := p.Defaults
	r.Exercise = exercise
	return r, len(p.Exercises) == 0
}

// DueFor returns the time at which an exercise is due for a student: the latest of the
// student's extensions that is later than the rules' own. It ignores the case of logins,
// as forges do.
func (p *Policy) DueFor(student string, r Rules) (due time.Time, extended bool) {
	due = r.Due
	for _, e := range p.Extensions {
		if strings.EqualFold(e.Student, student) && (e.Exercise == "" || e.Exercise == r.Exercise) && !r.Due.IsZero() && e.Due.After(due) {
			due, extended = e.Due, true
		}
	}
	return due, extended
}
