package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/batch"
	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/intake/changed"
	"grade/grader/intake/forge"
	"grade/grader/report/summary"
	"grade/grader/results"
	"grade/grader/results/file"
	"grade/grader/verdict"
)

// ciRun is a run of grade ci about items, with what the store knows, and what it writes.
type ciRun struct {
	*ciOptions
	t     *testing.T
	store *file.Store
	out   *bytes.Buffer
	dir   string
}

func newCIRun(t *testing.T) *ciRun {
	t.Helper()
	dir := t.TempDir()
	store, err := file.Open(filepath.Join(dir, "grades"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	out := &bytes.Buffer{}
	o := &ciOptions{clone: changed.Clone{Run: forge.Run{Name: "x", Annotates: true, Summary: filepath.Join(dir, "summary"), Outputs: filepath.Join(dir, "outputs")}}}
	o.app = newApp(nil, out, &bytes.Buffer{})
	o.app.started = true
	o.policy = gradebook.NewPolicy([]string{"gears", "levers"})
	return &ciRun{o, t, store, out, dir}
}

// handIn keeps an attempt of ada's, and returns its item.
func (o *ciRun) handIn(number int, r *verdict.Result) batch.Item {
	o.t.Helper()
	r.Exercise, r.MaxScore = "gears", 100
	record := results.Record{
		Key: string(rune('a' + number)), Content: string(rune('a' + number)), Student: "ada", Exercise: "gears", Attempt: number,
		Submitted: time.Date(2026, 12, number, 12, 0, 0, 0, time.UTC), Folder: "students/ada/gears", Result: r,
	}
	require.NoError(o.t, o.store.Append(record))
	return batch.Item{Submission: intake.Submission{Student: "ada", Exercise: "gears", Folder: record.Folder}, Record: &record}
}

// about tells of items, and returns all that was written, report by report.
func (o *ciRun) about(items ...batch.Item) (written map[string]string, err error) {
	o.t.Helper()
	written = map[string]string{}
	o.out.Reset()
	o.reports = reportFlags{}
	require.NoError(o.t, os.RemoveAll(o.clone.Run.Summary)) // each step has its own
	for name, file := range map[string]string{"junit": "junit.xml", "gitlab-codequality": "quality.json", "markdown": "book.md", "json": "book.json"} {
		o.reports.values = append(o.reports.values, name+"="+filepath.Join(o.dir, file))
	}
	o.reports.values = append(o.reports.values, "text="+filepath.Join(o.dir, "{student}", "{exercise}.txt"))
	require.NoError(o.t, o.reports.check())
	err = o.tell(changed.Span{Head: "x"}, o.store, items, changed.Found{})
	for _, file := range []string{"junit.xml", "quality.json", "book.md", "summary", "ada/gears.txt"} {
		written[file] = content(o.t, filepath.Join(o.dir, file))
	}
	written["log"] = o.out.String()
	return written, err
}

// What a commit brings is what its reports are about, and where it does not compile they
// say so at its line: the rules decide what counts, and that stands beside it.
func TestCITellsOfTheCommit(t *testing.T) {
	o := newCIRun(t)
	check := func(name string, v verdict.Verdict, points int) []verdict.CheckResult {
		return []verdict.CheckResult{{Name: name, Kind: "correctness", Verdict: v, Points: points, MaxPoints: 100}}
	}
	first := o.handIn(1, &verdict.Result{Verdict: verdict.Graded, Score: 60, Checks: check("TestOld", verdict.WrongAnswer, 60)})
	second := o.handIn(2, &verdict.Result{Verdict: verdict.CompileError, Checks: check("TestOld", verdict.NotRun, 0),
		Problems: []verdict.Problem{{File: "gears.go", Line: 17, Rule: "compile", Message: "undefined: cog"}}})

	written, err := o.about(second)
	require.ErrorIs(t, err, errPointsMissing)
	assert.Contains(t, written["log"], "::error file=students/ada/gears/gears.go,line=17,title=compile::undefined: cog\n")
	for file, text := range written {
		assert.Contains(t, text, "undefined: cog", file)
		assert.NotContains(t, text, "wrong answer", file)
	}
	for _, file := range []string{"junit.xml", "book.md", "summary", "ada/gears.txt"} {
		assert.Contains(t, written[file], "Attempt 1 of 2 counts: the course counts the best attempt that its rules allow.", file)
		assert.Contains(t, written[file], "Shown here: attempt 2 of 2, which scored 0 of 100 points.", file)
		assert.Contains(t, written[file], "60 of 100 points", file)
	}

	written, err = o.about(first)
	require.ErrorIs(t, err, errPointsMissing)
	for file, text := range written {
		assert.NotContains(t, text, "undefined: cog", "%s: a job that is repeated is about what it was about", file)
		assert.Contains(t, text, "TestOld", file)
	}

	second.Record, second.Err = nil, errors.New("the engine is gone")
	written, err = o.about(second)
	assert.Equal(t, exitNoVerdict, o.app.code(t.Context(), err))
	assert.NotContains(t, written["log"]+written["book.md"]+written["quality.json"], "undefined: cog", "what has no verdict has no problems either")
	assert.Contains(t, written["ada/gears.txt"], "TestOld", "and an older page stays")
}

// A run that is about one exercise says nothing of the others.
func TestCITellsOfNothingElse(t *testing.T) {
	o := newCIRun(t)
	all := o.handIn(1, &verdict.Result{Verdict: verdict.Graded, Score: 100, Checks: []verdict.CheckResult{{Name: "TestAll", Kind: "correctness", Verdict: verdict.Passed, Points: 100, MaxPoints: 100}}})
	written, err := o.about(all)
	require.NoError(t, err)
	assert.Contains(t, written["book.md"], "| `ada` | 100 |\n", "without a total")
	assert.NotContains(t, written["book.md"]+written["summary"], "levers")
	assert.Contains(t, content(t, filepath.Join(o.dir, "book.json")), `"total_percent": null`)
	assert.Contains(t, content(t, filepath.Join(o.dir, "book.json")), `"partial": true`)
}

// A link in place of a folder is no way to have nothing graded.
func TestCIFailsForALink(t *testing.T) {
	o := newCIRun(t)
	err := o.tell(changed.Span{Head: "x"}, o.store, nil, changed.Found{Links: []string{"students/bo"}})
	require.ErrorIs(t, err, errPointsMissing)
	assert.Contains(t, content(t, o.clone.Run.Outputs), "passed=false")
	assert.Contains(t, content(t, o.clone.Run.Summary), "A link or a submodule stands in place of a folder")
}

// JSON goes into logs of runners, which would obey what a submission can have in it.
func TestJSONObeysNobody(t *testing.T) {
	var out bytes.Buffer
	a := newApp(nil, &out, &bytes.Buffer{})
	require.NoError(t, a.write(true, summary.Batch{NoVerdict: []summary.NoVerdict{{Student: "##[add-mask]x", Why: "\u009b2J\u202e"}}}, nil))
	assert.Contains(t, out.String(), `"##\u005badd-mask]x"`)
	assert.Contains(t, out.String(), `"\u009b2J\u202e"`)
}
