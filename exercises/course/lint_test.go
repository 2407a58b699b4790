package course

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
)

// tidy returns the course with one exercise that Lint has nothing to say about.
func tidy() map[string]string {
	files := coursetest.Files()
	files["exercises/gears/README.md"] = `# Gears

` + "```go" + `
func Ratio(teeth []int, w Wheel) (ratio float64, err error)
` + "```" + `

ErrTeeth is the error of wheels without teeth; as in

` + "```go" + `
r, err := gears.Ratio([]int{3, 4}, w)
` + "```" + `

| check | rule |
|---|---|
| TestRatio, TestAllocs | 1 |
| BenchmarkTrain | 2 |
`
	files["exercises/gears/starter/wheel.go"] = "package gears\n\ntype Wheel struct{}\n\nfunc (w *Wheel) Turn() {}\n"
	files["exercises/gears/starter/gears.go"] = "package gears\n\nvar ErrTeeth error\n\nfunc Ratio(t []int, _ Wheel) (float64, error) { return 0, nil }\n"
	files["reference/gears/gears.go"] = "package gears\n\nvar ErrTeeth error\n\nfunc Ratio(teeth []int, w Wheel) (float64, error) { return 1, nil }\n\nfunc hidden() {}\n"
	files["reference/gears/wheel.go"] = files["exercises/gears/starter/wheel.go"]
	return files
}

func TestLintFindsNothing(t *testing.T) {
	assert.NoError(t, open(tidy()).Lint("gears"))
}

// A README shows the pictures that lie beside it, and no others; in a block of code it
// shows nothing.
func TestLintOfPictures(t *testing.T) {
	const readme, picture = "exercises/gears/README.md", "exercises/gears/wheel.svg"
	files := tidy()
	files[picture] = "<svg/>"
	assert.ErrorContains(t, open(files).Lint("gears"), "wheel.svg: README.md does not show it: add ![what it shows](wheel.svg), or remove the file")
	files[readme] += "\n![a\nwheel](./wheel.svg \"a title\")\n\n```\n![no](no.svg)\n```\n"
	assert.NoError(t, open(files).Lint("gears"))
	files[readme] += "![a cog](cog.svg)\n"
	assert.ErrorContains(t, open(files).Lint("gears"), "cog.svg is not a picture beside it: put a file of type .svg or .png there")
}

// A check with an anchor is described under its heading, without its name.
func TestLintOfAnchors(t *testing.T) {
	const config, readme = "exercises/gears/exercise.yaml", "exercises/gears/README.md"
	files := coursetest.Change(tidy(), readme, "TestRatio, ", "")
	files[readme] += "\n## Long `trains`: [rules](#x) & _more_ #\n\n```sh\n# not a heading\n```\n\n## Gears\n"
	for name, want := range map[string]string{
		"long-trains-rules--_more_": "",
		"gears":                     "",
		"gears-1":                   "",
		"not-a-heading":             `check exercise gears: exercise.yaml:9: TestRatio: no heading of README.md has the anchor "not-a-heading": it has gears, long-trains-rules--_more_, gears-1`,
	} {
		err := open(coursetest.Change(files, config, "points: 60", "points: 60, anchor: "+name)).Lint("gears")
		if want == "" {
			assert.NoError(t, err, name)
		} else {
			assert.EqualError(t, err, want)
		}
	}
}

func TestLint(t *testing.T) {
	const (
		readme    = "exercises/gears/README.md"
		starter   = "exercises/gears/starter/gears.go"
		hidden    = "exercises/gears/hidden/helpers_test.go"
		reference = "reference/gears/gears.go"
	)
	for _, c := range []struct{ file, old, new, want string }{
		{readme, "TestAllocs", "", "exercise.yaml:10: TestAllocs: README.md does not describe it: name it there, beside the rule that it checks, or give it the anchor of a heading"},
		{readme, "BenchmarkTrain", "BenchmarkTrains", "exercise.yaml:11: BenchmarkTrain: README.md does not describe it: name it there, beside the rule that it checks, or give it the anchor of a heading"},
		{readme, "teeth []int", "teeth []uint", "README.md:4: Ratio here is func([]uint, Wheel) (float64, error); in the reference it is func([]int, Wheel) (float64, error)"},
		{readme, "func Ratio(teeth []int, w Wheel) (ratio float64, err error)", "type Ratio int", "README.md:4: Ratio here is type; in the reference it is func([]int, Wheel) (float64, error)"},
		{readme, "```go\nfunc", "```\nfunc", "README.md: the API lacks func Ratio([]int, Wheel) (float64, error), which the reference has at reference/gears/gears.go:5: show it in a block of Go"},
		{readme, "ErrTeeth", "ErrTooth", "README.md: the API lacks var ErrTeeth, which the reference has at reference/gears/gears.go:3: show it in a block of Go"},
		{starter, "[]int", "[3]int", "starter/gears.go:5: Ratio here is func([3]int, Wheel) (float64, error); in the reference it is func([]int, Wheel) (float64, error)"},
		{starter, "var ErrTeeth error", "", "starter: the starter lacks var ErrTeeth, which the reference has at reference/gears/gears.go:3"},
		{starter, "var ErrTeeth", "func (Wheel) Oil() {}\n\nvar ErrTeeth", "starter/gears.go:3: the reference lacks func Wheel.Oil()"},
		{starter, "package gears", "package gears\n\nimport _ \"example.com/course/reference/gears\"", `starter/gears.go:3: imports "example.com/course/reference/gears", which is a solution: remove the import`},
		{starter, "package gears", "package gears\n\nimport _ \"example.com/course/reference/cogs\"", `starter/gears.go:3: imports "example.com/course/reference/cogs", which is a solution: remove the import`},
		{starter, "package gears", "package gears\n\nimport _ \"grade/observe\"", `starter/gears.go:3: imports "grade/observe", which students do not have: remove the import`},
		{hidden, "type wheels", "import _ \"embed\"\n\n//go:embed gears_test.go\nvar want string\n\ntype wheels", "hidden/helpers_test.go:5: embeds a file into the program that a submission runs in: make inputs from o.Rand(), and leave expected values to the reference"},
		{starter, "package gears", "package gears\n\nimport _ \"example.com/course/exercises/gears/hidden\"", `starter/gears.go:3: imports "example.com/course/exercises/gears/hidden", which students do not have: remove the import`},
		{reference, "func hidden", "func Hidden", "README.md: the API lacks func Hidden(), which the reference has at reference/gears/gears.go:7: show it in a block of Go\n" +
			"starter: the starter lacks func Hidden(), which the reference has at reference/gears/gears.go:7"},
	} {
		err := open(coursetest.Change(tidy(), c.file, c.old, c.new)).Lint("gears")
		assert.EqualError(t, err, "check exercise gears: "+strings.ReplaceAll(c.want, "\n", "\ncheck exercise gears: "))
	}
}

// The points of a README's table are those of exercise.yaml; other numbers in tables are not looked at.
func TestLintOfPoints(t *testing.T) {
	const table = "\n| check | rule | points |\n|---|---|---|\n| all | | **63** |\n| `TestRatio` | 1 | 60 |\n| BenchmarkTrain, speed | 2 | 27 |\n| BenchmarkTrain | memory | 10 |\n" +
		"\n| | rule |\n|---|---|\n| TestRatio | 5 |\n"
	files := tidy()
	files["exercises/gears/README.md"] += table
	assert.NoError(t, open(files).Lint("gears"))
	for _, tt := range []struct{ old, new, want string }{
		{"| 60 |", "| 59 |", "21: TestRatio gives 59 points here; in exercise.yaml it gives 60"},
		{"| 27 |", "| 59 |", "22: BenchmarkTrain/speed gives 59 points here; in exercise.yaml it gives 27"},
		{"speed | 2 | 27 |", "speed | 2 | 10 |", "22: BenchmarkTrain/speed gives 10 points here; in exercise.yaml it gives 27"},
		{"| BenchmarkTrain, speed | 2 | 27 |", "| `BenchmarkTrain/memory` | 2 | 27 |", "22: BenchmarkTrain/memory gives 27 points here; in exercise.yaml it gives 10"},
		{"memory | 10 |", "memory | 59 |", "23: BenchmarkTrain gives 59 points here; in exercise.yaml it gives 27 or 10"},
		{"| `TestRatio` | 1 | 60 |", "| `TestRatios` | 1 | 60 |", "21: there is no check TestRatios in exercise.yaml"},
		{"| BenchmarkTrain | memory | 10 |", "| BenchmarkTrain, TestGone | memory | 10 each |", "23: there is no check TestGone in exercise.yaml"},
	} {
		changed := coursetest.Change(files, "exercises/gears/README.md", tt.old, tt.new)
		assert.EqualError(t, open(changed).Lint("gears"), "check exercise gears: README.md:"+tt.want)
		changed = coursetest.Change(changed, "exercises/gears/README.md", "| points |", "| Points |")
		assert.EqualError(t, open(changed).Lint("gears"), "check exercise gears: README.md:"+tt.want, "whatever the case of the heading")
	}
}

// Lint returns the faults of Load.
func TestLintOfABrokenExercise(t *testing.T) {
	files := coursetest.Change(tidy(), "exercises/gears/exercise.yaml", "points: 60", "points: 59")
	assert.ErrorContains(t, open(files).Lint("gears"), "points sum to 99")
}

func TestEquivalents(t *testing.T) {
	const file = "exercises/gears/equivalent.yaml"
	got, err := open(coursetest.Files()).Equivalents("gears")
	require.NoError(t, err)
	assert.Empty(t, got)
	got, err = open(coursetest.Change(coursetest.Files(), file, "", "mutants:\n  - {id: a, why: same}\n  - id: b\n    why: as well\n")).Equivalents("gears")
	require.NoError(t, err)
	assert.Equal(t, []Equivalent{{"a", "same", 2}, {"b", "as well", 3}}, got)
	for text, want := range map[string]string{
		"mutants: 3\n":                                `equivalent.yaml:1: mutants: want a list, not "3"`,
		"mutants:\n  - 3\n":                           `equivalent.yaml:2: mutants: want fields, not "3"`,
		"mutants:\n  - {id: a}\n":                     "equivalent.yaml:2: a mutant needs an id and a why",
		"mutants:\n  - {id: a, wy: same}":             `equivalent.yaml:2: unknown field "wy"`,
		"marks: []\n":                                 `equivalent.yaml:1: unknown field "marks"`,
		"mutants: [{id: a, why: x}, {id: a, why: y}]": "equivalent.yaml:1: a is listed twice",
	} {
		_, err := open(coursetest.Change(coursetest.Files(), file, "", text)).Equivalents("gears")
		assert.ErrorContains(t, err, want)
	}
}
