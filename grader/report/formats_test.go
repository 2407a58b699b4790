package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/report/sample"
	"grade/grader/report/wording"
	"grade/grader/verdict"
)

// parsed is r in a format of JSON, read into a T.
func parsed[T any](t *testing.T, format string, r *verdict.Result) (doc T) {
	t.Helper()
	require.NoError(t, json.Unmarshal(written(t, format, r), &doc))
	return doc
}

// many is a grading with n problems, or with n failed checks.
func many(problems, failed int) *verdict.Result {
	r := sample.Mixed()
	r.Warnings = nil
	for range problems {
		r.Problems = append(r.Problems, problem(strings.Repeat("long ", 500)))
	}
	r.Checks = nil
	for i := range failed {
		r.Checks = append(r.Checks, verdict.CheckResult{
			Name: fmt.Sprintf("Test%d", i), Kind: "correctness", Verdict: verdict.WrongAnswer, MaxPoints: 1, Detail: strings.Repeat(strings.Repeat("long ", 70)+"\n", 30),
		})
	}
	return r
}

func TestScoresAgree(t *testing.T) {
	for name, r := range samples() {
		t.Run(name, func(t *testing.T) {
			points, passed := 0, 0
			runner := parsed[runnerResult](t, "github-classroom", r)
			for _, x := range runner.Tests {
				points += x.Score
				if x.Status == "pass" {
					passed++
				}
			}
			assert.Equal(t, r.Score, points, "the sum, as the notice has it")
			assert.Equal(t, r.Score*len(runner.Tests), passed*runner.MaxScore, "the part of the tests, as the table has it")

			scope := parsed[gradescopeResult](t, "gradescope", r)
			points, most := 0, 0
			for _, x := range scope.Tests {
				points, most = points+x.Score, most+x.MaxScore
			}
			assert.Equal(t, *scope.Score, points)
			assert.Equal(t, wording.MaxPoints(r), most, "of the whole exercise, whatever was asked for")

			room := parsed[classroom50Result](t, "classroom50", r)
			points, most = 0, 0
			for _, x := range room.Tests {
				points, most = points+x.Score, most+x.MaxScore
			}
			assert.Equal(t, room.Score, points)
			assert.Equal(t, room.MaxScore, most)
		})
	}
}

// A grading of a part must not look like a whole one.
func TestMaximumIsTheExercises(t *testing.T) {
	r := sample.OnlyCorrectness()
	assert.Equal(t, 20, parsed[classroom50Result](t, "classroom50", r).MaxScore)
	assert.InDelta(t, 6.0/20, *parsed[prairieLearnResult](t, "prairielearn", r).Score, 1e-9)
}

func TestCommonWeight(t *testing.T) {
	weigh := func(points ...int) int {
		var list []verdict.CheckResult
		for _, p := range points {
			list = append(list, verdict.CheckResult{MaxPoints: p})
		}
		return commonWeight(list)
	}
	assert.Equal(t, 5, weigh(5, 10, 15))
	assert.Equal(t, 1, weigh(3, 10))
	assert.Equal(t, 7, weigh(7))
	assert.Equal(t, 1, weigh())
	assert.Equal(t, 1, weigh(0))
}

func TestClassroom50Identity(t *testing.T) {
	id := identity()
	id.Group, id.Review, id.Actor, id.ActorID = true, "https://example.org/compare", "grace", 0
	var b bytes.Buffer
	require.NoError(t, writeClassroom50(&b, sample.Mixed(), id))
	readers["classroom50"](t, b.Bytes(), nil)
	var doc classroom50Result
	require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
	assert.Equal(t, "group", doc.AssignmentType)
	assert.Equal(t, "https://example.org/compare", doc.Review)
	assert.Equal(t, "2026-03-14T15:00:00Z", doc.Datetime, "in UTC, of the commit")
	assert.Equal(t, "grace", doc.SubmittedBy.Username)
	assert.Nil(t, doc.SubmittedBy.ID)
}

func TestClassroom50Lacks(t *testing.T) {
	f, _ := FormatNamed("classroom50")
	assert.EqualError(t, f.Lacks(Identity{}), "the environment has no CLASSROOM, ASSIGNMENT, USERNAME, SUBMISSION_TAG, COMMIT_URL, RELEASE_URL, COMMIT_TIME")
	id := identity()
	assert.NoError(t, f.Lacks(id))
	id.Submission = "v1"
	assert.EqualError(t, f.Lacks(id), `SUBMISSION_TAG "v1" does not begin with submit/`)
	id = identity()
	id.Committed = ""
	assert.ErrorContains(t, f.Write(&bytes.Buffer{}, sample.Mixed(), id), "write report classroom50: the environment has no COMMIT_TIME")
	id.Committed = "yesterday"
	assert.EqualError(t, f.Lacks(id), `COMMIT_TIME "yesterday" is no time: give it as git show -s --format=%cI prints it`)
}

func TestExercismStatus(t *testing.T) {
	assert.Equal(t, "pass", parsed[exercismResult](t, "exercism", sample.AllPoints()).Status)
	assert.Equal(t, "fail", parsed[exercismResult](t, "exercism", sample.Mixed()).Status)
	assert.Equal(t, "fail", parsed[exercismResult](t, "exercism", sample.OnlyCorrectness()).Status, "what was not run did not pass")
	assert.Equal(t, "error", parsed[exercismResult](t, "exercism", sample.Invalid()).Status)
	assert.Equal(t, "ab\n… cut", shorten("ab"+strings.Repeat("x", 9), 8))
	assert.Equal(t, "漢字", shorten("漢字", 2))
}

// What does not compile costs no attempt in PrairieLearn, and neither does a fault of ours.
func TestPrairieLearnGradable(t *testing.T) {
	for name, gradable := range map[string]bool{"all_points": true, "mixed": true, "only": true, "invalid": false, "compile_error": false} {
		doc := parsed[prairieLearnResult](t, "prairielearn", samples()[name])
		assert.Equal(t, gradable, doc.Gradable, name)
		assert.Equal(t, gradable, doc.Score != nil, name)
		assert.Equal(t, gradable, len(doc.FormatErrors) == 0, name)
	}
}

func TestPrairieLearnIsNeverTooLong(t *testing.T) {
	r := many(0, 600)
	assert.LessOrEqual(t, len(written(t, "prairielearn", r)), maxPrairieLearn)
	doc := parsed[prairieLearnResult](t, "prairielearn", r)
	assert.Len(t, doc.Tests, 600)
	assert.Contains(t, doc.Message, "were too long")
	r.Verdict, r.Problems = verdict.Invalid, many(1000, 0).Problems
	assert.LessOrEqual(t, len(written(t, "prairielearn", r)), maxPrairieLearn)
}

func TestNoVerdict(t *testing.T) {
	for _, f := range Formats() {
		if !f.TellsNoVerdict() {
			continue
		}
		var b bytes.Buffer
		require.NoError(t, f.WriteNoVerdict(&b, "no verdict\x1b[2J"))
		readers[f.Name](t, b.Bytes(), nil)
		var doc map[string]any
		require.NoError(t, json.Unmarshal(b.Bytes(), &doc))
		assert.NotContains(t, doc, "score", "no score is lost")
		assert.NotContains(t, doc, "tests")
		assert.Contains(t, b.String(), `no verdict\\x1b[2J`)
	}
	for name, tells := range map[string]bool{"gradescope": true, "prairielearn": true, "exercism": false, "junit": false, "classroom50": false, "html": false} {
		f, _ := FormatNamed(name)
		assert.Equal(t, tells, f.TellsNoVerdict(), name)
	}
}

func TestAnnotationsAreCapped(t *testing.T) {
	lines := strings.Split(string(written(t, "github-annotations", many(40, 30))), "\n")
	count := map[string]int{}
	for _, l := range lines {
		level, _, _ := strings.Cut(l, " ")
		count[level]++
	}
	assert.Equal(t, map[string]int{"::error": 10, "::warning": 10, "::notice": 1, "": 1}, count)
	assert.Equal(t, "::error title=More::… and 31 more in the report", lines[9])
	assert.Equal(t, "::warning title=More::… and 21 more in the report", lines[19])
}

// What is left out is counted, wherever a list has a cap.
func TestWarningsAreCutVisibly(t *testing.T) {
	r := sample.AllPoints()
	for i := range 43 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("warning %d", i))
	}
	for _, format := range []string{"html", "markdown", "junit", "gradescope", "prairielearn"} {
		out := string(written(t, format, r))
		assert.Contains(t, out, "warning 39", format)
		assert.NotContains(t, out, "warning 40", format)
		assert.Contains(t, out, "… and 3 more", format)
	}
}

func TestAnnotationPlace(t *testing.T) {
	id := Identity{Folder: "week1/autograd"}
	assert.Equal(t, "week1/autograd/value.go", inRepository(id, "value.go"))
	assert.Equal(t, "value.go", inRepository(Identity{}, "value.go"))
	assert.Equal(t, "../sample.Secret.go", inRepository(id, "../sample.Secret.go"), "no folder of ours is put before it")
	a := annotation{level: "error", file: "a,b:c%.go", line: 3, title: "x\r\ny", message: "50 % of a:b,c\nd"}
	assert.Equal(t, "::error file=a%2Cb%3Ac%25.go,line=3,title=x%0D%0Ay::50 %25 of a:b,c%0Ad\n", a.command())
}

// What a program looks up is there to its end: half a path is no file's, and two long
// Files that begin alike are two.
func TestWhatProgramsReadIsNotCut(t *testing.T) {
	long := strings.Repeat("long-", 40)
	r := sample.Mixed()
	r.Problems = []verdict.Problem{{File: long + ".go", Line: 1, Message: "no"}}
	r.Toolchain, r.Checks[0].Name = "go1.26.0 in golang@sha256:"+long, "Test"+long
	id := identity()
	id.Folder = "week1/" + long
	for format, want := range map[string][]string{
		"github-annotations": {"file=week1/" + long + "/" + long + ".go,"},
		"gradescope":         {`"toolchain": "` + r.Toolchain + `"`},
		"junit":              {`value="` + r.Toolchain + `"`, `<testcase name="Test` + long + `"`, `name="Test` + long + `.points"`},
		"classroom50":        {`"test-name": "Test` + long + `"`},
	} {
		f, _ := FormatNamed(format)
		var b bytes.Buffer
		require.NoError(t, f.Write(&b, r, id))
		for _, w := range want {
			assert.Contains(t, b.String(), w, format)
		}
	}
}

func TestMarkdownIsCut(t *testing.T) {
	r := many(1000, 400)
	out := string(written(t, "markdown", r))
	assert.Less(t, len(out), 65_536)
	assert.Contains(t, out, "… The rest is too long for this place")
	readMarkdown(t, []byte(out), r)
	assert.Less(t, len(written(t, "github-summary", r)), 1<<20)
}

func TestCodeSpan(t *testing.T) {
	for in, want := range map[string]string{
		"a": "`a`", "": "(no name)", "a`b": "``a`b``", "`a`": "`` `a` ``", "``": "``` `` ```", " a ": "`  a  `",
	} {
		assert.Equal(t, want, codeSpan(in))
	}
	assert.Equal(t, "````text\n```\n````", fenced("```"))
}

func TestEscapeMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"Sum: every term gets 1.5 - 2": "Sum: every term gets 1.5 - 2",
		"- no list":                    `\- no list`,
		"1. no list":                   `1\. no list`,
		"# no heading":                 `\#&#8203; no heading`,
		"[a](b) <i>":                   `\[a\](b) \<i\>`,
		"@ada":                         "@&#8203;ada",
	} {
		assert.Equal(t, want, escapeMarkdown(in))
	}
}

func TestJUnitCounts(t *testing.T) {
	for name, want := range map[string][4]int{
		"all_points": {4, 0, 0, 0}, "mixed": {4, 2, 0, 0}, "only": {4, 0, 0, 2}, "invalid": {4, 0, 4, 0}, "compile_error": {4, 0, 4, 0},
	} {
		var doc junitSuites
		require.NoError(t, xml.Unmarshal(written(t, "junit", samples()[name]), &doc))
		s := doc.Suites[0]
		assert.Equal(t, want, [4]int{s.Tests, s.Failures, s.Errors, s.Skipped}, name)
		got := [4]int{len(s.Cases)}
		for _, c := range s.Cases {
			for i, o := range []*junitOutcome{c.Failure, c.Error, c.Skipped} {
				if o != nil {
					got[i+1]++
				}
			}
		}
		assert.Equal(t, want, got, name)
	}
}

// A submission that takes all the time there is gains nothing by what was not reached.
func TestNotReachedIsNoSkip(t *testing.T) {
	r := sample.OnlyCorrectness()
	r.Checks[2].Detail = "not run: the measurements before it used up the time that all together may take. Mend those that took longest"
	var doc junitSuites
	require.NoError(t, xml.Unmarshal(written(t, "junit", r), &doc))
	assert.Equal(t, [2]int{1, 1}, [2]int{doc.Failures, doc.Suites[0].Skipped})
	for _, format := range []string{"github-annotations", "markdown", "html", "gradescope", "prairielearn", "exercism", "classroom50"} {
		assert.Contains(t, string(written(t, format, r)), "used up the time that all together may take", format)
	}
}
