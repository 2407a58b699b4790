// Package gotest is `go test` of an exercise's hidden tests, as one would type it
// without a grader: the module they are built in, the flags and the pattern, and
// containers to run it in, made for the purpose and removed afterwards. It judges
// nothing: what go test says of a submission is its own affair.
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

// Kit are the files that all exercises of a course have in common.
func Kit() ([]sandbox.File, error) {
	requests, err := golang.Warm(grade.Sources).Requests(sandbox.Dirs{})
	if err != nil {
		return nil, err
	}
	return requests[0].Files, nil
}

// Packages are the two that are compiled anew for every submission: a solution, in
// the place of the reference, and the hidden tests.
func Packages(e *course.Exercise, solution []course.File) (files []sandbox.File) {
	for _, f := range solution {
		files = append(files, sandbox.File{Name: path.Join("reference", e.Name, f.Name), Data: f.Data})
	}
	for _, f := range e.Hidden {
		files = append(files, sandbox.File{Name: path.Join(Hidden(e), f.Name), Data: f.Data})
	}
	return files
}

// Hidden is the package of the hidden tests, below the module's root.
func Hidden(e *course.Exercise) string { return "./exercises/" + e.Name + "/hidden" }

// Tests are the functions that decide correctness.
func Tests(e *course.Exercise) (names []string) {
	for _, c := range e.Checks {
		if c.Kind == verdict.Correctness {
			names = append(names, c.Func)
		}
	}
	return names
}

// Pattern is what -run takes for these and no others.
func Pattern(e *course.Exercise) string { return "^(" + strings.Join(Tests(e), "|") + ")$" }

// flagsOf are the flags that a grader builds with, out of the request that fills
// its cache: what stands before the output's name, but for the one that only builds.
func flagsOf(warm sandbox.Request) []string {
	flags := slices.Clone(warm.Args[:slices.Index(warm.Args, "-o")])
	return slices.DeleteFunc(flags, func(f string) bool { return f == "-c" })
}
