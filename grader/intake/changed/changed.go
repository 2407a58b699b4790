// Package changed finds what to grade of a push, a pull request or a range of
// commits, in a repository of many submissions: the commits to compare, the submissions that
// differ between them, their students, and changes that are not allowed. It reads commits
// and opens no file of a checkout. It knows neither how a submission is graded nor what a
// report looks like.
//
// A caller fills in a [Clone], gets the commits from [Clone.Since], and then the
// submissions from [Clone.Find].
package changed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/intake/forge"
	"grade/grader/intake/repository"
	"grade/grader/submission"
)

// standardPattern is where submissions are unless the rules of the course say otherwise.
const standardPattern = "students/{student}/{exercise}"

// Clone is a repository of submissions, with what to look for in it.
type Clone struct {
	Repo *repository.Repository
	Dir  string    // the folder of the clone, as errors name it
	Run  forge.Run // of a CI; the zero Run is none

	Base    string // a revision: look at what has changed since then; empty: the run says it
	All     bool   // look at everything, changed or not
	Student string // grade this student's submissions only; empty: all students'
}

// Found lists what has changed, by its meaning.
type Found struct {
	Submissions []intake.Submission
	Deleted     []string // folders of submissions
	Foreign     []string // in the folders of other students than Clone.Student
	Links       []string // and submodules, in place of a folder that submissions are in
	Malformed   []string // folders that no git has written as they are
	Archives    []string // in place of a folder of a submission
	Unknown     []string // where a submission would be, of no exercise of the course
	Outside     []string // in no submission
}

// Passed reports whether all changes are allowed.
func (f Found) Passed() bool {
	return len(f.Foreign)+len(f.Links)+len(f.Malformed)+len(f.Archives) == 0
}

// maxSubmissions is how many submissions one commit may change.
const maxSubmissions = 20_000

// maxNoted is how many names of one kind a note lists.
const maxNoted = 20

// Notes says, a line each, what is graded and what is not. The lines are for a log and hold
// names as the commit has them: the caller escapes them.
func (c Clone) Notes(s Span, f Found) []string {
	where := cmp.Or(c.Run.Name, "here")
	if c.Run.Fork {
		where += ", from a fork"
	}
	lines := []string{fmt.Sprintf("%s: %s, %s", where, s, several(len(f.Submissions), "submission"))}
	for _, kind := range []struct {
		names []string
		what  string
	}{
		{f.Deleted, "was deleted: not graded"},
		{f.Foreign, "is not " + c.Student + "'s: not graded, and it should not be changed here"},
		{f.Links, "is a link or a submodule: not followed, and there should be a folder"},
		{f.Malformed, "holds what no git writes, such as a name twice: that is not graded; commit and push it again"},
		{f.Archives, "is an archive, which is not graded here: commit the folder that it holds"},
		{f.Unknown, "is not graded: the course has no exercise of that name; name the folder after an exercise"},
	} {
		for _, name := range kind.names[:min(len(kind.names), maxNoted)] {
			lines = append(lines, name+" "+kind.what)
		}
		if n := len(kind.names) - maxNoted; n > 0 {
			lines = append(lines, fmt.Sprintf("… and so are %d more", n))
		}
	}
	if n := len(f.Outside); n > 0 && s.Base != "" {
		lines = append(lines, fmt.Sprintf("%s outside of submissions changed too, such as %s", several(n, "file"), f.Outside[0]))
	}
	return lines
}

func several(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Find sorts the changes by their meaning; the policy says where submissions are. The
// caller sets the time of submission, because dates in commits are what their authors
// chose.
func (c Clone) Find(ctx context.Context, s Span, policy *gradebook.Policy) (found Found, err error) {
	if s.Nothing {
		return found, nil
	}
	p := policy.Submissions
	if p.String() == "" {
		if p, err = course.ParsePattern(standardPattern); err != nil {
			return found, err
		}
	}
	changes, err := c.Repo.Changes(ctx, s.Base, s.Head, func(folder string) bool { return c.leads(p, folder) })
	if errors.Is(err, repository.ErrTooMany) {
		return found, &fault.Error{Message: "find what has changed", Advice: "look at " + s.Head + ": it unfolds to more than a repository of submissions has", Err: err}
	}
	for _, one := range changes {
		c.enter(&found, one, s, place{pattern: p, exercises: policy.Exercises})
	}
	if n := len(found.Submissions); n > maxSubmissions {
		return Found{}, &fault.Error{
			Message: fmt.Sprintf("%s: %d submissions, and grade looks at no more than %d at a time", s, n, maxSubmissions),
			Advice:  "look at what the commit holds, or grade a part of it: --student STUDENT",
		}
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

// foreign reports whether a student is not the one that is graded. Logins are compared
// without case.
func (c Clone) foreign(student string) bool {
	return c.Student != "" && !strings.EqualFold(c.Student, student)
}

// place is where the submissions of a course are.
type place struct {
	pattern   course.Pattern
	exercises []string
}

// archive reports whether a name is that of an archive which would be a submission if it were
// a folder.
func (p place) archive(name string) bool {
	trimmed := submission.TrimArchive(name)
	dir, _, exercise, fits := p.pattern.Submission(trimmed)
	return trimmed != name && fits && dir == trimmed && p.lists(exercise)
}

// lists reports whether an exercise is one of the course; what only the package says may be.
func (p place) lists(exercise string) bool {
	return exercise == "" || slices.Contains(p.exercises, exercise)
}

// enter adds a change to the list of its meaning, which [meaningOf] decides.
func (c Clone) enter(found *Found, one repository.Change, s Span, in place) {
	owner, folder, owned := in.pattern.StudentOf(one.Name)
	dir, student, exercise, fits := in.pattern.Submission(one.Name)
	_, _, onTheWay := in.pattern.Match(one.Name)
	switch meaningOf(facts{
		kind: one.Kind, owned: owned, foreign: owned && c.foreign(owner), fits: fits, onTheWay: onTheWay,
		listed: in.lists(exercise), byPlace: exercise != "", archive: in.archive(one.Name),
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
	case malformed:
		found.Malformed = append(found.Malformed, one.Name)
	case link:
		found.Links = append(found.Links, one.Name)
	case unknown:
		found.Unknown = append(found.Unknown, one.Name)
	case archive:
		found.Archives = append(found.Archives, one.Name)
	default:
		found.Outside = append(found.Outside, one.Name)
	}
}

// submission returns a submission in a commit.
func (c Clone) submission(student, exercise, head, dir string, kind repository.Kind) intake.Submission {
	return intake.Submission{
		Student: student, Exercise: exercise, Path: dir, Folder: dir,
		Read: func(ctx context.Context) (*submission.Snapshot, error) { return c.snapshot(ctx, head, dir, kind) },
	}
}
