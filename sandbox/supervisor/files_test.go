//go:build linux

package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

// private returns a supervisor with its own directories, which runs nothing.
func private(t *testing.T) *supervisor {
	t.Helper()
	p, err := newPlaces(t.TempDir(), sandbox.Dirs{})
	require.NoError(t, err)
	t.Cleanup(p.remove)
	return &supervisor{places: p, uid: -1}
}

func put(s *supervisor, name, data string) error {
	return s.place(name, false, int64(len(data)), strings.NewReader(data))
}

func TestPlace(t *testing.T) {
	s := private(t)
	require.NoError(t, put(s, "a/b/c.go", "one"))
	require.NoError(t, put(s, "a/b/c.go", "two"), "a name sent again is replaced")
	require.NoError(t, s.place("run", true, 1, strings.NewReader("x")))
	b, err := os.ReadFile(filepath.Join(s.dirs.Work, "a/b/c.go"))
	require.NoError(t, err)
	assert.Equal(t, "two", string(b))
	for name, want := range map[string]fs.FileMode{"run": 0o755, "a/b/c.go": 0o644} {
		info, err := os.Stat(filepath.Join(s.dirs.Work, name))
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), name)
	}
	for name, want := range map[string]string{
		"": "outside the work directory", ".": "invalid argument", "..": "outside the work directory", "../x": "outside the work directory",
		"/x": "outside the work directory", "a/../../x": "outside the work directory", `a\x`: "outside the work directory",
		"a/b": "directory not empty", "run/x": "file exists",
	} {
		assert.ErrorContains(t, put(s, name, "x"), want, name)
	}
	assert.ErrorIs(t, s.place("short", false, 5, strings.NewReader("1234")), io.ErrUnexpectedEOF)
}

// A program with the supervisor's own user can put links in the work directory.
func TestPlaceFollowsNoLinkOutside(t *testing.T) {
	s := private(t)
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(outside+"/file", []byte("canary"), 0o600))
	require.NoError(t, os.Symlink(outside, s.dirs.Work+"/dir"))
	require.NoError(t, os.Symlink(outside+"/file", s.dirs.Work+"/file"))
	assert.ErrorContains(t, put(s, "dir/new", "x"), "path escapes from parent")
	require.NoError(t, put(s, "file", "x"), "the link is replaced")
	b, err := os.ReadFile(outside + "/file")
	require.NoError(t, err)
	assert.Equal(t, "canary", string(b))
	assert.NoFileExists(t, outside+"/new")
}

func TestCollect(t *testing.T) {
	s := private(t)
	at := func(name string) string { return filepath.Join(s.dirs.Scratch, name) }
	require.NoError(t, os.MkdirAll(at("dir/below"), 0o700))
	require.NoError(t, os.WriteFile(at("file"), []byte("12345"), 0o600))
	require.NoError(t, os.WriteFile(at("dir/below/file"), []byte("nested"), 0o600))
	require.NoError(t, os.WriteFile(at("large"), make([]byte, 11), 0o600))
	require.NoError(t, os.WriteFile(at("sparse"), nil, 0o600))
	require.NoError(t, os.Truncate(at("sparse"), 1<<40))
	require.NoError(t, os.Symlink("file", at("link")))
	require.NoError(t, os.Symlink("/etc/passwd", at("out")))
	require.NoError(t, syscall.Mkfifo(at("fifo"), 0o600))
	q := sandbox.Request{Limits: sandbox.Limits{CollectMax: 10}, Collect: []string{
		"file", "dir/below/file", "large", "sparse", "link", "out", "fifo", "dir", "missing", "../work", "/etc/passwd", "", "file/x", ".",
	}}
	assert.Equal(t, []sandbox.File{{Name: "file", Data: []byte("12345")}, {Name: "dir/below/file", Data: []byte("nested")}}, s.collect(q))
}

func TestWipe(t *testing.T) {
	s := private(t)
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(outside+"/canary", nil, 0o600))
	at := func(name string) string { return filepath.Join(s.dirs.Scratch, name) }
	require.NoError(t, os.MkdirAll(at("shut/also/more"), 0o700))
	require.NoError(t, os.WriteFile(at("shut/also/file"), nil, 0))
	require.NoError(t, os.Symlink(outside, at("shut/also/link")))
	require.NoError(t, os.Symlink(outside, at("link")))
	require.NoError(t, os.Symlink("nowhere", at("dangling")))
	require.NoError(t, syscall.Mkfifo(at("fifo"), 0))
	for i := range 3000 { // more than names lists at once
		require.NoError(t, os.WriteFile(at(fmt.Sprint(i)), nil, 0o600))
	}
	require.NoError(t, os.Chmod(at("shut/also"), 0))
	require.NoError(t, os.Chmod(at("shut"), 0))
	require.NoError(t, os.Chmod(s.dirs.Scratch, 0))
	require.NoError(t, s.clean())
	left, err := os.ReadDir(s.dirs.Scratch)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.FileExists(t, outside+"/canary")
}

// wipe needs fewer descriptors than there are nested directories.
func TestWipeOfNestedDirectories(t *testing.T) {
	s := private(t)
	var was syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was))
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: highestOpen(t) + 60, Max: was.Max}))
	here, err := os.Getwd()
	require.NoError(t, err)
	defer os.Chdir(here)
	require.NoError(t, os.Chdir(s.dirs.Scratch))
	for range 200 {
		require.NoError(t, os.Mkdir("d", 0o700))
		require.NoError(t, os.Chdir("d"))
	}
	require.NoError(t, os.WriteFile("bottom", nil, 0o600))
	require.NoError(t, os.Chdir(here))
	require.NoError(t, s.clean())
}

// highestOpen is the highest descriptor in use: tests that ran before may have left some open.
func highestOpen(t *testing.T) (highest uint64) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, one := range open {
		fd, err := strconv.ParseUint(one.Name(), 10, 32)
		require.NoError(t, err)
		highest = max(highest, fd)
	}
	return highest
}

func TestCleanReplacesScratch(t *testing.T) {
	for name, replace := range map[string]func(scratch string) error{
		"nothing": func(string) error { return nil },
		"a link":  func(scratch string) error { return os.Symlink(t.TempDir(), scratch) },
		"a file":  func(scratch string) error { return os.WriteFile(scratch, nil, 0) },
		"another": func(scratch string) error { return os.MkdirAll(scratch+"/with/content", 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			s := private(t)
			require.NoError(t, os.WriteFile(s.dirs.Scratch+"/left", nil, 0o600))
			moved := t.TempDir() + "/moved"
			require.NoError(t, os.Rename(s.dirs.Scratch, moved))
			require.NoError(t, replace(s.dirs.Scratch))
			require.NoError(t, s.clean())
			assert.NoFileExists(t, moved+"/left")
			info, err := os.Lstat(s.dirs.Scratch)
			require.NoError(t, err)
			assert.True(t, info.IsDir())
			require.NoError(t, os.WriteFile(s.dirs.Scratch+"/new", []byte("x"), 0o600))
			assert.Len(t, s.collect(sandbox.Request{Collect: []string{"new"}, Limits: sandbox.Limits{CollectMax: 1}}), 1)
		})
	}
	t.Run("a moved work directory is an error", func(t *testing.T) {
		s := private(t)
		require.NoError(t, os.Rename(s.dirs.Work, s.dirs.Work+"-moved"))
		require.ErrorContains(t, s.clean(), "a program moved or removed")
	})
}

func TestRemove(t *testing.T) {
	parent := t.TempDir()
	p, err := newPlaces(parent, sandbox.Dirs{})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(p.dirs.Scratch+"/a/b", 0o700))
	require.NoError(t, os.Chmod(p.dirs.Scratch+"/a", 0))
	require.NoError(t, os.Chmod(filepath.Dir(p.dirs.Work), 0))
	p.remove()
	left, err := os.ReadDir(parent)
	require.NoError(t, err)
	assert.Empty(t, left)
}
