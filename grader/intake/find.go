package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/submission"
)

const (
	maxDepth   = 6      // folders below the one that is searched
	maxListing = 10_000 // names in a folder; one that holds more is a submission, to be refused
)

// Search is what to look for.
type Search struct {
	Pattern   course.Pattern // where submissions are; zero: wherever there are Go files
	Exercises []string
	// Roots are folders that names were seen from in earlier runs: what lies below one is
	// called as it was then.
	Roots []string
}

// FindAll returns the submissions below some paths, each once even if the paths overlap,
// and notes on what it leaves out, a line each.
//
// Names are as seen from the path, if it is the only one, and else from the folder that
// holds all of them: what lies below one student is that student's, whatever it is called.
// With a pattern, names are as seen from the current folder or, for a path outside of it,
// from the folder from which the pattern leads to the path.
func FindAll(ctx context.Context, paths []string, s Search) (found []Submission, notes []string, err error) {
	f := &finder{ctx: ctx, pattern: s.Pattern, exercises: s.Exercises, roots: map[cell]string{}}
	places, err := f.places(paths, s.Roots)
	if err != nil {
		return nil, f.notes, err
	}
	f.single = len(places) == 1
	for _, p := range places {
		before := len(f.list)
		if err := f.in(p); err != nil {
			return nil, f.notes, err
		}
		if err := f.apart(f.list[before:], p.root); err != nil {
			return nil, f.notes, err
		}
	}
	f.strayed()
	return f.list, f.notes, nil
}

// Find returns the submissions in a folder, sorted by their paths: folders that hold Go
// files, archives, and empty folders with the name of an exercise. The path names the
// submission: its last folder the exercise, if it has the name of one, and the rest the
// student. Find follows no links, and skips hidden folders and tests.
func Find(root string, exercises []string) ([]Submission, error) {
	found, _, err := FindAll(context.Background(), []string{root}, Search{Exercises: exercises})
	return found, err
}

type finder struct {
	ctx       context.Context // of one search
	pattern   course.Pattern
	exercises []string
	list      []Submission
	strays    []Submission // folders in a student's that have the name of no exercise
	notes     []string
	single    bool            // one path was given
	roots     map[cell]string // from where the name of each submission is seen
}

// cell is a student's work at an exercise.
type cell struct{ student, exercise string }

// apart returns an error if some submissions, seen from root, have the names of some that
// are seen from another folder: which of the two counts, only the caller can tell.
func (f *finder) apart(list []Submission, root string) error {
	for _, s := range list {
		c := cell{s.Student, s.Exercise}
		other, known := f.roots[c]
		if known && other != root && s.Exercise != "" {
			return &fault.Error{
				Message: fmt.Sprintf("both %s and %s hold %s's %s", other, root, s.Student, s.Exercise),
				Advice:  "give one of them at a time, or keep the results of each in a folder of its own: --results DIR",
			}
		}
		f.roots[c] = root
	}
	return nil
}

// strayed adds, of each student who has handed in nothing else, a stray with Go files: it is
// work with a wrong name. Of the others, which may be notes, it only tells.
func (f *finder) strayed() {
	found := map[string]bool{}
	for _, s := range f.list {
		found[s.Student] = true
	}
	for _, s := range f.strays {
		if found[s.Student] || !holdsWork(s.Path) {
			f.note("%s is left out: the course has no exercise of that name", s.Folder)
			continue
		}
		found[s.Student] = true
		f.list = append(f.list, s)
	}
}

// holdsWork reports whether there is a folder with Go files at a path, or an archive.
func holdsWork(file string) bool {
	entries, _, err := list(file)
	return submission.IsArchive(file) || err == nil && holdsSource(entries)
}

// stray returns what has the name of no exercise, which its student can mend.
func stray(student, name, file string) Submission {
	said := fmt.Sprintf("the course has no exercise %q: name the folder after one", path.Base(name))
	return Submission{Student: student, Folder: name, Path: file, Read: func(context.Context) (*submission.Snapshot, error) {
		return nil, &fault.Error{Message: said, Told: said}
	}}
}

func (f *finder) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// in looks in one place.
func (f *finder) in(p place) error {
	if f.pattern.String() != "" {
		return (&matcher{finder: f, place: p}).look(".", 1)
	}
	w := &walker{finder: f, root: p.root, from: p.from}
	if submission.IsArchive(p.within) {
		if info, err := os.Stat(filepath.Join(p.root, filepath.FromSlash(p.within))); err == nil && info.Mode().IsRegular() {
			w.foundArchive(p.within)
			return nil
		}
	}
	if p.within == "." {
		return w.folder("", 0)
	}
	return w.folder(p.within, 0)
}

// walker looks for submissions in the folders below a root.
type walker struct {
	*finder
	root, from string
}

// folder looks at one folder below the root.
func (w *walker) folder(name string, depth int) error {
	if err := context.Cause(w.ctx); err != nil {
		return err
	}
	entries, all, err := list(filepath.Join(w.root, filepath.FromSlash(name)))
	if err != nil && depth > 0 { // that one alone will fail
		w.found(name)
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case !all && depth == 0 && w.single && !holdsSource(entries) && !slices.Contains(w.exercises, filepath.Base(filepath.Join(w.root, name))):
		return tooMany(cmp.Or(name, w.root))
	case !all, holdsSource(entries), len(entries) == 0 && slices.Contains(w.exercises, path.Base(name)):
		w.found(name)
		w.tellHidden(name, entries, depth)
		return nil
	case len(entries) == 0 && depth == 1: // deeper ones may be anything
		w.note("%s is empty: nothing was handed in there", name)
	}
	for _, e := range entries {
		if err := w.entry(path.Join(name, e.Name()), e, depth); err != nil {
			return err
		}
	}
	return nil
}

// tellHidden notes what would be a submission if it did not lie in one: below a folder of a
// student's that has a stray Go file, or below one of students'.
func (w *walker) tellHidden(name string, entries []fs.DirEntry, depth int) {
	for _, below := range w.hidden(name, entries, depth == 0) {
		if slices.Contains(w.exercises, path.Base(name)) {
			w.note("%s is left out: it lies in the submission %s: put it beside that", below, name)
			continue
		}
		dir := cmp.Or(name, filepath.Base(w.root))
		w.note("%s is left out, because %s has Go files of its own: move %s away", below, dir, sourcesOf(entries))
	}
}

// hidden returns the folders with Go files and the archives among some entries that have
// the name of an exercise; deeper: also those in the folders among them.
func (w *walker) hidden(name string, entries []fs.DirEntry, deeper bool) (names []string) {
	for _, e := range entries {
		below := path.Join(name, e.Name())
		file := filepath.Join(w.root, filepath.FromSlash(below))
		named := slices.Contains(w.exercises, submission.TrimArchive(e.Name()))
		switch {
		case named && (e.IsDir() || e.Type().IsRegular()) && holdsWork(file):
			names = append(names, below)
		case deeper && e.IsDir() && !strings.HasPrefix(e.Name(), "."):
			inner, _, _ := list(file) // what cannot be read hides nothing that could be graded
			names = append(names, w.hidden(below, inner, false)...)
		}
	}
	return names
}

// sourcesOf names the files of a folder that are graded.
func sourcesOf(entries []fs.DirEntry) string {
	var names []string
	for _, e := range entries {
		if !e.IsDir() && submission.IsSource(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if n := len(names) - 3; n > 0 {
		names = append(names[:3], fmt.Sprintf("%d more", n))
	}
	return strings.Join(names, ", ")
}

func (w *walker) entry(name string, e fs.DirEntry, depth int) error {
	named := slices.Contains(w.exercises, submission.TrimArchive(e.Name()))
	switch {
	case strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_"):
	case e.Type().IsRegular() && submission.IsArchive(e.Name()):
		w.foundArchive(name)
	case e.IsDir() && depth < maxDepth:
		return w.folder(name, depth+1)
	case !e.IsDir() && named:
		w.found(name)
		w.list[len(w.list)-1].Read = noFolder(name, e.Type())
	default:
		w.leftOut(name, e)
	}
	return nil
}

// leftOut notes what could have been meant as a submission.
func (f *finder) leftOut(name string, e fs.DirEntry) {
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		f.note("%s is left out: it is a symbolic link", name)
	case e.IsDir():
		f.note("%s is left out: it lies too deep", name)
	case slices.Contains(f.exercises, strings.TrimSuffix(e.Name(), path.Ext(e.Name()))):
		f.note("%s is left out: it is neither a folder nor a .zip, .tar or .tar.gz", name)
	}
}

// noFolder returns a reader that refuses what stands in place of a folder or an archive.
func noFolder(name string, mode fs.FileMode) func(context.Context) (*submission.Snapshot, error) {
	kind := "file"
	switch {
	case mode&fs.ModeSymlink != 0:
		kind = "symbolic link"
	case !mode.IsRegular():
		kind = "device or a pipe"
	}
	return func(context.Context) (*submission.Snapshot, error) {
		return submission.Refused(name, "", "no-folder", fmt.Sprintf("this is a %s; put a folder with the solution in its place", kind)), nil
	}
}

// found adds a submission, and derives student and exercise from its path.
func (w *walker) found(name string) {
	s := Submission{Path: filepath.Join(w.root, filepath.FromSlash(name)), From: w.from}
	parts := strings.Split(submission.TrimArchive(name), "/")
	if last := len(parts) - 1; slices.Contains(w.exercises, parts[last]) {
		s.Exercise, parts = parts[last], parts[:last]
	}
	s.Student = cmp.Or(strings.Join(parts, "/"), filepath.Base(w.root))
	w.list = append(w.list, s)
}

// foundArchive adds a submission that is no folder.
func (w *walker) foundArchive(name string) {
	w.found(name)
	w.list[len(w.list)-1].Archive = true
}

// holdsSource reports whether a folder holds a file that is graded.
func holdsSource(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() && submission.IsSource(e.Name()) })
}

// tooMany is the error about a folder of students that would be read in part.
func tooMany(dir string) error {
	return &fault.Error{
		Message: fmt.Sprintf("look for submissions: %s holds more than %d names: some would be left out", dir, maxListing),
		Advice:  "give parts of it, such as the folder of each class",
	}
}

// list reads a folder, sorted by name; all is false if it holds more than is read.
func list(dir string) (entries []fs.DirEntry, all bool, err error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|onlyFolders, 0)
	if err != nil {
		return nil, false, fmt.Errorf("look for submissions: %w", err)
	}
	defer f.Close()
	entries, err = f.ReadDir(maxListing + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, fmt.Errorf("look for submissions: %w", err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, len(entries) <= maxListing, nil
}
