//go:build linux

package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkLook is what the watchdog does in one interval, a hundred times a second, for a
// program with a dozen threads.
func BenchmarkLook(b *testing.B) {
	g := detectGauges("/sys/fs/cgroup")
	b.Run("test", func(b *testing.B) {
		p := sleeper(b)
		p.box = g.growth()
		p.look(b)
	})
	b.Run("build", func(b *testing.B) {
		p := sleeper(b)
		p.spent = g.spending()
		p.look(b)
	})
}

// look looks, and reports the supervisor's own CPU time for that: on a busy machine the time
// that passes says little.
func (p *program) look(b *testing.B) {
	b.ReportAllocs()
	own, looks := ownCPU(), 0
	for b.Loop() {
		p.sample()
		if looks++; looks%queuePoll == 0 {
			p.lookAtQueue()
		}
	}
	b.ReportMetric(float64(ownCPU()-own)/float64(looks), "cpu-ns/op")
}

// BenchmarkFamily is what it does beside that ten times a second where no control group counts
// the processes of a build.
func BenchmarkFamily(b *testing.B) {
	for b.Loop() {
		family(os.Getpid())
	}
}

// sleeper is a program without limits that does nothing.
func sleeper(b *testing.B) *program {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GRADE_TEST_SLEEPER=1")
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	in, err := cmd.StdinPipe() // at the end of which it ends
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { _, _ = in.Close(), cmd.Wait() })
	_, err = out.Read(make([]byte, 1)) // it has its threads
	require.NoError(b, err)
	p := &program{process: cmd.Process, statm: openFigures(statm(cmd.Process.Pid)), scratch: tmpfsGrowth("/dev/shm")}
	p.limits.CPU, p.box = time.Hour, func() int64 { return 0 }
	p.spent = func() (time.Duration, bool) {
		cpu, err := cpuTime(cmd.Process.Pid)
		return cpu, err == nil
	}
	return p
}

func init() {
	if os.Getenv("GRADE_TEST_SLEEPER") == "" {
		return
	}
	startThreads()
	_, _ = os.Stdout.WriteString("x")
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}
