// Package intake finds submissions: which there are, whose they are, of which exercise, and
// when they were handed in. It reads names, dates and package clauses, and opens no other
// part of what students wrote; it knows neither how a submission is graded nor where
// results are kept.
//
// A caller finds submissions with [FindAll], where the rules of a course have them or below
// some folders; asks [Dates] when each was handed in; and, once the files of one are read,
// asks [ExerciseOf] which exercise they are of. Submissions in the commits of a repository
// are found by the packages below this one.
package intake

import (
	"context"
	"time"

	"grade/grader/submission"
)

// Submission is a folder or an archive that was found.
type Submission struct {
	Student  string    // slash-separated, never empty
	Exercise string    // empty: the one whose package it is
	Path     string    // of the system; only a name, if Read is given
	Folder   string    // slash-separated, as seen from the root of all submissions; empty: not known
	At       time.Time // when it was handed in; zero: not known yet
	Source   string    // of that time
	// Submitted says what At and Source are, where they are not known yet. It is called once
	// for a new attempt. Nil, or a zero time: that cannot be known.
	Submitted func(context.Context) (t time.Time, source string, err error)
	// Read takes the snapshot. Nil: that of the folder or archive at Path.
	Read func(context.Context) (*submission.Snapshot, error)
}
