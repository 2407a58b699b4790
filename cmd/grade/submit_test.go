package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course"
	"grade/grader"
	"grade/grader/fault"
	"grade/grader/report/terminal"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// aSubmission is a folder with a solution of the test course's exercise ring.
func aSubmission(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ring.go"), []byte("package ring\n"), 0o666))
	return dir
}

// session is a submit whose sandbox is a function.
type session struct {
	*submitOptions
	out, err bytes.Buffer
}

func newSession(t *testing.T, grade gradeFunc) *session {
	t.Helper()
	s := &session{}
	a := &app{
		out: terminal.Stream{Writer: &s.out}, err: terminal.Stream{Writer: &s.err},
		now:       func() time.Time { return time.Unix(0, 0) },
		courseDir: filepath.Join("testdata", "course"), started: true,
	}
	s.submitOptions = &submitOptions{app: a, grade: grade, dir: aSubmission(t)}
	return s
}

func graded(points ...int) *verdict.Result {
	r := &verdict.Result{Schema: verdict.Schema, Exercise: "ring", Verdict: verdict.Graded, MaxScore: 100}
	for i, p := range points {
		c := verdict.CheckResult{Name: "Test", Kind: kindNames()[i], Verdict: verdict.WrongAnswer, MaxPoints: 50, Points: p}
		if p == 50 {
			c.Verdict = verdict.Passed
		}
		r.Score += p
		r.Checks = append(r.Checks, c)
	}
	return r
}

func answers(r *verdict.Result, err error) gradeFunc {
	return func(context.Context, *submission.Snapshot, *course.Exercise, sandboxFlags, grader.Options) (*verdict.Result, error) {
		return r, err
	}
}

func TestSubmitExitCodes(t *testing.T) {
	refused := graded(50, 50)
	refused.Verdict = verdict.Invalid
	late := &verdict.CheckResult{Name: "TestLate", Kind: "speed", Verdict: verdict.NotRun, MaxPoints: 50}
	cut := graded(50)
	cut.Checks = append(cut.Checks, *late)
	for name, c := range map[string]struct {
		result *verdict.Result
		err    error
		only   []string
		want   int
	}{
		"all points":                        {result: graded(50, 50), want: exitOK},
		"points missing":                    {result: graded(50, 0), want: exitMissing},
		"refused, whatever else it says":    {result: refused, want: exitMissing},
		"a check did not run":               {result: cut, want: exitMissing},
		"all points that were asked for":    {result: cut, only: []string{"correctness"}, want: exitOK},
		"points asked for missing":          {result: graded(0, 50), only: []string{"correctness"}, want: exitMissing},
		"usage":                             {err: &fault.Error{Message: "no"}, want: exitUsage},
		"anything else":                     {err: errors.New("engine gone"), want: exitNoVerdict},
		"a deadline of our own, not Ctrl-C": {err: context.DeadlineExceeded, want: exitNoVerdict},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, answers(c.result, c.err))
			s.only = c.only
			err := s.run(t.Context())
			assert.Equal(t, c.want, s.app.exit(t.Context(), &cobra.Command{Use: "submit"}, err))
		})
	}
}

func TestSubmitWithoutVerdict(t *testing.T) {
	s := newSession(t, answers(nil, errors.New("start container: engine gone\x1b[2J")))
	err := s.run(t.Context())
	require.Equal(t, exitNoVerdict, s.app.exit(t.Context(), &cobra.Command{Use: "submit"}, err))
	assert.Empty(t, s.out.String(), "no report without a verdict")
	assert.Equal(t, "grade: no verdict: start container: engine gone\\x1b[2J\n"+
		"hint: this says nothing about the submission; see: grade help exit-codes\n", s.err.String())
}

func TestSubmitPassesItsFlagsOn(t *testing.T) {
	var got grader.Options
	var box sandboxFlags
	var name string
	var left time.Duration
	s := newSession(t, func(ctx context.Context, _ *submission.Snapshot, e *course.Exercise, b sandboxFlags, o grader.Options) (*verdict.Result, error) {
		got, box, name = o, b, e.Name
		deadline, _ := ctx.Deadline()
		left = time.Until(deadline)
		return graded(50), nil
	})
	s.only, s.seed, s.timeout = []string{"speed", "correctness"}, "ab", time.Minute // ring has no speed
	s.sandbox = sandboxFlags{Kind: "docker", Runtime: "runsc", BuildImage: "golang"}
	require.NoError(t, s.run(t.Context()))
	assert.Equal(t, "ring", name)
	assert.Equal(t, []verdict.Kind{verdict.Speed, verdict.Correctness}, got.Only)
	assert.Equal(t, "ab", got.Seed)
	assert.InDelta(t, time.Minute, left, float64(50*time.Second), "the grading has that time")
	assert.Equal(t, s.sandbox, box)
	assert.Nil(t, got.OnEvent, "a pipe needs no progress line")
}

func TestSubmitExerciseFlagBeatsThePackage(t *testing.T) {
	var name string
	s := newSession(t, func(_ context.Context, _ *submission.Snapshot, e *course.Exercise, _ sandboxFlags, _ grader.Options) (*verdict.Result, error) {
		name = e.Name
		return graded(50), nil
	})
	s.exercise = "tally"
	require.NoError(t, s.run(t.Context()))
	assert.Equal(t, "tally", name)
}

func TestSubmitJSON(t *testing.T) {
	s := newSession(t, answers(graded(50), nil))
	s.json = true
	require.NoError(t, s.run(t.Context()))
	var r verdict.Result
	require.NoError(t, json.Unmarshal(s.out.Bytes(), &r))
	assert.Equal(t, 50, r.Score)
	assert.Empty(t, s.err.String())
}

func TestSubmitQuietOnATerminal(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		s := newSession(t, func(_ context.Context, _ *submission.Snapshot, _ *course.Exercise, _ sandboxFlags, o grader.Options) (*verdict.Result, error) {
			if o.OnEvent != nil {
				o.OnEvent(grader.Event{Check: &graded(50).Checks[0], Decided: 1, Total: 2})
			}
			return graded(50), nil
		})
		s.app.err.Live, s.app.err.Width, s.quiet = true, 80, quiet
		require.NoError(t, s.run(t.Context()))
		assert.Equal(t, quiet, s.err.Len() == 0)
		assert.Contains(t, s.out.String(), "ring  50 of 100 points")
	}
}

// A sandbox that does not hear the interrupt must not keep the user waiting.
func TestInterruptEndsSoon(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	begun := make(chan struct{})
	s := newSession(t, func(context.Context, *submission.Snapshot, *course.Exercise, sandboxFlags, grader.Options) (*verdict.Result, error) {
		close(begun)
		<-t.Context().Done() // deaf until the test is over
		return nil, nil
	})
	go func() {
		<-begun
		interrupt()
	}()
	started := time.Now()
	err := s.run(ctx)
	assert.Less(t, time.Since(started), time.Minute, "a second on an idle machine")
	assert.Equal(t, exitInterrupted, s.app.exit(ctx, nil, err))
	assert.Equal(t, "grade: interrupted\n", s.err.String())
}

func TestInterruptedGradingIsNoVerdict(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	s := newSession(t, func(ctx context.Context, _ *submission.Snapshot, _ *course.Exercise, _ sandboxFlags, _ grader.Options) (*verdict.Result, error) {
		interrupt()
		return nil, context.Cause(ctx)
	})
	err := s.run(ctx)
	assert.Equal(t, exitInterrupted, s.app.exit(ctx, nil, err))
	assert.Empty(t, s.out.String())
}

// A verdict that came with the interrupt is a verdict.
func TestVerdictBeatsTheInterrupt(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	s := newSession(t, func(context.Context, *submission.Snapshot, *course.Exercise, sandboxFlags, grader.Options) (*verdict.Result, error) {
		interrupt()
		return graded(50, 0), nil
	})
	err := s.run(ctx)
	assert.Equal(t, exitMissing, s.app.exit(ctx, nil, err))
	assert.Contains(t, s.out.String(), "ring  50 of 100 points")
}
