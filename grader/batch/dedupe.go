package batch

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// dedupe keeps one step for a student at an exercise. It replaces several by one that is
// refused, in the place of the first, because it cannot tell which of them counts. A folder
// that was made in advance is none where there is anything else.
func (p *planner) dedupe(ctx context.Context, steps []*step) (single []*step) {
	first, places := map[results.PendingID]*step{}, map[results.PendingID][]string{}
	for _, s := range withoutEmpty(steps) {
		c := s.PendingID()
		if s.Exercise == "" || first[c] == nil {
			first[c] = s
			single = append(single, s)
		}
		places[c] = append(places[c], placeOf(s.Submission))
	}
	for c, s := range first {
		if c.Exercise != "" && len(places[c]) > 1 {
			s.Read = refused(s.Path, places[c])
			p.readOne(ctx, s)
		}
	}
	return single
}

// withoutEmpty returns the steps without those of a folder with no Go file whose student has
// something else at the exercise.
func withoutEmpty(steps []*step) (list []*step) {
	filled := map[results.PendingID]bool{}
	for _, s := range steps {
		if !s.empty() {
			filled[s.PendingID()] = true
		}
	}
	for _, s := range steps {
		if !s.empty() || !filled[s.PendingID()] {
			list = append(list, s)
		}
	}
	return list
}

// empty reports whether a step is of a folder or an archive with no Go file.
func (s *step) empty() bool {
	return s.Err == nil && s.snapshot != nil && len(s.snapshot.Problems) == 1 && s.snapshot.Problems[0].Rule == gradebook.RuleNoFiles
}

// nameable returns a submission whose student's name a file of results can hold. Two names
// that are not UTF-8 would be one there: such a submission gets a name of its own, and is
// refused.
func nameable(s intake.Submission) intake.Submission {
	if utf8.ValidString(s.Student) {
		return s
	}
	s.Student = strconv.Quote(s.Student)
	s.Read = func(context.Context) (*submission.Snapshot, error) {
		return submission.Refused(s.Path, "", "folder-name", "the folder's name "+s.Student+" is not UTF-8, in which results are kept; give it another one"), nil
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
		const most = 20 // places that are named
		list := strings.Join(places[:min(len(places), most)], ", ")
		if n := len(places) - most; n > 0 {
			list += fmt.Sprintf(" and %d more", n)
		}
		return submission.Refused(dir, "", "several", fmt.Sprintf("handed in %d times: as %s; leave one of them", len(places), list)), nil
	}
}
