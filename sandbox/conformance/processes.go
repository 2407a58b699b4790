package conformance

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

// Seen holds the output of the program look.
type Seen struct {
	Args, Env   []string
	Dir         string
	UID, GID    int
	PID, Parent int
	Files       map[string]string
	Processes   map[string]string
	Status      map[string]string
	Stat        []string
	Lists       map[string][]string
	CPUs        int
}

// Look runs the program look, which lists the given directories.
func (s Suite) Look(t *testing.T, b sandbox.Box, dirs ...string) Seen {
	t.Helper()
	var seen Seen
	s.RunJSON(t, b, Request("look", dirs...), &seen)
	return seen
}

func (s Suite) processes(t *testing.T) {
	b := s.Open(t, Spec())
	t.Run("a program cannot start another", func(t *testing.T) { s.cannotFork(t, b) })
	t.Run("a program cannot kill its supervisor", func(t *testing.T) {
		s.cannotKill(t, b, Request("kill"))
	})
	t.Run("a program that may fork cannot kill its supervisor", func(t *testing.T) {
		if !s.Isolated {
			t.Skip("builds here run as grade's own user")
		}
		q := Request("kill")
		q.Forks = true
		s.cannotKill(t, b, q)
	})
	t.Run("the CPU time of children counts", func(t *testing.T) {
		q := Request("fork", "wait")
		q.Forks, q.Limits.CPU, q.Limits.Wall = true, 500*time.Millisecond, 5*time.Minute
		o := s.Run(t, b, q)
		assert.Equal(t, sandbox.CauseCPU, o.Cause)
		assert.GreaterOrEqual(t, o.CPU, q.Limits.CPU)
	})
	t.Run("daemons die with the program", func(t *testing.T) {
		q := Request("fork", "daemons", "3")
		q.Forks = true
		o := s.Run(t, b, q)
		require.Zero(t, o.ExitCode, "stderr: %s", o.Stderr)
		pids := strings.Fields(string(o.Stdout))
		require.Len(t, pids, 3)
		s.alone(t, b, pids)
	})
	t.Run("daemons die when the program is killed", func(t *testing.T) {
		q := Request("fork", "middle-and-stay")
		q.Forks, q.Limits.Wall = true, 3*time.Second
		o := s.Run(t, b, q)
		assert.Equal(t, sandbox.CauseWall, o.Cause)
		pids := strings.Fields(string(o.Stdout))
		require.Len(t, pids, 1)
		s.alone(t, b, pids)
	})
	t.Run("a storm of processes", func(t *testing.T) {
		if !s.Isolated {
			t.Skip("the number of processes is not limited without a control group")
		}
		q := Request("fork", "storm")
		q.Forks, q.Limits.CPU, q.Limits.Wall = true, 3*time.Second, 5*time.Minute // of all together: hundreds of starts
		o := s.Run(t, b, q)
		assert.Equal(t, sandbox.CauseCPU, o.Cause)
		assert.Positive(t, o.PidsHit)
		assert.NotZero(t, o.PidsSource)
		s.alone(t, b, nil)
	})
	t.Run("descriptors without end", func(t *testing.T) {
		o := s.Run(t, b, Request("grow", "descriptors"))
		assert.Zero(t, o.ExitCode)
		assert.Contains(t, string(o.Stdout), "too many open files")
		s.well(t, b)
	})
}

// cannotFork has a program try every way to start another.
func (s Suite) cannotFork(t *testing.T, b sandbox.Box) {
	said := map[string]int{}
	s.RunJSON(t, b, Request("fork", "try"), &said)
	require.Contains(t, said, "clone")
	for call, errno := range said {
		switch call {
		case "exec":
			assert.Equal(t, -1, errno)
		case "clone3": // a filter cannot see its flags
			assert.Equal(t, syscall.ENOSYS, syscall.Errno(errno))
		default:
			assert.Equal(t, syscall.EPERM, syscall.Errno(errno), call)
		}
	}
	s.well(t, b)
}

// inherited lists a program's descriptors, without those that its own runtime has
// opened.
func inherited(s Seen) []string {
	var list []string
	for fd, name := range s.Files {
		if !strings.HasPrefix(name, "/sys/fs/cgroup/") {
			list = append(list, fd)
		}
	}
	return list
}

// cannotKill has a program send signals, and expects that only itself is reached.
func (s Suite) cannotKill(t *testing.T, b sandbox.Box, q sandbox.Request) {
	t.Helper()
	said := map[string]int{}
	s.RunJSON(t, b, q, &said)
	for call, errno := range said {
		switch call {
		case "kill self":
			assert.Zero(t, errno)
		case "kill all": // reaches no other process, or none with permission
			assert.Contains(t, []syscall.Errno{syscall.EPERM, syscall.ESRCH}, syscall.Errno(errno))
		case "kill a group": // the supervisor's, if it leads one
			assert.Contains(t, []syscall.Errno{syscall.EPERM, syscall.ESRCH}, syscall.Errno(errno))
		default:
			assert.Equal(t, syscall.EPERM, syscall.Errno(errno), call)
		}
	}
	s.well(t, b)
}

// alone checks that no process of an earlier program is alive.
func (s Suite) alone(t *testing.T, b sandbox.Box, pids []string) {
	t.Helper()
	if !s.Isolated {
		for _, pid := range pids {
			assert.NoDirExists(t, "/proc/"+pid)
		}
		return
	}
	seen := s.Look(t, b)
	assert.Equal(t, map[string]string{"1": "supervisor", fmt.Sprint(seen.PID): "look"}, seen.Processes)
}

// view tests what a program finds when it starts.
func (s Suite) view(t *testing.T) {
	b := s.Open(t, Spec())
	t.Run("arguments, environment and directory", func(t *testing.T) {
		q := Request("look", "a b", "", "$HOME")
		q.Env = []string{"A=1", "B=x y"}
		var seen Seen
		s.RunJSON(t, b, q, &seen)
		assert.Equal(t, []string{"a b", "", "$HOME"}, seen.Args[1:])
		assert.Equal(t, q.Env, seen.Env)
		assert.Equal(t, b.Dirs().Work, seen.Dir)
	})
	t.Run("an empty environment", func(t *testing.T) {
		t.Setenv("GRADE_CANARY", "must not be seen")
		assert.Empty(t, s.Look(t, s.Open(t, Spec())).Env)
	})
	t.Run("descriptors", func(t *testing.T) {
		q := Request("look")
		var with, without Seen
		s.RunJSON(t, b, q, &with)
		q.Limits.Observations = 0
		s.RunJSON(t, b, q, &without)
		assert.Equal(t, os.DevNull, with.Files["0"])
		assert.ElementsMatch(t, []string{"0", "1", "2", "3", "4", "5"}, inherited(with), "three, the observation pipe and two for marks")
		assert.ElementsMatch(t, []string{"0", "1", "2"}, inherited(without))
	})
	t.Run("rights", func(t *testing.T) {
		seen := s.Look(t, b)
		assert.Equal(t, "1", seen.Status["NoNewPrivs"])
		assert.Equal(t, "2", seen.Status["Seccomp"])
		assert.Equal(t, fmt.Sprint(seen.PID), seen.Stat[3], "its own session")
		assert.Equal(t, "0", seen.Stat[4], "no terminal")
		if s.Isolated {
			other := s.Look(t, s.Open(t, Spec()))
			assert.Positive(t, seen.UID)
			assert.Equal(t, seen.UID, seen.GID)
			assert.NotEqual(t, seen.UID, other.UID, "what the kernel counts for a user is not shared by two boxes")
			assert.Empty(t, seen.Status["Groups"])
			assert.Equal(t, 1, seen.Parent)
		}
	})
}

func (s Suite) pin(t *testing.T) {
	b := s.Open(t, Spec())
	cpus := b.CPUs()
	require.NotEmpty(t, cpus)
	assert.Equal(t, len(cpus), s.Look(t, b).CPUs)
	last := cpus[len(cpus)-1]
	require.NoError(t, b.Pin(t.Context(), last))
	assert.Equal(t, []int{last}, b.CPUs())
	seen := s.Look(t, b)
	assert.Equal(t, 1, seen.CPUs)
	assert.Equal(t, fmt.Sprint(last), seen.Status["Cpus_allowed_list"])
	assert.ErrorContains(t, b.Pin(t.Context(), 1000), "pin to CPU 1000")
}
