// Package results says what is kept of gradings, and what has to hold wherever it is kept.
//
// A [Record] is one grading. Its [Key] is a hash of all that decided it, so that nothing is
// graded twice, on whatever machine. A [Pending] is a submission without a verdict. A
// [Store] keeps both for good, beside the files that were handed in, and numbers attempts.
// Package grader/results/file keeps them in a folder; a service keeps them elsewhere.
//
// The package knows neither where a store is, nor who grades, nor what a course makes of
// its results. What two stores must not decide differently are pure functions of it:
// [Number] for attempts, [NextPending] for what has no verdict.
//
// A caller grades a submission in these steps:
//
//	attempt, err := store.Enter(entry)     // it has its number before it is graded
//	...                                    // graded, unless ByKey finds its key
//	err = store.KeepFiles(content, files)
//	err = store.Append(record)             // or Withdraw, where there is no verdict
//	err = store.UpdatePending(outcomes)    // which were graded, and which were not
package results

import "grade/grader/submission"

// Reader looks up what is kept. A store holds an index of it in memory, so that looking up
// cannot fail.
type Reader interface {
	// Last is the record that holds for a student's last attempt at an exercise.
	Last(student, exercise string) (Record, bool)
	// ByKey is the newest record of a key.
	ByKey(key string) (Record, bool)
	// Attempts are the records that hold, one for each attempt, in the order in which the
	// attempts were first kept.
	Attempts() []Record
	// Pending lists the submissions without a verdict, by student and exercise.
	Pending() []Pending
}

// Store keeps results. It may be used by several goroutines at a time.
//
// Its methods take no context: what was graded is kept also where a run was interrupted. A
// store that lies behind a network bounds the time of its calls itself.
type Store interface {
	Reader

	// Enter numbers a submission when it comes in, as [Number] says. The number is taken
	// until a record of it is appended or the attempt is withdrawn: two submissions that
	// are graded at the same time never have the same one.
	Enter(Entry) (Attempt, error)
	// Withdraw gives back the number of an attempt that came to no verdict, which a call of
	// Enter has returned: a fault of ours uses up no attempt. It does nothing for an attempt
	// with a record.
	Withdraw(Attempt) error

	// Append keeps a record for good, or returns an error and has changed nothing.
	Append(Record) error
	// UpdatePending keeps which submissions have no verdict, as [NextPending] says.
	UpdatePending([]Outcome) error

	// KeepFiles keeps the files of a submission by its content, so that they can be graded
	// again. What was refused when it was read is not kept: it would be refused again.
	KeepFiles(content string, s *submission.Snapshot) error
	// Files returns the files of a record as they were handed in. The error wraps
	// [io/fs.ErrNotExist] if they were not kept.
	Files(Record) (*submission.Snapshot, error)

	// Drafts opens the results that do not hold yet, with those of an earlier call that
	// were not discarded.
	Drafts() (Drafts, error)
}

// Drafts are results beside those that hold: what a regrade has found, until it is applied.
type Drafts interface {
	// ByKey is the newest draft of a key.
	ByKey(key string) (Record, bool)
	// Append keeps a draft for good, or returns an error and has changed nothing.
	Append(Record) error
	// Discard removes all drafts and closes them.
	Discard() error
	// Close lets others regrade. A second time it does nothing.
	Close() error
}
