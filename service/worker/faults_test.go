package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/fault"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service"
	"grade/service/engine"
)

func handIn(t *testing.T, e *engine.Engine, student, text string) service.Attempt {
	t.Helper()
	a, err := e.HandIn(t.Context(), upload(student, text))
	require.NoError(t, err)
	return a
}

// taken takes a job, as a worker that is not heard of again does.
func taken(t *testing.T, e *engine.Engine, name string) *engine.Taken {
	t.Helper()
	jobs, err := e.Jobs(t.Context(), name)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		j, err := jobs.Next(ctx, 5*time.Second)
		require.NoError(t, err)
		if j != nil {
			return j
		}
		require.NoError(t, ctx.Err(), "no job")
	}
}

func recordOf(t *testing.T, j *engine.Taken, score int) results.Record {
	t.Helper()
	s, err := j.Snapshot(t.Context())
	require.NoError(t, err)
	r := resultOf(s)
	r.Score = score
	return results.Record{Key: fmt.Sprint("key ", score), Result: r, Worker: "by hand"}
}

// A worker that was cut off for longer than the engine waits comes back with its result:
// the other's holds.
func TestTheSecondResultIsRefused(t *testing.T) {
	e := openedWith(t, engine.Config{DataDir: t.TempDir(), AckWait: time.Second})
	handIn(t, e, "ada", "one")
	late := taken(t, e, "late")
	prompt := taken(t, e, "prompt")
	assert.Greater(t, prompt.Tries, 1)
	require.NoError(t, prompt.Give(t.Context(), recordOf(t, prompt, 70)))
	require.ErrorIs(t, late.Give(t.Context(), recordOf(t, late, 30)), engine.ErrSecond)
	a := await(t, e, "ada", service.Graded)
	assert.Equal(t, 70, a.Record.Result.Score)
	assert.Len(t, e.Store().Attempts(), 1)
}

// A result that was given twice, because the answer was lost, is one.
func TestAResultGivenTwice(t *testing.T) {
	e := opened(t, t.TempDir())
	handIn(t, e, "ada", "one")
	j := taken(t, e, "w")
	require.NoError(t, j.Give(t.Context(), recordOf(t, j, 70)))
	require.ErrorIs(t, j.Give(t.Context(), recordOf(t, j, 70)), engine.ErrSecond)
	await(t, e, "ada", service.Graded)
	assert.Len(t, e.Store().Attempts(), 1)
}

// What fails by a fault of ours is tried again, then it is left to the staff, and a staff
// member has it tried once more.
func TestAfterSomeTriesThereIsNoVerdict(t *testing.T) {
	e := opened(t, t.TempDir())
	var tries atomic.Int64
	var works atomic.Bool
	started(t, e, "w", scripted{grade: func(ctx context.Context, s *submission.Snapshot) (*verdict.Result, error) {
		if works.Load() {
			return resultOf(s), nil
		}
		tries.Add(1)
		return nil, errors.New("the disk is full")
	}})
	handIn(t, e, "ada", "one")
	a := await(t, e, "ada", service.NoVerdict)
	assert.Equal(t, "the disk is full (try 3)", a.Why)
	assert.Empty(t, a.Told)
	assert.EqualValues(t, DefaultTries, tries.Load())
	require.Len(t, e.Store().Pending(), 1)
	assert.Equal(t, "the disk is full (try 3)", e.Store().Pending()[0].Why)

	works.Store(true)
	require.NoError(t, e.Retry(t.Context(), "ada", gears, 1))
	await(t, e, "ada", service.Graded)
	assert.Empty(t, e.Store().Pending())
	assert.Error(t, e.Retry(t.Context(), "ada", gears, 1), "it has a verdict")
}

// Who hands in again what had no verdict has it tried again, as the same attempt.
func TestHandedInAgainWithoutAVerdict(t *testing.T) {
	e := opened(t, t.TempDir())
	var works atomic.Bool
	started(t, e, "w", scripted{grade: func(ctx context.Context, s *submission.Snapshot) (*verdict.Result, error) {
		if works.Load() {
			return resultOf(s), nil
		}
		return nil, fault.Exercise(errors.New("the reference does not build"))
	}})
	handIn(t, e, "ada", "one")
	assert.Equal(t, "the reference does not build", await(t, e, "ada", service.NoVerdict).Why, "at the first try")
	works.Store(true)
	assert.Equal(t, 1, handIn(t, e, "ada", "one").Number)
	await(t, e, "ada", service.Graded)
}

// A job that takes its workers down does not go on doing so.
func TestAJobThatTakesItsWorkersDown(t *testing.T) {
	e := opened(t, t.TempDir())
	handIn(t, e, "ada", "one")
	for range DefaultCrashes {
		require.NoError(t, taken(t, e, "w").Return(0))
	}
	started(t, e, "w", scripted{grade: right})
	assert.Contains(t, await(t, e, "ada", service.NoVerdict).Why, "went down")
}

// Where the bench does not work, the worker takes no jobs and says why; the other goes on.
func TestAnEngineIsGone(t *testing.T) {
	e := opened(t, t.TempDir())
	var gone atomic.Bool
	var graded atomic.Int64
	started(t, e, "broken", scripted{
		grade: func(ctx context.Context, s *submission.Snapshot) (*verdict.Result, error) {
			if gone.Load() {
				return nil, errEngine
			}
			graded.Add(1)
			return resultOf(s), nil
		},
		check: func() error {
			if gone.Load() {
				return errEngine
			}
			return nil
		},
	})
	says := func(why string) {
		t.Helper()
		require.Eventually(t, func() bool {
			for _, w := range e.Queue().Workers {
				if w.Name == "broken" {
					return w.Why == why
				}
			}
			return false
		}, time.Minute, 5*time.Millisecond, "the worker says why it takes no jobs: %q", why)
	}
	says("")
	gone.Store(true)
	says(errEngine.Error())
	assert.EqualValues(t, -1, e.Queue().Wait)
	handIn(t, e, "ada", "one")
	started(t, e, "sound", scripted{grade: right})
	assert.Equal(t, "sound", await(t, e, "ada", service.Graded).Worker)
	assert.Zero(t, graded.Load())
	gone.Store(false)
	says("")
}

// What is being graded is measured: no check of the bench runs beside it, unless the worker
// takes no jobs and waits to take some again.
func TestNoCheckBesideAGrading(t *testing.T) {
	jobs, err := opened(t, t.TempDir()).Jobs(t.Context(), "w1")
	require.NoError(t, err)
	checks := 0
	w := New(jobs, Config{})
	w.bench = scripted{check: func() error { checks++; return nil }}
	for _, c := range []struct {
		why     string
		grading []service.JobID
		checks  int
	}{{"", nil, 1}, {"", make([]service.JobID, 1), 0}, {"the engine is gone", make([]service.JobID, 1), 1}} {
		w.why, w.grading, checks = c.why, c.grading, 0
		assert.Empty(t, w.trouble(t.Context()))
		assert.Equal(t, c.checks, checks, "%+v", c)
	}
}

// A worker that is told to stop gives back at once what it has.
func TestAStoppedWorkerGivesBack(t *testing.T) {
	e := opened(t, t.TempDir())
	begun := make(chan bool, 1)
	stop := started(t, e, "stopped", scripted{grade: func(ctx context.Context, _ *submission.Snapshot) (*verdict.Result, error) {
		begun <- true
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}})
	handIn(t, e, "ada", "one")
	<-begun
	await(t, e, "ada", service.Grading)
	stop()
	j := taken(t, e, "next")
	assert.Equal(t, 2, j.Tries)
	require.NoError(t, j.Give(t.Context(), recordOf(t, j, 1)))
	await(t, e, "ada", service.Graded)
}

// A worker that dies is no reason to say that the attempt is being graded.
func TestADeadWorkerIsForgotten(t *testing.T) {
	e := openedWith(t, engine.Config{DataDir: t.TempDir(), AckWait: time.Second})
	handIn(t, e, "ada", "one")
	j := taken(t, e, "dead")
	follow := e.Follow(t.Context(), "ada", gears)
	j.Tell(service.Progress{Stage: service.Grading})
	for _, stage := range []service.Stage{service.Waiting, service.Grading, service.Waiting} {
		assert.Equal(t, stage, (<-follow).Stage)
	}
	started(t, e, "alive", scripted{grade: right})
	assert.Equal(t, "alive", await(t, e, "ada", service.Graded).Worker)
}

// Who hands in again while waiting replaces their own job, and goes to the end of the line.
func TestReplaced(t *testing.T) {
	e := opened(t, t.TempDir())
	handIn(t, e, "ada", "one")
	assert.Equal(t, 1, handIn(t, e, "bob", "one").Ahead)
	for i := range 5 {
		assert.Equal(t, 1, handIn(t, e, "ada", fmt.Sprint(i)).Ahead)
	}
	assert.Equal(t, 2, e.Queue().Waiting)
	var order []string
	started(t, e, "w", scripted{grade: func(_ context.Context, s *submission.Snapshot) (*verdict.Result, error) {
		order = append(order, string(s.Files[0].Data))
		return resultOf(s), nil
	}})
	assert.Equal(t, 6, await(t, e, "ada", service.Graded).Number)
	await(t, e, "bob", service.Graded)
	assert.Equal(t, []string{"package gears\n// one\n", "package gears\n// 4\n"}, order, "bob's, and then ada's last one")
	for _, a := range e.Attempts("ada", gears)[:5] {
		assert.Equal(t, service.Replaced, a.Stage)
		s, err := e.Source(t.Context(), "ada", gears, a.Number)
		require.NoError(t, err)
		assert.Equal(t, a.Content, results.Content(s), "it is kept")
	}
}

// A job that is replaced while it is graded gets its result, and the new one comes after it.
func TestReplacedWhileGraded(t *testing.T) {
	e := opened(t, t.TempDir())
	handIn(t, e, "ada", "one")
	j := taken(t, e, "w")
	j.Tell(service.Progress{Stage: service.Grading})
	assert.Equal(t, 2, handIn(t, e, "ada", "two").Number)
	require.NoError(t, j.Give(t.Context(), recordOf(t, j, 70)))
	second := taken(t, e, "w")
	assert.Equal(t, 2, second.Job.Number)
	require.NoError(t, second.Give(t.Context(), recordOf(t, second, 80)))
	require.Eventually(t, func() bool { return len(e.Store().Attempts()) == 2 }, time.Minute, time.Millisecond, "given by a worker, read by the service")
}

// A worker of another version takes no jobs, and says so; after the service is of that
// version, what waits is queued for it.
func TestAnotherVersion(t *testing.T) {
	sources := strings.Repeat("a", 64)
	t.Run("of grade", func(t *testing.T) { anotherVersion(t, "old grader", "new grader") })
	t.Run("of Go", func(t *testing.T) { anotherVersion(t, sources+" go1.26.0", sources+" go1.26.1") })
}

func anotherVersion(t *testing.T, before, now string) {
	dir := t.TempDir()
	old := openedWith(t, engine.Config{DataDir: dir, Grader: before})
	handIn(t, old, "ada", "one")
	handIn(t, old, "bob", "one")
	require.NoError(t, old.Close())
	e := openedWith(t, engine.Config{DataDir: dir, Grader: now, Listen: "127.0.0.1:0"})
	data, err := engine.WorkerCredentials(dir, "", "w", 0)
	require.NoError(t, err)
	jobs, err := engine.Connect(t.Context(), engine.JobsConfig{URL: e.URL(), Creds: written(t, data), Grader: before, Name: "w"})
	require.NoError(t, err)
	defer jobs.Close()
	_, err = jobs.Next(t.Context(), time.Second)
	require.ErrorIs(t, err, engine.ErrOtherGrader)

	first := taken(t, e, "new")
	assert.Equal(t, "ada", first.Job.Student, "in their order")
	assert.Equal(t, now, first.Job.Grader)
	assert.Equal(t, "bob", taken(t, e, "new").Job.Student)
}

// What was acknowledged is there after a restart, with its number, and queued if it waits.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	e := opened(t, dir)
	handIn(t, e, "ada", "one")
	j := taken(t, e, "w")
	require.NoError(t, j.Give(t.Context(), recordOf(t, j, 70)))
	handIn(t, e, "ada", "two")
	handIn(t, e, "bob é.*", "one")
	require.NoError(t, e.Close())

	e = opened(t, dir)
	assert.Equal(t, 2, e.Queue().Waiting)
	list := e.Attempts("ada", gears)
	require.Len(t, list, 2)
	assert.Equal(t, 70, list[0].Record.Result.Score)
	assert.Equal(t, service.Waiting, list[1].Stage)
	started(t, e, "w", scripted{grade: right})
	await(t, e, "ada", service.Graded)
	await(t, e, "bob é.*", service.Graded)
}
