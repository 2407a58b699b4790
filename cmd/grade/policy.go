package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"grade/exercises/course"
	"grade/grader/batch"
	"grade/grader/fault"
	"grade/grader/gradebook"
	"grade/grader/report/terminal"
	"grade/grader/results"
)

// rules are a course's grade.yaml with what it refers to.
type rules struct {
	*course.Policy
	names  []string         // of the course's exercises
	times  *gradebook.Times // nil: there is no table
	roster gradebook.Roster
	maxima map[string]float64 // of Canvas's assignments
}

// rulesIn reads a grade.yaml: the file, or the course's own, or the one in the current
// folder, or none. It is never looked for where students write.
func (a *app) rulesIn(file string) (*rules, error) {
	names, err := a.names()
	if err != nil {
		return nil, err
	}
	candidates := []string{file}
	if file == "" {
		candidates = []string{course.PolicyFile}
		if a.courseDir != "" {
			candidates = []string{filepath.Join(a.courseDir, course.PolicyFile), course.PolicyFile}
		}
	}
	for _, name := range candidates {
		data, err := os.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && file == "":
		case err != nil:
			return nil, &fault.UsageError{Message: "read the rules of the course", Hint: "give a grade.yaml: --policy FILE", Err: err}
		default:
			return parseRules(name, data, os.DirFS(filepath.Dir(name)), names)
		}
	}
	return &rules{Policy: course.NewPolicy(), names: names}, nil
}

// parseRules reads a grade.yaml, and out of beside the files that it names.
func parseRules(name string, data []byte, beside fs.FS, names []string) (*rules, error) {
	p, err := course.ParsePolicy(name, data, names)
	if err != nil {
		return nil, &fault.UsageError{Message: err.Error(), Hint: "docs/grade-yaml.md says what a " + course.PolicyFile + " holds"}
	}
	r := &rules{Policy: p, names: names}
	err = errors.Join(
		readBeside(beside, name, "times", p.Times, func(f io.Reader) (err error) { r.times, err = gradebook.ReadTimes(f, p.Zone); return err }),
		readBeside(beside, name, "roster", p.Roster, func(f io.Reader) (err error) { r.roster, err = gradebook.ReadRoster(f); return err }),
		readBeside(beside, name, "roster", p.Roster, func(f io.Reader) (err error) { r.maxima, err = gradebook.ReadMaxima(f); return err }),
	)
	return r, err
}

// readBeside reads the file that a field of a grade.yaml names, if it names one.
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
		return &fault.UsageError{Message: fmt.Sprintf("%s: %s: %s", policy, field, file), Hint: "docs/grade-yaml.md says which columns it has", Err: err}
	}
	return nil
}

// names are those of the course's exercises.
func (a *app) names() ([]string, error) {
	c, err := a.course()
	if err != nil {
		return nil, err
	}
	return c.Names()
}

// book is what is in a ledger, and what has no verdict, under the rules; what a run was about
// is as the run left it, and stands out.
func (r *rules) book(records []results.Record, waiting []results.Pending, run []batch.Item) *gradebook.Book {
	current, ran := map[string]bool{}, map[results.PendingID]bool{}
	var without []results.Pending
	for _, f := range run {
		ran[f.PendingID()] = true
		if f.Record != nil {
			current[attemptKey(*f.Record)] = true
		} else {
			without = append(without, f.Pending(time.Time{}))
		}
	}
	for _, w := range waiting {
		if !ran[w.ID()] {
			without = append(without, w)
		}
	}
	b := gradebook.New(r.Policy, r.names, r.attempts(records, current), missing(without))
	b.Roster, b.Maxima = r.roster, r.maxima
	return b
}

// attempts are the records with the times of submission that count. In the table of times
// they have the numbers that reports would give them without it.
func (r *rules) attempts(records []results.Record, current map[string]bool) (list []gradebook.Attempt) {
	cells := map[[2]string][]gradebook.Attempt{}
	for _, one := range records {
		key := [2]string{one.Student, one.Exercise}
		cells[key] = append(cells[key], gradebook.Attempt{
			Student: one.Student, Exercise: one.Exercise, Number: one.Attempt,
			Submitted: one.Submitted, Source: one.Source, Folder: one.Folder, Result: one.Result,
			Current: current[attemptKey(one)],
		})
	}
	for _, cell := range cells {
		gradebook.InOrder(cell)
		for i, a := range cell {
			if at := r.times.Of(a.Student, a.Exercise, a.Number, i == len(cell)-1); !at.IsZero() {
				a.Submitted, a.Source = at, r.Times
			} else {
				a.Unlisted = r.times != nil
			}
			list = append(list, a)
		}
	}
	return list
}

// strangers are names in the rules of which the book has nothing: typing errors, perhaps.
func (r *rules) strangers(b *gradebook.Book) (list []string) {
	for _, one := range r.times.Names() {
		if _, ok := b.Find(one[0], one[1]); !ok {
			list = append(list, fmt.Sprintf("%s: there is no %q of %q", r.Times, one[1], one[0]))
		}
	}
	for _, e := range r.Extensions {
		if !slices.ContainsFunc(b.Rows, func(row gradebook.Row) bool { return strings.EqualFold(row.Student, e.Student) }) {
			list = append(list, fmt.Sprintf("extensions: nothing is there of %q", e.Student))
		}
	}
	return list
}

// maxDoubts is how many doubts are told.
const maxDoubts = 20

// doubts tells what may be meant otherwise than it stands there.
func (a *app) doubts(r *rules, reports bookReports, b *gradebook.Book) {
	list := r.strangers(b)
	for _, t := range reports.targets {
		list = append(list, t.Warnings(b)...)
	}
	for i, d := range list {
		if i == maxDoubts {
			d = fmt.Sprintf("… and %d more", len(list)-i)
		}
		fmt.Fprintln(a.err, "grade: warning: "+terminal.Escape(d))
		if i == maxDoubts {
			break
		}
	}
}

// attemptKey tells attempts apart.
func attemptKey(r results.Record) string {
	return fmt.Sprintf("%q %q %d", r.Student, r.Exercise, r.Attempt)
}

// missing are those without a verdict.
func missing(waiting []results.Pending) (list []gradebook.Missing) {
	for _, w := range waiting {
		list = append(list, gradebook.Missing{Student: w.Student, Exercise: w.Exercise, Folder: w.Folder, Why: w.Why, Told: w.PublicReason})
	}
	return list
}
