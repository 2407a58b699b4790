package intake

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/submission"
)

// place is a path to look in, and the folder from which the names in it are seen. Whose a
// submission is depends on that folder alone, and never on what a student put below it.
type place struct {
	root   string // absolute
	within string // slash-separated, as seen from root
	from   string // absolute: below it no link is followed
}

// given is one path of the caller's.
type given struct {
	path, abs, real string // as it was given; absolute; with its links resolved
	folder          bool
}

// places says from where the names below some paths are seen, and notes which paths are
// left out. Known are such folders of earlier runs.
func (f *finder) places(paths, known []string) ([]place, error) {
	all, err := f.given(paths)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	from := all[0].abs
	if len(paths) > 1 { // by a shell, perhaps, from names that students have chosen
		from = holder(all)
	}
	var list []place
	var others []given
	for _, g := range all {
		if root := f.known(g, known); root != "" {
			list = append(list, placeOf(root, from, g))
		} else {
			others = append(others, g)
		}
	}
	for _, group := range f.groups(others) {
		root := f.seenFrom(group)
		for _, g := range group {
			list = append(list, placeOf(root, from, g))
		}
	}
	return list, nil
}

func placeOf(root, from string, g given) place {
	within, _ := Below(root, g.abs)
	return place{root, within, from}
}

// known returns the folder of an earlier run from which a path was seen, the outermost of
// several, or "".
func (f *finder) known(g given, known []string) string {
	for _, root := range slices.Sorted(slices.Values(known)) {
		rel, ok := Below(root, g.abs)
		if ok && (rel != "." || g.folder) && f.fits(submission.TrimArchive(rel)) {
			return root
		}
	}
	return ""
}

// given looks at each path once. It leaves out those that lie in another: what is seen from
// the outer one has names that no student can choose.
func (f *finder) given(paths []string) (list []given, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, &fault.Error{Message: "look for submissions", Advice: "give a folder of submissions, or an archive", Err: err}
		}
		if !info.IsDir() && !submission.IsArchive(path) {
			return nil, &fault.Error{Message: path + " is neither a folder nor an archive", Advice: "give a folder of submissions, or a .zip, .tar or .tar.gz"}
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		list = append(list, given{path: path, abs: abs, real: Resolved(abs), folder: info.IsDir()})
	}
	return outer(f.withoutLinks(list)), nil
}

// withoutLinks leaves out paths that lead through a link, of several: a shell that has put
// them together has found what students made.
func (f *finder) withoutLinks(list []given) (direct []given) {
	if len(list) < 2 {
		return list
	}
	above := holder(list)
	for _, g := range list {
		if link := LinkOnTheWay(above, g.abs); link != "" {
			f.note("%s is left out: %s is a symbolic link", g.path, link)
			continue
		}
		direct = append(direct, g)
	}
	return direct
}

// holder returns the folder that holds all of some paths.
func holder(list []given) string {
	above := filepath.Dir(list[0].abs)
	for _, g := range list[1:] {
		above = common(above, filepath.Dir(g.abs))
	}
	return above
}

// outer leaves out paths that lie in another, or were given before.
func outer(list []given) (outer []given) {
	for i, g := range list {
		covered := func(o given) bool { _, in := Below(o.real, g.real); return in }
		twice := func(o given) bool { return o.real == g.real }
		if !slices.ContainsFunc(list, func(o given) bool { return covered(o) && !twice(o) }) && !slices.ContainsFunc(list[:i], twice) {
			outer = append(outer, g)
		}
	}
	return outer
}

// groups are the paths whose names are seen from one folder: with a pattern, those below
// the current folder and the others; without one, all.
func (f *finder) groups(all []given) (groups [][]given) {
	if f.pattern.String() == "" && len(all) > 0 {
		return [][]given{all}
	}
	var here, elsewhere []given
	for _, g := range all {
		if _, ok := Below(".", g.abs); ok {
			here = append(here, g)
		} else {
			elsewhere = append(elsewhere, g)
		}
	}
	for _, group := range [][]given{here, elsewhere} {
		if len(group) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// seenFrom returns the folder from which the names of some paths are seen: the one that was
// given, or the one that holds all that were given.
func (f *finder) seenFrom(group []given) string {
	pattern, only := f.pattern.String() != "", group[0]
	if _, ok := Below(".", only.abs); ok && pattern {
		return absolute(".")
	}
	above := holder(group)
	switch {
	case len(group) > 1:
		return f.literal(above)
	case pattern && only.folder:
		return f.literal(only.abs)
	case !pattern && only.folder && !f.ofOneStudent(only.abs):
		return only.abs
	}
	return f.literal(above)
}

// fits reports whether a folder, as seen from a root, may lead to submissions.
func (f *finder) fits(rel string) bool {
	_, _, ok := f.pattern.Match(rel)
	return rel == "." || ok || f.pattern.String() == ""
}

// literal returns the nearest folder above dir from which dir is a place of the pattern by
// a segment that is spelt out, as students is in students/{student}; or else dir.
func (f *finder) literal(dir string) string {
	for above := filepath.Dir(dir); f.pattern.String() != "" && above != filepath.Dir(above); above = filepath.Dir(above) {
		rel, _ := Below(above, dir)
		if _, _, ok := f.pattern.Match(rel); ok && spelt(f.pattern, rel) {
			return above
		}
	}
	return dir
}

// spelt reports whether a segment of the pattern, as far as rel goes, has no placeholder.
func spelt(p course.Pattern, rel string) bool {
	segments := strings.Split(p.String(), "/")
	return slices.ContainsFunc(segments[:strings.Count(rel, "/")+1], func(s string) bool { return !strings.ContainsAny(s, "{*") })
}

// ofOneStudent reports whether a folder is a submission, or holds one that is named after
// an exercise: then all that it holds is one student's.
func (f *finder) ofOneStudent(dir string) bool {
	entries, all, err := list(dir)
	if err != nil || !all || holdsSource(entries) {
		return true
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		if !slices.Contains(f.exercises, submission.TrimArchive(e.Name())) {
			return false
		}
		if !e.IsDir() {
			return submission.IsArchive(e.Name())
		}
		below, all, err := list(filepath.Join(dir, e.Name()))
		return err == nil && (!all || len(below) == 0 || holdsSource(below))
	})
}

// common returns the deepest folder that holds two.
func common(a, b string) string {
	for {
		if _, ok := Below(a, b); ok || a == filepath.Dir(a) {
			return a
		}
		a = filepath.Dir(a)
	}
}

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// RootOf returns the folder from which a submission's name was seen, by what is kept of it;
// empty if that is not known. Folder is empty where no pattern found it.
func RootOf(name, student, exercise, folder string) string {
	if !filepath.IsAbs(name) {
		return ""
	}
	rest := filepath.ToSlash(submission.TrimArchive(name))
	if folder != "" {
		rest, ok := strings.CutSuffix(rest, "/"+folder)
		return onlyIf(ok, rest)
	}
	if path.Base(rest) == exercise {
		rest = path.Dir(rest)
	}
	rest, ok := strings.CutSuffix(rest, "/"+student)
	return onlyIf(ok, rest)
}

func onlyIf(ok bool, dir string) string {
	if !ok {
		return ""
	}
	return filepath.FromSlash(dir)
}
