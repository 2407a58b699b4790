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

// Dates say when what lies in a folder was handed in: when git had it, or else by the
// date of the newest file. Both are what a student's machine said; a table, or the event
// of a server, comes first where there is one.
type Dates struct {
	repo *repository.Repository // nil: none
	top  string                 // its root
	head string
}

// NewDates looks for a repository from dir upwards. What lies in students' folders is not
// asked: a repository there would be one of theirs, and git obeys it. A repository that git
// cannot open is a [fault.Error]: to take dates of files instead, without a word,
// could make submissions late.
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
	return d, err
}

// topOf is the folder, above dir or dir itself, that git has marked as a repository's root.
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

// Of returns when the submission at path was handed in, and who says so; the time is zero
// where that is not known.
func (d *Dates) Of(ctx context.Context, path string) (time.Time, string, error) {
	if d.repo != nil {
		at, ok, err := d.committed(ctx, path)
		if ok || err != nil {
			return at, "the commit", err
		}
	}
	return newest(path), "the newest file", nil
}

// committed is the date of the last commit that changed what is graded of a submission, if
// git has that as it is.
func (d *Dates) committed(ctx context.Context, path string) (at time.Time, ok bool, err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return at, false, fmt.Errorf("find out when it was handed in: %w", err)
	}
	name, ok := Below(d.top, path)
	if !ok {
		return at, false, nil
	}
	if ok, err = d.repo.Holds(ctx, d.head, name, path, submission.IsSource); !ok || err != nil {
		return at, false, err
	}
	if at, ok, err = d.repo.LastChange(ctx, d.head, sourcesIn(name)); ok || err != nil {
		return at, ok, err
	}
	return d.repo.LastChange(ctx, d.head, repository.PathsOf(name)) // an archive, or nothing is graded there
}

// sourcesIn are the files in a folder for which submission.IsSource holds.
func sourcesIn(folder string) repository.Paths {
	return repository.PathsIn(folder, "*.go", "*_test.go", ".*", "_*")
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// newest is when the newest file that is graded was changed, in a folder at path or of an
// archive there; what cannot be read has no date.
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
