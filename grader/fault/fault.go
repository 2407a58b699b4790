// Package fault says who can mend an error that keeps a verdict from being reached:
// the student, the exercise's author, the caller, or else we. A mistake in a submission
// that can be read is a verdict and never an error.
//
// Each person has a text of their own: [Error] for the caller, [Told] for the student,
// an error's own text for the author. None of them has the words of a command in it;
// a command adds what to type.
package fault

import "errors"

// Kind is the person who can mend an error.
type Kind string

// The kinds.
const (
	Student Kind = "student" // the submission cannot be read, or says no exercise
	Author  Kind = "author"  // the exercise is at fault
	Caller  Kind = "caller"  // what was asked for cannot be done as asked
	Ours    Kind = "ours"    // the machine, the sandbox, grade itself
)

// KindOf returns the person who can mend an error. An error without a mark is ours.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Told != "" {
			return Student
		}
		return Caller
	}
	if errors.Is(err, ErrExercise) {
		return Author
	}
	return Ours
}

// Told returns what the student may read of an error; "" if it is not theirs.
func Told(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Told
	}
	return ""
}

// Error is an error that the student or the caller can mend.
type Error struct {
	Message string // what is wrong, for the caller; it may name folders of the machine
	Advice  string // what to do instead; may be empty
	Err     error  // the cause, if there is one

	// Told is the message for the student whose submission causes the error, without
	// the name of a folder of the machine; empty if the caller has to act.
	Told string
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }
