package conformance

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"grade/sandbox"
)

func (s Suite) clocks(t *testing.T) {
	b := s.Open(t, Spec())
	wall := func(d time.Duration) func(*sandbox.Limits) { return func(l *sandbox.Limits) { l.Wall = d } }
	still := func(d time.Duration) func(*sandbox.Limits) { return func(l *sandbox.Limits) { l.Idle = d } }
	// Beside other work each awakening waits for a CPU, and a rest in which that was too much
	// does not count: there is time for many.
	doze := func(l *sandbox.Limits) { l.Idle, l.Wall = 3*time.Second, 2*time.Minute }
	idle := func(t *testing.T, o sandbox.Outcome) {
		assert.GreaterOrEqual(t, o.Wall, 300*time.Millisecond)
		assert.Less(t, o.Wall, time.Minute)
		assert.Less(t, o.CPU, 200*time.Millisecond)
	}
	busy := func(t *testing.T, o sandbox.Outcome) {
		assert.GreaterOrEqual(t, o.CPU, 300*time.Millisecond)
		assert.Less(t, o.CPU, 2*time.Second)
	}
	cpu := func(l *sandbox.Limits) { l.CPU = 300 * time.Millisecond }
	s.table(t, b, []hostile{
		{name: "spin", program: "clock", args: []string{"spin", "1"}, limits: cpu, signal: syscall.SIGKILL, cause: sandbox.CauseCPU, check: busy},
		{name: "spin on many threads", program: "clock", args: []string{"spin", "8"}, limits: cpu, signal: syscall.SIGKILL, cause: sandbox.CauseCPU, check: busy},
		{name: "sleep", program: "wait", args: []string{"asleep"}, limits: wall(300 * time.Millisecond), signal: syscall.SIGKILL, cause: sandbox.CauseWall, check: idle},
		{name: "ignore signals", program: "wait", args: []string{"deaf"}, limits: wall(300 * time.Millisecond), signal: syscall.SIGKILL, cause: sandbox.CauseWall, check: idle},
		{name: "stop itself", program: "wait", args: []string{"stopped"}, limits: wall(300 * time.Millisecond), signal: syscall.SIGKILL, cause: sandbox.CauseWall, check: idle},
		{name: "wait", program: "wait", args: []string{"asleep"}, limits: still(300 * time.Millisecond), signal: syscall.SIGKILL, cause: sandbox.CauseIdle},
		{name: "wait, now and then awake", program: "wait", args: []string{"doze"}, limits: doze, signal: syscall.SIGKILL, cause: sandbox.CauseIdle},
		{name: "work longer than it may wait", program: "clock", args: []string{"work", "900"}, limits: still(300 * time.Millisecond)},
		{name: "spin and say where", program: "clock", args: []string{"spin", "1"}, limits: cpu, dump: true, exit: 2, cause: sandbox.CauseCPU, check: says("programs/clock/main.go")},
		{name: "wait and say where", program: "wait", args: []string{"asleep"}, limits: still(300 * time.Millisecond), dump: true, exit: 2, cause: sandbox.CauseIdle, check: says("programs/wait/main.go")},
		{name: "ignore that it is asked", program: "wait", args: []string{"deaf"}, limits: still(300 * time.Millisecond), dump: true, signal: syscall.SIGKILL, cause: sandbox.CauseIdle},
		{name: "stop itself and be asked", program: "wait", args: []string{"stopped"}, limits: wall(300 * time.Millisecond), dump: true, signal: syscall.SIGKILL, cause: sandbox.CauseWall},
		{
			name: "more marks than are kept", program: "clock", args: []string{"marks", strconv.Itoa(sandbox.MaxMarks + 36)},
			check: func(t *testing.T, o sandbox.Outcome) { assert.Len(t, o.Marks, sandbox.MaxMarks) },
		},
		{
			name: "marks without reading an answer", program: "clock", args: []string{"deaf", "0"}, limits: wall(300 * time.Millisecond),
			signal: syscall.SIGKILL, cause: sandbox.CauseWall, check: func(t *testing.T, o sandbox.Outcome) { assert.Len(t, o.Marks, sandbox.MaxMarks) },
		},
	})
	t.Run("marks agree with the program's own clock", func(t *testing.T) { s.marks(t, b) })
	t.Run("time in a queue for a CPU", s.queue)
	t.Run("threads that queue for each other", s.crowd)
}

// crowd has sixty threads of one program on one CPU, which wake together or spin beside each
// other. Each waits for the others, all together for some seconds in every second, and that is
// the program's own doing: what it computed, and what the CPU was idle for, stays near its limit.
// The rest of the time is what others had the CPU for, and on a busy machine that may be nearly all.
func (s Suite) crowd(t *testing.T) {
	b := s.Open(t, Spec())
	s.Place(t, b, "clock")
	cpu := b.CPUs()[0]
	require.NoError(t, b.Pin(t.Context(), cpu))
	for _, how := range []string{"crowd", "spin"} {
		q := Request("clock", how, "60")
		q.Env = []string{"GOMAXPROCS=60"}
		q.Limits.Wall = 500 * time.Millisecond
		before := idleTime(t, cpu)
		o, err := b.Run(t.Context(), q)
		require.NoError(t, err)
		idle := idleTime(t, cpu) - before
		assert.Equal(t, sandbox.CauseWall, o.Cause, "%s: after %v, %v of CPU time, status %d, %s", how, o.Wall, o.CPU, o.ExitCode, o.Stderr)
		assert.Less(t, o.CPU+idle, sandbox.Patience*q.Limits.Wall*7/10, "%s: after %v, %v of CPU time", how, o.Wall, o.CPU)
	}
}

// idleTime is for how long a CPU has had nothing to do since the machine started. The kernel counts
// it in hundredths of a second.
func idleTime(t *testing.T, cpu int) time.Duration {
	stat, err := os.ReadFile("/proc/stat")
	require.NoError(t, err)
	line := regexp.MustCompile(fmt.Sprintf(`(?m)^cpu%d (\d+ ){3}(\d+) (\d+) `, cpu)).FindSubmatch(stat)
	require.NotNil(t, line, "%s", stat)
	idle, err := strconv.Atoi(string(line[2]))
	require.NoError(t, err)
	disk, err := strconv.Atoi(string(line[3])) // idle as well, but that something reads from a disk
	require.NoError(t, err)
	return time.Duration(idle+disk) * 10 * time.Millisecond
}

// queue has three programs share one CPU, so that each takes about three times as long as it
// works. What it waits for the others does not count, up to a bound that a machine with a
// tenth of a CPU to spare reaches.
func (s Suite) queue(t *testing.T) {
	const work = 500 * time.Millisecond
	q := Request("clock", "work", strconv.Itoa(int(work.Milliseconds())))
	q.Limits.Wall = work * 19 / 10 // what it waits for anything else has room in it
	var group errgroup.Group
	for range 3 {
		b := s.Open(t, Spec())
		s.Place(t, b, "clock")
		require.NoError(t, b.Pin(t.Context(), b.CPUs()[0]))
		group.Go(func() error {
			o, err := b.Run(t.Context(), q)
			if o.Wall < sandbox.Patience*q.Limits.Wall {
				assert.Equal(t, sandbox.CauseNone, o.Cause, "after %v on the clock and %v of CPU time", o.Wall, o.CPU)
				assert.Zero(t, o.ExitCode)
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
}

func (s Suite) marks(t *testing.T, b sandbox.Box) {
	const window = 100 * time.Millisecond
	o := s.Run(t, b, Request("clock", "windows", "100"))
	require.Len(t, o.Marks, 3)
	said, err := strconv.ParseInt(string(o.Observations), 10, 64)
	require.NoError(t, err)

	busy, asleep := o.Marks[1].CPU-o.Marks[0].CPU, o.Marks[2].CPU-o.Marks[1].CPU
	assert.InDelta(t, float64(said), float64(busy), float64(10*time.Millisecond), "CPU time of the busy window")
	assert.Less(t, asleep, window/4, "CPU time of the idle window")
	assert.GreaterOrEqual(t, o.Marks[2].Wall-o.Marks[1].Wall, window, "wall time of the idle window")
	assert.GreaterOrEqual(t, o.CPU+time.Millisecond, o.Marks[2].CPU, "the whole run's CPU time holds the marks'")
	assert.GreaterOrEqual(t, o.Wall, o.Marks[2].Wall)
	for _, m := range o.Marks {
		assert.Greater(t, m.Memory, int64(512<<10))
		assert.LessOrEqual(t, m.Memory, o.Peak)
	}
	if s.Isolated {
		assert.NotZero(t, o.BoxCPUSource)
		assert.NotZero(t, o.BoxPeakSource)
		assert.Greater(t, o.BoxPeak, int64(1<<20))
		assert.InDelta(t, float64(o.CPU), float64(o.BoxCPU), float64(50*time.Millisecond), "the control group saw the same program")
	} else {
		assert.Zero(t, o.BoxCPUSource)
	}
}

func (s Suite) memory(t *testing.T) {
	b := s.Open(t, Spec())
	t.Run("peak", func(t *testing.T) {
		small := s.Run(t, b, Request("grow", "to", "0"))
		large := s.Run(t, b, Request("grow", "to", "64"))
		assert.Equal(t, sandbox.SourceRusage, large.PeakSource)
		assert.InDelta(t, 64<<20, float64(large.Peak-small.Peak), 4<<20)
		assert.Zero(t, large.OOMKills)
	})
	t.Run("the peak is not that of an earlier program", func(t *testing.T) {
		before := s.Run(t, b, Request("grow", "to", "8"))
		// The supervisor's own memory for a large output must not show either.
		q := Request("flood", "1", "8000000")
		q.Limits.Stdout = 8 << 20
		s.Run(t, b, q)
		s.Run(t, b, Request("grow", "to", "64"))
		after := s.Run(t, b, Request("grow", "to", "8"))
		assert.InDelta(t, float64(before.Peak), float64(after.Peak), 1<<20)
	})
	t.Run("no memory beside the resident size", func(t *testing.T) {
		said := map[string]int{}
		s.RunJSON(t, b, Request("grow", "hidden"), &said)
		require.NotEmpty(t, said)
		for call, errno := range said {
			assert.Equal(t, syscall.EPERM, syscall.Errno(errno), call)
		}
	})
	t.Run("memory in the kernel's buffers counts", func(t *testing.T) {
		if !s.Isolated {
			t.Skip("only a control group counts it")
		}
		const held = 24
		o := s.Run(t, b, Request("grow", "pipes", strconv.Itoa(held)))
		require.Zero(t, o.ExitCode, "%s", o.Stdout)
		require.Len(t, o.Marks, 1)
		assert.Greater(t, o.Marks[0].Memory, int64(held<<20))
		assert.Greater(t, o.Peak, int64(held<<20))
	})
	t.Run("limit of a request", func(t *testing.T) {
		spec := Spec()
		spec.Memory = 2 << 30 // far above it: the watchdog is to come first, and not the kernel
		b := s.Open(t, spec)
		q := Request("grow", "memory")
		q.Limits.Memory = 64 << 20
		o := s.Run(t, b, q)
		assert.Equal(t, sandbox.CauseMemory, o.Cause)
		assert.Greater(t, o.Peak, int64(64<<20))
		s.well(t, b)
	})
	for _, what := range []string{"memory", "goroutines"} {
		t.Run("endless "+what, func(t *testing.T) {
			spec := Spec()
			spec.Memory = 64 << 20
			s.exhausts(t, s.Open(t, spec), Request("grow", what))
		})
	}
	t.Run("endless threads", func(t *testing.T) {
		if !s.Isolated {
			t.Skip("the number of threads is not limited without a control group")
		}
		b := s.Open(t, Spec())
		q := Request("grow", "threads")
		q.Limits.Stderr = 8 << 20 // the runtime prints a stack for each thread
		o := s.Run(t, b, q)
		assert.Equal(t, 2, o.ExitCode, "the runtime gives up: signal %d, cause %v", o.Signal, o.Cause)
		assert.Positive(t, o.PidsHit)
		assert.NotZero(t, o.PidsSource)
		s.well(t, b)
	})
}

// exhausts runs a program that needs more memory than its box has. A kernel that is
// slow to reclaim the program's memory may kill the supervisor as well: the outcome
// is the same, but the box is gone.
func (s Suite) exhausts(t *testing.T, b sandbox.Box, q sandbox.Request) {
	o := s.Run(t, b, q)
	assert.Equal(t, syscall.SIGKILL, syscall.Signal(o.Signal), "stderr: %.500s", o.Stderr)
	assert.Positive(t, o.OOMKills)
	if s.Isolated {
		assert.Contains(t, []sandbox.Source{sandbox.SourceCgroupV1, sandbox.SourceCgroupV2}, o.OOMSource)
	} else {
		assert.Equal(t, sandbox.SourceWatchdog, o.OOMSource)
		assert.Equal(t, sandbox.CauseMemory, o.Cause)
	}
	if _, err := s.run(b, Request("end", "exit", "0")); errors.Is(err, sandbox.ErrGone) {
		b = s.Open(t, Spec())
	}
	s.well(t, b)
}
