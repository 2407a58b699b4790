package intake

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grade/grader/fault"
	"grade/grader/submission"
)

const (
	maxDepth   = 6      // folders below the one that is searched
	maxListing = 10_000 // names in a folder; one that holds more is a submission, to be refused
)

// Find returns the submissions in root, sorted by their paths: folders that hold Go files,
// archives, and empty folders with the name of an exercise. Root may be a submission
// itself. The path names the submission: its last folder the exercise, if it has the name
// of one, and the rest the student. Find follows no links, and skips hidden folders and
// tests.
func Find(root string, exercises []string) ([]Submission, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, &fault.Error{Message: "open " + root, Advice: "give a folder of submissions, or an archive", Err: err}
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	f := finder{root: abs, exercises: exercises}
	if !info.IsDir() {
		if !submission.IsArchive(root) {
			return nil, &fault.Error{Message: root + " is neither a folder nor an archive", Advice: "give a folder of submissions, or a .zip, .tar or .tar.gz"}
		}
		f.found(filepath.Base(abs))
		f.list[0].Path = abs
		return f.list, nil
	}
	if err := f.folder("", 0); err != nil {
		return nil, err
	}
	return f.list, nil
}

type finder struct {
	root      string
	exercises []string
	list      []Submission
}

// folder looks at one folder below the root.
func (f *finder) folder(name string, depth int) error {
	entries, all, err := list(filepath.Join(f.root, filepath.FromSlash(name)))
	if err != nil && name != "" { // that one alone will fail
		f.found(name)
		return nil
	}
	if err != nil {
		return err
	}
	last := path.Base(name)
	switch {
	case !all, slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() && submission.IsSource(e.Name()) }):
		f.found(name)
		return nil
	case len(entries) == 0 && slices.Contains(f.exercises, last):
		f.found(name)
		return nil
	}
	for _, e := range entries {
		below := path.Join(name, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_"):
		case e.Type().IsRegular() && submission.IsArchive(e.Name()):
			f.found(below)
		case e.IsDir() && depth < maxDepth:
			if err := f.folder(below, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// found adds a submission, and derives student and exercise from its path.
func (f *finder) found(name string) {
	s := Submission{Path: filepath.Join(f.root, filepath.FromSlash(name))}
	parts := strings.Split(submission.TrimArchive(name), "/")
	if last := len(parts) - 1; slices.Contains(f.exercises, parts[last]) {
		s.Exercise, parts = parts[last], parts[:last]
	}
	if s.Student = strings.Join(parts, "/"); s.Student == "" {
		s.Student = filepath.Base(f.root)
	}
	f.list = append(f.list, s)
}

// list reads a folder, sorted by name; all is false if it holds more than is read.
func list(dir string) (entries []fs.DirEntry, all bool, err error) {
	f, err := os.Open(dir)
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
