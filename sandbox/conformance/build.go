package conformance

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

// buildSpec returns the spec of a box to compile in.
func buildSpec() sandbox.Spec {
	return sandbox.Spec{Purpose: sandbox.Build, Memory: 512 << 20, Pids: 512, Scratch: 128 << 20}
}

// compile returns a request to build one file. It uses the flags of every build, so
// that the standard library comes from the cache.
func compile(d sandbox.Dirs, source string) sandbox.Request {
	return sandbox.Request{
		Files: []sandbox.File{
			{Name: "go.mod", Data: []byte("module hello\n\ngo 1.26\n")},
			{Name: "hello/hello.go", Data: []byte(source)},
		},
		Path: d.GoRoot + "/bin/go",
		Args: []string{"build", "-trimpath", "-buildvcs=false", "-o", d.Scratch + "/hello", "./hello"},
		Env: []string{
			"HOME=/nonexistent", "GOROOT=" + d.GoRoot, "GOCACHE=" + d.GoCache, "GOTMPDIR=" + d.Scratch, "TMPDIR=" + d.Scratch, "GOENV=off",
			"GOTOOLCHAIN=local", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-mod=readonly", "CGO_ENABLED=0", "GOTELEMETRY=off", "GOPATH=" + d.Scratch + "/gopath",
		},
		Forks:   true,
		Collect: []string{"hello"},
		Limits:  sandbox.Limits{Wall: time.Minute, CPU: time.Minute, Stdout: 64 << 10, Stderr: 64 << 10, CollectMax: 32 << 20},
	}
}

const hello = `package main

import (
	"errors"
	"os"
	"strings"
)

func main() {
	os.Stdout.WriteString(strings.ToUpper(errors.New("hello").Error()))
}
`

// bomb is less than a kilobyte of source that exhausts a compiler's memory.
func bomb() string {
	var b strings.Builder
	b.WriteString("package main\n\nconst s0 = \"0123456789abcdef\"\n")
	for i := range 26 {
		fmt.Fprintf(&b, "const s%d = s%d + s%d\n", i+1, i, i)
	}
	b.WriteString("\nfunc main() { println(s26) }\n")
	return b.String()
}

// busy is a source that keeps a compiler busy for tens of seconds: one function with
// more blocks than its passes are made for.
func busy() string {
	return "package main\n\nfunc f(a []int) {\n" + strings.Repeat("\ta[a[0]] /= a[a[1]]\n", 20_000) + "}\n\nfunc main() { f(nil) }\n"
}

func (s Suite) build(t *testing.T) {
	b := s.Open(t, buildSpec())
	t.Run("a program", func(t *testing.T) {
		o := s.compiles(t, b, hello)
		run := s.Open(t, Spec())
		o, err := run.Run(t.Context(), sandbox.Request{Files: []sandbox.File{{Name: "hello", Exec: true, Data: o.Files[0].Data}}, Path: "hello", Limits: Limits()})
		require.NoError(t, err)
		assert.Equal(t, "HELLO", string(o.Stdout))
	})
	t.Run("no Go", func(t *testing.T) {
		o, err := b.Run(t.Context(), compile(b.Dirs(), "package main\n\nfunc main() { return 1 }\n"))
		require.NoError(t, err)
		assert.Equal(t, 1, o.ExitCode)
		assert.Contains(t, string(o.Stderr), "hello/hello.go:3:22: too many return values")
		assert.Empty(t, o.Files)
	})
	t.Run("too much memory", func(t *testing.T) {
		q := compile(b.Dirs(), bomb())
		q.Limits.Wall = 10 * time.Minute
		o, err := b.Run(t.Context(), q)
		require.NoError(t, err)
		for tries := 0; o.Cause != sandbox.CauseNone && tries < 3; tries++ { // the compiler was read from a disk, again and again, until the time was up
			o, err = b.Run(t.Context(), q)
			require.NoError(t, err)
		}
		assert.Positive(t, o.OOMKills, "%v after %v, and %v of CPU time, with status %d: %s", o.Cause, o.Wall, o.CPU, o.ExitCode, o.Stderr)
		assert.NotZero(t, o.OOMSource)
		assert.Empty(t, o.Files)
	})
	t.Run("too much time", func(t *testing.T) {
		q := compile(b.Dirs(), bomb())
		q.Limits.Wall = 300 * time.Millisecond
		o, err := b.Run(t.Context(), q)
		require.NoError(t, err)
		assert.Equal(t, sandbox.CauseWall, o.Cause)
		assert.Equal(t, syscall.SIGKILL, syscall.Signal(o.Signal))
		s.alone(t, b, nil)
	})
	t.Run("too much of the compiler's time", func(t *testing.T) {
		q := compile(b.Dirs(), busy())
		q.Limits.CPU, q.Limits.Wall = time.Second, 10*time.Minute
		o, err := b.Run(t.Context(), q)
		require.NoError(t, err)
		assert.Equal(t, sandbox.CauseCPU, o.Cause)
		assert.GreaterOrEqual(t, max(o.CPU, o.BoxCPU), q.Limits.CPU)
		s.alone(t, b, nil)
	})
	t.Run("afterwards", func(t *testing.T) { s.compiles(t, b, hello) })
	t.Run("the toolchain cannot be changed", func(t *testing.T) {
		if !s.Isolated {
			t.Skip("a build here runs as our own user")
		}
		for _, dir := range []string{b.Dirs().GoCache, b.Dirs().GoCache + "/00", b.Dirs().GoRoot, b.Dirs().GoRoot + "/src/fmt"} {
			o := s.Run(t, b, Request("fill", filepath.Join(dir, "new")))
			assert.Equal(t, 2, o.ExitCode)
			assert.Contains(t, string(o.Stderr), "read-only file system")
		}
	})
}

// compiles builds a correct program, in the time that a filled cache allows.
func (s Suite) compiles(t *testing.T, b sandbox.Box, source string) sandbox.Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	o, err := b.Run(ctx, compile(b.Dirs(), source))
	require.NoError(t, err)
	require.Zero(t, o.ExitCode, "stderr: %s", o.Stderr)
	require.Zero(t, o.Signal)
	require.Len(t, o.Files, 1)
	assert.Less(t, o.BoxCPU, 15*time.Second, "the standard library was compiled again")
	return o
}
