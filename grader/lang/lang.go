// Package lang declares what a grading needs of a programming language: to refuse a
// submission by its source, to build hidden tests with a package, to run one of them,
// and to say of a crash what it was and where. A package below implements it for each
// language, as grader/lang/golang does for Go.
//
// A language runs nothing: it makes requests for boxes and reads their outcomes.
package lang

import (
	"context"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
)

// Language is one programming language. Several gradings may call its methods at a
// time.
type Language interface {
	// Vet refuses a submission by reading its source alone.
	Vet(s *submission.Snapshot, e *course.Exercise) verdict.Refusal

	// BuildBox returns the box that builds need.
	BuildBox() sandbox.Spec
	// BuildKey identifies every input of a build besides the exercise and the image:
	// builds of one key give the same program.
	BuildKey() string
	// Build prepares one build of an exercise's hidden tests with a submission, for
	// an architecture; with the exercise's reference if the submission is nil. A recipe,
	// from the reference's build on the same image, makes a submission's faster.
	Build(ctx context.Context, e *course.Exercise, s *submission.Snapshot, recipe []byte, goarch string) (Build, error)

	// Public prepares a build of the reference with the tests of the starter; nil if it
	// has none.
	Public(e *course.Exercise) (Build, error)
	// PublicTests runs all tests of such a build.
	PublicTests(e *course.Exercise) sandbox.Request

	// Smoke runs a program without any test.
	Smoke(e *course.Exercise) sandbox.Request
	// Test runs one hidden test, on the inputs of a seed.
	Test(e *course.Exercise, c course.Check, seed string) sandbox.Request
	// Benchmark runs one hidden benchmark, as its check of speed or memory needs it.
	Benchmark(e *course.Exercise, c course.Check, seed string) sandbox.Request

	// RaceBox returns the box for programs of [Build.RaceRequest], made of that for others.
	RaceBox(s sandbox.Spec) sandbox.Spec
	// RaceTest runs one hidden test in such a program.
	RaceTest(e *course.Exercise, test, seed string) sandbox.Request
	// Race reads what the race detector said of a run; ok is false if it saw no race.
	Race(o sandbox.Outcome, s *submission.Snapshot, e *course.Exercise) (r Race, ok bool)
	// Unraced reports whether the race detector ended a run without a word of a race: it
	// could not start, or not go on.
	Unraced(o sandbox.Outcome) bool

	// CrashWords translates the message of a crash in standard error into one of a
	// fixed list of texts, in which nothing is the program's choice but which one it
	// is; "" if there is no message of the language's own.
	CrashWords(stderr []byte) string
	// CrashPlaces finds the line of code in the submission's own files where it crashed, or
	// was at work when its time was over; in a deadlock, or where it waited too long, those
	// where it waits. Foreign says that there is a stack, and no such line in it.
	CrashPlaces(o sandbox.Outcome, e *course.Exercise, s *submission.Snapshot) (places []verdict.Place, foreign bool)
}

// Build is one build: its request to a box, and the reading of the outcome.
type Build interface {
	Request(d sandbox.Dirs) sandbox.Request
	// Outcome reads the outcome of a submission's build. An error is a fault of grade.
	Outcome(o sandbox.Outcome) (Built, error)
	// Reference reads the outcome of a reference's build: its program and the recipe for
	// builds of submissions, nil if there is none; or an error that the exercise's author
	// has to mend.
	Reference(o sandbox.Outcome) (program, recipe []byte, err error)

	// RaceRequest builds the same tests with the race detector, in the same box after
	// Request has succeeded there. A recipe makes a submission's faster.
	RaceRequest(d sandbox.Dirs, recipe []byte) sandbox.Request
	// RaceRecipe reads the outcome of the reference's; nil if there is no recipe.
	RaceRecipe(o sandbox.Outcome) ([]byte, error)
	// RaceOutcome reads the outcome of a submission's build for the race detector. The
	// program is nil if there is none; detail says then why, to the student. An error is the
	// machine's fault.
	RaceOutcome(o sandbox.Outcome) (program []byte, v verdict.Verdict, detail string, err error)
}

// Race is a data race: two accesses to the same memory, one of them a write, without an
// order between them.
type Race struct {
	Accesses []Access // one or two: the detector may have lost the other
}

// Access is one side of a data race.
type Access struct {
	Write bool
	// Place is the line in the submission that made the access, or that began the goroutine
	// which did. Its File is empty if there is none.
	Place verdict.Place
	Test  bool // the hidden test made the access, without the submission
}

// Built is the result of a submission's build: a program or a refusal.
type Built struct {
	Program []byte
	Refused verdict.Refusal
	// Unexplained says that no message about the submission's own files explains the
	// refusal: the fault may be grade's, and the build deserves a second attempt.
	Unexplained bool
}
