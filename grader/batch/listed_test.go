package batch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/gradebook"
	"grade/grader/intake"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/tree"
	"grade/grader/verdict"
)

// lateCourse is a course whose autograd is due on 20 November.
func lateCourse(t *testing.T, rows string) *gradebook.Policy {
	t.Helper()
	p := gradebook.NewPolicy([]string{"autograd"})
	p.Times = "times.csv"
	rule := p.Defaults
	rule.Exercise, rule.Due, rule.Late = "autograd", time.Date(2026, 11, 20, 23, 59, 0, 0, time.UTC), &course.Late{Deduct: 10, Per: 24 * time.Hour, Most: 100}
	p.Policy.Exercises = []course.Rules{rule}
	if rows != "" {
		listed, err := gradebook.ReadTimes(strings.NewReader("student,exercise,submitted,attempt\n"+rows+"\n"), time.UTC)
		require.NoError(t, err)
		p.Listed = listed
	}
	return p
}

// pointsIn grades to as many points as a submission's file says.
func pointsIn(_ context.Context, s *submission.Snapshot, e *course.Exercise, _ string) (*verdict.Result, error) {
	score := 100
	if strings.Contains(string(s.Files[0].Data), "worse") {
		score = 70
	}
	return &verdict.Result{Exercise: e.Name, Verdict: verdict.Graded, Score: score, MaxScore: 100, Submission: verdict.Submission{Hash: s.Hash}}, nil
}

// handIn grades what ada hands in, while the table has some rows; the file is dated by
// another clock, long after that.
func handIn(t *testing.T, folder, text, rows string, fileHour int) {
	t.Helper()
	root := tree.New(t, map[string]string{"ada/autograd/a.go": "package autograd\n// " + text + "\n"})
	at := time.Date(2026, 11, 24, fileHour, 0, 0, 0, time.UTC)
	require.NoError(t, os.Chtimes(filepath.Join(root, "ada", "autograd", "a.go"), at, at))
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	list[0].Submitted = func(context.Context) (time.Time, string, error) { return at, "the newest file", nil }
	s, err := file.Open(folder)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	o := Options{Exercises: someExercises, Grade: pointsIn, Grader: "g", Now: time.Now}
	if rows != "old grade" {
		o.Listed = lateCourse(t, rows).ListedAt
	}
	_, err = Run(t.Context(), s, list, o)
	require.NoError(t, err)
}

// cellIn returns what counts of ada's under a table.
func cellIn(t *testing.T, folder, rows string) gradebook.Cell {
	t.Helper()
	s, err := file.Read(folder)
	require.NoError(t, err)
	cell, ok := Book(lateCourse(t, rows), s.Attempts(), nil, nil).Find("ada", "autograd")
	require.True(t, ok)
	return cell
}

const (
	inTime = "ada,autograd,2026-11-20 10:00,"
	late   = "ada,autograd,2026-11-23 10:00,"
)

// A table with a row a student has only the last attempt's time: what it had of the one
// before was kept with that attempt, which stays in time.
func TestAnAttemptKeepsItsListedTime(t *testing.T) {
	folder := t.TempDir()
	handIn(t, folder, "good", inTime, 22)
	handIn(t, folder, "worse", late, 23)
	for _, rows := range []string{late, ""} {
		cell := cellIn(t, folder, rows)
		require.Len(t, cell.Attempts, 2)
		assert.Equal(t, []int{1, 100, 2, 70}, []int{cell.Attempts[0].Number, cell.Attempts[0].Result.Score, cell.Attempts[1].Number, cell.Attempts[1].Result.Score})
		assert.Equal(t, []int{20, 23}, []int{cell.Attempts[0].Submitted.Day(), cell.Attempts[1].Submitted.Day()})
		assert.InDelta(t, 100, *cell.Points, 0)
		assert.Equal(t, []string{"Attempt 1 of 2 counts: the course counts the best attempt that its rules allow."}, cell.Rules)
		assert.Equal(t, 70, cell.Result().Score, "reports show what was handed in last")
	}
}

// A regrade knows no table, and keeps the time.
func TestRegradeKeepsTheListedTime(t *testing.T) {
	folder := t.TempDir()
	handIn(t, folder, "good", inTime, 22)
	handIn(t, folder, "worse", late, 23)
	s, err := file.Open(folder)
	require.NoError(t, err)
	r, err := NewRegrader(s)
	require.NoError(t, err)
	o := Options{Exercises: someExercises, Grade: pointsIn, Grader: "another", Now: time.Now}
	list, err := r.Run(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.NoError(t, r.Apply(list, o))
	require.NoError(t, s.Close())
	assert.InDelta(t, 100, *cellIn(t, folder, late).Points, 0)
}

// The row may be newer than the submissions, or older.
func TestTableBeforeOrAfterTheFiles(t *testing.T) {
	folder := t.TempDir()
	handIn(t, folder, "good", inTime, 22)
	handIn(t, folder, "good", late, 22)
	cell := cellIn(t, folder, late)
	assert.InDelta(t, 100, *cell.Points, 0, "the row is about work that is not here yet")
	assert.Equal(t, []string{"times.csv now has 2026-11-23 10:00:00 UTC for attempt 1. The earlier time counts, which it had when the attempt was graded; a row that names attempt 1 would overrule it."}, cell.Rules)
	assert.InDelta(t, 70, *cellIn(t, folder, late+"1").Points, 0, "a row with a number overrules")

	handIn(t, folder, "worse", inTime, 23)
	cell = cellIn(t, folder, inTime)
	assert.Equal(t, []int{20, 24}, []int{cell.Attempts[0].Submitted.Day(), cell.Attempts[1].Submitted.Day()}, "the row is about the work before")
	assert.True(t, cell.Attempts[1].Unlisted)
	handIn(t, folder, "worse", late, 23)
	before := len(lines(t, folder))
	handIn(t, folder, "worse", late, 23)
	assert.Len(t, lines(t, folder), before, "what is known is not kept again")
	assert.Equal(t, 23, cellIn(t, folder, late).Attempts[1].Submitted.Day())
}

// A row that names its attempt is kept as well, for a table that has only the newest row.
func TestRowsWithNumbersAreKept(t *testing.T) {
	folder := t.TempDir()
	handIn(t, folder, "good", inTime+"1", 22)
	handIn(t, folder, "worse", late+"2", 23)
	assert.InDelta(t, 100, *cellIn(t, folder, late+"2").Points, 0)
	assert.InDelta(t, 70, *cellIn(t, folder, late+"2\nada,autograd,2026-11-23 09:00,1").Points, 0, "a correction")
}

// Results of a grade that kept no such times keep their order: what came before the last
// attempt was handed in before that, whatever a file's date says.
func TestListedTimesOfOldResults(t *testing.T) {
	folder := t.TempDir()
	handIn(t, folder, "good", "old grade", 22)
	handIn(t, folder, "worse", "old grade", 23)
	cell := cellIn(t, folder, late)
	assert.Equal(t, []int{1, 100, 2, 70}, []int{cell.Attempts[0].Number, cell.Attempts[0].Result.Score, cell.Attempts[1].Number, cell.Attempts[1].Result.Score})
	assert.Equal(t, []int{23, 23}, []int{cell.Attempts[0].Submitted.Day(), cell.Attempts[1].Submitted.Day()})
	assert.Contains(t, strings.Join(cell.Rules, "\n"), "The table of times does not have attempt 1: by the table's time of attempt 2, it was handed in at 2026-11-23 10:00:00 UTC.")
	handIn(t, folder, "worse", late, 23)
	s, err := file.Read(folder)
	require.NoError(t, err)
	last, _ := s.Last("ada", "autograd")
	assert.Equal(t, 23, last.Listed.Day(), "the next run keeps it")
}
