// Package lang says what a grading asks of a programming language: to refuse a
// submission by reading it, to build hidden tests with a package, to run one of
// them, and to find the words of a crash. It holds the questions only; each
// language answers them in a package below, as grader/lang/golang does for Go.
//
// A language acts on nothing: it makes requests for boxes and reads their outcomes.
package lang

import (
	"context"

	"grade/exercises/course"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
)

// Language answers what a grading asks. Its methods may be called by several
// gradings at a time.
type Language interface {
	// Vet refuses a submission by reading its source alone.
	Vet(s *submission.Snapshot, e *course.Exercise) verdict.Refusal

	// BuildBox is the box that builds need.
	BuildBox() sandbox.Spec
	// BuildKey names all that a build is made of besides the exercise and the
	// image: the same key, the same program.
	BuildKey() string
	// Build prepares one build of an exercise's hidden tests with a submission, for
	// an architecture; with the exercise's reference if the submission is nil.
	Build(ctx context.Context, e *course.Exercise, s *submission.Snapshot, goarch string) (Build, error)

	// Smoke runs a program that was built without any test.
	Smoke(e *course.Exercise) sandbox.Request
	// Test runs one hidden test, on the inputs of a seed.
	Test(e *course.Exercise, c course.Check, seed string) sandbox.Request
	// Benchmark runs one hidden benchmark, as its check of speed or memory needs it.
	Benchmark(e *course.Exercise, c course.Check, seed string) sandbox.Request

	// CrashWords finds the language's own fixed message in standard error; "" if
	// there is none.
	CrashWords(stderr []byte) string
}

// Build is one build: what it asks of a box, and what came of it.
type Build interface {
	Request(d sandbox.Dirs) sandbox.Request
	// Outcome reads what a submission's build came to. An error is one of ours.
	Outcome(o sandbox.Outcome) (Built, error)
	// Reference reads what a reference's build came to: its program, or an error
	// that the exercise's author has to mend.
	Reference(o sandbox.Outcome) (program []byte, err error)
}

// Built is what a submission's build came to: a program or a refusal.
type Built struct {
	Program []byte
	Refused verdict.Refusal
	// Unexplained says that nothing in the submission's own files explains the
	// refusal: the fault may be ours, and the build is worth a second look.
	Unexplained bool
}
