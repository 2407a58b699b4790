// Package intake finds submissions, with their students, exercises and times of submission.
// It reads names, dates and package clauses, and opens no other part of what students
// wrote; it knows neither how a submission is graded nor where results are kept.
//
// A caller finds submissions with [FindAll], by the pattern in a course's rules or below
// some folders; asks [Dates] when each was handed in; and, once its files are read, asks
// [ExerciseOf] for its exercise. The packages below find submissions in the commits of a
// repository.
package intake

import (
	"context"
	"time"

	"grade/grader/submission"
)

// Submission is a folder or an archive that may be graded.
type Submission struct {
	Student  string    // slash-separated, never empty
	Exercise string    // empty: the one whose package it is
	Path     string    // of the system; only a name, if Read is given
	Archive  bool      // a regular file with the name of an archive was found at Path: nothing else there is it
	From     string    // where Path lies below this, no link on the way is followed; empty: links are followed
	Folder   string    // slash-separated, as seen from the root of all submissions; empty: not known
	At       time.Time // when it was handed in; zero: not known yet
	Source   string    // of that time
	// Submitted finds out At and Source if they are not known yet. It is called once for a
	// new attempt. A nil Submitted, or a zero time, means that the time cannot be known.
	Submitted func(context.Context) (t time.Time, source string, err error)
	// Read takes the snapshot; nil: it is taken of the folder or archive at Path.
	Read func(context.Context) (*submission.Snapshot, error)
}
