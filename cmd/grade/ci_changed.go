package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"grade/grader/intake/repository"
	"grade/exercises/course"
	"grade/grader/batch"
	"grade/grader/fault"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// standardPattern is where submissions are if no grade.yaml says it.
const standardPattern = "students/{student}/{exercise}"

// findings are what has changed.
type findings struct {
	list    []batch.Submission
	deleted []string // folders of submissions
	foreign []string // of other students than the one whose are graded
	links   []string // and submodules, in place of a folder that submissions are in
	unknown []string // where a submission would be, of no exercise of the course
	outside []string // in no submission
}

// passed reports whether nothing was changed that must not be.
func (f *findings) passed() bool { return len(f.foreign)+len(f.links) == 0 }

// find sorts out what has changed.
func (o *ciOptions) find(ctx context.Context, s span) (found findings, err error) {
	if s.nothing {
		return found, nil
	}
	pattern, err := o.pattern()
	if err != nil {
		return found, err
	}
	at, source, err := o.handedIn()
	if err != nil {
		return found, err
	}
	changes, err := o.repo.Changes(ctx, s.base, s.head, func(folder string) bool { return o.leads(pattern, folder) })
	if errors.Is(err, repository.ErrTooMany) {
		return found, &fault.UsageError{Message: "find what has changed", Hint: "look at " + s.head + ": it unfolds to more than a repository of submissions has", Err: err}
	}
	for _, c := range changes {
		o.sort(c, pattern, s, &found)
	}
	for i := range found.list {
		found.list[i].At, found.list[i].Source = at, source
	}
	return found, err
}

// pattern says where submissions are.
func (o *ciOptions) pattern() (course.Pattern, error) {
	if o.rules.Submissions.String() != "" {
		return o.rules.Submissions, nil
	}
	return course.ParsePattern(standardPattern)
}

// aSubmission is one of a commit.
func (o *ciOptions) submission(student, exercise, head, dir string, kind repository.Kind) batch.Submission {
	return batch.Submission{
		Student: student, Exercise: exercise, Path: dir, Folder: dir,
		Read: func(ctx context.Context) (*submission.Snapshot, error) { return o.snapshot(ctx, head, dir, kind) },
	}
}

// leads reports whether there may be submissions to be graded in a folder.
func (o *ciOptions) leads(p course.Pattern, folder string) bool {
	_, _, onTheWay := p.Match(folder)
	if student, _, ok := p.StudentOf(folder); ok && o.foreign(student) {
		return false
	}
	return onTheWay && strings.Count(folder, "/")+1 < p.Depth()
}

// foreign reports whether a student is another one than whose are graded. Logins know no
// case.
func (o *ciOptions) foreign(student string) bool {
	return o.student != "" && !strings.EqualFold(o.student, student)
}

// sort tells submissions from everything else.
func (o *ciOptions) sort(c repository.Change, p course.Pattern, s span, found *findings) {
	owner, folder, owned := p.StudentOf(c.Name)
	dir, student, exercise, ok := p.Submission(c.Name)
	_, _, onTheWay := p.Match(c.Name)
	switch {
	case owned && o.foreign(owner) && s.base == "" && (o.all || o.forge.Everything): // it is about no change
	case owned && o.foreign(owner): // whatever it is
		found.foreign = append(found.foreign, folder) // once: nothing leads into it
	case ok && exercise != "" && !slices.Contains(o.rules.names, exercise) && c.Kind != repository.Folder:
		found.outside = append(found.outside, c.Name)
	case ok && exercise != "" && !slices.Contains(o.rules.names, exercise):
		found.unknown = append(found.unknown, c.Name)
	case ok && c.Kind == repository.Absent:
		found.deleted = append(found.deleted, dir)
	case ok:
		if o.student != "" {
			student = o.student // as the server writes it: in another case it would be another's attempt
		}
		found.list = append(found.list, o.submission(student, exercise, s.head, dir, c.Kind))
	case onTheWay && (c.Kind == repository.Link || c.Kind == repository.Module):
		found.links = append(found.links, c.Name)
	case owned && misplaced(c):
		found.unknown = append(found.unknown, c.Name)
	default:
		found.outside = append(found.outside, c.Name)
	}
}

// callAsKept calls students as what is kept does, which may have had a login from elsewhere:
// it would be two students' in two cases.
func callAsKept(list []batch.Submission, kept map[string][]string) {
	for i := range list {
		s := &list[i].Student
		if names := kept[strings.ToLower(*s)]; len(names) > 0 && !slices.Contains(names, *s) {
			*s = names[0]
		}
	}
}

// misplaced reports whether a change in a student's folder, that no submission's name is of,
// looks like one.
func misplaced(c repository.Change) bool {
	name := path.Base(c.Name)
	return c.Kind == repository.Folder && !strings.HasPrefix(name, ".") || c.Kind == repository.File && (isSource(name) || submission.IsArchive(name))
}

// namesOf are the students of whom something is kept, by their names in lower case.
func namesOf(l *batch.Ledger) map[string][]string {
	names := map[string][]string{}
	add := func(name string) {
		if lower := strings.ToLower(name); !slices.Contains(names[lower], name) {
			names[lower] = append(names[lower], name)
		}
	}
	for _, r := range l.Attempts() {
		add(r.Student)
	}
	for _, w := range l.Waiting() {
		add(w.Student)
	}
	return names
}

// snapshot takes a submission out of a commit.
func (o *ciOptions) snapshot(ctx context.Context, commit, folder string, kind repository.Kind) (*submission.Snapshot, error) {
	if kind != repository.Folder {
		s := submission.Of(folder, nil)
		s.Problems = []verdict.Problem{{Rule: "no-folder", Message: fmt.Sprintf("%s is a %s; put a folder with the solution in its place", verdict.Printable(folder), kind)}}
		return s, nil
	}
	dir, err := os.MkdirTemp("", "grade-ci-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	left, err := o.repo.Extract(ctx, commit, folder, dir, submission.MaxFileSize, sources())
	if err != nil {
		return nil, err
	}
	s, err := submission.Take(dir)
	if u := (*fault.UsageError)(nil); errors.As(err, &u) && u.Student != "" {
		u.Message = folder + ": " + u.Student // the folder that it was read from has gone by then
	}
	if err != nil {
		return nil, err
	}
	s.Dir = folder
	for _, name := range left {
		s.Ignored = append(s.Ignored, verdict.Printable(name))
	}
	return s, nil
}

// sources wants what a snapshot reads: Go files besides tests, and no more of them than
// it refuses.
func sources() func(string) bool {
	n := 0
	return func(name string) bool {
		if !isSource(name) {
			return false
		}
		n++
		return n <= submission.MaxFiles
	}
}
