// Package results defines what is kept of gradings, and the rules that every store follows.
//
// A [Record] is one grading. Its [Key] is a hash of all that decided it, so that no machine
// grades the same work twice. A [Pending] is a submission without a verdict. A [Store]
// keeps both for good, together with the submitted files, and numbers attempts. Package
// grader/results/file stores them in a folder; a service stores them elsewhere.
//
// The package knows neither where a store is, nor how a grading is done, nor what a course
// makes of its results. Decisions on which all stores have to agree are pure functions
// here: [Number] for attempts, [NextPending] for submissions without a verdict.
//
// A caller grades a submission in these steps:
//
//	attempt, err := store.Enter(entry)     // numbers it before it is graded
//	...                                    // grade it, unless ByKey finds its key
//	err = store.KeepFiles(content, files)
//	err = store.Append(record)             // or Withdraw, if there is no verdict
//	err = store.UpdatePending(outcomes)    // which were graded, and which were not
package results

import "grade/grader/submission"

// Reader looks up what is kept. A store holds an index in memory, so that a lookup cannot
// fail.
type Reader interface {
	// Last returns the record that holds for a student's last attempt at an exercise.
	Last(student, exercise string) (Record, bool)
	// ByKey returns the newest record of a key.
	ByKey(key string) (Record, bool)
	// Attempts returns the records that hold, one for each attempt, in the order in which
	// the attempts were first kept.
	Attempts() []Record
	// Pending lists the submissions without a verdict, by student and exercise.
	Pending() []Pending
}

// Store keeps results. Several goroutines may use it at a time.
//
// Its methods take no context, because a finished grading is kept even if the run was
// interrupted. A store behind a network bounds the time of its calls itself.
type Store interface {
	Reader

	// Enter numbers a submission when it comes in, by the rules of [Number]. The number
	// stays taken until a record of it is appended or the attempt is withdrawn: two
	// submissions that are graded at the same time never share one.
	Enter(Entry) (Attempt, error)
	// Withdraw gives back the number of an attempt that came to no verdict, so that a fault
	// of ours uses up no attempt. Enter has returned the attempt. Withdraw does nothing for
	// an attempt with a record.
	Withdraw(Attempt) error

	// Append keeps a record for good, or returns an error and has changed nothing.
	Append(Record) error
	// UpdatePending stores which submissions have no verdict, by the rules of
	// [NextPending].
	UpdatePending([]Outcome) error

	// KeepFiles stores the files of a submission by its content, so that it can be graded
	// again. It leaves out files that were refused: they would be refused again.
	KeepFiles(content string, s *submission.Snapshot) error
	// Files returns the files of a record's submission. The error wraps [io/fs.ErrNotExist]
	// if they were not kept.
	Files(Record) (*submission.Snapshot, error)

	// Drafts opens the results that do not hold yet, including those of an earlier call
	// that were not discarded.
	Drafts() (Drafts, error)
}

// Drafts are the results of a regrade until they are applied. They do not hold yet.
type Drafts interface {
	// ByKey returns the newest draft of a key.
	ByKey(key string) (Record, bool)
	// Append keeps a draft for good, or returns an error and has changed nothing.
	Append(Record) error
	// Discard removes all drafts and closes them.
	Discard() error
	// Close lets another process regrade. A second call does nothing.
	Close() error
}
