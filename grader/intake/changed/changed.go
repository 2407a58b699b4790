// Package changed finds out what a push, a pull request or a person wants graded out of a
// repository of many submissions: first between which commits to look, then which
// submissions differ there, whose they are, and what else was changed that should not be.
// It reads commits and opens no file of a checkout. It knows neither how a submission is
// graded nor what a report looks like.
//
// A caller fills in a [Clone], asks it [Clone.Since] when to look, and then has it
// [Clone.Find] submissions.
package changed

import (
	"context"
	"errors"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/intake/forge"
	"grade/grader/intake/repository"
	"grade/grader/submission"
)

// StandardPattern is where submissions are if no rules of the course say it.
const StandardPattern = "students/{student}/{exercise}"

// Clone is a repository of submissions, and what is asked about it.
type Clone struct {
	Repo *repository.Repository
	Dir  string    // the folder of the clone, as errors name it
	Run  forge.Run // of a CI; the zero Run is none

	Base    string // a revision: look at what has changed since then; empty: the run says it
	All     bool   // look at everything, changed or not
	Student string // whose submissions are graded; empty: everybody's
}

// Found is what has changed.
type Found struct {
	Submissions []intake.Submission
	Deleted     []string // folders of submissions
	Foreign     []string // of other students than the one whose are graded
	Links       []string // and submodules, in place of a folder that submissions are in
	Unknown     []string // where a submission would be, of no exercise of the course
	Outside     []string // in no submission
}

// Passed reports whether nothing was changed that must not be.
func (f Found) Passed() bool { return len(f.Foreign)+len(f.Links) == 0 }

// Find sorts out what has changed. Exercises are the names of those in the course. The time
// of submission is the caller's to say: dates in commits are what their authors chose.
func (c Clone) Find(ctx context.Context, s Span, p course.Pattern, exercises []string) (found Found, err error) {
	if s.Nothing {
		return found, nil
	}
	changes, err := c.Repo.Changes(ctx, s.Base, s.Head, func(folder string) bool { return c.leads(p, folder) })
	if errors.Is(err, repository.ErrTooMany) {
		return found, &fault.UsageError{Message: "find what has changed", Hint: "look at " + s.Head + ": it unfolds to more than a repository of submissions has", Err: err}
	}
	for _, one := range changes {
		c.enter(&found, one, s, place{pattern: p, exercises: exercises})
	}
	return found, err
}

// leads reports whether there may be submissions to be graded in a folder.
func (c Clone) leads(p course.Pattern, folder string) bool {
	_, _, onTheWay := p.Match(folder)
	if student, _, ok := p.StudentOf(folder); ok && c.foreign(student) {
		return false
	}
	return onTheWay && strings.Count(folder, "/")+1 < p.Depth()
}

// foreign reports whether a student is another one than whose are graded. Logins know no
// case.
func (c Clone) foreign(student string) bool {
	return c.Student != "" && !strings.EqualFold(c.Student, student)
}

// place is where the submissions of a course are.
type place struct {
	pattern   course.Pattern
	exercises []string
}

// enter puts a change where it belongs. The cases are decided by [meaningOf].
func (c Clone) enter(found *Found, one repository.Change, s Span, in place) {
	owner, folder, owned := in.pattern.StudentOf(one.Name)
	dir, student, exercise, fits := in.pattern.Submission(one.Name)
	_, _, onTheWay := in.pattern.Match(one.Name)
	switch meaningOf(facts{
		kind: one.Kind, owned: owned, foreign: owned && c.foreign(owner), fits: fits, onTheWay: onTheWay,
		listed:   exercise == "" || slices.Contains(in.exercises, exercise),
		noChange: s.Base == "" && (c.All || c.Run.Everything),
		looks:    looksLikeOne(one),
	}) {
	case unchanged:
	case foreign:
		found.Foreign = append(found.Foreign, folder) // once: nothing leads into it
	case graded:
		if c.Student != "" {
			student = c.Student // as the server writes it: in another case it would be another's attempt
		}
		found.Submissions = append(found.Submissions, c.submission(student, exercise, s.Head, dir, one.Kind))
	case deleted:
		found.Deleted = append(found.Deleted, dir)
	case link:
		found.Links = append(found.Links, one.Name)
	case unknown:
		found.Unknown = append(found.Unknown, one.Name)
	default:
		found.Outside = append(found.Outside, one.Name)
	}
}

// submission is one of a commit.
func (c Clone) submission(student, exercise, head, dir string, kind repository.Kind) intake.Submission {
	return intake.Submission{
		Student: student, Exercise: exercise, Path: dir, Folder: dir,
		Read: func(ctx context.Context) (*submission.Snapshot, error) { return c.snapshot(ctx, head, dir, kind) },
	}
}
