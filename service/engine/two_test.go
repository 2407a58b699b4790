package engine

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/coursetest"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service"
)

// twoOf are two engines on one cluster, as two grade serve that show the same course.
func twoOf(t *testing.T) [2]*Engine {
	t.Helper()
	url, creds, _ := aCluster(t, false)
	var two [2]*Engine
	for i := range two {
		e, err := Open(t.Context(), Config{NATS: url, Creds: creds, Grader: "g"})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		_, _, err = e.SetCourse(t.Context(), coursetest.FS(coursetest.Files()))
		require.NoError(t, err)
		two[i] = e
	}
	return two
}

// uploaded is an upload of one file.
func uploaded(text string) service.Upload {
	return service.Upload{Student: "ada", Exercise: "gears", Snapshot: submission.Of("upload", []submission.File{{Name: "a.go", Data: []byte(text)}})}
}

// Two engines on one cluster agree: each attempt has a number of its own whichever of them
// takes it in, and both know the same attempts and results.
func TestTwoEngines(t *testing.T) {
	const students, uploads = 4, 6
	two := twoOf(t)
	var hands sync.WaitGroup
	for i, e := range two {
		for s := range students {
			hands.Go(func() {
				for n := range uploads {
					u := uploaded(fmt.Sprintf("package gears // %d %d\n", i, n))
					u.Student = fmt.Sprint("s", s)
					_, err := e.HandIn(t.Context(), u)
					assert.NoError(t, err)
				}
			})
		}
	}
	hands.Wait()
	for s := range students {
		agree(t, two, fmt.Sprint("s", s), 2*uploads)
	}

	jobs, err := two[0].Jobs(t.Context(), "w")
	require.NoError(t, err)
	graded := map[string]int{}
	for len(graded) < students {
		taken, err := jobs.Next(t.Context(), 10*time.Second)
		require.NoError(t, err)
		require.NotNil(t, taken)
		graded[taken.Job.Student]++
		assert.Equal(t, 2*uploads, taken.Job.Number, "the last one")
		a, _ := two[1].Attempt(taken.Job.Student, "gears", taken.Job.Number)
		require.NoError(t, taken.Give(t.Context(), record(a)))
	}
	for s := range students {
		student := fmt.Sprint("s", s)
		assert.Equal(t, 1, graded[student], "it is given out once")
		for _, e := range two {
			require.Eventually(t, func() bool {
				a, _ := e.Attempt(student, "gears", 2*uploads)
				return a.Stage == service.Graded
			}, time.Minute, time.Millisecond)
		}
		agree(t, two, student, 2*uploads)
	}
	left, err := jobs.Next(t.Context(), 200*time.Millisecond)
	require.NoError(t, err)
	assert.Nil(t, left, "nothing is graded twice")
}

// An engine of another version that reads and writes what is kept, as a backup does, takes
// neither jobs nor their queue away, and keeps things no fewer times.
func TestVisitor(t *testing.T) {
	url, creds, _ := aCluster(t, false)
	open := func(c Config) *Engine {
		c.NATS, c.Creds = url, creds
		e, err := Open(t.Context(), c)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, e.Close()) })
		return e
	}
	e := open(Config{Grader: "g", AckWait: 2 * time.Minute})
	_, _, err := e.SetCourse(t.Context(), coursetest.FS(coursetest.Files()))
	require.NoError(t, err)
	_, err = e.HandIn(t.Context(), uploaded("package gears\n"))
	require.NoError(t, err)
	visitor := open(Config{Grader: "another", Visit: true})
	n, err := visitor.Export(t.Context(), t.TempDir())
	require.NoError(t, err)
	assert.Equal(t, 1, n.Attempts)
	jobs, err := e.Jobs(t.Context(), "w")
	require.NoError(t, err)
	taken, err := jobs.Next(t.Context(), 10*time.Second)
	require.NoError(t, err)
	require.NotNil(t, taken)
	assert.Equal(t, 2*time.Minute, jobs.wait())
}

// Data that is there and is not what it should be is written anew.
func TestDamagedObject(t *testing.T) {
	e, err := Open(t.Context(), Config{DataDir: t.TempDir(), Grader: "g"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	_, _, err = e.SetCourse(t.Context(), coursetest.FS(coursetest.Files()))
	require.NoError(t, err)
	u := uploaded("package gears\n")
	_, err = e.submissions.bucket.PutBytes(t.Context(), results.Content(u.Snapshot), []byte("another piece"))
	require.NoError(t, err)
	a, err := e.HandIn(t.Context(), u)
	require.NoError(t, err)
	s, err := e.Source(t.Context(), a.Student, a.Exercise, a.Number)
	require.NoError(t, err)
	assert.Equal(t, u.Snapshot.Files, s.Files)
}

// agree asks that both engines know the same attempts of a student, numbered from 1.
func agree(t *testing.T, two [2]*Engine, student string, n int) {
	t.Helper()
	var lists [2][]service.Attempt
	for i, e := range two {
		require.Eventually(t, func() bool { lists[i] = e.Attempts(student, "gears"); return len(lists[i]) == n }, time.Minute, time.Millisecond)
	}
	assert.Equal(t, lists[0], lists[1])
	for i, a := range lists[0] {
		assert.Equal(t, i+1, a.Number)
	}
}

// record is the record of an attempt.
func record(a service.Attempt) results.Record {
	return results.Record{
		Key: a.Content, Student: a.Student, Exercise: a.Exercise, Attempt: a.Number, Content: a.Content, Submitted: a.Submitted,
		Result: &verdict.Result{Schema: verdict.Schema, Verdict: verdict.Graded, Score: 100},
	}
}
