package course

import (
	"time"

	"grade/grader/verdict"
)

// MaxScore is the sum of the points of every exercise.
const MaxScore = 100

// The caps on self-reported checks, because a submission can forge them.
const (
	maxSelfReported      = 3  // points of one
	maxSelfReportedTotal = 10 // points of all
)

// maxRace caps the points of the check of kind race. The values that its tests observe are
// evidence like any others; that the detector saw no race is the word of the process alone.
const maxRace = 4

// Exercise is one exercise as it is graded.
type Exercise struct {
	Name       string // of its folder
	Title      string
	Summary    string // one line
	Package    string // the package clause of a submission
	Module     string // the course's
	ImportPath string // <module>/reference/<name>: what hidden tests import

	Imports  []string // packages opened beyond the core ones
	Provided []string // starter files that replace a submission's copies
	Begin    Begin    // what the starter is
	Feedback Feedback
	Limits   Limits // of each hidden test
	Checks   []Check

	LimitsLine int // of exercise.yaml; 0: it states no limits

	Readme    []byte
	Pictures  []File // beside the README, which shows them
	Starter   []File
	Hidden    []File // names without the folder
	Reference []File // without _test.go

	// Hash is the SHA-256, in hexadecimal, over every file that influences a grade:
	// neither the README and its pictures nor the starter's files, except for the provided ones.
	Hash string
}

// File is a file below the folder that it was read from.
type File struct {
	Name string // slash-separated
	Data []byte
}

// Check is one line of the grade.
type Check struct {
	Name         string   // Func, with /speed or /memory after that of a benchmark; "race"
	Func         string   // the hidden test or benchmark; "" for race
	Race         []string // of kind race: the hidden tests that run under the race detector
	Kind         verdict.Kind
	Points       int
	Limit        float64 // times the reference's CPU time or peak memory; 0 for correctness and race
	SelfReported bool    // rests on facts that only the submission's process knows
	Hint         string  // shown to the student when the check fails; one paragraph
	Feedback     Feedback
	Anchor       string // of the README's heading that describes it; "": the README names the check
	Needs        []Need // what it rests on; without a cycle
	Line         int    // of exercise.yaml
}

// Begin says what a student begins with. The zero value is invalid.
type Begin string

// The kinds of starters.
const (
	BeginEmpty Begin = "empty" // the API, and no points
	BeginRight Begin = "right" // a solution that is slow or greedy: it passes each test, and none that costs
)

// Feedback says how much a student learns about a failed hidden test; each kind
// includes the one before. The zero value is invalid.
type Feedback string

// The kinds of feedback.
const (
	FeedbackHint   Feedback = "hint"   // hint, verdict, and how many observations differ, in steps
	FeedbackClass  Feedback = "class"  // the kind of each difference
	FeedbackValues Feedback = "values" // the values observed and expected
)

// Limits bound each run of a hidden test or benchmark. All are positive.
type Limits struct {
	Memory  int64         // bytes, resident
	Output  int64         // bytes, of standard output and of standard error
	Scratch int64         // bytes, of the scratch directory
	CPU     time.Duration // user and system, all threads
	Wall    time.Duration
}

// defaultLimits returns the limits of an exercise that states none.
func defaultLimits() Limits {
	return Limits{
		Memory:  512 << 20,
		Output:  1 << 20,
		Scratch: 64 << 20,
		CPU:     10 * time.Second,
		Wall:    20 * time.Second,
	}
}
