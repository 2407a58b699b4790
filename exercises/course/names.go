package course

import (
	"path"
	"strings"
)

// The layout of a course.
const (
	ExercisesDir   = "exercises"
	referenceDir   = "reference"
	configFile     = "exercise.yaml"
	misnamedConfig = "exercise.yml"
	readmeFile     = "README.md"
	starterDir     = "starter"
	hiddenDir      = "hidden"
	SubmissionsDir = "submissions"
	ExpectFile     = "expect.yaml"
)

// isSource reports whether a file, named below the folder of a starter or a reference,
// is a source of the folder's package: a Go file at its top level that is no test. A
// student's folder has a rule of its own in package submission, which distrusts names;
// course knows no submissions.
func isSource(name string) bool { return isGo(name) && !isTest(name) }

func isGo(name string) bool { return path.Dir(name) == "." && strings.HasSuffix(name, ".go") }

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }
