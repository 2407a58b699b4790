package intake

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/submission"
)

// FindAll returns the submissions below some paths, each once even if the paths overlap.
// With a pattern p, which may be zero, it returns only what the pattern matches, as seen
// from the current folder, or from a path outside of it. Left lists names that match except
// for the name of their exercise.
func FindAll(paths []string, p course.Pattern, exercises []string) (list []Submission, left []string, err error) {
	for _, path := range paths {
		found, more, err := findIn(path, p, exercises)
		if left = append(left, more...); err != nil {
			return nil, left, err
		}
		for _, s := range found {
			if !slices.ContainsFunc(list, func(o Submission) bool { return o.Path == s.Path }) {
				list = append(list, s)
			}
		}
	}
	return list, left, nil
}

func findIn(dir string, p course.Pattern, exercises []string) (list []Submission, left []string, err error) {
	if p.String() == "" {
		list, err = Find(dir, exercises)
		return list, nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, nil, &fault.Error{Message: "look for submissions", Advice: "give a folder", Err: err}
	}
	base, within := dir, "."
	if rel, ok := Below(".", dir); ok {
		base, within = ".", rel
	}
	return FindAt(base, within, p, exercises)
}

// FindAt returns the submissions in within, or around it, whose names match a pattern.
// Names and within are as seen from base; an archive's name counts without its extension. A
// folder that matches but names no exercise of the course is in left. FindAt does not look
// below a match, so that nothing there can pass for another student's work.
func FindAt(base, within string, p course.Pattern, exercises []string) (found []Submission, left []string, err error) {
	if base, err = filepath.Abs(base); err != nil {
		return nil, nil, err
	}
	m := matcher{base: base, within: path.Clean(filepath.ToSlash(within)), pattern: p, exercises: exercises}
	if err := m.look(".", 1); err != nil {
		return nil, nil, err
	}
	return m.list, m.left, nil
}

type matcher struct {
	base, within string
	pattern      course.Pattern
	exercises    []string
	list         []Submission
	left         []string
}

// look walks a folder, whose entries match the pattern's segment of that number.
func (m *matcher) look(dir string, segment int) error {
	entries, all, err := list(filepath.Join(m.base, filepath.FromSlash(dir)))
	whose := ""
	if dir != "." { // the root is no student's
		whose, _, _ = m.pattern.Match(dir)
	}
	switch {
	case err != nil && whose != "": // that one alone will fail
		m.list = append(m.list, Submission{Student: whose, Folder: dir, Path: filepath.Join(m.base, filepath.FromSlash(dir))})
		return nil
	case err != nil:
		return err
	case !all && whose == "": // a flood in a student's folder harms that student alone
		return fmt.Errorf("look for submissions: %s holds more than %d names: some would be left out", dir, maxListing)
	}
	for _, e := range entries {
		name, last := path.Join(dir, e.Name()), segment == m.pattern.Depth()
		archive := last && e.Type().IsRegular() && submission.IsArchive(name)
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() && !archive || !m.wanted(name) {
			continue
		}
		trimmed := name
		if archive {
			trimmed = submission.TrimArchive(name)
		}
		student, exercise, ok := m.pattern.Match(trimmed)
		switch {
		case !ok && last && whose != "" || ok && exercise != "" && !slices.Contains(m.exercises, exercise):
			m.left = append(m.left, name)
		case !ok:
		case last:
			m.list = append(m.list, Submission{Student: student, Exercise: exercise, Folder: trimmed, Path: filepath.Join(m.base, filepath.FromSlash(name))})
		default:
			if err := m.look(name, segment+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// wanted reports whether a name leads to the folder that was asked for, or lies in it.
func (m *matcher) wanted(name string) bool {
	in := func(inner, outer string) bool { return outer == "." || strings.HasPrefix(inner+"/", outer+"/") }
	return in(name, m.within) || in(m.within, name)
}
