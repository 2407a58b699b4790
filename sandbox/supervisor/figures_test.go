//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file that is open shows each look what it has by then.
func TestFiguresAreReadAgain(t *testing.T) {
	name := t.TempDir() + "/figures"
	put := func(s string) { require.NoError(t, os.WriteFile(name, []byte(s), 0o600)) }
	put("1234567\n")
	f := openFigures(name)
	defer f.close()
	for s, want := range map[string]int64{"1234567\n": 1234567, "8\n": 8, "9": 9, "max\n": -1, "": -1, "1 2\n": -1} {
		put(s)
		v, ok := f.number()
		assert.Equal(t, want >= 0, ok, s)
		assert.Equal(t, max(want, 0), v, s)
	}
	put("oom 1\noom_kill 22\noom_group_kill 3")
	for key, want := range map[string]int64{"oom": 1, "oom_kill": 22, "oom_group_kill": 3, "kill": -1, "": -1} {
		v, ok := f.keyed(key)
		assert.Equal(t, want >= 0, ok, key)
		assert.Equal(t, max(want, 0), v, key)
	}
}

// Figures that are not whole are no figures.
func TestMissingFigures(t *testing.T) {
	name := t.TempDir() + "/figures"
	require.NoError(t, os.WriteFile(name, bytes.Repeat([]byte("7"), figuresMax), 0o600))
	for what, f := range map[string]figures{"missing": openFigures(name + "less"), "too long": openFigures(name), "zero": {}} {
		_, ok := f.number()
		assert.False(t, ok, what)
		_, ok = f.keyed("7")
		assert.False(t, ok, what)
		_, err := residentIn(f)
		require.Error(t, err, what)
		f.close()
	}
}

// The number of a process that has ended may be another's: what was opened never tells of that.
func TestFiguresOfAProcessThatHasEnded(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	p := &program{process: cmd.Process, statm: openFigures(statm(cmd.Process.Pid))}
	defer p.statm.close()
	size, err := p.resident()
	require.NoError(t, err)
	assert.Positive(t, size)
	in.Close()
	require.NoError(t, cmd.Wait())
	_, err = p.resident()
	require.ErrorIs(t, err, syscall.ESRCH)
}

// Programs do not inherit what the supervisor holds open.
func TestFiguresAreNotInherited(t *testing.T) {
	f := openFigures("/proc/self/statm")
	defer f.close()
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.file.Fd(), syscall.F_GETFD, 0)
	require.Zero(t, errno)
	assert.NotZero(t, flags&syscall.FD_CLOEXEC)
}
