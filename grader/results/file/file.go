// Package file stores results in a folder. It is the [results.Store] of one machine; a
// course's repository can hold the folder and show its changes in a diff.
//
//	results.jsonl       a line for each record, which never changes
//	no-verdict.jsonl    a line for each submission without a verdict
//	no-exercise.jsonl   a line for each submission of an unknown exercise
//	regrade.jsonl       records that do not hold yet
//	submissions/*.zip   the submitted files, by their content
//
// One process at a time writes to a folder, and any number may read. A line counts only
// once it is on the disk. Appending the lines of one folder to another joins them: the
// reader numbers attempts anew where both folders have counted them, and changes no file.
package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	// entered lists the attempts that have a number and no record, each as often as it was
	// entered. It is in memory alone: a killed process has graded nothing.
	entered map[owner][]results.Attempt
}

var _ results.Store = (*Store)(nil)

// Open opens the results in a folder, or creates them. The error is a [*BusyError] if
// another process writes to them.
func Open(dir string) (*Store, error) { return open(dir, (*flock.Flock).TryLock) }

// BusyError says that another process writes to a file of results.
type BusyError struct{ Name string }

func (e *BusyError) Error() string { return e.Name + " is being written by another grade" }

// Unwrap marks the error as the caller's.
func (e *BusyError) Unwrap() error { return &fault.Error{Message: e.Error()} }

// NoResultsError says that a folder holds no readable results.
type NoResultsError struct{ Err error }

func (e *NoResultsError) Error() string { return "open results: " + e.Err.Error() }

// Unwrap marks the error as the caller's, and keeps its cause.
func (e *NoResultsError) Unwrap() error { return &fault.Error{Message: "open results", Err: e.Err} }

// lockRetry is the interval between two attempts to lock a folder.
const lockRetry = 200 * time.Millisecond

// OpenWhenFree is [Open], but while another process writes to the results it calls waiting
// and waits, until the lock is free or the context ends.
func OpenWhenFree(ctx context.Context, dir string, waiting func()) (*Store, error) {
	return open(dir, func(l *flock.Flock) (bool, error) {
		if ok, err := l.TryLock(); ok || err != nil {
			return ok, err
		}
		waiting()
		return l.TryLockContext(ctx, lockRetry)
	})
}

// Read reads the results in a folder while other processes may write to it. The store
// refuses to keep anything. The error is a [*NoResultsError] if there are none.
func Read(dir string) (*Store, error) {
	s := newStore(dir)
	var err error
	// Pending ones come first: a run that ends meanwhile leaves no submission out of both files.
	if s.wait, err = readPending(dir); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, ResultsFile)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, &NoResultsError{err}
	}
	s.log.name = name
	if _, err := s.log.parse(data); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	return s, nil
}

func newStore(dir string) *Store {
	return &Store{dir: dir, log: &log{}, wait: map[results.PendingID]results.Pending{}, entered: map[owner][]results.Attempt{}}
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

// Close lets another process write. A second call does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.close()
}

// Last returns the record that holds for a student's last attempt at an exercise.
func (s *Store) Last(student, exercise string) (results.Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Last(student, exercise)
}

// ByKey returns the newest record of a key.
func (s *Store) ByKey(key string) (results.Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.ByKey(key)
}

// Attempts returns the records that hold, one for each attempt, in the order in which the
// attempts were first kept.
func (s *Store) Attempts() []results.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Attempts()
}

// All returns all records, in the order in which they were kept: of an attempt that was
// graded anew, several.
func (s *Store) All() []results.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log.All())
}

// Append keeps a record for good. If that fails, the file is as it was before.
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
	return d.log.ByKey(key)
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

// lock takes the lock that lets one process at a time write to a file.
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
