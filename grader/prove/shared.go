package prove

import (
	"errors"
	"path"
	"slices"

	"grade/exercises/course"
	"grade/exercises/course/document"
)

// Shared finds what is wrong beside the exercises of a course: in the file that orders them,
// and with folders that look like exercises and are none. It asks asked, by the name below
// exercises/, which of that matters.
func Shared(c *course.Course, asked func(name string) bool) []Finding {
	list := besideExercises(c.Strays(), course.ExercisesDir)
	_, err := c.Chapters()
	list = append(list, besideExercises(err, path.Join(course.ExercisesDir, course.ChaptersFile))...)
	return slices.DeleteFunc(list, func(f Finding) bool { return !asked(path.Base(f.File)) })
}

// besideExercises are the findings for an error of package course. One that names no file is
// about the file in which it was looked for.
func besideExercises(err error, file string) (list []Finding) {
	for _, err := range each(err) {
		var p *document.Fault
		if errors.As(err, &p) {
			list = append(list, Finding{p.File, p.Line, p.Err.Error()})
		} else {
			list = append(list, Finding{File: file, Message: err.Error()})
		}
	}
	return list
}

// each returns the errors that were joined into one.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
