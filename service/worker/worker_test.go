package worker

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/exercises/course/coursetest"
	"grade/grader"
	"grade/grader/results"
	"grade/grader/submission"
	"grade/grader/verdict"
	"grade/service"
	"grade/service/engine"
)

// gears is the exercise of the tests.
const gears = "gears"

// scripted is a bench that answers as a test says. What really grades is tested with the
// command.
type scripted struct {
	grade func(context.Context, *submission.Snapshot) (*verdict.Result, error)
	check func() error
}

func (b scripted) Grade(ctx context.Context, s *submission.Snapshot, e *course.Exercise, seed string, tell func(grader.Event)) (*verdict.Result, error) {
	tell(grader.Event{Phase: grader.Build})
	return b.grade(ctx, s)
}
func (b scripted) Identity() string { return "identity" }
func (b scripted) Setup() string    { return "go1.26.0" }
func (b scripted) Check(context.Context) error {
	if b.check == nil {
		return nil
	}
	return b.check()
}
func (b scripted) Close() error { return nil }

func resultOf(s *submission.Snapshot) *verdict.Result {
	return &verdict.Result{Schema: verdict.Schema, Verdict: verdict.Graded, Score: 100, MaxScore: 100, Submission: verdict.Submission{Dir: s.Dir, Hash: s.Hash}}
}

func opened(t *testing.T, dir string) *engine.Engine {
	t.Helper()
	return openedWith(t, engine.Config{DataDir: dir})
}

// openedWith opens an engine with short beats, which is closed when the test ends. A job is
// given out again after a minute of silence, unless the test is about that: on a busy
// machine even this process is silent for a second.
func openedWith(t *testing.T, c engine.Config) *engine.Engine {
	t.Helper()
	c.Grader, c.AckWait, c.Beat, c.Log = cmp.Or(c.Grader, "g"), cmp.Or(c.AckWait, time.Minute), beat, slog.New(slog.NewTextHandler(t.Output(), nil))
	e, err := engine.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	_, broken, err := e.SetCourse(t.Context(), coursetest.FS(coursetest.Files()))
	require.NoError(t, err)
	require.Empty(t, broken)
	return e
}

const beat = 100 * time.Millisecond

// await returns a student's last attempt when it has come to a stage.
func await(t *testing.T, e *engine.Engine, student string, stage service.Stage) service.Attempt {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for p := range e.Follow(ctx, student, gears) {
		if p.Stage == stage {
			a, ok := e.Attempt(student, gears, p.Number)
			require.True(t, ok)
			return a
		}
	}
	t.Fatalf("the work of %s is not %s: %+v", student, stage, e.Attempts(student, gears))
	return service.Attempt{}
}

func upload(student, text string) service.Upload {
	return service.Upload{Student: student, Exercise: gears, Source: "upload",
		Snapshot: submission.Of("upload", []submission.File{{Name: "a.go", Data: []byte("package " + gears + "\n// " + text + "\n")}})}
}

// started runs a worker in this process until it is stopped or the test ends.
func started(t *testing.T, e *engine.Engine, name string, b Bench) (stop func()) {
	t.Helper()
	jobs, err := e.Jobs(t.Context(), name)
	require.NoError(t, err)
	return run(t, jobs, b)
}

func run(t *testing.T, jobs *engine.Jobs, b Bench) (stop func()) {
	t.Helper()
	w := New(jobs, Config{
		Slots: 1, Open: func(ctx context.Context) (Bench, error) { return b, b.Check(ctx) },
		Beat: beat, Pause: 50 * time.Millisecond, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return stop
}

func TestFromHandInToRecord(t *testing.T) {
	e := opened(t, t.TempDir())
	a, err := e.HandIn(t.Context(), upload("ada", "one"))
	require.NoError(t, err)
	assert.Equal(t, 1, a.Number)
	assert.Equal(t, service.Waiting, a.Stage)
	follow := e.Follow(t.Context(), "ada", gears)
	assert.Equal(t, service.Waiting, (<-follow).Stage)
	assert.Equal(t, 1, e.Queue().Waiting)
	heard := make(chan struct{}) // the event: what is not stored may come after what is
	started(t, e, "w1", scripted{grade: func(ctx context.Context, s *submission.Snapshot) (*verdict.Result, error) {
		<-heard
		return right(ctx, s)
	}})
	var events int
	for p := range follow {
		if p.Event != nil {
			events++
			close(heard)
		}
		if p.Stage == service.Graded {
			break
		}
	}
	assert.Equal(t, 1, events)
	list := e.Attempts("ada", gears)
	require.Len(t, list, 1)
	assert.Equal(t, "w1", list[0].Worker)
	assert.Equal(t, results.Content(upload("ada", "one").Snapshot), list[0].Record.Content)
	again, err := e.HandIn(t.Context(), upload("ada", "one"))
	require.NoError(t, err)
	assert.Equal(t, 1, again.Number)
	assert.Equal(t, service.Graded, again.Stage)
	two, err := e.HandIn(t.Context(), upload("ada", "two"))
	require.NoError(t, err)
	assert.Equal(t, 2, two.Number)
}

// A result that the service does not take ends the job without a verdict: it would be graded
// again and again.
func TestResultThatIsNotTaken(t *testing.T) {
	e := opened(t, t.TempDir())
	handIn(t, e, "ada", "right")
	gradings := 0
	started(t, e, "w", scripted{grade: func(_ context.Context, s *submission.Snapshot) (*verdict.Result, error) {
		gradings++
		r := resultOf(s)
		r.Warnings = []string{strings.Repeat("x", 9<<20)} // a message has 8 MiB at most
		return r, nil
	}})
	await(t, e, "ada", service.NoVerdict)
	assert.Equal(t, 1, gradings)
	list := e.NoVerdict()
	require.Len(t, list, 1)
	assert.Contains(t, list[0].Why, "more than the 8388608 that the service takes")
}
