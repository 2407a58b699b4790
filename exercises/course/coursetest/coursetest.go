// Package coursetest provides tests with a small course that has no fault, with changed
// copies of it, and with a validator of files by the JSON schemas.
package coursetest

import (
	"io/fs"
	"maps"
	"strings"
	"testing/fstest"
)

// Files returns the files of a course with one exercise, gears, that has no fault.
func Files() map[string]string {
	return map[string]string{
		"go.mod": "// A course.\nmodule example.com/course // of ours\n\ngo 1.26\n",
		"exercises/gears/exercise.yaml": `title: Gear trains
summary: Turn wheels by other wheels
package: gears
imports: [os, encoding/json]
provided: [wheel.go]
feedback: class
limits: {memory: 1GiB, wall: 1m}
checks:
  - {test: TestRatio, points: 60}
  - {test: TestAllocs, points: 3, self_reported: true, feedback: values}
  - {benchmark: BenchmarkTrain, kind: speed, points: 27, limit: 4}
  - {benchmark: BenchmarkTrain, kind: memory, points: 10, limit: 1.5}
`,
		"exercises/gears/README.md":             "# Gears\n",
		"exercises/gears/starter/wheel.go":      "package gears\n",
		"exercises/gears/starter/gears.go":      "package gears\n",
		"exercises/gears/starter/gears_test.go": "package gears_test\n",
		"exercises/gears/hidden/gears_test.go": `package hidden

import (
	"testing"

	"example.com/course/reference/gears"
	watch "grade/observe"
)

// TestRatio multiplies the ratios
// of its wheels.
//
// Both ways.
func TestRatio(t *testing.T) {
	o := watch.New(t)
	o.Float("ratio", gears.Ratio())
}

// Ratio allocates nothing.
func TestAllocs(t *testing.T) { allocs(t) }

func allocs(t *testing.T) { watch.New(t).SelfReported().Int("allocs", 0) }

// Long trains cost no more than their length.
func BenchmarkTrain(b *testing.B) {
	o := watch.New(b)
	for o.Loop() {
	}
}

func Testify() {}
`,
		"exercises/gears/hidden/helpers_test.go": "package hidden\n\ntype wheels int\n\nfunc (wheels) TestMethod() {}\n",
		"reference/gears/gears.go":               "package gears\n\nfunc Ratio() float64 { return 1 }\n",
		"reference/gears/gears_test.go":          "package gears\n",
		"reference/gears/testdata/big.txt":       "x",
	}
}

// SubmissionsRoot is the folder of the course's submissions.
const SubmissionsRoot = "exercises/gears/submissions/"

// WithSubmissions returns the course with a few submissions, all without a fault.
func WithSubmissions() map[string]string {
	files := Files()
	for name, expect := range map[string]string{
		"accepted/loop":           "why: a loop\nverdict: graded\nscore: 100\n",
		"wrong_answer/off-by-one": "why: forgets the last wheel\nverdict: graded\nmax_score: 40\nchecks: {TestRatio: wrong_answer, BenchmarkTrain/speed: passed}\n",
		"invalid/imports-os":      "why: imports os\nverdict: invalid\nscore: 0\nrule: import\n",
		"compile_error/type":      "why: adds a string\nverdict: compile_error\n",
		"forgery/exit":            "why: exits early\nverdict: graded\ntwin: forgery/honest\n",
		"forgery/honest":          "why: gives up\nverdict: graded\nmax_score: 0\n",
	} {
		files[SubmissionsRoot+name+"/expect.yaml"] = expect
		files[SubmissionsRoot+name+"/gears.go"] = "package gears // " + name + "\n"
	}
	return files
}

// WithEdits returns the same course with one submission that is edits of another.
func WithEdits() map[string]string {
	files := WithSubmissions()
	files[SubmissionsRoot+"accepted/loop/gears.go"] = "// Package gears turns wheels, each with some more teeth than the one before it.\npackage gears\n\nfunc Ratio() float64 {\n\treturn 1\n}\n"
	files[SubmissionsRoot+"too_slow/doubled/expect.yaml"] = "why: doubles it\nbase: accepted/loop\nverdict: graded\nchecks: {BenchmarkTrain/speed: too_slow}\n"
	files[SubmissionsRoot+"too_slow/doubled/change.edits"] = "*** gears.go\n func Ratio() float64 {\n-\treturn 1\n+\treturn 2\n"
	return files
}

// FS returns a file system with the files.
func FS(files map[string]string) fs.FS {
	fsys := fstest.MapFS{}
	for name, data := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(data)}
	}
	return fsys
}

// Change returns the course with the first occurrence of old in one file
// replaced by new. An empty old means the whole file; an empty new beside it
// removes the file.
func Change(files map[string]string, file, old, new string) map[string]string {
	files = maps.Clone(files)
	switch {
	case old == "" && new == "":
		delete(files, file)
	case old == "":
		files[file] = new
	case !strings.Contains(files[file], old):
		panic(file + " does not contain " + old)
	default:
		files[file] = strings.Replace(files[file], old, new, 1)
	}
	return files
}
