package batch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises"
	"grade/grader"
)

// What a run came to no verdict on is not forgotten until there is one, whoever asks.
func TestWaiting(t *testing.T) {
	root := tree(t, map[string]string{
		"alice/autograd/a.go": "package autograd\n", "bob/autograd/a.go": "package autograd\nvar b int\n", "carol/x/x.go": "package unknown\n",
	})
	results := t.TempDir()
	gone := func(string) error { return errors.New("the engine is gone") }
	waiting := func() (list []string) {
		l, err := ReadLedger(results)
		require.NoError(t, err)
		for _, w := range l.Waiting() {
			list = append(list, w.Student+"|"+w.Exercise)
		}
		return list
	}
	d := &desk{}
	_, _, err := d.batch(t.Context(), t, root, results)
	require.NoError(t, err)
	assert.Equal(t, []string{"carol/x|"}, waiting())

	d.fail = gone
	original, changed := "package autograd\n", "package autograd\nvar a int\n"
	write := func(student, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, student, "autograd", "a.go"), []byte(text), 0o600))
	}
	write("alice", changed)
	write("bob", changed)
	_, counts, err := d.batch(t.Context(), t, root, results)
	require.NoError(t, err)
	assert.Equal(t, [3]int{0, 0, 3}, counts)
	assert.Equal(t, []string{"alice|autograd", "bob|autograd", "carol/x|"}, waiting())

	write("alice", original) // which is known
	require.NoError(t, os.RemoveAll(filepath.Join(root, "bob")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "carol", "x", "x.go"), []byte("package cosine\n"), 0o600))
	d.fail = nil
	_, counts, err = d.batch(t.Context(), t, root, results)
	require.NoError(t, err)
	assert.Equal(t, [3]int{1, 1, 0}, counts)
	assert.Equal(t, []string{"bob|autograd"}, waiting(), "nobody has looked at bob's")

	require.NoError(t, os.WriteFile(filepath.Join(results, waitingFile), []byte("{}\n"), 0o600))
	_, err = ReadLedger(results)
	require.ErrorContains(t, err, waitingFile+": line 1: not of the kind")
}

// A folder that is gone when it is read is nothing that its student handed in.
func TestRunFolderGone(t *testing.T) {
	root := tree(t, map[string]string{"alice/autograd/a.go": "package autograd\n", "bob/autograd.zip": "PK"})
	list, err := Find(root, []string{"autograd"})
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.NoError(t, os.RemoveAll(filepath.Join(root, "alice")))
	require.NoError(t, os.RemoveAll(filepath.Join(root, "bob")))
	l, err := OpenLedger(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	fates, err := Run(t.Context(), l, list, Options{Exercises: course, Grade: (&desk{}).grade, Now: time.Now})
	require.NoError(t, err)
	for _, f := range fates {
		assert.Nil(t, f.Record, f.Path)
		require.Error(t, f.Err)
	}
}

// What is graded anew, because the exercise has changed, has the inputs that it had, and
// twice the chance to keep its points for speed: nobody loses points by luck.
func TestRunGradesAnew(t *testing.T) {
	root := tree(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	results := t.TempDir()
	measured, seeds := []int{40, 20, 30}, []string{}
	grade := scored(map[string]int{"1": 50}, &measured, &seeds)
	for i, by := range []string{"one", "two"} {
		list, err := Find(root, []string{"autograd"})
		require.NoError(t, err)
		l, err := OpenLedger(results)
		require.NoError(t, err)
		fates, err := Run(t.Context(), l, list, Options{Exercises: course, Grade: grade, Grader: by, Now: time.Now})
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
	root := tree(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	results, d := t.TempDir(), &desk{}
	first := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for i, at := range []time.Time{{}, {}, first, first.Add(time.Hour), {}} {
		list, err := Find(root, []string{"autograd"})
		require.NoError(t, err)
		list[0].At, list[0].Source = at, "the test"
		l, err := OpenLedger(results)
		require.NoError(t, err)
		fates, err := Run(t.Context(), l, list, Options{Exercises: course, Grade: d.grade, Now: time.Now})
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
	list, err := Find(tree(t, files), []string{"autograd"})
	require.NoError(t, err)
	l, err := OpenLedger(t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	d := &desk{}
	begun := make(chan struct{}, len(list))
	fates, err := Run(t.Context(), l, list, Options{Exercises: course, Workers: len(list), Now: time.Now, Grade: func(ctx context.Context, s *grader.Snapshot, e *exercises.Exercise, seed string) (*grader.Result, error) {
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
	r := Record{Key: "k", Attempt: 1, Student: "alice", Exercise: "autograd", Result: &grader.Result{}}
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
