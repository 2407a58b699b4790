package intake

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grade/grader/submission"
)

// matcher looks for what the pattern matches, in a place or around it. It does not look
// below a match, so that nothing there can pass for another student's work.
type matcher struct {
	*finder
	place
}

// look walks a folder, whose entries match the pattern's segment of that number.
func (m *matcher) look(dir string, segment int) error {
	if err := context.Cause(m.ctx); err != nil {
		return err
	}
	entries, all, err := list(m.path(dir))
	whose := ""
	if dir != "." { // the root is no student's
		whose, _, _ = m.pattern.Match(dir)
	}
	switch {
	case err != nil && whose != "": // that one alone will fail
		m.list = append(m.list, Submission{Student: whose, Folder: dir, Path: m.path(dir), From: m.from})
		return nil
	case err != nil:
		return err
	case !all && whose == "": // a flood in a student's folder harms that student alone
		return tooMany(dir)
	}
	if whose != "" && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }) {
		m.note("%s is empty: nothing was handed in there", dir)
	}
	for _, e := range entries {
		if err := m.entry(path.Join(dir, e.Name()), e, segment, whose); err != nil {
			return err
		}
	}
	return nil
}

// entry looks at a name in the folder of a student, or in one that is no student's.
func (m *matcher) entry(name string, e fs.DirEntry, segment int, whose string) error {
	last := segment == m.pattern.Depth()
	archive := last && e.Type().IsRegular() && submission.IsArchive(name)
	if strings.HasPrefix(e.Name(), ".") || !m.wanted(name) {
		return nil
	}
	trimmed := name
	if last && !e.IsDir() {
		trimmed = submission.TrimArchive(name)
	}
	student, exercise, ok := m.pattern.Match(trimmed)
	listed := exercise != "" && slices.Contains(m.exercises, exercise)
	one := Submission{Student: student, Exercise: exercise, Folder: trimmed, Path: m.path(name), Archive: archive, From: m.from}
	switch {
	case !e.IsDir() && !archive:
		if last && ok && listed {
			one.Read = noFolder(name, e.Type())
			m.list = append(m.list, one)
		} else if ok || whose != "" {
			m.leftOut(name, e)
		}
	case !ok && last && whose != "", ok && exercise != "" && !listed:
		m.strays = append(m.strays, stray(cmp.Or(student, whose), name, m.path(name)))
	case !ok:
	case last:
		m.list = append(m.list, one)
	default:
		return m.look(name, segment+1)
	}
	return nil
}

func (m *matcher) path(name string) string { return filepath.Join(m.root, filepath.FromSlash(name)) }

// wanted reports whether a name leads to the folder that was asked for, or lies in it.
func (m *matcher) wanted(name string) bool {
	in := func(inner, outer string) bool { return outer == "." || strings.HasPrefix(inner+"/", outer+"/") }
	return in(name, m.within) || in(m.within, name)
}
