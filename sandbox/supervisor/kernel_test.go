//go:build linux

package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAllowedCPUs(t *testing.T) {
	cpus, err := allowedCPUs()
	require.NoError(t, err)
	assert.NotEmpty(t, cpus)
}

func TestClocksAndSizesOfAnotherProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestBusy$")
	cmd.Env = append(os.Environ(), "GRADE_TEST_BUSY=1")
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	assert.Eventually(t, func() bool {
		cpu, err := cpuTime(cmd.Process.Pid)
		return err == nil && cpu > 50*time.Millisecond
	}, time.Minute, 10*time.Millisecond)
	size, err := resident(cmd.Process.Pid)
	require.NoError(t, err)
	assert.Greater(t, size, int64(1<<20))
	assert.Contains(t, descendants(os.Getpid()), cmd.Process.Pid)

	_, err = cpuTime(1 << 22)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = resident(1 << 22)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// A process goes on without its first thread, and its size is seen.
func TestSizeWithoutTheFirstThread(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GRADE_TEST_HEADLESS=1")
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	statm := statm(cmd.Process.Pid)
	require.Eventually(t, func() bool {
		size, err := residentAt(statm)
		return err == nil && size == 0
	}, time.Minute, 10*time.Millisecond)
	size, err := resident(cmd.Process.Pid)
	require.NoError(t, err)
	assert.Greater(t, size, int64(64<<20))
	p := &program{process: cmd.Process, statm: openFigures(statm)}
	defer p.statm.close()
	size, err = p.resident()
	require.NoError(t, err)
	assert.Greater(t, size, int64(64<<20))
}

// init makes the process that the test above observes: it runs on the first thread.
func init() {
	if os.Getenv("GRADE_TEST_HEADLESS") == "" {
		return
	}
	held := bytes.Repeat([]byte{1}, 64<<20)
	runs := make(chan bool)
	go func() {
		close(runs)
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		os.Exit(int(held[0]))
	}()
	<-runs
	runtime.LockOSThread()
	syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
}

// TestBusy runs in the process that the test above observes.
func TestBusy(t *testing.T) {
	if os.Getenv("GRADE_TEST_BUSY") == "" {
		return
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
	}
}

func TestParentOfAnOddName(t *testing.T) {
	dir := t.TempDir() + "/42"
	require.NoError(t, os.Mkdir(dir, 0o700))
	const rest = " 4194304 99 99 99 99 1 20 300 4000 20 0 1 0" // flags, faults, times
	for stat, want := range map[string]int{
		"42 (sh) S 7 42 42 0 -1" + rest:         7,
		"42 (a) R 1 (b) S 8 42 42 0 -1" + rest:  8,
		"42 (\n) S 9) R 10 42 42 0 -1" + rest:   10,
		"42 (sh) S 7 42 42 0 -1":                -1,
		"42 (sh) S":                             -1,
		"":                                      -1,
		"42 (sh) S seven 42 42 34816 42" + rest: -1,
	} {
		require.NoError(t, os.WriteFile(dir+"/stat", []byte(stat), 0o600))
		r, ok := readRelative(dir + "/stat")
		if want < 0 {
			assert.False(t, ok, stat)
			continue
		}
		assert.True(t, ok, stat)
		assert.Equal(t, relative{42, want, want == 10, 4321 * statTick}, r, stat)
	}
	_, ok := readRelative(dir + "/nothing")
	assert.False(t, ok)
}
