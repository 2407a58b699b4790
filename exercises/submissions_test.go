package exercises

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const submissionsRoot = "exercises/gears/submissions/"

// withSubmissions returns the course with a few submissions that have no fault.
func withSubmissions() map[string]string {
	files := course()
	for name, expect := range map[string]string{
		"accepted/loop":           "why: a loop\nverdict: graded\nscore: 100\n",
		"wrong_answer/off-by-one": "why: forgets the last wheel\nverdict: graded\nmax_score: 40\nchecks: {TestRatio: wrong_answer, BenchmarkTrain/speed: passed}\n",
		"invalid/imports-os":      "why: imports os\nverdict: invalid\nscore: 0\nrule: import\n",
		"compile_error/type":      "why: adds a string\nverdict: compile_error\n",
		"forgery/exit":            "why: exits early\nverdict: graded\ntwin: forgery/honest\n",
		"forgery/honest":          "why: gives up\nverdict: graded\nmax_score: 0\n",
	} {
		files[submissionsRoot+name+"/expect.yaml"] = expect
		files[submissionsRoot+name+"/gears.go"] = "package gears // " + name + "\n"
	}
	return files
}

func TestSubmissions(t *testing.T) {
	got, err := open(withSubmissions()).Submissions("gears")
	require.NoError(t, err)
	require.Len(t, got, 6)
	var names []string
	for _, s := range got {
		names = append(names, s.Name)
		assert.Equal(t, s.Name, string(s.Class)+s.Name[strings.Index(s.Name, "/"):])
		assert.Equal(t, submissionsRoot+s.Name, s.Dir)
		assert.Equal(t, []File{{"gears.go", []byte("package gears // " + s.Name + "\n")}}, s.Files)
	}
	assert.Equal(t, []string{"accepted/loop", "compile_error/type", "forgery/exit", "forgery/honest",
		"invalid/imports-os", "wrong_answer/off-by-one"}, names)
	assert.Equal(t, 100, *got[0].Expect.Score)
	assert.Nil(t, got[0].Expect.MaxScore)
	assert.Equal(t, "forgery/honest", got[2].Expect.Twin)
	assert.Equal(t, "import", got[4].Expect.Rule)
	assert.Equal(t, "forgets the last wheel", got[5].Expect.Why)
	assert.Equal(t, 40, *got[5].Expect.MaxScore)
	assert.Equal(t, map[string]string{"TestRatio": "wrong_answer", "BenchmarkTrain/speed": "passed"}, got[5].Expect.Checks)
	for field, line := range map[string]int{"why": 1, "verdict": 2, "max_score": 3, "checks": 4, "checks/TestRatio": 4, "score": 0, "rule": 0} {
		assert.Equal(t, line, got[5].Expect.Line(field), field)
	}
}

func TestSubmissionsRefuses(t *testing.T) {
	tests := []struct{ name, file, old, new, want string }{
		{"class", "odd/x/expect.yaml", "", "why: x\n", "submissions/odd: not a class of submissions"},
		{"file for a class", "README.md", "", "x\n", "submissions/README.md: not a class of submissions"},
		{"file for a folder", "accepted/x.go", "", "x\n", "submissions/accepted/x.go: want a folder"},
		{"name", "accepted/A b/expect.yaml", "", "why: x\n", "submissions/accepted/A b: want a folder"},
		{"no expect", "accepted/loop/expect.yaml", "", "", "submissions/accepted/loop/expect.yaml: file does not exist"},
		{"empty", "accepted/loop/expect.yaml", "", "\n", "submissions/accepted/loop/expect.yaml: the file is empty"},
		{"text that is no text", "accepted/loop/expect.yaml", "why: ", "why: a loop: ", `expect.yaml:1: mapping values are not allowed in this context: put a text with a ": " in it in quotes`},
		{"nothing to grade", "forgery/honest/gears.go", "", "", "submissions/forgery/honest: no Go file"},
		{"unknown", "accepted/loop/expect.yaml", "score", "scroe", `submissions/accepted/loop/expect.yaml:3: unknown field "scroe"`},
		{"no why", "forgery/honest/expect.yaml", "why: gives up\n", "", `submissions/forgery/honest/expect.yaml: field "why" is missing`},
		{"no verdict", "forgery/honest/expect.yaml", "verdict: graded\n", "", `submissions/forgery/honest/expect.yaml: field "verdict" is missing`},
		{"verdict", "forgery/honest/expect.yaml", "graded", "passed", `expect.yaml:2: verdict: want graded or invalid or compile_error, not "passed"`},
		{"score", "accepted/loop/expect.yaml", "100", "101", "expect.yaml:3: score: want 0 to 100, not 101"},
		{"accepted with less", "accepted/loop/expect.yaml", "100", "99", "expect.yaml:2: accepted: want verdict: graded and score: 100"},
		{"accepted without score", "accepted/loop/expect.yaml", "score: 100\n", "", "accepted: want verdict: graded and score: 100"},
		{"check", "wrong_answer/off-by-one/expect.yaml", "TestRatio", "TestRation", `expect.yaml:4: unknown field "TestRation"`},
		{"check's verdict", "wrong_answer/off-by-one/expect.yaml", "wrong_answer", "wrong", `expect.yaml:4: TestRatio: want passed or`},
		{"caught by nothing", "wrong_answer/off-by-one/expect.yaml", "TestRatio: wrong_answer, ", "", "wrong_answer: want a check with the verdict wrong_answer"},
		{"not graded", "wrong_answer/off-by-one/expect.yaml", "graded", "compile_error", "wrong_answer: want verdict: graded"},
		{"score twice", "wrong_answer/off-by-one/expect.yaml", "max_score: 40", "max_score: 40\nscore: 40", "score and max_score: one of them says it"},
		{"no rule", "invalid/imports-os/expect.yaml", "rule: import\n", "", "expect.yaml:2: rule is missing"},
		{"rule", "forgery/exit/expect.yaml", "twin:", "rule: import\ntwin:", "rule: only what is invalid breaks one"},
		{"invalid but graded", "compile_error/type/expect.yaml", "verdict: compile_error", "verdict: graded", "compile_error: want verdict: compile_error"},
		{"invalid with a score", "invalid/imports-os/expect.yaml", "score: 0", "score: 1", "only what is graded has a score"},
		{"invalid with checks", "invalid/imports-os/expect.yaml", "score: 0", "checks: {TestRatio: not_run}", "only what is graded has checks"},
		{"twin", "forgery/exit/expect.yaml", "honest", "honset", `submissions/forgery/exit/expect.yaml:3: twin: no other submission "forgery/honset"`},
		{"its own twin", "forgery/exit/expect.yaml", "honest", "exit", `twin: no other submission "forgery/exit"`},
		{"twin of no forgery", "accepted/loop/expect.yaml", "score", "twin: forgery/exit\nscore", "accepted: only a forgery has a twin"},
		{"unbounded forgery", "forgery/exit/expect.yaml", "twin: forgery/honest\n", "", "forgery: want a score, a max_score or a twin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := open(change(withSubmissions(), submissionsRoot+tt.file, tt.old, tt.new)).Submissions("gears")
			require.Error(t, err)
			for _, s := range got {
				assert.False(t, strings.HasPrefix(tt.file, s.Name+"/"), s.Name)
				assert.False(t, strings.HasPrefix(tt.file, s.Expect.Twin+"/"), s.Name)
			}
			assert.GreaterOrEqual(t, len(got), 3, "the others are there")
			t.Log(err)
			assert.ErrorContains(t, err, tt.want)
			assert.True(t, strings.HasPrefix(err.Error(), "load submissions of gears: submissions/"))
		})
	}
}

// No submissions are no success: somebody opened an embedded course.
func TestNoSubmissions(t *testing.T) {
	_, err := open(course()).Submissions("gears")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = open(withSubmissions()).Submissions("cogs")
	assert.ErrorIs(t, err, fs.ErrNotExist)
}
