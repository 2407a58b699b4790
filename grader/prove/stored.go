package prove

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/exercises/course/document"
	"grade/exercises/course/fixture"
	"grade/grader/fault"
	"grade/grader/submission"
)

// Stored is a submission in a folder, or in a course's store.
type Stored struct {
	Name string
	Take func() (*submission.Snapshot, error)
}

// StoredIn returns the folders in a folder, by their names, without hidden ones. It returns
// a [fault.Error] if there is none.
func StoredIn(dir string) (list []Stored, err error) {
	root := course.Folder(dir)
	names, err := fs.Glob(root, "*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if info, err := fs.Stat(root, name); err == nil && info.IsDir() && !strings.HasPrefix(name, ".") {
			list = append(list, Stored{Name: name, Take: func() (*submission.Snapshot, error) { return submission.Take(filepath.Join(dir, name)) }})
		}
	}
	return list, orNone(list, dir)
}

// StoredBy returns the submissions that a course in a folder ships with an exercise,
// whatever it expects of them. It returns a [fault.Error] if there is none.
func StoredBy(dir, exercise string) (list []Stored, err error) {
	shipped, err := fixture.LoadFiles(course.Open(course.Folder(dir)), exercise)
	if fault := (*document.Fault)(nil); err != nil && !errors.As(err, &fault) {
		return nil, err
	}
	list = faultyOnes(err, shipped)
	for _, s := range shipped {
		list = append(list, Stored{Name: s.Name, Take: func() (*submission.Snapshot, error) { return Snapshot(s.Dir, s.Files) }})
	}
	return list, orNone(list, filepath.Join(dir, course.ExercisesDir, exercise, course.SubmissionsDir))
}

// faultyOnes returns a submission for each whose files a fault keeps from being known:
// to take it tells the fault. A fault of no single submission leaves nothing out.
func faultyOnes(err error, known []fixture.Submission) (list []Stored) {
	var all []error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		f, ok := errors.AsType[*document.Fault](err)
		if !ok {
			continue
		}
		below := strings.Split(strings.TrimPrefix(f.File, course.SubmissionsDir+"/"), "/")
		if len(below) < 2 || !slices.Contains(fixture.Classes, fixture.Class(below[0])) {
			continue
		}
		name := path.Join(below[0], below[1])
		if slices.ContainsFunc(known, func(s fixture.Submission) bool { return s.Name == name }) || slices.ContainsFunc(list, func(s Stored) bool { return s.Name == name }) {
			continue
		}
		list = append(list, Stored{Name: name, Take: func() (*submission.Snapshot, error) { return nil, &fault.Error{Message: f.Error()} }})
	}
	return list
}

func orNone(list []Stored, dir string) error {
	if len(list) == 0 {
		return &fault.Error{Message: dir + ": no folder with a submission"}
	}
	return nil
}
