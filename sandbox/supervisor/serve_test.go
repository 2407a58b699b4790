//go:build linux

package main

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

// init makes this binary the launcher that a supervisor under test starts.
func init() {
	if len(os.Args) > 1 && os.Args[1] == "launch" {
		os.Exit(launch(os.Args[2:]))
	}
}

// A fault leaves the box as clean as an outcome does, because it serves on.
func TestCleanAfterFault(t *testing.T) {
	s, groups := private(t), t.TempDir()
	var err error
	s.self, err = os.Executable()
	require.NoError(t, err)
	events := groups + "/memory.events"
	require.NoError(t, os.WriteFile(groups+"/cgroup.controllers", nil, 0o600))
	require.NoError(t, os.WriteFile(events, []byte("oom 0\noom_kill 0\n"), 0o600))
	s.gauges = detectGauges(groups)
	q := sandbox.Request{Path: "/bin/sh", Forks: true, Limits: sandbox.Limits{CPU: time.Hour, Wall: time.Hour}}
	q.Args = []string{"-c", fmt.Sprintf("echo left >%s/left; printf 'oom 0\\noom_kill 1\\n' >%s", s.dirs.Scratch, events)}
	_, err = s.serveOne(q, nil)
	require.ErrorIs(t, err, errMachineFull)
	left, err := names(s.scratch.Root)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.NoError(t, s.spent, "the box serves on")
}

// A program that does nothing has its limit of wall time and what the watchdog came late, as
// after a stall of the whole machine, up to ten times the limit.
func TestStallIsNotTheProgram(t *testing.T) {
	for name, c := range map[string]struct{ stall, lives time.Duration }{
		"none":      {0, time.Second},
		"five s":    {5 * time.Second, 6*time.Second - 2*poll},
		"an hour":   {time.Hour, time.Hour + 3*poll}, // more than ten times the limit: it ends when the watchdog is back
		"a few ms":  {poll, time.Second},
		"the limit": {time.Second, 2*time.Second - 2*poll},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, began := idleProgram(t, c.stall), time.Now()
				go p.watch(nil)
				time.Sleep(c.lives - poll)
				assert.Equal(t, sandbox.CauseNone, p.endedBy())
				time.Sleep(3 * poll)
				assert.Equal(t, sandbox.CauseWall, p.endedBy(), "after %v", time.Since(began))
				close(p.done)
			})
		})
	}
}

// idleProgram has a second, and has ended already, unknown to its watchdog, whose third look takes
// as long as a stall.
func idleProgram(t *testing.T, stall time.Duration) *program {
	t.Helper()
	process, err := os.FindProcess(1 << 30)
	require.NoError(t, err)
	now, looks := time.Now(), 0
	p := &program{process: process, limits: sandbox.Limits{Wall: time.Second, CPU: time.Hour}, started: now, done: make(chan struct{})}
	p.begun.Store(&now)
	p.spent = func() (time.Duration, bool) {
		if looks++; looks == 3 {
			time.Sleep(stall)
		}
		return 0, false
	}
	return p
}

func (p *program) endedBy() sandbox.Cause {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause
}
