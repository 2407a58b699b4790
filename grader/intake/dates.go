package intake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"grade/grader/fault"
	"grade/grader/intake/repository"
	"grade/grader/submission"
)

// Dates finds out when the content of a folder was handed in: by git's commits, or else by
// the date of the newest file. Both come from the student's machine; a table, or the event
// of a server, overrules them.
type Dates struct {
	repo    *repository.Repository // nil: none
	top     string                 // its root
	head    string
	shallow bool // the clone lacks history
}

// NewDates looks for a repository from dir upwards. It does not look into students'
// folders, because git would obey a repository there. A repository that git cannot open is
// a [fault.Error]: silently using the dates of files could make submissions late.
func NewDates(ctx context.Context, dir string) (*Dates, error) {
	top, err := topOf(dir)
	if top == "" || err != nil {
		return &Dates{}, err
	}
	d := &Dates{top: top}
	if d.repo, err = repository.Open(ctx, dir); err != nil {
		return nil, &fault.Error{Message: "ask git when submissions were handed in", Err: err}
	}
	head, ok, err := d.repo.Commit(ctx, "HEAD")
	if !ok {
		return &Dates{}, err // nothing has been committed yet
	}
	d.head = head
	d.shallow, err = d.repo.Shallow(ctx)
	return d, err
}

// Known returns a [fault.Error] if the clone lacks the history that has the date of the
// submission at path: its oldest commit would be the date of all that is older.
func (d *Dates) Known(ctx context.Context, path string) error {
	if !d.shallow {
		return nil
	}
	_, _, err := d.Of(ctx, path)
	return err
}

// lacksHistory is the error about a date that only the whole history has.
func (d *Dates) lacksHistory(name string) error {
	return &fault.Error{
		Message: fmt.Sprintf("the clone at %s is shallow: when %s was handed in is not in it", d.top, name),
		Advice:  "fetch the whole history: git fetch --unshallow, or fetch-depth: 0 of actions/checkout",
	}
}

// topOf returns the root of the repository around dir.
func topOf(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return filepath.EvalSymlinks(dir)
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", nil
		}
		dir = above
	}
}

// Of returns when the submission at path was handed in, and the source of that time. The
// time is zero if it is not known.
func (d *Dates) Of(ctx context.Context, path string) (time.Time, string, error) {
	if d.repo != nil {
		at, ok, err := d.committed(ctx, path)
		if ok || err != nil {
			return at, "the commit", err
		}
	}
	return newest(path), "the newest file", nil
}

// committed returns the date of the last commit that changed the graded files of a
// submission, if git has them as they are.
func (d *Dates) committed(ctx context.Context, path string) (at time.Time, ok bool, err error) {
	path, err = filepath.EvalSymlinks(path)
	name, below := Below(d.top, path)
	if err != nil || !below { // a link that leads nowhere is refused when it is read
		return at, false, nil
	}
	ok, err = d.repo.Holds(ctx, d.head, name, path, submission.IsSource)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // changed since it was read
		return at, false, nil
	}
	if errors.Is(err, repository.ErrTooMany) { // no folder that is graded holds so many names
		return at, false, nil
	}
	if !ok || err != nil {
		return at, false, err
	}
	if d.shallow {
		return at, false, d.lacksHistory(name)
	}
	if at, ok, err = d.repo.LastChange(ctx, d.head, sourcesIn(name)); ok || err != nil {
		return at, ok, err
	}
	return d.repo.LastChange(ctx, d.head, repository.PathsOf(name)) // an archive, or nothing is graded there
}

// sourcesIn returns the files in a folder for which submission.IsSource holds.
func sourcesIn(folder string) repository.Paths {
	return repository.PathsIn(folder, "*.go", "*_test.go", ".*", "_*")
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// newest returns when the newest graded file was changed, in a folder at path or an archive
// there. It is zero if none can be read.
func newest(path string) (t time.Time) {
	left := 10_000 // names: a folder with more is refused anyway
	_ = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch left--; {
		case left < 0:
			return errEnough
		case err == nil && d.IsDir() && name != path:
			return fs.SkipDir
		case err != nil || !d.Type().IsRegular() || name != path && !submission.IsSource(d.Name()):
			return nil
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(t) {
			t = info.ModTime()
		}
		return nil
	})
	return t.UTC()
}
