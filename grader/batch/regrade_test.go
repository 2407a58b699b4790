package batch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
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

// lines are those of the results file in a folder.
func lines(t *testing.T, folder string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, file.ResultsFile))
	require.NoError(t, err)
	return slices.Collect(strings.Lines(string(data)))
}

// hand writes a submission and grades all there are.
func hand(t *testing.T, d *desk, root, folder, text string, at time.Time) *file.Store {
	t.Helper()
	name := filepath.Join(root, "alice", "autograd", "a.go")
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte("package autograd\n"+text), 0o600))
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	for i := range list {
		list[i].Submitted = func(context.Context) (time.Time, string, error) { return at, "the test", nil }
	}
	l, err := file.Open(folder)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	_, err = Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: d.grade, Grader: "g", Now: time.Now})
	require.NoError(t, err)
	return l
}

// A submission that differs from the one before is an attempt; the time it was first
// seen at stays its time.
func TestAttempts(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	d := &desk{}
	for i, text := range []string{"var a int\n", "var a int\n", "var b int\n", "var a int\n"} {
		require.NoError(t, hand(t, d, root, folder, text, at.Add(time.Duration(i)*time.Hour)).Close())
	}
	l, err := file.Read(folder)
	require.NoError(t, err)
	var got []int
	for _, r := range l.Attempts() {
		got = append(got, r.Attempt, r.Submitted.Hour())
		assert.Equal(t, "the test", r.Source)
	}
	assert.Equal(t, []int{1, 12, 2, 14, 3, 15}, got)
	assert.Len(t, d.graded, 2, "what has been seen is not graded again")
}

// A job that is run once more, later than the one that came after it, is no new attempt.
func TestRepeatedRun(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	d := &desk{}
	for _, one := range []struct {
		text string
		hour int
	}{{"var a int\n", 0}, {"var b int\n", 1}, {"var a int\n", 0}, {"var a int\n", 2}} {
		require.NoError(t, hand(t, d, root, folder, one.text, at.Add(time.Duration(one.hour)*time.Hour)).Close())
	}
	l, err := file.Read(folder)
	require.NoError(t, err)
	assert.Len(t, lines(t, folder), 3)
	last, _ := l.Last("alice", "autograd")
	assert.Equal(t, []int{3, 14}, []int{last.Attempt, last.Submitted.Hour()}, "the same again, later, is")
}

// A result that is another student's says nothing of them.
func TestSameOfAnother(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n", "alice/autograd/diary.txt": "", "bob/autograd/a.go": "package autograd\n"})
	d := &desk{}
	items, counts, err := d.batch(t.Context(), t, root, t.TempDir())
	require.NoError(t, err)
	assert.Equal(t, 2, counts[0]+counts[1])
	for _, f := range items {
		if f.Student == "bob" && f.Cached {
			assert.Equal(t, f.Path, f.Record.Result.Submission.Dir)
			assert.Empty(t, f.Record.Result.Submission.Ignored)
		}
	}
}

// A time that was not found out is not kept as unknown: no later run would ask again.
func TestDateUnknown(t *testing.T) {
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n"})
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	list[0].Submitted = func(context.Context) (time.Time, string, error) { return time.Time{}, "", errors.New("git is broken") }
	folder := t.TempDir()
	l, err := file.Open(folder)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	items, err := Run(t.Context(), l, list, Options{Exercises: someExercises, Grade: (&desk{}).grade, Now: time.Now})
	require.NoError(t, err)
	require.EqualError(t, items[0].Err, "git is broken")
	assert.Empty(t, lines(t, folder))
}

// scored grades with the score that the exercise's hash is, and what was measured with
// the next of some numbers.
func scored(correct map[string]int, measured *[]int, seeds *[]string) GradeFunc {
	return func(_ context.Context, s *submission.Snapshot, e *course.Exercise, seed string) (*verdict.Result, error) {
		*seeds = append(*seeds, seed)
		if len(s.Files) != 1 {
			return nil, errors.New("the files are not those that were handed in")
		}
		points := (*measured)[0]
		*measured = (*measured)[1:]
		return &verdict.Result{
			Exercise: e.Name, Verdict: verdict.Graded, Score: correct[e.Hash] + points, Seed: "seed of " + e.Hash, Submission: verdict.Submission{Hash: s.Hash},
			Checks: []verdict.CheckResult{
				{Name: "TestA", Kind: string(verdict.Correctness), Points: correct[e.Hash]},
				{Name: "BenchmarkA/speed", Kind: string(verdict.Speed), Points: points},
			},
		}, nil
	}
}

func TestRegrade(t *testing.T) {
	folder := t.TempDir()
	root := tree.New(t, map[string]string{"alice/autograd/a.go": "package autograd\n", "bob/autograd/": ""})
	list, err := intake.Find(root, []string{"autograd"})
	require.NoError(t, err)
	l, err := file.Open(folder)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	var seeds []string
	o := Options{Exercises: someExercises, Grader: "g", Now: time.Now}
	o.Grade = scored(map[string]int{"1": 80, "new": 60}, &[]int{10, 0}, &seeds)
	empty := o.Grade
	o.Grade = func(ctx context.Context, s *submission.Snapshot, e *course.Exercise, seed string) (*verdict.Result, error) {
		if len(s.Files) == 0 {
			return &verdict.Result{Exercise: e.Name, Verdict: verdict.Invalid, Submission: verdict.Submission{Hash: s.Hash}}, nil
		}
		return empty(ctx, s, e, seed)
	}
	_, err = Run(t.Context(), l, list, o)
	require.NoError(t, err)
	name := filepath.Join(folder, file.ResultsFile)
	before, err := os.ReadFile(name)
	require.NoError(t, err)

	// Nothing has changed: nothing is graded.
	r, err := NewRegrader(l)
	require.NoError(t, err)
	done, err := r.Run(t.Context(), o)
	require.NoError(t, err)
	assert.Empty(t, done)

	// The exercise has, and the folder is gone. What is measured by luck is not held
	// against a student.
	require.NoError(t, os.RemoveAll(root))
	changed := slices.Clone(someExercises)
	changed[0] = &course.Exercise{Name: "autograd", Package: "autograd", Hash: "new"}
	o.Exercises, seeds = changed, nil
	o.Grade = scored(map[string]int{"new": 60}, &[]int{0, 10}, &seeds)
	done, err = r.Run(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, done, 2)
	require.NoError(t, done[0].Err)
	assert.Equal(t, done[1].Old.Result, done[1].New.Result, "what was refused when it was read is not read again")
	assert.Equal(t, []int{90, 70}, []int{done[0].Old.Result.Score, done[0].New.Result.Score})
	assert.Equal(t, []string{"seed of 1", "seed of 1"}, seeds, "on the inputs it had, twice because it lost what was measured")
	after, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after), "nothing is overwritten")
	require.NoError(t, r.Close())

	// Another run has it already; once applied it holds, and the old one is still there.
	r, err = NewRegrader(l)
	require.NoError(t, err)
	done, err = r.Run(t.Context(), o)
	require.NoError(t, err)
	assert.Len(t, seeds, 2)
	require.NoError(t, r.Apply(done, o))
	require.NoError(t, r.Close())
	holds, ok := l.Last("alice", "autograd")
	require.True(t, ok)
	assert.Equal(t, []int{70, 1}, []int{holds.Result.Score, holds.Attempt})
	after, err = os.ReadFile(name)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(after), string(before)))
	assert.NoFileExists(t, filepath.Join(folder, "regrade.jsonl"))
}

// What cannot be graded keeps its grade: an exercise that is gone, files that are.
func TestRegradeStays(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	l := hand(t, &desk{}, root, folder, "", time.Time{})
	r, err := NewRegrader(l)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	o := Options{Exercises: nil, Grader: "g", Now: time.Now}
	done, err := r.Run(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, done, 1)
	assert.ErrorContains(t, done[0].Err, "no exercise autograd any more: its grade stands")

	o.Exercises, o.Grader = someExercises, "another"
	zips, err := filepath.Glob(filepath.Join(folder, "submissions", "*.zip"))
	require.NoError(t, err)
	for _, zip := range zips {
		require.NoError(t, os.Remove(zip))
	}
	done, err = r.Run(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, done, 1)
	assert.ErrorContains(t, done[0].Err, "were not kept")
	assert.Nil(t, done[0].New)
}
