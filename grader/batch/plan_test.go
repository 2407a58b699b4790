package batch

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/results"
	"grade/grader/results/file"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// handed is a submission of alice's to autograd, with a content and the hour when it was
// handed in, which is not known at 0.
func handed(content string, hour int) intake.Submission {
	s := intake.Submission{Student: "alice", Exercise: "autograd", Path: "alice", Read: func(context.Context) (*submission.Snapshot, error) {
		return submission.Of("alice", []submission.File{{Name: "a.go", Data: []byte("package autograd\n// " + content)}}), nil
	}}
	if hour > 0 {
		s.At, s.Source = time.Date(2026, 12, 1, hour, 0, 0, 0, time.UTC), "the test"
	}
	return s
}

// planOf is the plan for some submissions by the lines of its steps.
func planOf(ctx context.Context, p *planner, list ...intake.Submission) (lines []string) {
	steps := p.read(ctx, list)
	p.enter(ctx, steps)
	for _, s := range steps {
		lines = append(lines, s.String())
	}
	return lines
}

// What has to be done is decided before anything is graded.
func TestPlan(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	unreadable := intake.Submission{Student: "alice", Exercise: "autograd", Read: func(context.Context) (*submission.Snapshot, error) { return nil, errors.New("no such folder") }}
	undated := handed("a", 0)
	undated.Submitted = func(context.Context) (time.Time, string, error) { return time.Time{}, "", errors.New("git is broken") }
	ofPackage := handed("a", 9)
	ofPackage.Exercise = ""
	for _, test := range []struct {
		name   string
		graded []intake.Submission // in earlier runs, one after the other
		by     string              // the grader of now; "g" graded before
		ctx    context.Context
		list   []intake.Submission
		want   []string
	}{
		{"a first submission is graded as attempt 1",
			nil, "g", t.Context(), []intake.Submission{handed("a", 9)}, []string{"alice autograd: grade attempt 1"}},
		{"a package tells the exercise where the name does not",
			nil, "g", t.Context(), []intake.Submission{ofPackage}, []string{"alice autograd: grade attempt 1"}},
		{"what has not changed is known",
			[]intake.Submission{handed("a", 9)}, "g", t.Context(), []intake.Submission{handed("a", 12)}, []string{"alice autograd: attempt 1 is known"}},
		{"what has changed is a new attempt",
			[]intake.Submission{handed("a", 9)}, "g", t.Context(), []intake.Submission{handed("b", 12)}, []string{"alice autograd: grade attempt 2"}},
		{"another grader grades the same attempt anew",
			[]intake.Submission{handed("a", 9)}, "h", t.Context(), []intake.Submission{handed("a", 12)}, []string{"alice autograd: grade attempt 1 anew"}},
		{"a run that is repeated, after a newer one, knows its attempt",
			[]intake.Submission{handed("a", 9), handed("b", 10)}, "g", t.Context(), []intake.Submission{handed("a", 9)}, []string{"alice autograd: attempt 1 is known"}},
		{"a return to older work is a new attempt",
			[]intake.Submission{handed("a", 9), handed("b", 10)}, "g", t.Context(), []intake.Submission{handed("a", 11)}, []string{"alice autograd: grade attempt 3"}},
		{"a time that is known at last is kept",
			[]intake.Submission{handed("a", 0)}, "g", t.Context(), []intake.Submission{handed("a", 9)}, []string{"alice autograd: keep the time of attempt 1"}},
		{"two submissions for one exercise are one",
			nil, "g", t.Context(), []intake.Submission{handed("a", 9), handed("b", 9)}, []string{"alice autograd: grade attempt 1"}},
		{"two submissions are one also where only packages tell",
			nil, "g", t.Context(), []intake.Submission{ofPackage, handed("b", 9)}, []string{"alice autograd: grade attempt 1"}},
		{"what cannot be read has no verdict",
			nil, "g", t.Context(), []intake.Submission{unreadable}, []string{"alice autograd: no verdict: no such folder"}},
		{"what no time can be found for has no verdict",
			nil, "g", t.Context(), []intake.Submission{undated}, []string{"alice autograd: no verdict: git is broken"}},
		{"a run that was stopped grades nothing",
			nil, "g", stopped, []intake.Submission{handed("a", 9)}, []string{"alice autograd: no verdict: context canceled"}},
		{"a run that was stopped still says what is known",
			[]intake.Submission{handed("a", 0)}, "g", stopped, []intake.Submission{handed("a", 9)}, []string{"alice autograd: attempt 1 is known"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := openStore(t, t.TempDir())
			o := Options{Exercises: someExercises, Grade: (&desk{}).grade, Grader: "g", Now: func() time.Time { return time.Date(2026, 12, 1, 11, 0, 0, 0, time.UTC) }}
			for _, s := range test.graded {
				_, err := Run(t.Context(), store, []intake.Submission{s}, o)
				require.NoError(t, err)
			}
			o.Grader = test.by
			assert.Equal(t, test.want, planOf(test.ctx, &planner{options: o, store: store}, test.list...))
		})
	}
}

// A date that only the caller can have git find keeps nothing from being graded whose time the
// table has, be it of the last attempt or of one by its number.
func TestPlanDatedByTheTable(t *testing.T) {
	undated := handed("a", 0)
	undated.Submitted = func(context.Context) (time.Time, string, error) {
		return time.Time{}, "", &fault.Error{Message: "the clone is shallow"}
	}
	for attempt, want := range map[int]string{0: "grade attempt 1", 1: "grade attempt 1", 2: "no verdict: the clone is shallow"} {
		listed := func(_, exercise string, n int) (at time.Time, name string) {
			if n == attempt && exercise == "autograd" {
				at = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
			}
			return at, "times.csv"
		}
		o := Options{Exercises: someExercises, Grader: "g", Now: time.Now, Listed: listed}
		assert.Equal(t, []string{"alice autograd: " + want}, planOf(t.Context(), &planner{options: o, store: openStore(t, t.TempDir())}, undated), attempt)
	}
}

// openStore is a store that is closed when the test ends.
func openStore(t *testing.T, dir string) *file.Store {
	t.Helper()
	s, err := file.Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// An attempt has its number before it is graded, and another run at the same time counts on.
// A fault of ours uses up no attempt.
func TestNumberBeforeGrading(t *testing.T) {
	store := openStore(t, t.TempDir())
	run := func(content string, grade GradeFunc) Item {
		t.Helper()
		items, err := Run(t.Context(), store, []intake.Submission{handed(content, 0)}, Options{Exercises: someExercises, Grade: grade, Now: time.Now})
		require.NoError(t, err)
		require.Len(t, items, 1)
		return items[0]
	}
	var beside Item
	outer := run("a", func(ctx context.Context, s *submission.Snapshot, e *course.Exercise, _ string) (*verdict.Result, error) {
		beside = run("b", (&desk{}).grade)
		return nil, errors.New("the engine is gone")
	})
	require.NotNil(t, beside.Record)
	assert.Equal(t, 2, beside.Record.Attempt, "1 was taken")
	require.EqualError(t, outer.Err, "the engine is gone")

	store = openStore(t, t.TempDir())
	failed := run("a", func(context.Context, *submission.Snapshot, *course.Exercise, string) (*verdict.Result, error) {
		return nil, errors.New("the engine is gone")
	})
	require.Nil(t, failed.Record)
	assert.Equal(t, 1, run("b", (&desk{}).grade).Record.Attempt)
}

// fullStore keeps no record: its disk is full.
type fullStore struct {
	results.Store
	err error
}

func (s fullStore) Append(results.Record) error { return s.err }

// Where a store can keep nothing more a run ends, and every item says why it has no record.
func TestRunStoreFull(t *testing.T) {
	full := errors.New("no space left on device")
	store := fullStore{openStore(t, t.TempDir()), full}
	list := []intake.Submission{handed("a", 9), handed("b", 9), handed("c", 9)}
	for i := range list {
		list[i].Student = fmt.Sprint(i)
	}
	items, err := Run(t.Context(), store, list, Options{Exercises: someExercises, Grade: (&desk{}).grade, Now: time.Now})
	require.ErrorIs(t, err, full)
	for _, i := range items {
		require.ErrorIs(t, i.Err, full, i.Student)
	}
	assert.Len(t, store.Pending(), len(list))
}

// A run that was killed when it had only just begun keeps the time of what it has found.
func TestPendingFromTheStartKeepsItsTime(t *testing.T) {
	store := openStore(t, t.TempDir())
	o := Options{Exercises: someExercises, Grade: (&desk{}).grade, Now: time.Now}
	killed := &planner{options: o, store: store}
	require.NoError(t, killed.begin(t.Context(), killed.read(t.Context(), []intake.Submission{handed("a", 9)})))
	items, err := Run(t.Context(), store, []intake.Submission{handed("a", 10)}, o)
	require.NoError(t, err)
	require.NotNil(t, items[0].Record)
	assert.Equal(t, 9, items[0].Record.Submitted.Hour())
}

// Where a student has handed in several, the place of each is told, without a folder of ours.
func TestDedupeTellsPlaces(t *testing.T) {
	first, second := handed("a", 9), handed("b", 9)
	first.Path, first.Folder = filepath.Join("srv", "secret", "autograd.zip"), "students/alice/autograd"
	second.Path = filepath.Join("srv", "secret", "autograd")
	p := &planner{options: Options{Exercises: someExercises}}
	steps := p.read(t.Context(), []intake.Submission{first, second})
	require.Len(t, steps, 1)
	require.Len(t, steps[0].snapshot.Problems, 1)
	assert.Equal(t, "handed in 2 times: as students/alice/autograd.zip, autograd; leave one of them", steps[0].snapshot.Problems[0].Message)
}

// A class that hands in the same files holds them in memory once.
func TestEqualFilesAreHeldOnce(t *testing.T) {
	bob := handed("a", 9)
	bob.Student, bob.Path = "bob", "bob"
	p := &planner{options: Options{Exercises: someExercises, Workers: 2}}
	steps := p.read(t.Context(), []intake.Submission{handed("a", 9), bob})
	require.Len(t, steps, 2)
	assert.Same(t, &steps[0].snapshot.Files[0], &steps[1].snapshot.Files[0])
	n := 0
	p.files.Range(func(any, any) bool { n++; return true })
	assert.Zero(t, n, "they are free as soon as no submission needs them")
}

// Of a student who hands an exercise in at thousands of places, the files of one are in memory.
func TestFilesOfManyPlacesAreHeldOnce(t *testing.T) {
	p := &planner{options: Options{Exercises: someExercises, Workers: 2}}
	var steps []*step
	for _, text := range []string{"a", "b", "c"} {
		steps = append(steps, &step{Item: Item{Submission: handed(text, 9)}})
	}
	p.each(steps, func(s *step) { p.readOne(t.Context(), s) })
	n := 0
	for _, s := range steps {
		require.NoError(t, s.Err)
		n += len(s.snapshot.Files)
	}
	assert.Equal(t, 1, n)
}
