//go:build linux

package main

import (
	"io/fs"
	"os"
	"os/exec"
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
	}, 20*time.Second, 10*time.Millisecond)
	size, err := resident(cmd.Process.Pid)
	require.NoError(t, err)
	assert.Greater(t, size, int64(1<<20))
	assert.Contains(t, descendants(os.Getpid()), cmd.Process.Pid)

	_, err = cpuTime(1 << 22)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = resident(1 << 22)
	require.ErrorIs(t, err, fs.ErrNotExist)
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
	for stat, want := range map[string]int{
		"42 (sh) S 7 42 42 0 -1":         7,
		"42 (a) R 1 (b) S 8 42 42 0 -1":  8,
		"42 (\n) S 9) Z 10 42 42 0 -1":   10,
		"42 (sh) S":                      -1,
		"":                               -1,
		"42 (sh) S seven 42 42 34816 42": -1,
	} {
		require.NoError(t, os.WriteFile(dir+"/stat", []byte(stat), 0o600))
		pid, parent, ok := parentOf(dir + "/stat")
		if want < 0 {
			assert.False(t, ok, stat)
			continue
		}
		assert.True(t, ok, stat)
		assert.Equal(t, [2]int{42, want}, [2]int{pid, parent}, stat)
	}
	_, _, ok := parentOf(dir + "/nothing")
	assert.False(t, ok)
}
