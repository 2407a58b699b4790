// Package grader takes a submission to a verdict. [Grader.Grade] is the way, on one
// page; [PlanOf] says beforehand what is going to be run.
//
//	vet ─▶ build ─▶ smoke test ─▶ test ─▶ measure ─▶ result
//
// A submission runs with the hidden tests and with no expected value. What the
// tests observe leaves the sandbox as data, and is judged here against what the
// reference gave for the same seed in a box of its own. Endings have one rule: a
// value says what the submission did, an error what went wrong with us. A fault of
// ours is never a verdict, a fault of theirs never an error.
//
// This package decides what runs, and when. What a language is asked is package
// lang's, what a record is worth judge's, when pairs suffice measure's, where
// programs run boxes'; what a report looks like is not known here.
package grader

import (
	"context"

	"grade/exercises/course"
	"grade/grader/boxes"
	"grade/grader/lang"
	"grade/grader/submission"
	"grade/sandbox"
)

// Config is what a grader needs besides a sandbox.
type Config struct {
	Language lang.Language
	// CacheDir keeps compiled references; empty: they are compiled each time.
	CacheDir string
	Boxes    boxes.Config
	// Version and Toolchain are for the result.
	Version, Toolchain string
}

// Grader grades. It may be used by several goroutines at a time.
type Grader struct {
	sandbox boxes.Sandbox
	lang    lang.Language
	boxes   *boxes.Pool
	config  Config
}

// New returns a grader that runs programs in s. It has to be closed before s.
func New(s boxes.Sandbox, c Config) *Grader {
	return &Grader{sandbox: s, lang: c.Language, boxes: boxes.New(s, c.Boxes), config: c}
}

// Prepare makes what gradings are going to need of the sandbox, unless it is there, and
// says what it is.
func (g *Grader) Prepare(ctx context.Context) (sandbox.Info, error) {
	for _, p := range []sandbox.Purpose{sandbox.Build, sandbox.Run} {
		if err := g.sandbox.Prepare(ctx, p); err != nil {
			return sandbox.Info{}, err
		}
	}
	return g.sandbox.Info(), nil
}

// Refuses reports whether a submission is refused by its source alone, before anything of
// it is built.
func (g *Grader) Refuses(s *submission.Snapshot, e *course.Exercise) bool {
	return g.lang.Vet(s, e).Any()
}

// Close closes the boxes that wait for another grading.
func (g *Grader) Close() { g.boxes.Close() }
