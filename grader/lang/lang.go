// Package lang declares what a grading needs of a programming language: to refuse a
// submission by its source, to build hidden tests with a package, to run one of them,
// and to find the runtime's message of a crash. A package below implements it for each
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
	// an architecture; with the exercise's reference if the submission is nil.
	Build(ctx context.Context, e *course.Exercise, s *submission.Snapshot, goarch string) (Build, error)

	// Smoke runs a program without any test.
	Smoke(e *course.Exercise) sandbox.Request
	// Test runs one hidden test, on the inputs of a seed.
	Test(e *course.Exercise, c course.Check, seed string) sandbox.Request
	// Benchmark runs one hidden benchmark, as its check of speed or memory needs it.
	Benchmark(e *course.Exercise, c course.Check, seed string) sandbox.Request

	// CrashWords finds the language's own fixed message in standard error; "" if
	// there is none.
	CrashWords(stderr []byte) string
}

// Build is one build: its request to a box, and the reading of the outcome.
type Build interface {
	Request(d sandbox.Dirs) sandbox.Request
	// Outcome reads the outcome of a submission's build. An error is a fault of grade.
	Outcome(o sandbox.Outcome) (Built, error)
	// Reference reads the outcome of a reference's build: its program, or an error that
	// the exercise's author has to mend.
	Reference(o sandbox.Outcome) (program []byte, err error)
}

// Built is the result of a submission's build: a program or a refusal.
type Built struct {
	Program []byte
	Refused verdict.Refusal
	// Unexplained says that no message about the submission's own files explains the
	// refusal: the fault may be grade's, and the build deserves a second attempt.
	Unexplained bool
}
