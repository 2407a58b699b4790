package fault

import "errors"

// ErrExercise marks an error that the exercise's author has to mend: the reference
// does not build, start, pass or take long enough. Any other error is grade's, the
// sandbox's or the machine's.
var ErrExercise = errors.New("the exercise is at fault")

// exerciseError wraps an error as ErrExercise and keeps its text.
type exerciseError struct{ error }

func (e exerciseError) Unwrap() []error { return []error{ErrExercise, e.error} }

// Exercise marks an error as [ErrExercise] and keeps its text.
func Exercise(err error) error { return exerciseError{err} }

// checkError names the check that an error is about.
type checkError struct {
	error
	check string
}

func (e checkError) Unwrap() error { return e.error }

// Check marks an error with the check that it is about, and keeps its text.
func Check(name string, err error) error { return checkError{err, name} }

// AboutCheck returns the check that an error is about, and the error without the words of
// what was being graded; "" and nil if no single check is known.
func AboutCheck(err error) (name string, cause error) {
	e, ok := errors.AsType[checkError](err)
	if !ok {
		return "", nil
	}
	return e.check, e.error
}

// CheckOf returns the check that an error is about; "" if no single one is known.
func CheckOf(err error) string {
	e, _ := errors.AsType[checkError](err)
	return e.check
}
