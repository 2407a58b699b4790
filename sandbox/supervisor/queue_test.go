//go:build linux

package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

func TestWaited(t *testing.T) {
	for name, c := range map[string]struct {
		before, now map[int]turns
		cpu, want   time.Duration
	}{
		"others have the CPU":                      {nil, map[int]turns{1: {30 * ms, 70 * ms}}, 30 * ms, 70 * ms},
		"since the last look":                      {map[int]turns{1: {10 * ms, 50 * ms}}, map[int]turns{1: {40 * ms, 120 * ms}}, 30 * ms, 70 * ms},
		"an idle thread beside it":                 {nil, map[int]turns{1: {30 * ms, 70 * ms}, 2: {ms, ms}}, 31 * ms, 69 * ms},
		"two take turns on one CPU":                {nil, map[int]turns{1: {50 * ms, 50 * ms}, 2: {50 * ms, 50 * ms}}, 100 * ms, 0},
		"two take turns, and a third is another's": {nil, map[int]turns{1: {33 * ms, 67 * ms}, 2: {33 * ms, 67 * ms}}, 66 * ms, 34 * ms},
		"two hundred wake at once":                 {nil, burst(200, ms), 200 * ms, 0},
		"one that has ended computed":              {nil, map[int]turns{1: {10 * ms, 90 * ms}}, 100 * ms, 0},
		"nothing":                                  {nil, nil, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, waited(c.before, c.now, c.cpu))
		})
	}
}

// A wait counts as far as the process did not compute meanwhile, though the kernel tells of it
// up to a second later.
func TestQueueAdds(t *testing.T) {
	type step struct{ owed, room time.Duration }
	for name, c := range map[string]struct {
		steps []step
		want  time.Duration
	}{
		"at once":                        {[]step{{70 * ms, 70 * ms}}, 70 * ms},
		"beside siblings":                {[]step{{500 * ms, 0}, {500 * ms, 0}}, 0},
		"told of later":                  {[]step{{0, 100 * ms}, {0, 100 * ms}, {250 * ms, 50 * ms}}, 250 * ms},
		"told of too late":               {[]step{{0, 3 * time.Second}, {3 * time.Second, 0}}, time.Second},
		"slept after it":                 {[]step{{3 * time.Second, 0}, {0, 9 * time.Second}}, time.Second},
		"on more than one CPU":           {[]step{{50 * ms, -100 * ms}, {0, 50 * ms}}, 50 * ms},
		"a wait is not counted twice":    {[]step{{100 * ms, 100 * ms}, {0, 100 * ms}}, 100 * ms},
		"idle time is not counted twice": {[]step{{100 * ms, 100 * ms}, {100 * ms, 0}}, 100 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			var q queue
			for _, s := range c.steps {
				q.add(s.owed, s.room)
			}
			assert.Equal(t, c.want, q.starved)
		})
	}
}

// burst are threads that become ready at the same time and compute one after the other.
func burst(n int, each time.Duration) map[int]turns {
	list := map[int]turns{}
	for i := range n {
		list[i] = turns{each, time.Duration(i) * each}
	}
	return list
}

// What the kernel tells of the threads of a process is its CPU time, all together.
func TestThreadsOf(t *testing.T) {
	cmd := exec.Command("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; read x")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { in.Close(); _ = cmd.Wait() }()
	_, err = out.Read(make([]byte, 4))
	require.NoError(t, err)
	threads := threadsOf(cmd.Process.Pid)
	require.Len(t, threads, 1)
	total, err := cpuTime(cmd.Process.Pid)
	require.NoError(t, err)
	assert.InDelta(t, float64(total), float64(threads[cmd.Process.Pid].cpu), float64(30*ms), "the kernel adds to it with each tick")
	assert.Greater(t, total, ms)
	assert.Empty(t, threadsOf(1<<30))
	assert.NotEmpty(t, threadsOf(os.Getpid()))
}

// What the watchdog came late for counts once, though the program had waited for a CPU as well.
func TestStandingCountsOnce(t *testing.T) {
	pid, now := os.Getpid(), time.Now()
	cpu, err := cpuTime(pid)
	require.NoError(t, err)
	before := threadsOf(pid)
	for id, told := range before {
		told.queued -= time.Hour
		before[id] = told
	}
	q := queue{looked: now.Add(-time.Minute), cpu: cpu, threads: before}
	q.look(pid, now, 40*time.Second)
	assert.InDelta(t, float64(20*time.Second), float64(q.starved), float64(5*time.Second))
}
