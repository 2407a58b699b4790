package conformance

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

// scratch tests what programs leave in the scratch directory.
func (s Suite) scratch(t *testing.T) {
	b := s.Open(t, Spec())
	dir := b.Dirs().Scratch
	outside := t.TempDir()
	canary := filepath.Join(outside, "canary")
	require.NoError(t, os.WriteFile(canary, []byte("alive"), 0o600))
	for _, what := range []string{"heap", "deep", "many"} {
		t.Run(what, func(t *testing.T) {
			o := s.Run(t, b, Request("litter", what, dir, outside))
			require.Zero(t, o.ExitCode, "stderr: %s", o.Stderr)
			assert.Empty(t, s.Look(t, b, dir).Lists[dir])
			assert.FileExists(t, canary)
		})
	}
	t.Run("files without end", func(t *testing.T) {
		q := Request("litter", "endless", dir)
		if !s.Isolated { // filling a disk takes too long
			q.Limits.Wall = 300 * time.Millisecond
		}
		o := s.Run(t, b, q)
		assert.Equal(t, s.Isolated, strings.Contains(string(o.Stdout), "no space left on device"))
		assert.Empty(t, s.Look(t, b, dir).Lists[dir])
	})
	t.Run("a full disk", func(t *testing.T) {
		spec := Spec()
		spec.Scratch = 4 << 20
		b := s.Open(t, spec)
		for range 2 { // the second program has as much room as the first
			var said struct {
				Bytes int64
				Errno syscall.Errno
			}
			s.RunJSON(t, b, Request("fill", filepath.Join(b.Dirs().Scratch, "file")), &said)
			want := syscall.ENOSPC
			if !s.Isolated {
				want = syscall.EFBIG
			}
			assert.Equal(t, want, said.Errno)
			assert.InDelta(t, spec.Scratch, said.Bytes, 64<<10)
		}
	})
	t.Run("of another box", func(t *testing.T) { s.neighbours(t) })
}

// neighbours checks that two boxes do not see each other while both run.
func (s Suite) neighbours(t *testing.T) {
	one, two := s.Open(t, Spec()), s.Open(t, Spec())
	q := Request("litter", "stay", one.Dirs().Scratch)
	q.Limits.Wall = 2 * time.Second
	done := make(chan sandbox.Outcome)
	go func() {
		o, _ := s.run(one, q)
		done <- o
	}()
	time.Sleep(time.Second)
	seen := s.Look(t, two, two.Dirs().Scratch)
	assert.Empty(t, seen.Lists[two.Dirs().Scratch])
	if s.Isolated {
		assert.Len(t, seen.Processes, 2, "the supervisor and the program: %v", seen.Processes)
	} else {
		assert.NotEqual(t, one.Dirs(), two.Dirs())
	}
	assert.Equal(t, sandbox.CauseWall, (<-done).Cause, "the neighbour ran all the time")
}

func (s Suite) collect(t *testing.T) {
	b := s.Open(t, Spec())
	q := Request("litter", "offers", b.Dirs().Scratch)
	q.Collect = []string{
		"regular", "empty", "dir/nested", "exact",
		"big", "sparse", "link", "outside", "up", "fifo", "dir", "missing", "regular/below", "../work/litter", "/etc/passwd", "",
	}
	o := s.Run(t, b, q)
	require.Zero(t, o.ExitCode, "stderr: %s", o.Stderr)
	got := map[string]string{}
	for _, f := range o.Files {
		got[f.Name] = string(f.Data)
	}
	assert.Equal(t, map[string]string{"regular": "content", "empty": "", "dir/nested": "nested", "exact": string(make([]byte, 1000))}, got)
	q.Collect = nil
	assert.Empty(t, s.Run(t, b, q).Files)
}

// work tests the files that come with a request.
func (s Suite) work(t *testing.T) {
	b := s.Open(t, Spec())
	end, err := Program(s.Arch, "end")
	require.NoError(t, err)
	t.Run("files stay, and can be replaced", func(t *testing.T) {
		_, err := b.Run(t.Context(), sandbox.Request{Files: []sandbox.File{{Name: "a/b/run", Data: []byte("no program")}, {Name: "a/data", Data: []byte("x")}}})
		require.NoError(t, err)
		_, err = b.Run(t.Context(), sandbox.Request{Files: []sandbox.File{{Name: "a/b/run", Exec: true, Data: end.Data}}})
		require.NoError(t, err)
		for _, path := range []string{"a/b/run", filepath.Join(b.Dirs().Work, "a/b/run")} {
			o, err := b.Run(t.Context(), sandbox.Request{Path: path, Args: []string{"exit", "5"}, Limits: Limits()})
			require.NoError(t, err)
			assert.Equal(t, 5, o.ExitCode)
		}
		assert.ElementsMatch(t, []string{"b", "data"}, s.Look(t, b, "a").Lists["a"])
	})
	t.Run("a program cannot change them", func(t *testing.T) {
		if !s.Isolated {
			t.Skip("programs here run as grade's own user")
		}
		for _, path := range []string{"new", "end", "a/data", "a/new"} {
			o := s.Run(t, b, Request("fill", filepath.Join(b.Dirs().Work, path)))
			assert.Equal(t, 2, o.ExitCode)
			assert.Contains(t, string(o.Stderr), "permission denied", path)
		}
	})
	for _, name := range []string{"../out", "/out", "a/../../out", "", "."} {
		t.Run("a name outside: "+name, func(t *testing.T) {
			b := s.Open(t, Spec())
			_, err := b.Run(t.Context(), sandbox.Request{Files: []sandbox.File{{Name: name, Data: []byte("x")}}})
			assert.ErrorIs(t, err, sandbox.ErrGone)
		})
	}
}

func (s Suite) close(t *testing.T) {
	t.Run("while a program runs", func(t *testing.T) {
		b := s.Open(t, Spec())
		failed := make(chan error)
		go func() {
			_, err := s.run(b, Request("wait", "deaf"))
			failed <- err
		}()
		time.Sleep(500 * time.Millisecond)
		require.NoError(t, b.Close())
		select {
		case err := <-failed:
			assert.ErrorIs(t, err, sandbox.ErrGone)
		case <-time.After(time.Minute):
			t.Fatal("Run waits for a box that is closed")
		}
		require.NoError(t, b.Close(), "a second time")
		_, err := s.run(b, Request("end", "exit", "0"))
		assert.ErrorIs(t, err, sandbox.ErrGone)
	})
	t.Run("a cancelled request", func(t *testing.T) {
		b := s.Open(t, Spec())
		file, err := Program(s.Arch, "wait")
		require.NoError(t, err)
		q := Request("wait", "deaf")
		q.Files, q.Limits.Wall = []sandbox.File{file}, 2*time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err = b.Run(ctx, q)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Less(t, time.Since(start), q.Limits.Wall)
	})
}
