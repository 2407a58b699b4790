package fault

import "errors"

// ErrExercise marks errors that the exercise's author has to mend: its
// reference does not build, start, pass or take long enough. Any other error is
// grade's, the sandbox's or the machine's.
var ErrExercise = errors.New("the exercise is at fault")

// exerciseError is an error that is ErrExercise and does not say so.
type exerciseError struct{ error }

func (e exerciseError) Unwrap() []error { return []error{ErrExercise, e.error} }

// Exercise marks an error as one that is [ErrExercise]; its text stays the same.
func Exercise(err error) error { return exerciseError{err} }

// checkError is an error about one check.
type checkError struct {
	error
	check string
}

func (e checkError) Unwrap() error { return e.error }

// Check notes which check an error is about; its text stays the same.
func Check(name string, err error) error { return checkError{err, name} }

// CheckOf names the check that an error is about; "" where it is about no
// single one, or that is not known.
func CheckOf(err error) string {
	e, _ := errors.AsType[checkError](err)
	return e.check
}
