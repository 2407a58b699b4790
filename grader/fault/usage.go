package fault

// UsageError says that grade was asked for something that cannot be done as
// asked: no verdict on anybody's work and no fault of ours. The command maps it
// to exit status 2.
type UsageError struct {
	Message string // what is wrong
	Hint    string // what to do instead; may be empty
	Err     error  // the cause, if there is one

	// Student is the same for the student whose submission is at fault, without the
	// folder it was in; empty where whoever runs grade has to do something.
	Student string
}

func (e *UsageError) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *UsageError) Unwrap() error { return e.Err }
