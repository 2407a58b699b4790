package summary

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/batch"
	"grade/grader/fault"
	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/intake/changed"
	"grade/grader/prove"
	"grade/grader/report/terminal"
	"grade/grader/results"
	"grade/grader/verdict"
)

// hostile is a name that would draw on a terminal, or command a runner.
const hostile = "\x1b[2Jada\n::error::x"

// harmless makes sure that what strangers wrote stays in its line.
func harmless(t *testing.T, text string) {
	t.Helper()
	assert.NotContains(t, text, "\x1b")
	for l := range strings.Lines(text) {
		assert.False(t, strings.HasPrefix(l, "::"), "%q", l)
	}
}

// record is an attempt with one check.
func record(student string, number, points int, v verdict.Verdict) *results.Record {
	r := &verdict.Result{Verdict: v, Score: points, MaxScore: 100}
	if v == verdict.Graded {
		check := verdict.CheckResult{Name: "TestAll", Kind: "correctness", Verdict: verdict.Passed, Points: points, MaxPoints: 100}
		if points < 100 {
			check.Verdict, check.Detail = verdict.WrongAnswer, "1 of 4 observations differ\nmore"
		}
		r.Checks = []verdict.CheckResult{check}
	}
	return &results.Record{Student: student, Exercise: "gears", Attempt: number, Result: r}
}

func item(student string, r *results.Record, err error) batch.Item {
	return batch.Item{Submission: intake.Submission{Student: student, Exercise: "gears", Path: "p"}, Record: r, Err: err}
}

func TestBatch(t *testing.T) {
	was := record("cem", 2, 100, verdict.Graded)
	anew := item("cem", record("cem", 2, 40, verdict.Graded), nil)
	anew.Before, anew.Cached = was, true
	refused := record("bo", 1, 0, verdict.Invalid)
	refused.Result.Problems = []verdict.Problem{{File: "a.go", Line: 3, Message: "imports os\nmore"}, {Message: "x"}}
	items := []batch.Item{item("ada", record("ada", 1, 100, verdict.Graded), nil), item("bo", refused, nil), anew, item("dora", nil, errors.New("disk full\nnow"))}
	sum := NewBatch(items)
	text := sum.Text(items)
	assert.Equal(t, []NoVerdict{{"dora", "gears", "p", "disk full\nnow"}}, sum.NoVerdict)
	assert.Equal(t, ""+
		"ada      gears     100 of 100\n"+
		"bo       gears       0 of 100  refused: a.go:3: imports os (and 1 more)\n"+
		"cem      gears      40 of 100\n"+
		"dora     gears     no verdict: disk full\\nnow\n"+
		"\nThe same files as before, and another result:\n"+
		"submission                 old      new  why\n"+
		"cem/gears (attempt 2)  100/100   40/100  TestAll: passed → wrong answer, 100 → 40 points: 1 of 4 observations differ\n"+
		"\ngraded 2, cached 1, no verdict 1\n", text)
	for i, want := range []string{"ada  gears  100 of 100", "bo  gears  0 of 100  refused: a.go:3: imports os (and 1 more)", "cem  gears  40 of 100", "dora  gears  no verdict: disk full\\nnow"} {
		assert.Equal(t, want, Item(items[i]))
	}
	harmless(t, Item(item(hostile, nil, errors.New(hostile))))
	evil := record(hostile, 1, 0, verdict.CompileError)
	evil.Result.Problems = []verdict.Problem{{File: hostile, Line: 1, Message: hostile + strings.Repeat("x", 200)}}
	harmless(t, Item(item(hostile, evil, nil)))
	bad := []batch.Item{item(hostile, evil, nil), item(hostile, record(hostile, 1, 100, verdict.Graded), nil), item(hostile, nil, errors.New(hostile))}
	harmless(t, NewBatch(bad).Text(bad))
	harmless(t, NewPush(bad, true).Text(bad))
}

// The columns are as wide as what stands in them, with a verdict or without.
func TestBatchColumns(t *testing.T) {
	items := []batch.Item{item("ada", record("ada", 1, 100, verdict.Graded), nil), item("ada.lovelace", nil, errors.New("gone"))}
	assert.Equal(t, ""+
		"ada           gears     100 of 100\n"+
		"ada.lovelace  gears     no verdict: gone\n"+
		"graded 1, cached 0, no verdict 1\n", NewBatch(items).Text(items))
}

// A run has passed if every submission has all points, and nothing was changed that must
// not be.
func TestPush(t *testing.T) {
	full, part, refused := item("ada", record("ada", 1, 100, verdict.Graded), nil), item("bo", record("bo", 1, 60, verdict.Graded), nil), item("cem", record("cem", 1, 0, verdict.Invalid), nil)
	refused.Record.Result.Problems = []verdict.Problem{{File: "a.go", Line: 3, Message: "imports os"}}
	without := item("dora", nil, errors.New("gone"))
	for name, c := range map[string]struct {
		items  []batch.Item
		passed bool
		want   Push
	}{
		"nothing":            {nil, true, Push{Passed: true}},
		"all points":         {[]batch.Item{full}, true, Push{Points: 100, Max: 100, Graded: 1, Passed: true}},
		"another's folder":   {[]batch.Item{full}, false, Push{Points: 100, Max: 100, Graded: 1}},
		"points are missing": {[]batch.Item{full, part}, true, Push{Points: 160, Max: 200, Graded: 2}},
		"refused":            {[]batch.Item{refused}, true, Push{Max: 100, Graded: 1}},
		"no verdict":         {[]batch.Item{full, without}, true, Push{Points: 100, Max: 100, Graded: 1, Without: 1, Ours: 1}},
		"no Go file":         {[]batch.Item{full, item("eve", nil, &fault.Error{Message: "no Go file", Told: "no Go file"})}, true, Push{Points: 100, Max: 100, Graded: 1, Without: 1}},
	} {
		assert.Equal(t, c.want, NewPush(c.items, c.passed), name)
	}
	items := []batch.Item{full, refused, without}
	assert.Equal(t, ""+
		"graded      ada  gears  100 of 100\n"+
		"graded      cem  gears  0 of 100  refused: a.go:3: imports os\n"+
		"no verdict  dora  gears  gone\n"+
		"graded 2, cached 0, no verdict 1\n", NewPush(items, true).Text(items))
}

func TestOutputsAreNumbers(t *testing.T) {
	assert.Regexp(t, `^(points|max-points|graded|no-verdict)=\d+\n(max-points|graded|no-verdict)=\d+\n(graded|no-verdict)=\d+\nno-verdict=\d+\npassed=(true|false)\n$`, Push{Points: 3}.Outputs())
}

// A step's summary names no student whose folder was changed by another.
func TestWriteStep(t *testing.T) {
	var b bytes.Buffer
	found := changed.Found{Foreign: []string{"students/gus"}, Unknown: []string{"students/ada/tanh"}, Links: []string{"students/bo"}}
	require.NoError(t, WriteStep(&b, changed.Span{Head: "2"}, found, nil, &gradebook.Book{}))
	for _, want := range []string{"Other students' folders were changed", "has the name of no exercise of the course", "A link or a submodule", "No submission to grade in all of commit 2.\n"} {
		assert.Contains(t, b.String(), want)
	}
	assert.NotContains(t, b.String(), "gus")

	b.Reset()
	require.NoError(t, WriteStep(&b, changed.Span{Head: "2"}, changed.Found{}, []batch.Item{item("prof", record("prof", 1, 100, verdict.Graded), nil)}, &gradebook.Book{}))
	assert.Equal(t, "Submissions of staff are not in the gradebook: the log has what was graded in all of commit 2.\n", b.String())
}

func TestRegrading(t *testing.T) {
	list := []batch.Regraded{
		{Old: *record("ada", 1, 100, verdict.Graded), New: record("ada", 1, 100, verdict.Graded)},
		{Old: *record("bo", 1, 0, verdict.Graded), New: record("bo", 1, 100, verdict.Graded)},
		{Old: *record("cem", 1, 50, verdict.Graded), Err: errors.New("gone")},
	}
	eighty := 80.0
	r := NewRegrading(list, []Counted{{"bo", "gears", nil, &eighty}, {"bo", "", nil, &eighty}}, false)
	assert.Equal(t, 2, r.Regraded)
	assert.Equal(t, ""+
		"submission      old      new  why\n"+
		"bo/gears      0/100  100/100  TestAll: wrong answer → passed, 0 → 100 points; before: 1 of 4 observations differ\n"+
		"\nWhat counts:\nbo  gears  none → 80\nbo  total, %  none → 80\n"+
		"cem  gears  not graded: gone\n"+
		"\nregraded 2, changed 1, not graded 1; the old results still count: a word\n", r.Text("a word"))
	r.Applied = true
	assert.Contains(t, r.Text("a word"), "not graded 1; the new results count now\n")
	assert.Equal(t, "regraded 0, changed 0, not graded 0\n", NewRegrading(nil, nil, false).Text("a word"))
}

func TestDiffering(t *testing.T) {
	points := func(p, total float64) *gradebook.Book {
		return &gradebook.Book{
			Columns: []gradebook.Column{{}}, Rows: []gradebook.Row{{Student: "ada", Cells: []gradebook.Cell{{Points: &p}}, Total: &total}},
		}
	}
	fifty, sixty := 50.0, 60.0
	assert.Empty(t, Differing(points(50, 50), points(50, 50)))
	assert.Equal(t, []Counted{{"ada", "", &fifty, &sixty}}, Differing(points(50, 50), points(50, 60)))
	none := points(50, 50)
	none.Rows[0].Cells[0].Points = nil
	assert.Empty(t, Differing(none, none))
	assert.Equal(t, []Counted{{"ada", "", nil, &fifty}}, Differing(none, points(50, 50)))
}

func TestBook(t *testing.T) {
	points, total := 80.0, 40.0
	b := &gradebook.Book{Columns: []gradebook.Column{{}, {}}, Rows: []gradebook.Row{
		{Student: hostile, Cells: []gradebook.Cell{{Points: &points, Rules: []string{"late\x1b"}}, {Missing: &gradebook.Missing{Folder: "students/x", Why: "gone"}}}, Total: &total},
		{Student: "bo", Cells: make([]gradebook.Cell, 2), Unknown: []gradebook.Missing{{Why: "which?"}}},
	}}
	b.Columns[0].Exercise, b.Columns[1].Exercise = "gears", "levers"
	text := Book(b)
	harmless(t, text)
	assert.Regexp(t, `(?m)^student +  gears  levers  total %$`, text)
	assert.Regexp(t, `(?m)ada.* +80 +\? +40$`, text)
	assert.Regexp(t, `(?m)^bo +- +- +-$`, text)
	assert.Regexp(t, `(?m)  gears  late`, text)
	assert.Contains(t, text, "  levers  no verdict on what is in students/x: gone\n")
	assert.Contains(t, text, "bo  no verdict: which?\n")
}

func TestCheck(t *testing.T) {
	assert.Equal(t, "nothing to check\n", Check{}.Text(nil))
	margins := []prove.Margin{{Check: "BenchmarkTrain", Limit: 4, Highest: &prove.Reading{Submission: "accepted/plain", Ratio: 1.25}, Proposed: 2.5}}
	reports := []*prove.Report{
		{Exercise: "gears", Checks: 4, Submissions: 12, Margins: margins},
		{Exercise: "levers", Findings: []prove.Finding{{File: "exercises/levers/a.go", Line: 3, Message: "x\n::y"}}},
	}
	assert.Equal(t, ""+
		"course/exercises/levers/a.go:3: x\n    ::y\n"+
		"gears  check             passes     limit     fails  proposed\n"+
		"       BenchmarkTrain      1.25         4         -       2.5  accepted/plain\n"+
		"  exercise  checks  submissions  findings\n"+
		"✓ gears          4           12         0\n"+
		"✗ levers         0            0         1\n", Check{Root: "course", Calibrate: true}.Text(reports))
	assert.NotContains(t, Check{}.Text(reports), "proposed")
	reports[0].Missing = 3
	assert.Contains(t, Check{}.Text(reports), "? gears ", "it is not known to be right")
	assert.Contains(t, Check{}.Text(reports), "gears: ended early, 3 of its gradings are missing: nothing is known of those\n")
}

func TestDifference(t *testing.T) {
	d := &prove.Difference{Exercise: "gears", OldHash: "1", NewHash: "1"}
	assert.Equal(t, "gears: the two differ in nothing that a grade depends on\n", Difference(d))
	d = &prove.Difference{
		Exercise: "gears", OldHash: "1", NewHash: "2", Submissions: 4, Ungraded: []prove.Left{{Submission: hostile, Reason: "empty"}}, Failed: make([]prove.Left, 1),
		Changes: []*prove.Change{
			{Submission: "ada", Old: prove.Outcome{Verdict: verdict.Graded, Score: 100, MaxScore: 100}, New: prove.Outcome{Verdict: verdict.Invalid, MaxScore: 100, Problem: "a.go:1: no"}},
			{Submission: "bo", Old: prove.Outcome{Verdict: verdict.Graded, Score: 5, MaxScore: 100}, New: prove.Outcome{Verdict: verdict.Graded, Score: 5, MaxScore: 100}, Checks: []prove.CheckChange{{Name: "TestNew", New: verdict.Passed}}},
		},
	}
	text := Difference(d)
	harmless(t, text)
	assert.Contains(t, text, "ada         100/100    0/100  graded → refused: a.go:1: no\n")
	assert.NotContains(t, text, "TestNew", "the score is the same")
	assert.True(t, strings.HasSuffix(text, "gears: 4 submissions: 1 with fewer points, 0 with more, 3 with the same (1 for other reasons); 1 could not be graded\n"), text)
}

func TestMutation(t *testing.T) {
	m := &prove.Mutation{Exercise: "gears", Total: 10, Killed: 8, TimedOut: 2, Equivalent: 1, Score: 8. / 9, Seconds: 3, Survivors: []prove.Survivor{{ID: "a1", File: "gears.go", Line: 7, Diff: "-\tx\n+\ty\n"}}}
	assert.Equal(t, ""+
		"a1  course/reference/gears/gears.go:7\n    -    x\n    +    y\n"+
		"gears: 10 mutants, 8 killed (2 by time alone), 1 survived, 1 equivalent: 88.9 % of 9, in 3 s\n", Mutation(m, "course", terminal.Palette{}))
	m.LeftOut = 30
	assert.Contains(t, Mutation(m, "course", terminal.Palette{}), "88.9 % of 9, in 3 s; 30 more were not graded\n")
	same := &prove.Mutation{Exercise: "gears", Total: 2, Equivalent: 2, Score: 1, Seconds: 3}
	assert.Equal(t, "gears: 2 mutants, 0 killed, 0 survived, 2 equivalent: nothing to score, in 3 s\n", Mutation(same, "course", terminal.Palette{}))
	faults := &prove.Mutation{Exercise: "gears", Faults: []prove.Finding{{File: "equivalent.yaml", Message: "no such mutant"}}}
	assert.Equal(t, "course/equivalent.yaml: no such mutant\n", Mutation(faults, "course", terminal.Palette{}), "nothing was graded")
}

// What was not measured is counted, one as one.
func TestLeftOut(t *testing.T) {
	text := func(n int) string { return Check{}.Text([]*prove.Report{{Exercise: "mean", LeftOut: n}}) }
	assert.Contains(t, text(1), "mean: nothing was measured, and 1 submission left out, whose expected result needs a benchmark\n")
	assert.Contains(t, text(2), "and 2 submissions left out")
}
