// Package gotest runs `go test` of an exercise's hidden tests without a grader, for
// comparison. It provides the module, the flags and the pattern of the tests, and runs
// them in single-use containers. It judges nothing, and reports only the status, the
// output and the time of go test.
package gotest

import (
	"path"
	"slices"
	"strings"

	"grade"
	"grade/exercises/course"
	"grade/grader/lang/golang"
	"grade/grader/verdict"
	"grade/sandbox"
)

// Kit returns the files that all exercises of a course have in common.
func Kit() ([]sandbox.File, error) {
	requests, err := golang.Warm(grade.Sources).Requests(sandbox.Dirs{})
	if err != nil {
		return nil, err
	}
	return requests[0].Files, nil
}

// Packages returns the files of the two packages that are compiled for every
// submission: a solution, in the place of the reference, and the hidden tests.
func Packages(e *course.Exercise, solution []course.File) (files []sandbox.File) {
	for _, f := range solution {
		files = append(files, sandbox.File{Name: path.Join("reference", e.Name, f.Name), Data: f.Data})
	}
	for _, f := range e.Hidden {
		files = append(files, sandbox.File{Name: path.Join(Hidden(e), f.Name), Data: f.Data})
	}
	return files
}

// Hidden returns the path of the hidden tests' package, relative to the module's root.
func Hidden(e *course.Exercise) string { return "./exercises/" + e.Name + "/hidden" }

// Tests lists the test functions that decide correctness.
func Tests(e *course.Exercise) (names []string) {
	for _, c := range e.Checks {
		if c.Kind == verdict.Correctness {
			names = append(names, c.Func)
		}
	}
	return names
}

// Pattern returns a pattern for -run that matches exactly Tests.
func Pattern(e *course.Exercise) string { return "^(" + strings.Join(Tests(e), "|") + ")$" }

// flagsOf returns the grader's build flags. It takes them from the request that fills
// the cache: all before -o, except -c.
func flagsOf(warm sandbox.Request) []string {
	flags := slices.Clone(warm.Args[:slices.Index(warm.Args, "-o")])
	return slices.DeleteFunc(flags, func(f string) bool { return f == "-c" })
}
