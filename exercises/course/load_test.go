package course

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
	"grade/exercises/course/document"
	"grade/grader/verdict"
)

func TestLoad(t *testing.T) {
	files := coursetest.Files()
	e, err := open(files).Load("gears")
	require.NoError(t, err)
	text := func(name string) File {
		return File{name[strings.LastIndex(name, "/")+1:], []byte(files[name])}
	}
	want := &Exercise{
		Name: "gears", Title: "Gear trains", Summary: "Turn wheels by other wheels", Package: "gears",
		Module: "example.com/course", ImportPath: "example.com/course/reference/gears",
		Imports: []string{"os", "encoding/json"}, Provided: []string{"wheel.go"}, Begin: BeginEmpty, Feedback: FeedbackClass,
		Limits: Limits{Memory: 1 << 30, Output: 1 << 20, Scratch: 64 << 20, CPU: 10 * time.Second, Wall: time.Minute}, LimitsLine: 7,
		Checks: []Check{
			{Name: "TestRatio", Func: "TestRatio", Kind: verdict.Correctness, Points: 60, Feedback: FeedbackClass,
				Line: 9,
				Hint: "Multiplies the ratios of its wheels. Both ways."},
			{Name: "TestAllocs", Func: "TestAllocs", Kind: verdict.Correctness, Points: 3, Feedback: FeedbackValues,
				Line:         10,
				SelfReported: true, Hint: "Ratio allocates nothing."},
			{Name: "BenchmarkTrain/speed", Func: "BenchmarkTrain", Kind: verdict.Speed, Points: 27, Limit: 4,
				Line:     11,
				Feedback: FeedbackClass, Hint: "Long trains cost no more than their length."},
			{Name: "BenchmarkTrain/memory", Func: "BenchmarkTrain", Kind: verdict.Memory, Points: 10, Limit: 1.5,
				Line:     12,
				Feedback: FeedbackClass, Hint: "Long trains cost no more than their length."},
		},
		Readme: []byte("# Gears\n"),
		Starter: []File{text("exercises/gears/starter/gears.go"), text("exercises/gears/starter/gears_test.go"),
			text("exercises/gears/starter/wheel.go")},
		Hidden:    []File{text("exercises/gears/hidden/gears_test.go"), text("exercises/gears/hidden/helpers_test.go")},
		Reference: []File{text("reference/gears/gears.go")},
		Hash:      e.Hash,
	}
	assert.Equal(t, want, e)
	assert.Regexp(t, "^[0-9a-f]{64}$", e.Hash)
}

func TestDefaults(t *testing.T) {
	files := coursetest.Change(coursetest.Files(), "exercises/gears/exercise.yaml", "feedback: class\nlimits: {memory: 1GiB, wall: 1m}\n", "")
	files = coursetest.Change(files, "exercises/gears/exercise.yaml", "imports: [os, encoding/json]\nprovided: [wheel.go]\n", "")
	e, err := open(files).Load("gears")
	require.NoError(t, err)
	assert.Equal(t, defaultLimits(), e.Limits)
	assert.Equal(t, FeedbackHint, e.Feedback)
	assert.Equal(t, FeedbackHint, e.Checks[0].Feedback)
	assert.Empty(t, e.Imports)
	assert.Empty(t, e.Provided)
}

// Each fault is reported once, with its own words, file and line.
func TestLoadRefuses(t *testing.T) {
	const (
		yaml   = "exercises/gears/exercise.yaml"
		hidden = "exercises/gears/hidden/gears_test.go"
	)
	tests := []struct {
		name, file, old, new string
		want                 string // behind "load exercise gears: "
	}{
		{"unknown field", yaml, "summary:", "sumary:", "exercise.yaml: field \"summary\" is missing\nexercise.yaml:2: unknown field \"sumary\""},
		{"unknown field of a check", yaml, "points: 60", "points: 60, pionts: 60", `exercise.yaml:9: unknown field "pionts"`},
		{"unknown limit", yaml, "memory:", "ram:", `exercise.yaml:7: unknown field "ram"`},
		{"twice", yaml, "feedback:", "title: Again\nfeedback:", `exercise.yaml:6: field "title" appears twice`},
		{"syntax", yaml, "title: Gear", "title: [Gear", "exercise.yaml:2: did not find expected"},
		{"empty", yaml, "", "\n", "exercise.yaml: the file is empty"},
		{"no fields", yaml, "", "- a\n", "exercise.yaml:1: want fields, not a list"},
		{"two documents", yaml, "title:", "{}\n---\ntitle:", "exercise.yaml:2: the file holds a second document"},
		{"text", yaml, "Gear trains", "42", `exercise.yaml:1: title: want a line of text, not "42"`},
		{"no text", yaml, "Gear trains", "", "exercise.yaml:1: title: want a line of text, not nothing"},
		{"lines", yaml, "Gear trains", `"a\nb"`, `exercise.yaml:1: title: want a line of text, not "a\nb"`},
		{"number", yaml, "points: 60", "points: many", `exercise.yaml:9: points: want a whole number, not "many"`},
		{"fraction", yaml, "points: 60", "points: 6.5", `exercise.yaml:9: points: want a whole number, not "6.5"`},
		{"limit", yaml, "limit: 4", "limit: .inf", `exercise.yaml:11: limit: want a number, not ".inf"`},
		{"truth", yaml, "self_reported: true", "self_reported: 1", `exercise.yaml:10: self_reported: want true or false, not "1"`},
		{"feedback", yaml, "feedback: class", "feedback: all", `exercise.yaml:6: feedback: want hint or class or values, not "all"`},
		{"size", yaml, "1GiB", "1GB", `exercise.yaml:7: memory: want a size such as 512MiB, not "1GB"`},
		{"bare size", yaml, "1GiB", "1024", `exercise.yaml:7: memory: want a size such as 512MiB, not "1024"`},
		{"no time", yaml, "1m", "0s", `exercise.yaml:7: wall: want a duration such as 10s or 24h, not "0s"`},
		{"bare time", yaml, "1m", "60", `exercise.yaml:7: wall: want a duration such as 10s or 24h, not "60"`},
		{"limits", yaml, "{memory: 1GiB, wall: 1m}", "high", `exercise.yaml:7: limits: want fields, not "high"`},
		{"list", yaml, "[wheel.go]", "wheel.go", `exercise.yaml:5: provided: want a list, not "wheel.go"`},
		{"list of lists", yaml, "[wheel.go]", "[[]]", "exercise.yaml:5: provided: want a line of text, not a list"},
		{"repeated", yaml, "[os, encoding/json]", "[os, os]", `exercise.yaml:4: imports: "os" appears twice`},
		{"alias", yaml, "[wheel.go]", "[*a]", "exercise.yaml"},
		{"package", yaml, "package: gears", "package: func", `exercise.yaml:3: package: "func" cannot be the name`},
		{"import", yaml, "encoding/json", "github.com/x/y", `exercise.yaml:4: imports: "github.com/x/y" is not a package of the standard library`},
		{"provided", yaml, "[wheel.go]", "[weel.go]", `exercise.yaml:5: provided: no file "weel.go" in starter`},
		{"provided test", yaml, "[wheel.go]", "[gears_test.go]", `exercise.yaml:5: provided: "gears_test.go" is not a source file of the package`},

		{"sum", yaml, "points: 60", "points: 59", "exercise.yaml:8: checks: points sum to 99, not 100"},
		{"negative", yaml, "points: 60", "points: -60", "exercise.yaml:8: checks: points sum to -20, not 100\nexercise.yaml:9: TestRatio: a check carries at least one point"},
		{"no points", yaml, "points: 27, ", "", "BenchmarkTrain/speed: points are missing"},
		{"neither", yaml, "{test: TestRatio, ", "{", "exercise.yaml:9: a check has either a test, a benchmark or a list of tests to race"},
		{"both", yaml, "{test: TestRatio, ", "{test: TestRatio, benchmark: BenchmarkTrain, ", "exercise.yaml:9: a check has either a test, a benchmark or a list of tests to race"},
		{"same test", yaml, "TestAllocs, points: 3, self_reported: true", "TestRatio, points: 3", "exercise.yaml:10: TestRatio: two checks have this name"},
		{"same benchmark", yaml, "kind: memory", "kind: speed", "exercise.yaml:12: BenchmarkTrain/speed: two checks have this name"},
		{"no such test", yaml, "test: TestRatio", "test: TestRation", "exercise.yaml:9: TestRation: no such function in hidden"},
		{"no test's name", yaml, "test: TestRatio", "test: Testify", "exercise.yaml:9: Testify: not the name of a test"},
		{"test measured", yaml, "points: 60", "points: 60, kind: speed", "exercise.yaml:9: TestRatio: a test checks correctness"},
		{"test limited", yaml, "points: 60", "points: 60, limit: 2", "exercise.yaml:9: TestRatio: limit: only a benchmark has one"},
		{"benchmark without kind", yaml, "kind: speed, ", "", "the kind of a benchmark is speed or memory"},
		{"benchmark of correctness", yaml, "kind: speed", "kind: correctness", "the kind of a benchmark is speed or memory"},
		{"benchmark without limit", yaml, ", limit: 4", "", "BenchmarkTrain/speed: limit is missing"},
		{"limit too low", yaml, "limit: 4", "limit: 1", "BenchmarkTrain/speed: limit: want a factor above 1"},
		{"benchmark self-reported", yaml, "limit: 4", "limit: 4, self_reported: true", "a benchmark is measured from outside and cannot be self-reported"},
		{"self-reported", yaml, "points: 3, self", "points: 4, self", "TestAllocs: a self-reported check carries at most 3 points"},
		{"race: no such test", yaml, "- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 58}\n  - {race: [TestRadio], points: 2, hint: h}", "exercise.yaml:10: race: no test TestRadio in hidden"},
		{"race: a benchmark", yaml, "- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 58}\n  - {race: [BenchmarkTrain], points: 2, hint: h}", "exercise.yaml:10: race: no test BenchmarkTrain in hidden"},
		{"race: no hint", yaml, "- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 58}\n  - {race: [TestRatio], points: 2}", "exercise.yaml:10: race: hint is missing"},
		{"race: many points", yaml, "- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 55}\n  - {race: [TestRatio], points: 5, hint: h}", "exercise.yaml:10: race: it carries at most 4 points"},
		{"race: empty", yaml, "- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 58}\n  - {race: [], points: 2, hint: h}", "exercise.yaml:10: race: the list of tests is empty"},
		{"race: twice", yaml, "- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 56}\n  - {race: [TestRatio], points: 2, hint: h}\n  - {race: [TestRatio], points: 2, hint: h}", "exercise.yaml:11: race: two checks have this name"},
		{"race: a limit", yaml, "- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 58}\n  - {race: [TestRatio], points: 2, hint: h, limit: 2}", "exercise.yaml:10: race: limit: only a benchmark has one"},
		{"race: a kind", yaml, "- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 58}\n  - {race: [TestRatio], points: 2, hint: h, kind: speed}", "exercise.yaml:10: race: a list of tests to race is of kind race"},
		{"race: self-reported", yaml, "- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 58}\n  - {race: [TestRatio], points: 2, hint: h, self_reported: true}", "exercise.yaml:10: race: it is not self-reported"},
		{"race: needs", yaml, "- {test: TestRatio, points: 60}", "- {test: TestRatio, points: 58}\n  - {race: [TestRatio], points: 2, hint: h, needs: [TestAllocs]}", "exercise.yaml:10: race: needs: only a test or a benchmark has them"},
		{"a hint of a test", yaml, "{test: TestRatio, ", "{test: TestRatio, hint: h, ", "exercise.yaml:9: TestRatio: hint: only the check of kind race has one"},
		{"a test of kind race", yaml, "{test: TestRatio, ", "{test: TestRatio, kind: race, ", "exercise.yaml:9: TestRatio: race: want a list of tests in the field race"},
		{"not marked", yaml, ", self_reported: true", "", "exercise.yaml:10: TestAllocs: it records self-reported values; want self_reported: true"},
		{"needs a text", yaml, "points: 60", "points: 60, needs: TestAllocs", `exercise.yaml:9: needs: want a list of tests, or tests each with a list of observations, not "TestAllocs"`},
		{"needs nothing", yaml, "points: 60", "points: 60, needs: []", "exercise.yaml:9: needs: want a list of tests, or tests each with a list of observations, not an empty one"},
		{"needs an unknown one", yaml, "points: 60", "points: 60, needs: [TestAlocs]", `exercise.yaml:9: TestRatio: needs: there is no check "TestAlocs"`},
		{"needs an unknown one, below", yaml, "points: 60", "points: 60, needs:\n      {TestAlocs: [a]}", `exercise.yaml:10: TestRatio: needs: there is no check "TestAlocs"`},
		{"needs one twice", yaml, "points: 60", "points: 60, needs: [TestAllocs, TestAllocs]", "exercise.yaml:9: TestRatio: needs: TestAllocs appears twice"},
		{"needs a measured one", yaml, "points: 60", "points: 60, needs: [BenchmarkTrain/speed]", "exercise.yaml:9: TestRatio: needs: BenchmarkTrain/speed is measured; a check can need hidden tests only"},
		{"needs itself", yaml, "points: 60", "points: 60, needs: [TestRatio]", "exercise.yaml:9: TestRatio: needs: a test cannot need itself: TestRatio needs TestRatio"},
		{"a measured one that excuses", yaml, "limit: 4", "limit: 4, needs: {TestRatio: [a]}", "exercise.yaml:11: BenchmarkTrain: needs: what a benchmark records is compared in full"},
		{"excuses everything", yaml, "points: 60", "points: 60, needs: {TestAllocs: ['*']}", `exercise.yaml:9: needs: TestAllocs: want names of observations with at most one *, at their end, not "*"`},
		{"a star inside", yaml, "points: 60", "points: 60, needs: {TestAllocs: ['a*b']}", `exercise.yaml:9: needs: TestAllocs: want names of observations with at most one *, at their end, not "a*b"`},
		{"excuses a text", yaml, "points: 60", "points: 60, needs: {TestAllocs: a}", `exercise.yaml:9: needs: TestAllocs: want a list, not "a"`},
		{"no entry", yaml, "{test: TestRatio, points: 60}", "TestRatio", `exercise.yaml:9: checks: want fields, not "TestRatio"`},
		{"no checks", yaml, "", "title: a\nsummary: b\npackage: gears\nchecks: []\n", "exercise.yaml:4: checks: the list is empty"},

		{"no check", hidden, "// Ratio allocates", "// More.\nfunc TestMore(t *testing.T) { watch.New(t) }\n\n// Ratio allocates", "hidden/gears_test.go:20: TestMore: no check in exercise.yaml names this function"},
		{"no hint", hidden, "// Ratio allocates nothing.\n", "", "hidden/gears_test.go:19: TestAllocs: the comment is missing"},
		{"directive as hint", hidden, "// Ratio allocates nothing.", "//go:noinline", "hidden/gears_test.go:20: TestAllocs: the comment is missing"},
		{"name as hint", hidden, "// Ratio allocates nothing.", "// TestAllocs", "hidden/gears_test.go:20: TestAllocs: the comment is missing"},
		{"no observation", hidden, "{ watch.New(t).SelfReported().Int(\"allocs\", 0) }", "{}", "hidden/gears_test.go:20: TestAllocs: it never calls observe.New"},
		{"another New", hidden, `watch "grade/observe"`, `"grade/observe"`, "hidden/gears_test.go:14: TestRatio: it never calls observe.New"},
		{"parameter", hidden, "TestAllocs(t *testing.T)", "TestAllocs(t testing.TB)", "hidden/gears_test.go:20: TestAllocs: want one parameter"},
		{"parameters", hidden, "TestAllocs(t *testing.T)", "TestAllocs(t *testing.T, n int)", "hidden/gears_test.go:20: TestAllocs: want one parameter"},
		{"TestMain", hidden, "func Testify() {}", "func TestMain(m *testing.M) {}", "hidden/gears_test.go:31: TestMain: only Test and Benchmark functions are hidden tests"},
		{"fuzz", hidden, "func Testify() {}", "func FuzzX(f *testing.F) {}", "hidden/gears_test.go:31: FuzzX: only Test and Benchmark"},
		{"example", hidden, "func Testify() {}", "func Example() {}", "hidden/gears_test.go:31: Example: only Test and Benchmark"},
		{"clause", hidden, "package hidden", "package gears", "hidden/gears_test.go:1: package gears; hidden tests belong to package hidden"},
		{"syntax of a test", hidden, "func Testify() {}", "func {}", "hidden/gears_test.go:31: expected 'IDENT'"},
		{"wrong import", hidden, "reference/gears", "reference/cogs", `hidden: no file imports "example.com/course/reference/gears"`},
		{"other files", "exercises/gears/hidden/helpers.go", "", "package hidden\n", "hidden/helpers.go: hidden may hold only _test.go files, at its top level"},
		{"subfolder", "exercises/gears/hidden/a/b_test.go", "", "package hidden\n", "hidden/a/b_test.go: hidden may hold only _test.go files, at its top level"},

		{"no README", "exercises/gears/README.md", "", "", "README.md: file does not exist"},
		{"empty README", "exercises/gears/README.md", "", "\n", "README.md: the file is empty"},
		{"reference's clause", "reference/gears/gears.go", "package gears", "// Cogs.\npackage cogs", "reference/gears/gears.go:2: package cogs; exercise.yaml says package gears"},
		{"reference's syntax", "reference/gears/gears.go", "package gears", "pakcage gears", "reference/gears/gears.go:1: expected 'package'"},
		{"no reference", "reference/gears/gears.go", "", "", "reference/gears: no Go file"},
		{"starter's clause", "exercises/gears/starter/gears.go", "gears", "main", "starter/gears.go:1: package main; exercise.yaml says package gears"},
		{"starter's go.mod", "exercises/gears/starter/go.mod", "", "module x\n", "starter/go.mod: remove it"},
		{"starter's README", "exercises/gears/starter/README.md", "", "# Gears\n", "starter/README.md: remove or rename it: every student gets the exercise's README.md"},
		{"starter's README in another case", "exercises/gears/starter/Readme.md", "", "# Gears\n", "starter/Readme.md: remove or rename it"},
		{"go.mod", "go.mod", "module example.com/course", "", "go.mod: no line with the module's path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := open(coursetest.Change(coursetest.Files(), tt.file, tt.old, tt.new)).Load("gears")
			require.ErrorContains(t, err, "load exercise gears: ")
			assert.Nil(t, e)
			t.Log(err)
			assert.Contains(t, strings.ReplaceAll(err.Error(), "load exercise gears: ", ""), tt.want)
			assert.True(t, strings.HasPrefix(err.Error(), "load exercise gears: "))
		})
	}
}

// A picture beside the README is handed out with the starter, whose file of that name would
// be in its way; a picture of the starter's own is in nobody's.
func TestStarterWithTheNameOfAPicture(t *testing.T) {
	files := coursetest.Change(coursetest.Files(), "exercises/gears/starter/wheel.svg", "", "<svg/>")
	_, err := open(files).Load("gears")
	require.NoError(t, err)
	files["exercises/gears/wheel.svg"] = "<svg/>"
	_, err = open(files).Load("gears")
	assert.ErrorContains(t, err, "load exercise gears: starter/wheel.svg: remove or rename it")
}

// A check may need tests above and below it, each for observations of its own.
func TestNeeds(t *testing.T) {
	const yaml = "exercises/gears/exercise.yaml"
	files := coursetest.Change(coursetest.Files(), yaml, "points: 60", `points: 60, needs: {TestAllocs: [ratio, "history: *"]}`)
	files = coursetest.Change(files, yaml, "limit: 4", "limit: 4, needs: [TestRatio, TestAllocs]")
	e, err := open(files).Load("gears")
	require.NoError(t, err)
	need := Need{"TestAllocs", []string{"ratio", "history: *"}}
	assert.Equal(t, []Need{need}, e.Checks[0].Needs)
	assert.Equal(t, []Need{{Check: "TestRatio"}, {Check: "TestAllocs"}}, e.Checks[2].Needs)
	for name, want := range map[string]bool{"ratio": true, "ratios": false, "history: losses": true, "history: ": true, "history": false, "": false} {
		assert.Equal(t, want, need.Excuses(name), name)
	}

	_, err = open(coursetest.Change(files, yaml, "feedback: values", "feedback: values, needs: [TestRatio]")).Load("gears")
	assert.EqualError(t, err, "load exercise gears: exercise.yaml:9: TestRatio: needs: a test cannot need itself: TestRatio needs TestAllocs, which needs TestRatio")
}

func TestLoadReportsEverything(t *testing.T) {
	files := coursetest.Change(coursetest.Files(), "exercises/gears/exercise.yaml", "title:", "titel:")
	files = coursetest.Change(files, "exercises/gears/exercise.yaml", "points: 60", "pionts: 60")
	files = coursetest.Change(files, "exercises/gears/README.md", "", "")
	files = coursetest.Change(files, "reference/gears/gears.go", "package gears", "package cogs")
	_, err := open(files).Load("gears")
	assert.EqualError(t, err, `load exercise gears: README.md: file does not exist
load exercise gears: exercise.yaml: field "title" is missing
load exercise gears: exercise.yaml:1: unknown field "titel"; did you mean title?
load exercise gears: exercise.yaml:9: unknown field "pionts"; did you mean points?
load exercise gears: exercise.yaml:9: TestRatio: points are missing
load exercise gears: reference/gears/gears.go:1: package cogs; exercise.yaml says package gears`)
	var p *document.Fault
	require.True(t, errors.As(err, &p))
	assert.Equal(t, "README.md", p.File)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestSelfReportedTotal(t *testing.T) {
	var checks, tests strings.Builder
	for _, c := range "ABCD" {
		checks.WriteString("  - {test: TestAllocs" + string(c) + ", points: 3, self_reported: true}\n")
		tests.WriteString("// Nothing.\nfunc TestAllocs" + string(c) + "(t *testing.T) { allocs(t) }\n")
	}
	files := coursetest.Change(coursetest.Files(), "exercises/gears/exercise.yaml", "points: 60", "points: 48")
	files["exercises/gears/exercise.yaml"] += checks.String()
	files["exercises/gears/hidden/gears_test.go"] += tests.String()
	_, err := open(files).Load("gears")
	assert.EqualError(t, err, "load exercise gears: exercise.yaml:8: checks: the self-reported checks carry 15 points in all, more than the 10 that are allowed")
}

func TestLoadByName(t *testing.T) {
	c := open(coursetest.Files())
	_, err := c.Load("cogs")
	assert.EqualError(t, err, "load exercise cogs: file does not exist: the course has gears")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	for _, name := range []string{"", "..", "Gears", "gears/../gears", "2gears", "ge-ars"} {
		_, err := c.Load(name)
		assert.ErrorContains(t, err, "a name consists of a to z", name)
	}
	_, err = Open(fstest.MapFS{}).Load("gears")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestMissingFolders(t *testing.T) {
	files := coursetest.Files()
	for name := range files {
		if !strings.HasSuffix(name, ".yaml") && name != "go.mod" {
			delete(files, name)
		}
	}
	_, err := open(files).Load("gears")
	for _, want := range []string{"README.md: file", "hidden: file", "reference/gears: file", "starter: file"} {
		assert.ErrorContains(t, err, "load exercise gears: "+want)
	}
}

func TestNames(t *testing.T) {
	files := coursetest.Files()
	files["exercises/draft/README.md"] = "not yet"
	files["exercises/load.go"] = "package exercises"
	files["exercises/arcs/exercise.yaml"] = ""
	names, err := open(files).Names()
	require.NoError(t, err)
	assert.Equal(t, []string{"arcs", "gears"}, names)
	_, err = Open(fstest.MapFS{}).Names()
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestModule(t *testing.T) {
	for gomod, want := range map[string]string{
		"":                         "grade",
		"module a.b/c\n":           "a.b/c",
		"// x\nmodule \"a.b/c\"\n": "a.b/c",
		"go 1.26\n":                "",
	} {
		assert.Equal(t, want, open(coursetest.Change(coursetest.Files(), "go.mod", "", gomod)).Module(), gomod)
	}
}

// The hash changes with everything that can change a grade, and with nothing else.
func TestHash(t *testing.T) {
	hash := func(files map[string]string) string {
		e, err := open(files).Load("gears")
		require.NoError(t, err)
		return e.Hash
	}
	base := hash(coursetest.Files())
	assert.Equal(t, base, hash(coursetest.Files()))
	for name := range coursetest.Files() {
		grades := map[string]bool{
			"exercises/gears/exercise.yaml":          true,
			"exercises/gears/starter/wheel.go":       true,
			"exercises/gears/hidden/gears_test.go":   true,
			"exercises/gears/hidden/helpers_test.go": true,
			"reference/gears/gears.go":               true,
		}[name]
		files := coursetest.Files()
		files[name] += "\n"
		assert.Equal(t, grades, hash(files) != base, name)
	}
	moved := coursetest.Files()
	moved["go.mod"] = "module example.com/other\n"
	moved["exercises/gears/hidden/gears_test.go"] = strings.Replace(moved["exercises/gears/hidden/gears_test.go"], "com/course", "com/other", 1)
	assert.NotEqual(t, base, hash(moved))
	more := coursetest.Files()
	more["reference/gears/more.go"] = "package gears\n"
	assert.NotEqual(t, base, hash(more))
}

// One broken exercise keeps no other from its students.
func TestLoadAll(t *testing.T) {
	files := coursetest.Files()
	files["exercises/axles/exercise.yaml"] = "title: Axles\n"
	list, broken, err := open(files).LoadAll()
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "gears", list[0].Name)
	require.Len(t, broken, 1)
	assert.ErrorContains(t, broken[0], "load exercise axles")
	_, _, err = Open(fstest.MapFS{}).LoadAll()
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// Exercises that name a word are read, the others are not, and broken ones are left out.
func TestLoadNaming(t *testing.T) {
	files := coursetest.Files()
	files["exercises/axles/exercise.yaml"] = "title: Axles for gears\n"
	files["exercises/brakes/exercise.yaml"] = "title: Brakes\n"
	for word, want := range map[string]int{"gears": 1, "package": 1, "Brakes": 0, "pedals": 0} {
		list, err := open(files).LoadNaming(word)
		require.NoError(t, err)
		assert.Len(t, list, want, word)
	}
	_, err := Open(fstest.MapFS{}).LoadNaming("gears")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// A check of kind race has a name, tests and a hint of its own.
func TestRaceCheck(t *testing.T) {
	files := coursetest.Change(coursetest.Files(), "exercises/gears/exercise.yaml", "- {test: TestRatio, points: 60}",
		"- {test: TestRatio, points: 58}\n  - {race: [TestRatio, TestAllocs], points: 2, hint: Share nothing., anchor: gears}")
	c := open(files)
	e, err := c.Load("gears")
	require.NoError(t, err)
	assert.Equal(t, Check{
		Name: "race", Kind: verdict.Race, Race: []string{"TestRatio", "TestAllocs"}, Points: 2, Hint: "Share nothing.",
		Feedback: FeedbackClass, Anchor: "gears", Line: 10,
	}, e.Checks[1])
	assert.NotContains(t, fmt.Sprint(c.Lint("gears")), "race:", "the heading describes it")
	delete(files, "x")
	files["exercises/gears/exercise.yaml"] = strings.Replace(files["exercises/gears/exercise.yaml"], ", anchor: gears", "", 1)
	assert.ErrorContains(t, open(files).Lint("gears"), "exercise.yaml:10: race: README.md does not describe it")
}
