package conformance

import (
	"bytes"
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

// hostile is one row of the table: a program, and its expected outcome.
type hostile struct {
	name    string
	program string
	args    []string
	limits  func(*sandbox.Limits) // changes the default limits
	forks   bool
	dump    bool

	exit   int
	signal syscall.Signal // instead of exit
	cause  sandbox.Cause
	check  func(t *testing.T, o sandbox.Outcome)
}

// table runs rows in one box, one after the other, and checks after each that
// the box still works.
func (s Suite) table(t *testing.T, b sandbox.Box, rows []hostile) {
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			q := Request(row.program, row.args...)
			q.Forks, q.Dump = row.forks, row.dump
			if row.limits != nil {
				row.limits(&q.Limits)
			}
			_, err := Program(s.Arch, row.program) // which compiles all, where it is the first
			require.NoError(t, err)
			start := time.Now()
			o := s.Run(t, b, q)
			for tries := 0; q.Dump && o.Signal != int(row.signal) && tries < 3; tries++ {
				start, o = time.Now(), s.Run(t, b, q) // it has a second to say where it is, which a busy machine may not give it
			}
			assert.Less(t, time.Since(start), q.Limits.Wall+time.Minute, "the time it took")
			assert.Equal(t, row.signal, syscall.Signal(o.Signal), "signal; stderr: %.500s", o.Stderr)
			if row.signal == 0 {
				assert.Equal(t, row.exit, o.ExitCode, "status; stderr: %.500s", o.Stderr)
			}
			assert.Equal(t, row.cause, o.Cause, "cause")
			if row.check != nil {
				row.check(t, o)
			}
			s.well(t, b)
		})
	}
}

func says(text string) func(*testing.T, sandbox.Outcome) {
	return func(t *testing.T, o sandbox.Outcome) { assert.Contains(t, string(o.Stderr), text) }
}

func (s Suite) endings(t *testing.T) {
	b := s.Open(t, Spec())
	s.table(t, b, []hostile{
		{name: "status 0", program: "end", args: []string{"exit", "0"}},
		{name: "status 1", program: "end", args: []string{"exit", "1"}, exit: 1},
		// A status that launch or a shell could fail with has no special meaning.
		{name: "status 119", program: "end", args: []string{"exit", "119"}, exit: 119},
		{name: "status 126", program: "end", args: []string{"exit", "126"}, exit: 126},
		{name: "status 255", program: "end", args: []string{"exit", "255"}, exit: 255},
		{name: "killed by itself", program: "end", args: []string{"signal", "9"}, signal: syscall.SIGKILL},
		{name: "terminated by itself", program: "end", args: []string{"signal", "15"}, signal: syscall.SIGTERM},
		{name: "panic", program: "end", args: []string{"panic"}, exit: 2, check: says("panic: on purpose")},
		{name: "nil pointer", program: "end", args: []string{"nil"}, exit: 2, check: says("nil pointer dereference")},
		{name: "deadlock", program: "end", args: []string{"deadlock"}, exit: 2, check: says("all goroutines are asleep")},
	})
	t.Run("no such program", func(t *testing.T) {
		_, err := b.Run(context.Background(), Request("nothing"))
		require.ErrorContains(t, err, "no such file or directory")
		require.False(t, errors.Is(err, sandbox.ErrGone))
		s.well(t, b)
	})
	t.Run("not a program", func(t *testing.T) {
		q := Request("text")
		q.Files = []sandbox.File{{Name: "text", Exec: true, Data: []byte("echo hello\n")}}
		_, err := b.Run(context.Background(), q)
		require.ErrorContains(t, err, "exec format error")
		s.well(t, b)
	})
}

func (s Suite) output(t *testing.T) {
	const limit = 100_000
	cut := func(stdout, stderr, observe int) func(*testing.T, sandbox.Outcome) {
		return func(t *testing.T, o sandbox.Outcome) {
			assert.Len(t, o.Stdout, stdout)
			assert.Len(t, o.Stderr, stderr)
			assert.Len(t, o.Observations, observe)
			assert.Equal(t, [3]bool{o.Cause == sandbox.CauseStdout, o.Cause == sandbox.CauseStderr, o.Cause == sandbox.CauseObservations},
				[3]bool{o.StdoutCut, o.StderrCut, o.ObserveCut})
		}
	}
	limits := func(l *sandbox.Limits) { l.Stdout, l.Stderr, l.Observations = limit, limit, limit }
	s.table(t, s.Open(t, Spec()), []hostile{
		{name: "stdout flood", program: "flood", args: []string{"1"}, limits: limits, signal: syscall.SIGKILL, cause: sandbox.CauseStdout, check: cut(limit, 0, 0)},
		{name: "stderr flood", program: "flood", args: []string{"2"}, limits: limits, signal: syscall.SIGKILL, cause: sandbox.CauseStderr, check: cut(0, limit, 0)},
		{name: "observations flood", program: "flood", args: []string{"3"}, limits: limits, signal: syscall.SIGKILL, cause: sandbox.CauseObservations, check: cut(0, 0, limit)},
		{name: "as much as is allowed", program: "flood", args: []string{"1", "100000"}, limits: limits, check: cut(limit, 0, 0)},
		{name: "no observation pipe", program: "flood", args: []string{"3", "1"}, limits: func(l *sandbox.Limits) { l.Observations = 0 }, exit: 1, check: cut(0, 0, 0)},
		{name: "nothing is allowed", program: "end", args: []string{"exit", "0"}, limits: func(l *sandbox.Limits) { l.Stdout, l.Stderr = 0, 0 }, check: cut(0, 0, 0)},
		{
			name: "megabytes that are allowed", program: "flood", args: []string{"1", "8000000"}, limits: func(l *sandbox.Limits) { l.Stdout = 8 << 20 },
			check: func(t *testing.T, o sandbox.Outcome) { assert.True(t, bytes.Equal(make([]byte, 8_000_000), o.Stdout)) },
		},
		{
			name: "slow drip", program: "wait", args: []string{"drip"}, limits: func(l *sandbox.Limits) { l.Wall = 3 * time.Second },
			signal: syscall.SIGKILL, cause: sandbox.CauseWall, check: func(t *testing.T, o sandbox.Outcome) { assert.NotEmpty(t, o.Stdout) },
		},
		{
			name: "a child keeps the pipes open", program: "fork", args: []string{"hold"}, forks: true,
			check: func(t *testing.T, o sandbox.Outcome) { assert.Less(t, o.Wall, 10*time.Second) },
		},
	})
}
