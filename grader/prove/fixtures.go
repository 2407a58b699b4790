package prove

import (
	"context"
	"crypto/sha256"
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

// Fixtures grades the submissions that are shipped with an exercise. Several goroutines may
// use it at a time.
type Fixtures struct {
	List []fixture.Submission

	exercise *course.Exercise
	grader   *grader.Grader // nil: the caller's function grades
	grade    GradeFunc
	// twins holds the results of the submissions whose score others must not exceed:
	// functions that grade a twin when they are first called, because several submissions
	// may share one.
	twins sync.Map
}

// GradeFunc grades a submission. Its Dir is the folder that the course has it in,
// slash-separated and below the course's root.
type GradeFunc func(ctx context.Context, s *submission.Snapshot, o grader.Options) (*verdict.Result, error)

// NewFixtures returns the submissions in list, graded by g.
func NewFixtures(g *grader.Grader, e *course.Exercise, list []fixture.Submission) *Fixtures {
	f := FixturesBy(e, list, func(ctx context.Context, s *submission.Snapshot, o grader.Options) (*verdict.Result, error) {
		r, err := g.Grade(ctx, s, e, o)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", s.Dir, err)
		}
		return r, nil
	})
	f.grader = g
	return f
}

// Snapshot takes files of a course with the rules for a student's submission, so that the
// same files are refused. Dir is the folder that the course has them in, or would have if
// it stored them whole.
func Snapshot(dir string, files []course.File) (*submission.Snapshot, error) {
	var list []submission.File
	for _, f := range files {
		list = append(list, submission.File(f))
	}
	return submission.FromFiles(dir, list)
}

// files grades files of the course.
func (s *Fixtures) files(ctx context.Context, dir string, files []course.File, o grader.Options) (*verdict.Result, error) {
	snapshot, err := Snapshot(dir, files)
	if err != nil {
		return nil, fmt.Errorf("check %s: %w", dir, err)
	}
	return s.grade(ctx, snapshot, o)
}

// FixturesBy returns the submissions in list, graded by the caller's function.
func FixturesBy(e *course.Exercise, list []fixture.Submission, grade GradeFunc) *Fixtures {
	return &Fixtures{List: list, exercise: e, grade: grade}
}

// FixtureResult is the result of a shipped submission, compared with what it declares.
type FixtureResult struct {
	Result          *verdict.Result
	Mismatches      []judge.Mismatch // where the result differs
	FirstMismatches []judge.Mismatch // of the first grading, if there was a second
}

// Hold grades a submission with the checks that its expectations are about, and compares
// the result with them. A submission that must fail may get through by luck of the inputs, so it
// is graded a second time; two passes are a fault of the exercise. An accepted one has no
// second chance.
func (s *Fixtures) Hold(ctx context.Context, one fixture.Submission, o grader.Options) (*FixtureResult, error) {
	o.Checks = needed(s.exercise, one.Expect)
	return s.hold(ctx, one, o)
}

// hold is Hold with the checks that the caller has chosen.
func (s *Fixtures) hold(ctx context.Context, one fixture.Submission, o grader.Options) (*FixtureResult, error) {
	h, err := s.once(ctx, one, o, 1)
	if err != nil || len(h.Mismatches) == 0 || one.Class == fixture.Accepted {
		return h, err
	}
	first := h.Mismatches
	if h, err = s.once(ctx, one, o, 2); err != nil {
		return nil, err
	}
	h.FirstMismatches = first
	return h, nil
}

func (s *Fixtures) once(ctx context.Context, one fixture.Submission, o grader.Options, time int) (*FixtureResult, error) {
	o.Seed = seedOf(o.Seed, time)
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
	h := &FixtureResult{Result: r, Mismatches: judge.Mismatches(one.Expect, r, twin)}
	if len(h.Mismatches) == 0 && one.Class == fixture.Accepted && r.Verdict == verdict.Graded && r.Score < r.MaxScore { // of some kinds of check
		h.Mismatches = []judge.Mismatch{{Field: "score", What: fmt.Sprintf("score %d of the %d points of what was run%s", r.Score, r.MaxScore, judge.Lost(r))}}
	}
	return h, nil
}

// seedOf is the seed of the first, second, ... grading of one whose first has this seed:
// another for each.
func seedOf(first string, time int) string {
	if first == "" || time == 1 {
		return first
	}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s grading %d", first, time)))
}

// twin returns the result of the submission of that name. It grades once for each choice of
// checks, and once more for submissions that are graded a second time: the twin may have
// had bad luck.
func (s *Fixtures) twin(ctx context.Context, name string, o grader.Options, time int) (*verdict.Result, error) {
	i := slices.IndexFunc(s.List, func(t fixture.Submission) bool { return t.Name == name })
	o.Judged = nil // it hears of another submission
	key := fmt.Sprintf("%d %s %q %q", time, name, o.Only, o.Checks)
	grade, _ := s.twins.LoadOrStore(key, sync.OnceValues(func() (*verdict.Result, error) { return s.files(ctx, s.List[i].Dir, s.List[i].Files, o) }))
	return grade.(func() (*verdict.Result, error))()
}

// needed returns the checks that a submission's expectations are about: there are many
// submissions, most of them for the sake of one check. Nil means all, if the expected score
// does not follow from the checks to lose.
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
