package prove

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader"
	"grade/grader/judge"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Shipped grades the submissions that are shipped with an exercise. It may be used
// by several goroutines at a time.
type Shipped struct {
	List []fixture.Submission

	exercise *course.Exercise
	grade    GradeFunc
	// twins are the results of those that others must not beat, several of which may
	// share one: functions that grade it when they are first called.
	twins sync.Map
}

// GradeFunc grades a submission. Its Dir is the folder that the course has it in,
// slash-separated and below the course's root.
type GradeFunc func(ctx context.Context, s *submission.Snapshot, o grader.Options) (*verdict.Result, error)

// NewShipped returns the submissions in list.
func NewShipped(g *grader.Grader, e *course.Exercise, list []fixture.Submission) *Shipped {
	return ShippedBy(e, list, func(ctx context.Context, s *submission.Snapshot, o grader.Options) (*verdict.Result, error) {
		r, err := g.Grade(ctx, s, e, o)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", s.Dir, err)
		}
		return r, nil
	})
}

// Snapshot takes files of a course as a student's would be taken: what is refused of a
// student is refused of them. Dir is the folder that the course has them in, or would
// have if it stored them whole.
func Snapshot(dir string, files []course.File) (*submission.Snapshot, error) {
	var list []submission.File
	for _, f := range files {
		list = append(list, submission.File(f))
	}
	return submission.FromFiles(dir, list)
}

// files grades files of the course.
func (s *Shipped) files(ctx context.Context, dir string, files []course.File, o grader.Options) (*verdict.Result, error) {
	snapshot, err := Snapshot(dir, files)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", dir, err)
	}
	return s.grade(ctx, snapshot, o)
}

// ShippedBy returns the submissions in list, which are graded in a way of the caller's.
func ShippedBy(e *course.Exercise, list []fixture.Submission, grade GradeFunc) *Shipped {
	return &Shipped{List: list, exercise: e, grade: grade}
}

// Held is a submission beside what it declares.
type Held struct {
	Result *verdict.Result
	Unmet  []judge.Mismatch // what is not as declared
	First  []judge.Mismatch // the same of a first grading, where there had to be a second
}

// Hold grades a submission with the checks that its expectations are about, and holds
// it against what it declares. One that is caught by what a draw happens to hold may
// get through once; twice is a fault of the exercise. An accepted one has no second chance.
func (s *Shipped) Hold(ctx context.Context, one fixture.Submission, o grader.Options) (*Held, error) {
	o.Checks = needed(s.exercise, one.Expect)
	h, err := s.once(ctx, one, o, 1)
	if err != nil || len(h.Unmet) == 0 || one.Class == fixture.Accepted {
		return h, err
	}
	first := h.Unmet
	if h, err = s.once(ctx, one, o, 2); err != nil {
		return nil, err
	}
	h.First = first
	return h, nil
}

func (s *Shipped) once(ctx context.Context, one fixture.Submission, o grader.Options, time int) (*Held, error) {
	r, err := s.files(ctx, one.Dir, one.Files, o)
	if err != nil {
		return nil, err
	}
	var twin *verdict.Result
	if one.Expect.Twin != "" && r.Score > 0 { // nothing is more than nothing
		if twin, err = s.twin(ctx, one.Expect.Twin, o, time); err != nil {
			return nil, err
		}
	}
	return &Held{Result: r, Unmet: judge.Mismatches(one.Expect, r, twin)}, nil
}

// twin is the result of the submission of that name, graded once for each choice of
// checks, and once more for those that are graded a second time: it may have been the
// twin that had bad luck.
func (s *Shipped) twin(ctx context.Context, name string, o grader.Options, time int) (*verdict.Result, error) {
	i := slices.IndexFunc(s.List, func(t fixture.Submission) bool { return t.Name == name })
	key := fmt.Sprintf("%d %s %q %q", time, name, o.Only, o.Checks)
	grade, _ := s.twins.LoadOrStore(key, sync.OnceValues(func() (*verdict.Result, error) { return s.files(ctx, s.List[i].Dir, s.List[i].Files, o) }))
	return grade.(func() (*verdict.Result, error))()
}

// needed are the checks that a submission's expectations are about: many are
// graded, and most of them for the sake of one check. Nil, which means all, where a
// score is expected that does not follow from what they are to lose.
func needed(e *course.Exercise, x fixture.Expect) (names []string) {
	left := course.MaxScore
	for _, c := range e.Checks {
		if want, ok := x.Checks[c.Name]; ok {
			names = append(names, c.Name)
			if want != verdict.Passed {
				left -= c.Points
			}
		}
	}
	if x.Score != nil || x.Verdict != verdict.Graded || x.MaxScore != nil && left > *x.MaxScore {
		return nil
	}
	return names
}
