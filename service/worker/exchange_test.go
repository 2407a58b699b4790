package worker

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
	"grade/grader/batch"
	"grade/grader/fault"
	"grade/grader/gradebook"
	"grade/grader/results"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service"
	"grade/service/engine"
)

func refused(student string) service.Upload {
	u := upload(student, "x")
	u.Snapshot = submission.Refused("upload", "a.s", "file-type", "a submission consists of Go files only")
	return u
}

// everything is an engine with something of every stage.
func everything(t *testing.T, dir string) *engine.Engine {
	t.Helper()
	e := opened(t, dir)
	handIn(t, e, "ada", "replaced")
	handIn(t, e, "ada", "graded")
	_, err := e.HandIn(t.Context(), refused("bob"))
	require.NoError(t, err)
	handIn(t, e, "cem é", "fails")
	stop := started(t, e, "w", scripted{grade: func(_ context.Context, s *submission.Snapshot) (*verdict.Result, error) {
		if len(s.Files) > 0 && string(s.Files[0].Data) == "package gears\n// fails\n" {
			return nil, fault.Exercise(errors.New("the reference does not build"))
		}
		return resultOf(s), nil
	}})
	await(t, e, "ada", service.Graded)
	await(t, e, "bob", service.Graded)
	await(t, e, "cem é", service.NoVerdict)
	stop()
	handIn(t, e, "dora", "waits")
	last, ok := e.Store().Last("ada", gears)
	require.True(t, ok)
	last.Key, last.Recorded = "anew", last.Recorded.Add(time.Second)
	require.NoError(t, e.Store().Append(last), "graded anew")
	return e
}

func bookOf(s results.Reader) *gradebook.Book {
	return batch.Book(gradebook.NewPolicy([]string{gears}), s.Attempts(), s.Pending(), nil)
}

// What is exported is what a batch keeps: it gives the same gradebook, and comes back whole
// into another service.
func TestExportAndImport(t *testing.T) {
	e := everything(t, t.TempDir())
	dir := filepath.Join(t.TempDir(), "backup")
	n, err := e.Export(t.Context(), dir)
	require.NoError(t, err)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "work and marks of students")
	assert.Equal(t, engine.Exchanged{Attempts: 5, Records: 3, Pending: 2, Submissions: 4}, n)
	read, err := file.Read(dir)
	require.NoError(t, err)
	assert.Equal(t, e.Store().Attempts(), read.Attempts())
	assert.Equal(t, e.Store().Pending(), read.Pending())
	assert.Equal(t, bookOf(e.Store()), bookOf(read))

	n, err = e.Export(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, engine.Exchanged{}, n, "nothing is new")

	other := opened(t, t.TempDir())
	told := map[string]<-chan service.Progress{}
	for _, student := range []string{"ada", "bob"} {
		told[student] = other.Follow(t.Context(), student, gears)
	}
	n, err = other.Import(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, engine.Exchanged{Attempts: 5, Records: 3, Submissions: 4}, n)
	for student, list := range told {
		neverWaited(t, list, other.Attempts(student, gears))
	}
	assert.Equal(t, e.Store().Attempts(), other.Store().Attempts())
	for _, student := range []string{"ada", "bob"} {
		assert.Equal(t, e.Attempts(student, gears), other.Attempts(student, gears))
	}
	for _, a := range e.Attempts("ada", gears) {
		want, err := e.Source(t.Context(), "ada", gears, a.Number)
		require.NoError(t, err)
		got, err := other.Source(t.Context(), "ada", gears, a.Number)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	n, err = other.Import(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, engine.Exchanged{}, n, "all of it is there")

	started(t, other, "w", scripted{grade: right})
	await(t, other, "dora", service.Graded)
	await(t, other, "cem é", service.Graded)
}

// neverWaited holds that no attempt that came with its verdict was on its way to a worker.
func neverWaited(t *testing.T, told <-chan service.Progress, attempts []service.Attempt) {
	t.Helper()
	graded := map[int]bool{}
	for _, a := range attempts {
		graded[a.Number] = a.Stage == service.Graded
	}
	require.Contains(t, slices.Collect(maps.Values(graded)), true)
	for range attempts {
		p := <-told
		assert.False(t, graded[p.Number] && p.Stage != service.Graded, "attempt %d of %s was told to be %s", p.Number, p.Student, p.Stage)
	}
}

// A later export does not go on saying that what was graded meanwhile has no verdict.
func TestRepeatedExport(t *testing.T) {
	e, dir := opened(t, t.TempDir()), t.TempDir()
	handIn(t, e, "dora", "first")
	_, err := e.Export(t.Context(), dir)
	require.NoError(t, err)
	stop := started(t, e, "w", scripted{grade: right})
	await(t, e, "dora", service.Graded)
	handIn(t, e, "dora", "second")
	await(t, e, "dora", service.Graded)
	stop()
	_, err = e.Export(t.Context(), dir)
	require.NoError(t, err)
	read, err := file.Read(dir)
	require.NoError(t, err)
	assert.Empty(t, read.Pending())
	assert.Equal(t, bookOf(e.Store()), bookOf(read))
}

// A service that was set up anew, and has not imported its backup yet, takes nothing away from
// it; and one with other work is refused.
func TestExportOfANewService(t *testing.T) {
	e, dir := everything(t, t.TempDir()), t.TempDir()
	_, err := e.Export(t.Context(), dir)
	require.NoError(t, err)
	anew := opened(t, t.TempDir())
	n, err := anew.Export(t.Context(), dir)
	require.NoError(t, err)
	assert.Zero(t, n)
	handIn(t, anew, "eve", "first")
	n, err = anew.Export(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, engine.Exchanged{Attempts: 1, Pending: 1, Submissions: 1}, n)

	_, err = anew.Import(t.Context(), dir)
	require.NoError(t, err)
	for _, student := range []string{"ada", "bob", "cem é", "dora"} {
		was, is := e.Attempts(student, gears), anew.Attempts(student, gears)
		require.Len(t, is, len(was), student)
		for i := range was {
			assert.Equal(t, was[i].Content, is[i].Content)
		}
	}
	other := opened(t, t.TempDir())
	handIn(t, other, "ada", "something else")
	_, err = other.Export(t.Context(), dir)
	require.ErrorContains(t, err, "export: attempt 1 of ada at gears is another one here")
}

// What waits at an exercise that the course has no more waits on, is before nobody in the queue,
// and keeps nothing else out.
func TestImportWithoutTheExercise(t *testing.T) {
	e, dir := everything(t, t.TempDir()), t.TempDir()
	_, err := e.Export(t.Context(), dir)
	require.NoError(t, err)
	other := opened(t, t.TempDir())
	files := map[string]string{}
	for name, text := range coursetest.Files() {
		files[strings.ReplaceAll(name, gears, "wheels")] = strings.ReplaceAll(text, gears, "wheels")
	}
	_, broken, err := other.SetCourse(t.Context(), coursetest.FS(files))
	require.NoError(t, errors.Join(append(broken, err)...))
	n, err := other.Import(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, 5, n.Attempts)
	assert.Len(t, other.Attempts("ada", gears), 2)
	assert.Zero(t, other.Queue().Waiting)
	_, broken, err = other.SetCourse(t.Context(), coursetest.FS(coursetest.Files()))
	require.NoError(t, errors.Join(append(broken, err)...))
	assert.Equal(t, 2, other.Queue().Waiting, "dora's, and the one that failed")
	assert.False(t, other.Queue().Oldest.IsZero())
}

// What has no verdict, or has yet to be graded beside a later attempt, is neither replaced nor
// forgotten by an export and an import.
func TestWhatIsOpenStaysOpen(t *testing.T) {
	e, dir := opened(t, t.TempDir()), t.TempDir()
	handIn(t, e, "ada", "fails")
	stop := started(t, e, "w", scripted{grade: func(_ context.Context, s *submission.Snapshot) (*verdict.Result, error) {
		if string(s.Files[0].Data) == "package gears\n// fails\n" {
			return nil, fault.Exercise(errors.New("the reference does not build"))
		}
		return resultOf(s), nil
	}})
	await(t, e, "ada", service.NoVerdict)
	handIn(t, e, "ada", "right")
	await(t, e, "ada", service.Graded)
	stop()
	_, err := e.Export(t.Context(), dir)
	require.NoError(t, err)
	other := opened(t, t.TempDir())
	_, err = other.Import(t.Context(), dir)
	require.NoError(t, err)
	stages := func() (list []service.Stage) {
		for _, a := range other.Attempts("ada", gears) {
			list = append(list, a.Stage)
		}
		return list
	}
	assert.Equal(t, []service.Stage{service.NoVerdict, service.Graded}, stages(), "staff decide whether it is graded after the later one")
	assert.Contains(t, other.Attempts("ada", gears)[0].Why, "the reference does not build")
	started(t, other, "w", scripted{grade: right})
	require.NoError(t, other.Retry(t.Context(), "ada", gears, 1))
	require.Eventually(t, func() bool { return slices.Equal([]service.Stage{service.Graded, service.Graded}, stages()) }, time.Minute, time.Millisecond)
}

// An import that contradicts what is there changes nothing.
func TestImportRefused(t *testing.T) {
	e := everything(t, t.TempDir())
	dir := t.TempDir()
	_, err := e.Export(t.Context(), dir)
	require.NoError(t, err)
	other := opened(t, t.TempDir())
	handIn(t, other, "ada", "something else")
	_, err = other.Import(t.Context(), dir)
	require.ErrorContains(t, err, "attempt 1 of ada at gears is another one here")
	assert.Empty(t, other.Attempts("bob", gears))
	_, err = other.Import(t.Context(), t.TempDir())
	var none *file.NoResultsError
	require.ErrorAs(t, err, &none)
}

// What a batch has kept comes in, and numbers go on after it.
func TestImportOfABatch(t *testing.T) {
	dir := t.TempDir()
	s, err := file.Open(dir)
	require.NoError(t, err)
	snapshot := upload("ada", "one").Snapshot
	require.NoError(t, s.KeepFiles(results.Content(snapshot), snapshot))
	require.NoError(t, s.Append(results.Record{Key: "k", Student: "ada", Exercise: gears, Attempt: 3, Content: results.Content(snapshot), Recorded: time.Now().UTC(), Result: resultOf(snapshot)}))
	require.NoError(t, s.UpdatePending([]results.Outcome{{Pending: results.Pending{Schema: results.PendingSchema, Student: "bob", Exercise: gears, Content: "c", Path: "bob/gears", Why: "the engine is gone"}}}))
	require.NoError(t, s.Close())

	e := opened(t, t.TempDir())
	n, err := e.Import(t.Context(), dir)
	require.NoError(t, err)
	assert.Equal(t, engine.Exchanged{Records: 1, Pending: 1, Submissions: 1}, n)
	assert.Equal(t, service.Graded, handIn(t, e, "ada", "one").Stage, "the same again is the same attempt")
	handIn(t, e, "bob", "another one")
	pending, _ := e.PendingOf("bob", gears)
	assert.Equal(t, "it waits for a worker", pending.Why, "and not what the batch has said of an earlier one")
	assert.Equal(t, 4, handIn(t, e, "ada", "two").Number)
	files, err := e.Source(t.Context(), "ada", gears, 3)
	require.NoError(t, err)
	assert.Equal(t, snapshot.Files, files.Files)
}
