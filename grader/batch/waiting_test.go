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
	"grade/grader/submission"
	"grade/grader/tree"
	"grade/grader/verdict"
)

// What a run came to no verdict on is not forgotten until there is one, whoever asks.
func TestWaiting(t *testing.T) {
	root := tree.New(t, map[string]string{
		"alice/autograd/a.go": "package autograd\n", "bob/autograd/a.go": "package autograd\nvar b int\n", "carol/x/x.go": "package unknown\n", "dora/autograd/a.go": "package autograd\nvar d int\n",
	})
	results := t.TempDir()
	waiting := func() (list []string) {
		l, err := ReadLedger(results)
		require.NoError(t, err)
		for _, w := range l.Waiting() {
			list = append(list, w.Student+"|"+w.Exercise+"|"+w.Why)
		}
		return list
	}
	d := &desk{}
	_, _, err := d.batch(t.Context(), t, root, results)
	require.NoError(t, err)
	assert.Empty(t, waiting())

	original, changed := "package autograd\n", "package autograd\nvar a int\n"
	write := func(student, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, student, "autograd", "a.go"), []byte(text), 0o600))
	}
	write("alice", changed)
	write("bob", changed)
	d.fail = func(string) error { return errors.New("the engine is gone") }
	_, counts, err := d.batch(t.Context(), t, root, results)
	require.NoError(t, err)
	assert.Equal(t, [3]int{0, 1, 3}, counts)
	both := []string{"alice|autograd|the engine is gone", "bob|autograd|the engine is gone"}
	assert.Equal(t, both, waiting(), "dora's has not changed, and is in no need of an engine")

	// What is interrupted at once, or cannot be begun with, says as much and no more.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, counts, err = d.batch(ctx, t, root, results)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, [3]int{0, 1, 3}, counts)
	l, err := OpenLedger(results)
	require.NoError(t, err)
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	require.NoError(t, l.Await(Ungraded(t.Context(), list, errors.New("the engine is gone")), time.Now()))
	assert.Len(t, l.Waiting(), 2)
	require.NoError(t, l.Close())
	assert.Equal(t, both, waiting())

	// Results that were graded anew are older work's.
	l, err = OpenLedger(results)
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
	_, counts, err = d.batch(t.Context(), t, root, results)
	require.NoError(t, err)
	assert.Equal(t, [3]int{0, 2, 1}, counts)
	assert.Equal(t, both[1:], waiting(), "nobody has looked at bob's")

	file := filepath.Join(results, waitingFile)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o644), info.Mode().Perm(), "others may read results")
	lines, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append([]byte("\n"), lines...), 0o600))
	assert.Len(t, waiting(), 1)
	require.NoError(t, os.WriteFile(file, []byte("{}\n"), 0o600))
	_, err = ReadLedger(results)
	require.ErrorContains(t, err, waitingFile+": line 1: not of the kind")
}

// Whoever is killed has said before whose work there is.
func TestWaitingFromTheStart(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	results := t.TempDir()
	d := &desk{fail: func(string) error {
		l, err := ReadLedger(results)
		require.NoError(t, err)
		require.Len(t, l.Waiting(), 1)
		assert.Contains(t, l.Waiting()[0].Why, "did not end")
		return nil
	}}
	_, counts, err := d.batch(t.Context(), t, root, results)
	require.NoError(t, err)
	assert.Equal(t, [3]int{1, 0, 0}, counts)
	l, err := ReadLedger(results)
	require.NoError(t, err)
	assert.Empty(t, l.Waiting())
}

// What had no verdict keeps its time until it has one, in whatever run that is; a run about
// older work ends nobody's wait.
func TestWaitingKeepsItsTime(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	results, d := t.TempDir(), &desk{}
	in := func(hour int, text string, fail error) *Ledger {
		t.Helper()
		d.fail = func(string) error { return fail }
		require.NoError(t, os.WriteFile(filepath.Join(root, "alice", "autograd", "a.go"), []byte("package autograd\n"+text), 0o600))
		list, err := intake.Find(root, []string{"autograd"})
		require.NoError(t, err)
		if hour > 0 {
			list[0].At, list[0].Source = time.Date(2026, 12, 1, hour, 0, 0, 0, time.UTC), "the test"
		}
		l, err := OpenLedger(results)
		require.NoError(t, err)
		_, err = Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: d.grade, Now: time.Now})
		require.NoError(t, err)
		require.NoError(t, l.Close())
		return l
	}
	gone := errors.New("the engine is gone")
	in(1, "var a int\n", nil)
	l := in(9, "var b int\n", gone)
	assert.Len(t, l.Waiting(), 1)
	for _, hour := range []int{1, 0} { // an old job once more, and one that knows no time
		l = in(hour, "var a int\n", nil)
		assert.Len(t, l.Waiting(), 1, "what waits is newer")
	}
	for _, hour := range []int{11, 0} {
		l = in(hour, "var b int\n", gone)
		require.Len(t, l.Waiting(), 1)
		assert.Equal(t, 9, l.Waiting()[0].Submitted.Hour())
	}
	l = in(12, "var b int\n", nil)
	assert.Empty(t, l.Waiting())
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
	l, err := OpenLedger(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	fates, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: (&desk{}).grade, Now: time.Now})
	require.NoError(t, err)
	for _, f := range fates {
		assert.Nil(t, f.Record, f.Path)
		require.Error(t, f.Err)
	}
}

// What is graded anew, because the exercise has changed, has the inputs that it had, and
// twice the chance to keep its points for speed: nobody loses points by luck.
func TestRunGradesAnew(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	results := t.TempDir()
	measured, seeds := []int{40, 20, 30}, []string{}
	grade := scored(map[string]int{"1": 50}, &measured, &seeds)
	for i, by := range []string{"one", "two"} {
		list, err := intake.Find(root, []string{"autograd"})
		require.NoError(t, err)
		l, err := OpenLedger(results)
		require.NoError(t, err)
		fates, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: grade, Grader: by, Now: time.Now})
		require.NoError(t, err)
		require.NoError(t, l.Close())
		require.NoError(t, fates[0].Err)
		assert.Equal(t, 1, fates[0].Record.Attempt)
		assert.Equal(t, i > 0, fates[0].Before != nil)
		assert.Equal(t, []int{90, 80}[i], fates[0].Record.Result.Score)
	}
	assert.Len(t, seeds, 3)
	assert.Equal(t, seeds[1], seeds[2])
}

// A time that was not known when a submission was graded is its time as soon as it is.
func TestRunTimeKnownLater(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	results, d := t.TempDir(), &desk{}
	first, never := time.Now().Add(-time.Hour).UTC().Truncate(time.Second), time.Now().Add(time.Hour) // nobody hands in what has been graded
	for i, at := range []time.Time{{}, never, first, first.Add(time.Minute), {}} {
		list, err := intake.Find(root, []string{"autograd"})
		require.NoError(t, err)
		list[0].At, list[0].Source = at, "the test"
		l, err := OpenLedger(results)
		require.NoError(t, err)
		fates, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: d.grade, Now: time.Now})
		require.NoError(t, err)
		require.NoError(t, l.Close())
		require.NoError(t, fates[0].Err)
		assert.Equal(t, i > 0, fates[0].Cached)
		l, err = ReadLedger(results)
		require.NoError(t, err)
		require.Len(t, l.Attempts(), 1)
		if want := (time.Time{}); i < 2 {
			assert.Equal(t, want, l.Attempts()[0].Submitted)
			assert.Len(t, l.lines, 1)
		} else {
			assert.Equal(t, first, l.Attempts()[0].Submitted)
			assert.Equal(t, "the test", l.Attempts()[0].Source)
			assert.Len(t, l.lines, 2)
		}
	}
	assert.Len(t, d.graded, 1)
}

// What is the same is graded once, also where nobody has graded it yet.
func TestRunSameSideBySide(t *testing.T) {
	files := map[string]string{}
	for _, student := range []string{"a", "b", "c", "d"} {
		files[student+"/autograd/a.go"] = "package autograd\n"
	}
	list, err := intake.Find(tree.New(t, files), []string{"autograd"})
	require.NoError(t, err)
	l, err := OpenLedger(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	d := &desk{}
	begun := make(chan struct{}, len(list))
	fates, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Workers: len(list), Now: time.Now, Grade: func(ctx context.Context, s *submission.Snapshot, e *course.Exercise, seed string) (*verdict.Result, error) {
		begun <- struct{}{}
		return d.grade(ctx, s, e, seed)
	}})
	require.NoError(t, err)
	graded, cached, without := Count(fates)
	assert.Equal(t, [3]int{1, 3, 0}, [3]int{graded, cached, without})
	assert.Len(t, begun, 1)
}

// A line that somebody has mended and not ended is as good as any, and the next one does
// not run into it.
func TestLedgerLineNotEnded(t *testing.T) {
	dir := t.TempDir()
	l, err := OpenLedger(dir)
	require.NoError(t, err)
	r := Record{Key: "k", Attempt: 1, Student: "alice", Exercise: "autograd", Result: &verdict.Result{}}
	require.NoError(t, l.Append(r))
	require.NoError(t, l.Close())
	file := filepath.Join(dir, ResultsFile)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, whole[:len(whole)-1], 0o600))
	l, err = ReadLedger(dir)
	require.NoError(t, err)
	assert.Len(t, l.Attempts(), 1)
	l, err = OpenLedger(dir)
	require.NoError(t, err)
	require.NoError(t, l.Append(r))
	require.NoError(t, l.Close())
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(whole)+string(whole), string(got))
}

// Whoever comes second waits for the first, or for as long as the context lasts.
func TestAwaitLedger(t *testing.T) {
	dir := t.TempDir()
	first, err := OpenLedger(dir)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = AwaitLedger(ctx, dir, cancel)
	require.ErrorIs(t, err, context.Canceled)
	second, err := AwaitLedger(t.Context(), dir, func() { require.NoError(t, first.Close()) })
	require.NoError(t, err)
	require.NoError(t, second.Close())
}

// Whatever ends a run, and however early: nobody's time is lost.
func TestWaitingKeepsItsTimeWhenStopped(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n", "bob/autograd/a.go": "package autograd\nvar b int\n"})
	results := t.TempDir()
	run := func(ctx context.Context, hour int, grade GradeFunc) {
		t.Helper()
		list, err := intake.Find(root, []string{"autograd"})
		require.NoError(t, err)
		for i := range list {
			list[i].At, list[i].Source = time.Date(2026, 12, 1, hour, 0, 0, 0, time.UTC), "the test"
		}
		l, err := OpenLedger(results)
		require.NoError(t, err)
		_, _ = Run(ctx, l, list, Options{Exercises: someExercises, Grade: grade, Now: time.Now})
		require.NoError(t, l.Close())
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	run(stopped, 9, nil)
	run(stopped, 11, nil)
	file := filepath.Join(results, waitingFile)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run(ctx, 12, func(context.Context, *submission.Snapshot, *course.Exercise, string) (*verdict.Result, error) {
		begun, err := os.ReadFile(file) // as it is if we are killed here
		require.NoError(t, err)
		assert.Equal(t, 2, strings.Count(string(begun), "T09:00:00Z"))
		cancel()
		return nil, context.Canceled
	})
	waiting, err := os.ReadFile(file)
	require.NoError(t, err)
	run(t.Context(), 13, (&desk{}).grade)
	l, err := ReadLedger(results)
	require.NoError(t, err)
	require.Len(t, l.Attempts(), 2)
	for _, r := range l.Attempts() {
		assert.Equal(t, 9, r.Submitted.Hour(), r.Student)
	}
	require.NoError(t, os.WriteFile(file, waiting, 0o600)) // as after a merge
	l, err = ReadLedger(results)
	require.NoError(t, err)
	assert.Empty(t, l.Waiting())
}

// So it is with what a killed run had only just begun with.
func TestWaitingFromTheStartKeepsItsTime(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	list[0].At, list[0].Source = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), "the test"
	l, err := OpenLedger(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	require.NoError(t, l.begin(t.Context(), list, time.Now())) // and no more
	list[0].At = list[0].At.Add(time.Hour)
	fates, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: (&desk{}).grade, Now: time.Now})
	require.NoError(t, err)
	require.NotNil(t, fates[0].Record)
	assert.Equal(t, 9, fates[0].Record.Submitted.Hour())
}
