package prove

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/coursetest"
	"grade/exercises/course/fixture"
	"grade/exercises/course/scaffold"
)

// fresh is a course with a new exercise, clip.
func fresh(t *testing.T) fstest.MapFS {
	t.Helper()
	files, err := scaffold.Exercise("clip", "example.com/mine")
	require.NoError(t, err)
	course := fstest.MapFS{"go.mod": {Data: []byte("module example.com/mine\n")}}
	for _, f := range files {
		course[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return course
}

// plant returns the course with the first old in a file replaced by new. An empty old
// means the whole file, an empty new beside it removes what has that name, or is
// below it.
func plant(t *testing.T, course fstest.MapFS, file, old, new string) {
	t.Helper()
	switch {
	case old == "" && new == "":
		maps.DeleteFunc(course, func(name string, _ *fstest.MapFile) bool {
			return name == file || strings.HasPrefix(name, file+"/")
		})
	case old == "":
		course[file] = &fstest.MapFile{Data: []byte(new)}
	default:
		text := string(course[file].Data)
		require.Contains(t, text, old, file)
		course[file] = &fstest.MapFile{Data: []byte(strings.Replace(text, old, new, 1))}
	}
}

func TestReadFindsNothing(t *testing.T) {
	c := Read(t.Context(), course.Open(fresh(t)), "clip")
	assert.Empty(t, c.report.Findings)
	assert.Equal(t, 1, c.report.Checks)
}

// Nor does it find one in this repository's exercises.
func TestReadFindsNothingInWhatIsShipped(t *testing.T) {
	if testing.Short() {
		t.Skip("reads much, and nothing runs beside it")
	}
	course := course.Open(os.DirFS("../.."))
	names, err := course.Names()
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		assert.Empty(t, Read(t.Context(), course, name).report.Findings, name)
	}
}

// read finds every fault at its line.
func TestReadFinds(t *testing.T) {
	const (
		in        = "exercises/clip/"
		config    = in + "exercise.yaml"
		readme    = in + "README.md"
		starter   = in + "starter/clip.go"
		hidden    = in + "hidden/clip_test.go"
		reference = "reference/clip/clip.go"
		accepted  = in + "submissions/accepted/running-mean/expect.yaml"
		wrong     = in + "submissions/wrong_answer/empty-is-nan/expect.yaml"
		marks     = in + "equivalent.yaml"
		check     = "{test: TestMean, points: 100}"
	)
	for _, c := range []struct{ name, file, old, new, want string }{
		{"unknown field", config, "summary:", "sumary:", config + `:3: unknown field "sumary"; did you mean summary?`},
		{"missing field", config, "title: Mean\n", "", config + `: field "title" is missing`},
		{"size", config, "package: clip\n", "package: clip\nlimits: {memory: 12MB}\n", config + `:5: memory: want a size`},
		{"duration", config, "package: clip\n", "package: clip\nlimits: {cpu: 5}\n", config + `:5: cpu: want a duration`},
		{"syntax", config, "title: Mean", "title: [Mean", config + ":"},
		{"sum", config, "100", "90", config + ":6: checks: points sum to 90, not 100"},
		{"nothing for a check", config, check, "{test: TestMean}", config + ":7: TestMean: points are missing"},
		{"no such test", config, check, "{test: TestMeen, points: 100}", config + ":7: TestMeen: no such function in hidden"},
		{"test measured", config, check, "{test: TestMean, points: 100, limit: 2}", config + ":7: TestMean: limit: only a benchmark has one"},
		{"benchmark without limit", config, check, "{benchmark: BenchmarkMean, kind: speed, points: 100}", config + ":7: BenchmarkMean/speed: limit is missing"},
		{"self-reported", config, check, "{test: TestMean, points: 100, self_reported: true}", config + ":7: TestMean: a self-reported check carries at most 3 points"},
		{"self-reported without a word", hidden, "observe.New(t)", "observe.New(t).SelfReported()", config + ":7: TestMean: it records self-reported values"},
		{"provided", config, "package: clip\n", "package: clip\nprovided: [types.go]\n", config + `:5: provided: no file "types.go"`},
		{"anchor", config, check, "{test: TestMean, points: 100, anchor: means}", config + `:7: TestMean: no heading of README.md has the anchor "means"`},
		{"not described", readme, "TestMean", "Mean", config + ":7: TestMean: README.md does not describe it"},

		{"without points", hidden, "// The mean of", "// More.\nfunc TestMore(t *testing.T) { observe.New(t) }\n\n// The mean of", hidden + ":14: TestMore: no check in exercise.yaml names this function"},
		{"no hint", hidden, "// The mean of any numbers, and 0 of none (rules 1 and 2).\n", "", hidden + ":13: TestMean: the comment is missing"},
		{"no observation", hidden, "observe.New(t)", "observe.Old(t)", hidden + ":14: TestMean: it never calls observe.New"},
		{"syntax of a test", hidden, "func TestMean", "fun TestMean", hidden + ":14: "},
		{"clause of a test", hidden, "package hidden", "package clip", hidden + ":3: package clip; hidden tests belong to package hidden"},
		{"nothing tested", hidden, "reference/clip", "reference/clap", in + `hidden: no file imports "example.com/mine/reference/clip"`},
		{"embedded", hidden, "// The mean of", "//go:embed clip_test.go\nvar want string\n\n// The mean of", hidden + ":13: embeds a file"},
		{"a file beside tests", in + "hidden/want.json", "", "[1]", in + "hidden/want.json: hidden may hold only _test.go files, at its top level"},

		{"no README", readme, "", "", readme + ": file does not exist"},
		{"README's API", readme, "[]float64) float64", "[]float32) float64", readme + ":8: Mean here is func([]float32) float64; in the reference it is func([]float64) float64"},
		{"README without API", readme, "```go", "```", readme + ": the API lacks func Mean([]float64) float64"},
		{"starter's API", starter, "[]float64) float64", "[]float64) float32", starter + ":5: Mean here is func([]float64) float32"},
		{"starter without API", starter, "func Mean", "func mean", in + "starter: the starter lacks func Mean"},
		{"starter with more", starter, "// Mean returns", "const Max = 3\n\n// Mean returns", starter + ":4: the reference lacks const Max"},
		{"starter that is solved", starter, "package clip", "package clip\n\nimport _ \"example.com/mine/reference/clip\"", starter + `:4: imports "example.com/mine/reference/clip", which is a solution`},
		{"starter with the kit", starter, "package clip", "package clip\n\nimport _ \"grade/observe\"", starter + `:4: imports "grade/observe", which students do not have: remove the import`},
		{"starter's clause", starter, "package clip", "package clap", starter + ":2: package clap; exercise.yaml says package clip"},
		{"reference's clause", reference, "package clip", "package clap", reference + ":2: package clap; exercise.yaml says package clip"},
		{"no reference", reference, "", "", "reference/clip: file does not exist"},

		{"unknown field of a submission", wrong, "checks:", "chekcs:", wrong + `:4: unknown field "chekcs"`},
		{"unknown check", wrong, "TestMean", "TestMeen", wrong + `:5: there is no check TestMeen in exercise.yaml; did you mean TestMean?`},
		{"verdict of a check", wrong, "wrong_answer", "wrong", wrong + ":5: TestMean: want passed or"},
		{"caught by nothing", wrong, "TestMean: wrong_answer", "TestMean: passed", wrong + ":3: wrong_answer: want a check with the verdict wrong_answer"},
		{"accepted with less", accepted, "100", "90", accepted + ":3: accepted: want verdict: graded and score: 100"},
		{"twin", in + "submissions/forgery/exit/expect.yaml", "", "why: exits\nverdict: graded\ntwin: forgery/none\n", in + `submissions/forgery/exit/expect.yaml:3: twin: no other submission "forgery/none"`},
		{"base without edits", wrong, "verdict:", "base: reference\nverdict:", wrong + ":3: base: no change.edits beside it"},
		{"edits without base", in + "submissions/wrong_answer/empty-is-nan/change.edits", "", "*** clip.go\n", wrong + `: field "base" is missing`},
		{"no expectation", wrong, "", "", wrong + ": file does not exist"},
		{"unknown class", in + "submissions/odd/one/expect.yaml", "", "why: odd\n", in + "submissions/odd: not a class of submissions"},
		{"nothing right", in + "submissions/accepted", "", "", in + "submissions: no submission in accepted/"},
		{"nothing wrong", in + "submissions/wrong_answer", "", "", in + "submissions: no wrong submission"},
		{"mark without a mutant", marks, "", "mutants:\n  - {id: \"clip.go:Mean:constant:000000\", why: odd}\n",
			marks + ":2: clip.go:Mean:constant:000000 is no mutant of the reference: it has changed (perhaps into clip.go:Mean:constant:"},
		{"mark without a reason", marks, "", "mutants:\n  - {id: a}\n", marks + ":2: a mutant needs an id and a why"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := fresh(t)
			plant(t, files, c.file, c.old, c.new)
			found := Read(t.Context(), course.Open(files), "clip").report.Findings
			assert.True(t, slices.ContainsFunc(found, func(f Finding) bool { return strings.HasPrefix(f.String(), c.want) }), "%v\nlacks %s", found, c.want)
		})
	}
}

// A forgery that is chosen alone is still compared with its twin.
func TestChosenForgeryHasItsTwin(t *testing.T) {
	c := Read(t.Context(), course.Open(coursetest.FS(coursetest.WithSubmissions())), "gears")
	fit, err := c.Choose([]string{"forgery/exit", "forgery/exti"})
	require.NoError(t, err)
	assert.Equal(t, []string{"forgery/exit"}, fit)
	assert.Len(t, c.submissions, 1)
	assert.True(t, slices.ContainsFunc(c.fixtures(nil).List, func(s fixture.Submission) bool { return s.Name == c.submissions[0].Expect.Twin }))
}

// The order of the exercises, and folders that look like one, are nobody's report: they are
// told beside them, where they are asked about.
func TestShared(t *testing.T) {
	files := fresh(t)
	all := func(string) bool { return true }
	assert.Empty(t, Shared(course.Open(files), all))

	plant(t, files, "exercises/chapters.yaml", "", "chapters:\n  - title: All\n    exercises:\n      - {name: clap}\n")
	plant(t, files, "exercises/draft/hidden/draft_test.go", "", "package hidden\n")
	found := Shared(course.Open(files), all)
	require.Len(t, found, 2)
	assert.Equal(t, "exercises/draft: it has no exercise.yaml, so that it is no exercise: write one, or remove the folder", found[0].String())
	assert.Equal(t, `exercises/chapters.yaml:4: there is no exercise "clap"; the course has clip`, found[1].String())
	assert.Equal(t, found[1:], Shared(course.Open(files), func(name string) bool { return name == "chapters.yaml" }))
}
