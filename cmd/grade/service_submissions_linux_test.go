package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/fixture"
	"grade/grader/judge"
	"grade/grader/prove"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// declared is a submission with what must come of it.
type declared struct {
	student, exercise string
	snapshot          *submission.Snapshot
	holds             func(*testing.T, *verdict.Result)
}

// choose fills the list of what is handed in, and returns the course.
func (w *world) choose() (dir string) {
	if *faultUploads > 30 {
		return w.chooseShipped()
	}
	dir = sampleCourse(w.T)
	all, broken, err := course.Open(course.Folder(dir)).LoadAll()
	require.NoError(w, err)
	require.Empty(w, broken)
	for i := range *faultUploads {
		e := all[i%len(all)]
		w.todo = append(w.todo, declaredOf(w.T, e, i))
	}
	return dir
}

// declaredOf makes a submission of an exercise of the sample course: right, wrong, refused
// or one that does not compile, in turn.
func declaredOf(t *testing.T, e *course.Exercise, i int) declared {
	t.Helper()
	var files []submission.File
	for _, f := range e.Reference {
		files = append(files, submission.File{Name: f.Name, Data: append(f.Data, fmt.Sprintf("\n// student %d\n", i)...)})
	}
	d := declared{student: fmt.Sprintf("s%03d", i), exercise: e.Name}
	want, score := verdict.Graded, 100
	switch i / 2 % 5 {
	case 1:
		for _, f := range e.Starter {
			if !strings.HasSuffix(f.Name, "_test.go") {
				files, score = []submission.File{{Name: f.Name, Data: f.Data}}, 0
			}
		}
	case 2:
		files[0].Data = append(files[0].Data, "\nvar _ int = \"\"\n"...)
		want, score = verdict.CompileError, 0
	case 3:
		files[0].Data = []byte("package " + e.Package + "\n\nimport _ \"net\"\n")
		want, score = verdict.Invalid, 0
	}
	d.snapshot = submission.Of("upload", files)
	d.holds = func(t *testing.T, r *verdict.Result) {
		t.Helper()
		assert.Equal(t, want, r.Verdict, "%s %s", d.student, d.exercise)
		assert.Equal(t, score, r.Score, "%s %s", d.student, d.exercise)
	}
	return d
}

// chooseShipped takes shipped submissions of all exercises of this repository, one of each
// in turn, as different ones as there are. It leaves out those that declare their verdict
// beside another's, and those of which not every file can be sent.
func (w *world) chooseShipped() string {
	c := course.Open(os.DirFS(courseRoot))
	names, err := c.Names()
	require.NoError(w, err)
	var all [][]declared
	for _, name := range names {
		list, err := fixture.Load(c, name)
		require.NoError(w, err)
		rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		var of []declared
		for _, one := range list {
			if d := shippedAs(w.T, one, name, len(of)); one.Expect.Twin == "" && len(d.snapshot.Problems) == 0 {
				of = append(of, d)
			}
		}
		all = append(all, of)
	}
	for i := 0; len(w.todo) < *faultUploads; i++ {
		of := all[i%len(all)]
		require.NotEmpty(w, of, "there are not so many submissions")
		w.todo, all[i%len(all)] = append(w.todo, of[0]), of[1:]
	}
	return courseRoot
}

func shippedAs(t *testing.T, one fixture.Submission, exercise string, i int) declared {
	t.Helper()
	s, err := prove.Snapshot("upload", one.Files)
	require.NoError(t, err)
	d := declared{student: fmt.Sprintf("s%03d", i), exercise: exercise, snapshot: s}
	d.holds = func(t *testing.T, r *verdict.Result) {
		t.Helper()
		for _, m := range judge.Mismatches(one.Expect, r, nil) {
			t.Errorf("%s %s: %s", exercise, one.Name, m)
		}
	}
	return d
}
