package batch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/intake"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/tree"
	"grade/grader/verdict"
)

// What a run came to no verdict on is pending until there is one.
func TestPending(t *testing.T) {
	root := tree.New(t, map[string]string{
		"alice/autograd/a.go": "package autograd\n", "bob/autograd/a.go": "package autograd\nvar b int\n", "carol/x/x.go": "package unknown\n", "dora/autograd/a.go": "package autograd\nvar d int\n",
	})
	folder := t.TempDir()
	waiting := func() (list []string) {
		l, err := file.Read(folder)
		require.NoError(t, err)
		for _, w := range l.Pending() {
			list = append(list, w.Student+"|"+w.Exercise+"|"+w.Why)
		}
		return list
	}
	d := &desk{}
	_, _, err := d.batch(t.Context(), t, root, folder)
	require.NoError(t, err)
	assert.Empty(t, waiting())

	original, changed := "package autograd\n", "package autograd\nvar a int\n"
	write := func(student, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, student, "autograd", "a.go"), []byte(text), 0o600))
	}
	write("alice", changed)
	write("bob", changed)
	d.fail = func(string) error { return errors.New("the engine is gone") }
	_, counts, err := d.batch(t.Context(), t, root, folder)
	require.NoError(t, err)
	assert.Equal(t, [3]int{0, 1, 3}, counts)
	both := []string{"alice|autograd|the engine is gone", "bob|autograd|the engine is gone"}
	assert.Equal(t, both, waiting(), "dora's has not changed, and is in no need of an engine")

	// What is interrupted at once, or cannot be begun with, says as much and no more.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, counts, err = d.batch(ctx, t, root, folder)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, [3]int{0, 1, 3}, counts)
	l, err := file.Open(folder)
	require.NoError(t, err)
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	require.NoError(t, KeepPending(l, Ungraded(t.Context(), list, nil, errors.New("the engine is gone")), time.Now()))
	assert.Len(t, l.Pending(), 2)
	require.NoError(t, l.Close())
	assert.Equal(t, both, waiting())

	// Results that were graded anew are older work's.
	l, err = file.Open(folder)
	require.NoError(t, err)
	old, ok := l.Last("alice", "autograd")
	require.True(t, ok)
	old.Recorded = time.Now().Add(time.Hour)
	require.NoError(t, l.Append(old))
	require.NoError(t, l.Close())
	assert.Equal(t, both, waiting())

	write("alice", original) // which is known
	require.NoError(t, os.RemoveAll(filepath.Join(root, "bob")))
	d.fail = nil
	_, counts, err = d.batch(t.Context(), t, root, folder)
	require.NoError(t, err)
	assert.Equal(t, [3]int{0, 2, 1}, counts)
	assert.Equal(t, both[1:], waiting(), "this run has not found bob's")

	name := filepath.Join(folder, "no-verdict.jsonl")
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode().Perm(), "others may read folder")
	lines, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, append([]byte("\n"), lines...), 0o600))
	assert.Len(t, waiting(), 1)
	require.NoError(t, os.WriteFile(name, []byte("{}\n"), 0o600))
	_, err = file.Read(folder)
	require.ErrorContains(t, err, "no-verdict.jsonl"+":1: not of the kind")
}

// A run that is killed has said before whose work there is.
func TestPendingFromTheStart(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	folder := t.TempDir()
	d := &desk{fail: func(string) error {
		l, err := file.Read(folder)
		require.NoError(t, err)
		require.Len(t, l.Pending(), 1)
		assert.Contains(t, l.Pending()[0].Why, "did not end")
		return nil
	}}
	_, counts, err := d.batch(t.Context(), t, root, folder)
	require.NoError(t, err)
	assert.Equal(t, [3]int{1, 0, 0}, counts)
	l, err := file.Read(folder)
	require.NoError(t, err)
	assert.Empty(t, l.Pending())
}

// What had no verdict keeps its time until it has one, in whatever run that is; a run about
// older work ends no wait of newer work.
func TestPendingKeepsItsTime(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	folder, d := t.TempDir(), &desk{}
	in := func(hour int, text string, fail error) *file.Store {
		t.Helper()
		d.fail = func(string) error { return fail }
		require.NoError(t, os.WriteFile(filepath.Join(root, "alice", "autograd", "a.go"), []byte("package autograd\n"+text), 0o600))
		list, err := intake.Find(root, []string{"autograd"})
		require.NoError(t, err)
		if hour > 0 {
			list[0].At, list[0].Source = time.Date(2026, 12, 1, hour, 0, 0, 0, time.UTC), "the test"
		}
		l, err := file.Open(folder)
		require.NoError(t, err)
		_, err = Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: d.grade, Now: time.Now})
		require.NoError(t, err)
		require.NoError(t, l.Close())
		return l
	}
	gone := errors.New("the engine is gone")
	in(1, "var a int\n", nil)
	l := in(9, "var b int\n", gone)
	assert.Len(t, l.Pending(), 1)
	for _, hour := range []int{1, 0} { // an old job once more, and one that knows no time
		l = in(hour, "var a int\n", nil)
		assert.Len(t, l.Pending(), 1, "what waits is newer")
	}
	for _, hour := range []int{11, 0} {
		l = in(hour, "var b int\n", gone)
		require.Len(t, l.Pending(), 1)
		assert.Equal(t, 9, l.Pending()[0].Submitted.Hour())
	}
	l = in(12, "var b int\n", nil)
	assert.Empty(t, l.Pending())
	last, ok := l.Last("alice", "autograd")
	require.True(t, ok)
	assert.Equal(t, 9, last.Submitted.Hour(), "as of when it was handed in first")
	assert.Equal(t, 2, last.Attempt)
}

// A folder that is gone when it is read is nothing that its student handed in.
func TestRunFolderGone(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n", "bob/autograd.zip": "PK"})
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.NoError(t, os.RemoveAll(filepath.Join(root, "alice")))
	require.NoError(t, os.RemoveAll(filepath.Join(root, "bob")))
	l, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	items, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: (&desk{}).grade, Now: time.Now})
	require.NoError(t, err)
	for _, i := range items {
		assert.Nil(t, i.Record, i.Path)
		require.ErrorContains(t, i.Err, "read the submission: ")
		require.ErrorContains(t, i.Err, filepath.Dir(i.Path))
	}
}

// What is graded anew, because the exercise has changed, has the inputs that it had, and
// twice the chance to keep its points for speed: luck takes no points.
func TestRunGradesAnew(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	folder := t.TempDir()
	measured, seeds := []int{40, 20, 30}, []string{}
	grade := scored(map[string]int{"1": 50}, &measured, &seeds)
	for i, by := range []string{"one", "two"} {
		list, err := intake.Find(root, []string{"autograd"})
		require.NoError(t, err)
		l, err := file.Open(folder)
		require.NoError(t, err)
		items, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: grade, Grader: by, Now: time.Now})
		require.NoError(t, err)
		require.NoError(t, l.Close())
		require.NoError(t, items[0].Err)
		assert.Equal(t, 1, items[0].Record.Attempt)
		assert.Equal(t, i > 0, items[0].Before != nil)
		assert.Equal(t, []int{90, 80}[i], items[0].Record.Result.Score)
	}
	assert.Len(t, seeds, 3)
	assert.Equal(t, seeds[1], seeds[2])
}

// A time that was not known when a submission was graded is its time as soon as it is.
func TestRunTimeKnownLater(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	folder, d := t.TempDir(), &desk{}
	first, never := time.Now().Add(-time.Hour).UTC().Truncate(time.Second), time.Now().Add(time.Hour) // what has been graded was handed in before
	for i, at := range []time.Time{{}, never, first, first.Add(time.Minute), {}} {
		list, err := intake.Find(root, []string{"autograd"})
		require.NoError(t, err)
		list[0].At, list[0].Source = at, "the test"
		l, err := file.Open(folder)
		require.NoError(t, err)
		items, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: d.grade, Now: time.Now})
		require.NoError(t, err)
		require.NoError(t, l.Close())
		require.NoError(t, items[0].Err)
		assert.Equal(t, i > 0, items[0].Cached)
		l, err = file.Read(folder)
		require.NoError(t, err)
		require.Len(t, l.Attempts(), 1)
		if want := (time.Time{}); i < 2 {
			assert.Equal(t, want, l.Attempts()[0].Submitted)
			assert.Len(t, lines(t, folder), 1)
		} else {
			assert.Equal(t, first, l.Attempts()[0].Submitted)
			assert.Equal(t, "the test", l.Attempts()[0].Source)
			assert.Len(t, lines(t, folder), 2)
		}
	}
	assert.Len(t, d.graded, 1)
}

// What is the same is graded once, also within one run.
func TestRunSameSideBySide(t *testing.T) {
	files := map[string]string{}
	for _, student := range []string{"a", "b", "c", "d"} {
		files[student+"/autograd/a.go"] = "package autograd\n"
	}
	list, err := intake.Find(tree.New(t, files), []string{"autograd"})
	require.NoError(t, err)
	l, err := file.Open(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	d := &desk{}
	begun := make(chan struct{}, len(list))
	items, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Workers: len(list), Now: time.Now, Grade: func(ctx context.Context, s *submission.Snapshot, e *course.Exercise, seed string) (*verdict.Result, error) {
		begun <- struct{}{}
		return d.grade(ctx, s, e, seed)
	}})
	require.NoError(t, err)
	graded, cached, without := Count(items)
	assert.Equal(t, [3]int{1, 3, 0}, [3]int{graded, cached, without})
	assert.Len(t, begun, 1)
}

// However a run ends, and however early, it loses no time of submission.
func TestPendingKeepsItsTimeWhenStopped(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n", "bob/autograd/a.go": "package autograd\nvar b int\n"})
	folder := t.TempDir()
	run := func(ctx context.Context, hour int, grade GradeFunc) {
		t.Helper()
		list, err := intake.Find(root, []string{"autograd"})
		require.NoError(t, err)
		for i := range list {
			list[i].At, list[i].Source = time.Date(2026, 12, 1, hour, 0, 0, 0, time.UTC), "the test"
		}
		l, err := file.Open(folder)
		require.NoError(t, err)
		_, _ = Run(ctx, l, list, Options{Exercises: someExercises, Grade: grade, Now: time.Now})
		require.NoError(t, l.Close())
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	run(stopped, 9, nil)
	run(stopped, 11, nil)
	name := filepath.Join(folder, "no-verdict.jsonl")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run(ctx, 12, func(context.Context, *submission.Snapshot, *course.Exercise, string) (*verdict.Result, error) {
		begun, err := os.ReadFile(name) // as it is if we are killed here
		require.NoError(t, err)
		assert.Equal(t, 2, strings.Count(string(begun), "T09:00:00Z"))
		cancel()
		return nil, context.Canceled
	})
	waiting, err := os.ReadFile(name)
	require.NoError(t, err)
	run(t.Context(), 13, (&desk{}).grade)
	l, err := file.Read(folder)
	require.NoError(t, err)
	require.Len(t, l.Attempts(), 2)
	for _, r := range l.Attempts() {
		assert.Equal(t, 9, r.Submitted.Hour(), r.Student)
	}
	require.NoError(t, os.WriteFile(name, waiting, 0o600)) // as after a merge
	l, err = file.Read(folder)
	require.NoError(t, err)
	assert.Empty(t, l.Pending())
}
