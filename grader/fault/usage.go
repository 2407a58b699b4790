package fault

// UsageError says that a request cannot be met as it stands. It is neither a verdict
// on a submission nor a fault of grade.
type UsageError struct {
	Message string // what is wrong
	Hint    string // what to do instead; may be empty
	Err     error  // the cause, if there is one

	// Student is the message for the student whose submission causes the error, without
	// the name of a folder on this machine; empty if the caller has to act.
	Student string
}

func (e *UsageError) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *UsageError) Unwrap() error { return e.Err }
