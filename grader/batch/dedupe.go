package batch

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// dedupe keeps one step for a student at an exercise. It replaces several by one that is
// refused, in the place of the first, because it cannot tell which of them counts.
func (p *planner) dedupe(ctx context.Context, steps []*step) (single []*step) {
	type cell struct{ student, exercise string }
	first, places := map[cell]*step{}, map[cell][]string{}
	for _, s := range steps {
		c := cell{s.Student, s.Exercise}
		if c.exercise == "" || first[c] == nil {
			first[c] = s
			single = append(single, s)
		}
		places[c] = append(places[c], placeOf(s.Submission))
	}
	for c, s := range first {
		if c.exercise != "" && len(places[c]) > 1 {
			s.Read = refused(s.Path, places[c])
			p.readOne(ctx, s)
		}
	}
	return single
}

// nameable returns a submission whose student's name a file of results can hold. Two names
// that are not UTF-8 would be one there: such a submission gets a name of its own, and an
// error when it is read.
func nameable(s intake.Submission) intake.Submission {
	const reason = "the name of the folder is not UTF-8, in which results are kept"
	if utf8.ValidString(s.Student) {
		return s
	}
	s.Student = strconv.Quote(s.Student)
	s.Read = func(context.Context) (*submission.Snapshot, error) {
		return nil, &fault.Error{Message: "read the submission", Advice: "give the folder another name", Told: reason, Err: errors.New(reason)}
	}
	return s
}

// placeOf names the place of a submission for its student, without a folder of this
// machine.
func placeOf(s intake.Submission) string {
	name := filepath.Base(s.Path)
	if s.Folder != "" {
		name = path.Join(path.Dir(s.Folder), name) // only an archive's name has an extension
	}
	return verdict.Printable(name)
}

// refused returns a reader that refuses several submissions of one student.
func refused(dir string, places []string) func(context.Context) (*submission.Snapshot, error) {
	return func(context.Context) (*submission.Snapshot, error) {
		s := submission.Of(dir, nil)
		s.Problems = []verdict.Problem{{Rule: "several", Message: fmt.Sprintf("handed in %d times: as %s; leave one of them", len(places), strings.Join(places, ", "))}}
		return s, nil
	}
}
