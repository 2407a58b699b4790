// Package conformance is the test suite that every sandbox passes: a table of
// programs that misbehave, with the outcomes that a box has to report. A sandbox's
// own tests call [Test], and test separately what only that sandbox promises.
//
// A program that misbehaves must get an outcome, never an error; everything that
// it left must be gone; and the box must serve the next request as if it were the
// first.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"grade/sandbox"
)

// Suite describes a sandbox to the tests.
type Suite struct {
	// Open makes a box that is closed when the test ends.
	Open func(t *testing.T, s sandbox.Spec) sandbox.Box
	// Arch is the GOARCH of the programs.
	Arch string
	// Isolated says that the programs of a box have a user, process numbers, file
	// systems and a control group of their own.
	Isolated bool
}

// Test runs the suite.
func Test(t *testing.T, s Suite) {
	t.Run("Endings", s.endings)
	t.Run("Output", s.output)
	t.Run("Clocks", s.clocks)
	t.Run("Memory", s.memory)
	t.Run("Processes", s.processes)
	t.Run("Scratch", s.scratch)
	t.Run("Collect", s.collect)
	t.Run("Work", s.work)
	t.Run("View", s.view)
	t.Run("Pin", s.pin)
	t.Run("Close", s.close)
	t.Run("Build", s.build)
}

// Need stops a test if err is not nil. It skips the test for
// sandbox.ErrUnavailable, unless the environment variable CI is set; it fails the
// test there, and for any other error.
func Need(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case errors.Is(err, sandbox.ErrUnavailable) && os.Getenv("CI") == "":
		t.Skipf("SKIPPED, not passed: %v", err)
	default:
		t.Fatal(err)
	}
}

// Spec returns the spec of a small box to run programs in.
func Spec() sandbox.Spec {
	return sandbox.Spec{Purpose: sandbox.Run, Memory: 256 << 20, Pids: 128, Scratch: 16 << 20}
}

// Limits returns limits that a well-behaved program of the suite never reaches.
func Limits() sandbox.Limits {
	return sandbox.Limits{
		Wall: 20 * time.Second, CPU: 20 * time.Second,
		Stdout: 64 << 10, Stderr: 64 << 10, Observations: 64 << 10, CollectMax: 1000,
	}
}

// Request returns a request for one of the suite's programs, within Limits.
func Request(program string, args ...string) sandbox.Request {
	return sandbox.Request{Path: program, Args: args, Limits: Limits()}
}

// Run sends a request together with its program. An error is the sandbox's, and
// fails the test.
func (s Suite) Run(t *testing.T, b sandbox.Box, q sandbox.Request) sandbox.Outcome {
	t.Helper()
	o, err := s.run(b, q)
	require.NoError(t, err)
	return o
}

func (s Suite) run(b sandbox.Box, q sandbox.Request) (sandbox.Outcome, error) {
	file, err := Program(s.Arch, q.Path)
	if err != nil {
		return sandbox.Outcome{}, err
	}
	q.Files = append(q.Files, file)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return b.Run(ctx, q)
}

// Place writes one of the suite's programs to the work directory.
func (s Suite) Place(t *testing.T, b sandbox.Box, name string) {
	t.Helper()
	file, err := Program(s.Arch, name)
	require.NoError(t, err)
	_, err = b.Run(t.Context(), sandbox.Request{Files: []sandbox.File{file}})
	require.NoError(t, err)
}

// RunJSON runs a program and decodes the JSON that it prints.
func (s Suite) RunJSON(t *testing.T, b sandbox.Box, q sandbox.Request, said any) {
	t.Helper()
	o := s.Run(t, b, q)
	require.Zero(t, o.ExitCode, "stderr: %s", o.Stderr)
	require.Zero(t, o.Signal)
	require.Zero(t, o.Cause)
	require.NoError(t, json.Unmarshal(o.Stdout, said), "stdout: %s", o.Stdout)
}

// well checks that a box still works.
func (s Suite) well(t *testing.T, b sandbox.Box) {
	t.Helper()
	o := s.Run(t, b, Request("end", "exit", "7"))
	require.Equal(t, 7, o.ExitCode)
	require.Zero(t, o.Signal)
	require.Zero(t, o.Cause)
}
