// Package file keeps results in a folder: the [results.Store] of one machine, which a
// course's repository can hold and show in a diff.
//
//	results.jsonl       a line for each record, of which none is ever changed
//	no-verdict.jsonl    a line for each submission without a verdict
//	regrade.jsonl       records that do not hold yet
//	submissions/*.zip   what was handed in, by its content
//
// One process at a time writes to a folder, and any number may read. Lines are on the disk
// before they are believed. Two folders can be put together by appending their lines: what
// both have counted is numbered anew when it is read, and in the files nothing changes.
package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"grade/grader/fault"
	"grade/grader/results"
	"grade/grader/wholefile"
)

// The files in a folder of results.
const (
	ResultsFile    = "results.jsonl"
	pendingFile    = "no-verdict.jsonl"
	draftsFile     = "regrade.jsonl"
	submissionsDir = "submissions"
)

// Store is a folder of results.
type Store struct {
	dir  string
	mu   sync.Mutex // guards what follows
	log  *log
	wait map[results.PendingID]results.Pending
	// entered are the attempts that have a number and no record, each as often as it was
	// entered. They are in memory alone: a process that was killed has graded nothing.
	entered map[owner][]results.Attempt
}

var _ results.Store = (*Store)(nil)

// Open opens the results in a folder, or begins them. The error is a [*BusyError] if
// another process writes to them.
func Open(dir string) (*Store, error) { return open(dir, (*flock.Flock).TryLock) }

// BusyError says that another process writes to a file of results.
type BusyError struct{ Name string }

func (e *BusyError) Error() string { return e.Name + " is being written by another grade" }

// Unwrap marks the error as the caller's.
func (e *BusyError) Unwrap() error { return &fault.Error{Message: e.Error()} }

// NoResultsError says that a folder holds no results that can be read.
type NoResultsError struct{ Err error }

func (e *NoResultsError) Error() string { return "open results: " + e.Err.Error() }

// Unwrap marks the error as the caller's, and has its cause.
func (e *NoResultsError) Unwrap() error { return &fault.Error{Message: "open results", Err: e.Err} }

// lockRetry is how often a folder that another process writes to is asked for.
const lockRetry = 200 * time.Millisecond

// OpenWhenFree is [Open], but where another process writes to the results it calls waiting
// and waits until that is done, or the context is.
func OpenWhenFree(ctx context.Context, dir string, waiting func()) (*Store, error) {
	return open(dir, func(l *flock.Flock) (bool, error) {
		if ok, err := l.TryLock(); ok || err != nil {
			return ok, err
		}
		waiting()
		return l.TryLockContext(ctx, lockRetry)
	})
}

// Read reads the results in a folder, to which others may write meanwhile. Nothing can be
// kept in a store that was read. The error is a [*NoResultsError] if there are none.
func Read(dir string) (*Store, error) {
	s := newStore(dir)
	var err error
	// Who is pending comes first: a run that ends meanwhile leaves no submission in neither file.
	if s.wait, err = readPending(dir); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, ResultsFile)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, &NoResultsError{err}
	}
	if _, err := s.log.parse(data); err != nil {
		return nil, fmt.Errorf("open results: %s: %w", name, err)
	}
	return s, nil
}

func newStore(dir string) *Store {
	return &Store{dir: dir, log: newLog(), wait: map[results.PendingID]results.Pending{}, entered: map[owner][]results.Attempt{}}
}

func open(dir string, try func(*flock.Flock) (bool, error)) (*Store, error) {
	s := newStore(dir)
	var err error
	if s.log, err = openLog(filepath.Join(dir, ResultsFile), try); err != nil {
		return nil, err
	}
	if s.wait, err = readPending(dir); err == nil {
		err = wholefile.SyncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close lets others write. A second time it does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.close()
}

// Last is the record that holds for a student's last attempt at an exercise.
func (s *Store) Last(student, exercise string) (results.Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.last(owner{student, exercise})
}

// ByKey is the newest record of a key.
func (s *Store) ByKey(key string) (results.Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.withKey(key)
}

// Attempts are the records that hold, one for each attempt, in the order in which the
// attempts were first kept.
func (s *Store) Attempts() []results.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.attempts()
}

// Append keeps a record for good. Where that fails, the file is as it was before.
func (s *Store) Append(r results.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.log.append(r); err != nil {
		return err
	}
	s.recorded(r)
	return nil
}

// Drafts opens the results that do not hold yet.
func (s *Store) Drafts() (results.Drafts, error) {
	l, err := openLog(filepath.Join(s.dir, draftsFile), (*flock.Flock).TryLock)
	if err != nil {
		return nil, err
	}
	if err := wholefile.SyncDir(s.dir); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return &drafts{log: l}, nil
}

// drafts is a file of results that do not hold yet.
type drafts struct {
	mu  sync.Mutex // guards log
	log *log
}

func (d *drafts) ByKey(key string) (results.Record, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.withKey(key)
}

func (d *drafts) Append(r results.Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.append(r)
}

func (d *drafts) Discard() error {
	if err := d.log.close(); err != nil {
		return err
	}
	return os.Remove(d.log.name)
}

func (d *drafts) Close() error { return d.log.close() }

// lock takes the lock of a file that one process at a time writes to.
func lock(name string, try func(*flock.Flock) (bool, error)) (*flock.Flock, error) {
	l := flock.New(name + ".lock")
	ok, err := try(l)
	if err != nil {
		return nil, fmt.Errorf("open results: %s: %w", name, err)
	}
	if !ok {
		return nil, &BusyError{name}
	}
	return l, nil
}
