// Package service holds the words that all rooms of the service share: what is handed in,
// where it stands, what a worker is given and what it says of itself. Nothing here acts,
// and nothing knows how jobs travel or what a page looks like.
//
// The rooms, with arrows one way:
//
//	service ◀─ engine ◀─ worker      keeps, queues, and grades
//	service ◀─ people                who may do what
//	service ◀─ site                  pages and the API
package service

import (
	"errors"
	"slices"
	"time"

	"grade/grader"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// Upload is a submission as it comes in.
type Upload struct {
	Student, Exercise string
	Snapshot          *submission.Snapshot
	At                time.Time // when it came in; zero: now
	Source            string    // of that time, as gradebooks name it
	// Beside reports, of what was handed in before, whether this replaces none of it that
	// waits, because that may count for more; nil: it replaces it. The engine asks when it
	// numbers the upload, so that no other one comes between.
	Beside func(earlier []Attempt) bool
}

// Stage says where an attempt stands. The zero value is invalid.
type Stage string

// The stages.
const (
	Waiting   Stage = "waiting"    // in the queue
	Grading   Stage = "grading"    // a worker has it
	Graded    Stage = "graded"     // it has a record
	Replaced  Stage = "replaced"   // a later attempt took its place in the queue before a worker had it
	NoVerdict Stage = "no_verdict" // grading it has failed by a fault of ours; staff can have it graded again
)

// Attempt is a submission that was handed in, and where it stands.
type Attempt struct {
	Student   string
	Exercise  string
	Number    int       // from 1
	Content   string    // see [results.Content]
	Submitted time.Time // see [results.Attempt]
	Source    string    // of that time
	Stage     Stage
	Ahead     int             // of a waiting one: how many wait before it
	Worker    string          // that grades it, or has graded it
	Since     time.Time       // when that worker has begun; of Grading alone
	Why       string          // of NoVerdict: what went wrong, for staff
	Told      string          // of NoVerdict: what the student can mend; empty: nothing
	Record    *results.Record // the record that holds; of Graded alone
	Before    *results.Record // what held before, if that was graded anew
}

// Progress is one step of an attempt on its way.
type Progress struct {
	Student  string        `json:"student"`
	Exercise string        `json:"exercise"`
	Number   int           `json:"number"`
	Stage    Stage         `json:"stage"`
	Worker   string        `json:"worker,omitempty"`
	Ahead    int           `json:"ahead,omitempty"` // of a waiting one: how many wait before it
	Event    *grader.Event `json:"event,omitempty"` // of Grading; nil: the stage itself is the news
	At       time.Time     `json:"at"`
}

// Queue is what waits, and the workers that it waits for.
type Queue struct {
	Waiting int       // attempts that no worker has
	Grading int       // attempts that a worker has
	Oldest  time.Time // when the first of the waiting ones came in; zero: none waits
	Workers []WorkerState
	// Wait is how long a submission that comes in now waits for a worker, from the times
	// that gradings took. It is negative if that is not known: nothing was measured yet, or
	// no worker takes jobs.
	Wait time.Duration
}

// WorkerState is what a worker says of itself, every few seconds.
type WorkerState struct {
	Name    string    `json:"name"`
	Host    string    `json:"host"`
	Slots   int       `json:"slots"` // gradings at a time
	Grading []JobID   `json:"grading"`
	Why     string    `json:"why,omitempty"`   // it takes no jobs; empty: it takes them
	Grader  string    `json:"grader"`          // see [Job]
	Setup   string    `json:"setup,omitempty"` // what its machine compiles and runs with; workers should not differ in it
	Version string    `json:"version"`         // of the program
	Heard   time.Time `json:"heard"`           // by the engine
}

// Taken reports whether a worker takes jobs of the queue.
func (q Queue) Taken() bool { return slices.ContainsFunc(q.Workers, WorkerState.Takes) }

// Differ reports whether the workers that take jobs differ in their setups, so that one
// submission may get other points on one of them than on another.
func (q Queue) Differ() bool {
	setups := map[string]bool{}
	for _, w := range q.Workers {
		if w.Takes() {
			setups[w.Setup] = true
		}
	}
	return len(setups) > 1
}

// Takes reports whether the worker takes jobs.
func (w WorkerState) Takes() bool { return w.Why == "" }

// JobID names an attempt, with the time since when a worker has it.
type JobID struct {
	Student  string    `json:"student"`
	Exercise string    `json:"exercise"`
	Number   int       `json:"number"`
	Since    time.Time `json:"since"`
}

// JobSchema names the format of a [Job] as JSON.
const JobSchema = "grade/job/v1"

// Job is an attempt to be graded.
type Job struct {
	Schema    string            `json:"schema"`
	Student   string            `json:"student"`
	Exercise  string            `json:"exercise"`
	Number    int               `json:"attempt"`
	Content   string            `json:"content"` // see [results.Content]; the files have this name
	Dir       string            `json:"dir"`     // of the snapshot
	Ignored   []string          `json:"ignored,omitempty"`
	Problems  []verdict.Problem `json:"problems,omitempty"`
	Submitted time.Time         `json:"submitted,omitzero"`
	Source    string            `json:"submitted_source,omitempty"`
	Grader    string            `json:"grader"`         // the sources that decide, as [results.SourceDigest] has them, and the Go that built them
	Course    string            `json:"course"`         // hash of the course's files, which have this name
	Hash      string            `json:"exercise_hash"`  // see course.Exercise
	After     uint64            `json:"after"`          // sequence of the record that the result comes after; 0: the first
	Seed      string            `json:"seed,omitempty"` // empty: fresh inputs
}

// ID names the job's attempt.
func (j Job) ID() JobID { return JobID{Student: j.Student, Exercise: j.Exercise, Number: j.Number} }

// Entry is a value that is kept, with its revision.
type Entry struct {
	Value    []byte
	Revision uint64
}

// The errors of what is kept.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("changed by another meanwhile; read it again")
	// ErrFull says that no submission is taken because the disk of the service is full.
	ErrFull = errors.New("the disk of the service is full")
)
