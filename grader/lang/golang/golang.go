// Package golang implements package lang for submissions written in Go. It vets source
// by parsing (package vet has the rules), spells out the API that a submission must
// have, makes the requests for builds and runs, and translates the compiler's output.
// It runs nothing itself and knows no verdict on a check.
package golang

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"grade/exercises/course"
	"grade/grader/lang"
	"grade/grader/lang/golang/vet"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/sandbox"
)

// Language is Go, as [lang.Language] describes it.
type Language struct {
	kit      fs.FS
	compiler Compiler
}

// Compiler returns the program of grader/lang/golang/compile for an architecture.
type Compiler func(ctx context.Context, goarch string) ([]byte, error)

// New returns Go. Kit is the tree that holds observe/, which hidden tests import.
func New(kit fs.FS, tool Compiler) *Language { return &Language{kit, tool} }

// Vet refuses a submission by parsing it.
func (l *Language) Vet(s *submission.Snapshot, e *course.Exercise) verdict.Refusal {
	refused, syntax := vet.Source(s.Files, vet.Policy{Package: e.Package, Imports: e.Imports})
	if refused = append(slices.Clone(s.Problems), refused...); len(refused) > 0 {
		return verdict.Refusal{Verdict: verdict.Invalid, Problems: refused}
	}
	if len(syntax) > 0 {
		return verdict.Refusal{Verdict: verdict.CompileError, Problems: syntax}
	}
	return verdict.Refusal{}
}

// BuildBox returns the box of a build.
func (l *Language) BuildBox() sandbox.Spec { return buildSpec }

// BuildKey identifies the kit and the flags of a build.
func (l *Language) BuildKey() string { return fmt.Sprintf("%q %q", kitHash(l.kit), buildFlags) }

// CrashWords translates the runtime's message.
func (l *Language) CrashWords(stderr []byte) string { return CrashWords(stderr) }

// CrashPlaces reads the runtime's traceback.
func (l *Language) CrashPlaces(o sandbox.Outcome, e *course.Exercise, s *submission.Snapshot) (places []verdict.Place, foreign bool) {
	return CrashPlaces(o, e, s)
}

var _ lang.Language = (*Language)(nil)
