package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"grade/grader/intake/repository"
	"grade/grader/batch"
	"grade/grader/fault"
)

// dates know when what lies in a folder was handed in: when git had it, or else by the
// date of the newest file. Both are what a student's machine said; a table, or the event
// of a server, comes first where there is one.
type dates struct {
	repo *repository.Repository // that the current folder is in; nil: none
	top  string                 // its root
	head string
}

// newDates looks for a repository from the current folder upwards. What lies in students'
// folders is not asked: a repository there would be one of theirs, and git obeys it.
func newDates(ctx context.Context) (*dates, error) {
	top, err := topOf(".")
	if top == "" || err != nil {
		return &dates{}, err
	}
	d := &dates{top: top}
	if d.repo, err = repository.Open(ctx, "."); err != nil {
		return nil, &fault.UsageError{Message: "ask git when submissions were handed in", Hint: "mend the repository, or run grade outside of it: dates of files count there", Err: err}
	}
	head, ok, err := d.repo.Commit(ctx, "HEAD")
	if !ok {
		return &dates{}, err // nothing has been committed yet
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

// of is when a submission was handed in.
func (d *dates) of(ctx context.Context, s batch.Submission) (time.Time, string, error) {
	if d.repo != nil {
		at, ok, err := d.committed(ctx, s.Path)
		if ok || err != nil {
			return at, "the commit", err
		}
	}
	return newest(s.Path), "the newest file", nil
}

// committed is the date of the last commit that changed what is graded of a submission, if
// git has that as it is.
func (d *dates) committed(ctx context.Context, path string) (at time.Time, ok bool, err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return at, false, fmt.Errorf("find out when it was handed in: %w", err)
	}
	name, ok := below(d.top, path)
	if !ok {
		return at, false, nil
	}
	if ok, err = d.repo.Holds(ctx, d.head, name, path, isSource); !ok || err != nil {
		return at, false, err
	}
	if at, ok, err = d.repo.LastChange(ctx, d.head, sourcesIn(name)); ok || err != nil {
		return at, ok, err
	}
	return d.repo.LastChange(ctx, d.head, repository.PathsOf(name)) // an archive, or nothing is graded there
}

// sourcesIn are the files in a folder for which isSource holds.
func sourcesIn(folder string) repository.Paths {
	return repository.PathsIn(folder, "*.go", "*_test.go", ".*", "_*")
}

// isSource reports whether a snapshot may take a file of that name.
func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
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
		case err != nil || !d.Type().IsRegular() || name != path && !isSource(d.Name()):
			return nil
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(t) {
			t = info.ModTime()
		}
		return nil
	})
	return t.UTC()
}
