package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade"
	"grade/grader/lang/golang"
	"grade/sandbox"
	"grade/sandbox/conformance"
)

const helperVariable = "GRADE_TEST_HELPER"

// TestMain lets a test start this binary again, as a grade to be killed.
func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) != "" {
		if err := helper(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func config() Config {
	return Config{Sources: grade.Sources, Warm: golang.Warm(grade.Sources)}
}

// opened returns a sandbox that lasts as long as the test.
func opened(t *testing.T) *Sandbox {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	s, err := Open(ctx, config())
	conformance.Need(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func suite(s *Sandbox) conformance.Suite {
	return conformance.Suite{Arch: s.Info().GoArch, Open: func(t *testing.T, spec sandbox.Spec) sandbox.Box {
		t.Helper()
		b, err := s.Box(t.Context(), spec)
		require.NoError(t, err)
		t.Cleanup(func() { b.Close() })
		return b
	}}
}

// living lists the processes whose directory is below dir, deleted or not.
func living(dir string) []string {
	var found []string
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			found = append(found, filepath.Dir(link))
		}
	}
	return found
}

func TestConformance(t *testing.T) {
	conformance.Test(t, suite(opened(t)))
}

func TestInfo(t *testing.T) {
	info := opened(t).Info()
	assert.Equal(t, "process", info.Kind)
	assert.False(t, info.Official)
	assert.Contains(t, info.Build, "go1.")
	assert.Empty(t, info.Cgroup)
}

func TestCloseRemovesTheDirectory(t *testing.T) {
	s := opened(t)
	c := suite(s)
	b := c.Open(t, conformance.Spec())
	c.Run(t, b, conformance.Request("litter", "heap", b.Dirs().Scratch, t.TempDir()))
	dir := filepath.Dir(b.Dirs().Work)
	require.DirExists(t, dir)
	require.NoError(t, b.Close())
	require.NoError(t, s.Close())
	assert.NoDirExists(t, dir)
}

// A program with grade's own user can move its directories. The supervisor still
// writes and wipes only in the original ones.
func TestScratchIsNotFollowed(t *testing.T) {
	for _, what := range []string{"swap", "shut"} {
		t.Run(what, func(t *testing.T) {
			s := opened(t)
			c := suite(s)
			outside := t.TempDir()
			canary := filepath.Join(outside, "canary")
			require.NoError(t, os.WriteFile(canary, nil, 0o600))
			b := c.Open(t, conformance.Spec())
			o := c.Run(t, b, conformance.Request("litter", what, b.Dirs().Scratch, outside))
			require.Zero(t, o.ExitCode, "stderr: %s", o.Stderr)
			assert.Empty(t, c.Look(t, b, b.Dirs().Scratch).Lists[b.Dirs().Scratch])
			o = c.Run(t, b, conformance.Request("litter", "heap", b.Dirs().Scratch, outside))
			require.Zero(t, o.ExitCode, "stderr: %s", o.Stderr)
			require.NoError(t, b.Close())
			require.NoError(t, s.Close())
			assert.FileExists(t, canary)
			assert.NoDirExists(t, filepath.Dir(b.Dirs().Work))
		})
	}
}

// A build may start processes with grade's own user, so a hostile compiler could
// kill the supervisor. Even that leaves nothing behind.
func TestKilledSupervisorLeavesNothing(t *testing.T) {
	s := opened(t)
	c := suite(s)
	b := c.Open(t, conformance.Spec())
	dir := filepath.Dir(b.Dirs().Work)
	c.Place(t, b, "wait")
	time.AfterFunc(500*time.Millisecond, func() { _ = b.(*box).cmd.Process.Kill() })
	q := conformance.Request("wait", "deaf")
	q.Forks, q.Limits.Wall = true, 2*time.Minute
	start := time.Now()
	_, err := b.Run(t.Context(), q)
	require.ErrorIs(t, err, sandbox.ErrGone)
	assert.Less(t, time.Since(start), q.Limits.Wall)
	require.NoError(t, b.Close())
	require.NoError(t, s.Close())
	assert.NoDirExists(t, dir)
	assert.Eventually(t, func() bool { return len(living(dir)) == 0 }, time.Minute, 20*time.Millisecond)
}

// A supervisor that a program has stopped still ends when its input does.
func TestStoppedSupervisorLeavesNothing(t *testing.T) {
	s := opened(t)
	b := suite(s).Open(t, conformance.Spec())
	require.NoError(t, b.(*box).cmd.Process.Signal(syscall.SIGSTOP))
	require.NoError(t, b.Close())
	require.NoError(t, s.Close())
	assert.True(t, b.(*box).cmd.ProcessState.Exited(), "it ended by itself: nothing had to kill it")
	assert.NoDirExists(t, filepath.Dir(b.Dirs().Work))
}

// helper acts as a grade with a program running in a box: it prints the box's
// directory, and waits.
func helper() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	s, err := Open(ctx, config())
	if err != nil {
		return err
	}
	b, err := s.Box(ctx, conformance.Spec())
	if err != nil {
		return err
	}
	file, err := conformance.Program(s.Info().GoArch, "fork")
	if err != nil {
		return err
	}
	q := conformance.Request("fork", "middle-and-stay")
	q.Files, q.Forks = append(q.Files, file), true
	go b.Run(ctx, q)
	dir := filepath.Dir(b.Dirs().Work)
	for len(living(dir)) < 2 && ctx.Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Println(dir)
	time.Sleep(time.Minute)
	return nil
}

// A grade that is killed leaves no process, a daemon of its program included,
// and no directory.
func TestKilledOwnerLeavesNothing(t *testing.T) {
	suite(opened(t)) // skips the test if this machine has no such sandbox
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env, cmd.Stderr = append(os.Environ(), helperVariable+"=1"), os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	dir := strings.TrimSpace(line)
	// Go's first fork makes a process for a moment to see what the kernel can do.
	assert.Eventually(t, func() bool { return len(living(dir)) == 2 }, 10*time.Second, 20*time.Millisecond, "the program and its daemon are running")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.NoError(t, err)
	assert.Eventually(t, func() bool {
		_, err := os.Lstat(dir)
		return err != nil && len(living(dir)) == 0
	}, time.Minute, 50*time.Millisecond)
}
