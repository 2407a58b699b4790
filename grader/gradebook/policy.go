package gradebook

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grade/exercises/course"
	"grade/grader/fault"
)

// Policy is the rules of a course with the contents of the files that they name.
type Policy struct {
	*course.Policy
	Exercises []string           // names of all in the course
	Listed    *Times             // times of submission that overrule all others; nil: no table
	Members   Roster             // empty: not known
	Worth     map[string]float64 // what Canvas has its assignments worth, by name; empty: not known
}

// NewPolicy returns the policy of a course without rules of its own.
func NewPolicy(exercises []string) *Policy {
	return &Policy{Policy: course.NewPolicy(), Exercises: exercises}
}

// ReadPolicy reads the rules of a course from data and, from the folder beside, the files
// that they name. Errors call the rules name; each is a [fault.Error].
func ReadPolicy(name string, data []byte, beside fs.FS, exercises []string) (*Policy, error) {
	read, err := course.ParsePolicy(name, data, exercises)
	if err != nil {
		return nil, &fault.Error{Message: err.Error(), Advice: "docs/grade-yaml.md says what a " + course.PolicyFile + " holds"}
	}
	p := &Policy{Policy: read, Exercises: exercises}
	err = errors.Join(
		readBeside(beside, name, "times", p.Times, func(f io.Reader) (err error) { p.Listed, err = ReadTimes(f, p.Zone); return err }),
		p.readRoster(beside, name),
	)
	return p, err
}

// readRoster reads the people of the roster and, if that could be read, what it has of Canvas.
func (p *Policy) readRoster(beside fs.FS, name string) error {
	err := readBeside(beside, name, "roster", p.Roster, func(f io.Reader) (err error) { p.Members, err = ReadRoster(f); return err })
	if err != nil {
		return err
	}
	return readBeside(beside, name, "roster", p.Roster, func(f io.Reader) (err error) { p.Worth, err = ReadMaxima(f); return err })
}

// readBeside reads the file that a field of the rules names, if it names one.
func readBeside(dir fs.FS, policy, field, file string, read func(io.Reader) error) error {
	if file == "" {
		return nil
	}
	f, err := dir.Open(filepath.ToSlash(file))
	if err == nil {
		defer f.Close()
		err = read(f)
	}
	if err != nil {
		return &fault.Error{Message: fmt.Sprintf("%s: %s", policy, field), Advice: "docs/grade-yaml.md says which columns it has", Err: inFile(file, err)}
	}
	return nil
}

// Book computes the gradebook of some attempts and of submissions without a verdict, but for
// those of persons who teach, by the roster: they try the course. The attempts carry the times
// and numbers that hold without the table of times; the table overrules them.
func (p *Policy) Book(attempts []Attempt, missing []Missing) *Book {
	teachers := p.Members.teachers() // few: a search of the roster for each attempt took seconds
	teaches := func(login string) bool {
		return slices.ContainsFunc(teachers, func(t string) bool { return strings.EqualFold(t, login) })
	}
	attempts = slices.DeleteFunc(slices.Clone(attempts), func(a Attempt) bool { return teaches(a.Student) })
	missing = slices.DeleteFunc(slices.Clone(missing), func(m Missing) bool { return teaches(m.Student) })
	b := New(p.Policy, p.Exercises, p.timed(attempts), missing)
	b.Roster, b.Maxima = p.Members, p.Worth
	return b
}

// timed returns the attempts with the times of submission that count.
func (p *Policy) timed(attempts []Attempt) (list []Attempt) {
	cells := map[[2]string][]Attempt{}
	for _, a := range attempts {
		key := [2]string{a.Student, a.Exercise}
		cells[key] = append(cells[key], a)
	}
	for _, cell := range cells {
		InOrder(cell)
		p.list(cell)
		list = append(list, cell...)
	}
	return list
}

// ListedAt returns when the table of times has an attempt, and the name of the table; for
// attempt 0, what it has for a student's last one.
func (p *Policy) ListedAt(student, exercise string, attempt int) (time.Time, string) {
	return p.Listed.At(student, exercise, attempt), p.Times
}

// Warnings names exercises and students that the rules mention and b lacks: they may be
// typing errors.
func (p *Policy) Warnings(b *Book) (list []string) {
	for _, one := range p.Listed.Rows() {
		if _, ok := b.Find(one.Student, one.Exercise); !ok {
			list = append(list, fmt.Sprintf("%s:%d: student %q has handed in nothing for %q", p.Times, one.Line, one.Student, one.Exercise))
		}
	}
	for _, e := range p.Extensions {
		if !slices.ContainsFunc(b.Rows, func(row Row) bool { return strings.EqualFold(row.Student, e.Student) }) {
			list = append(list, fmt.Sprintf("extensions: student %q has handed in nothing: is the name misspelt?", e.Student))
		}
	}
	return list
}
