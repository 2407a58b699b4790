package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A runner ends a job with SIGTERM: grade ci ends soon, says so, and leaves neither a
// container nor the folder that it keeps results in where it is told of none. Some send the
// signal more than once.
func TestCITerminated(t *testing.T) {
	c := engineClient(t)
	course, students, _ := class(t)
	commitAll(t, students)
	temporary := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	var told bytes.Buffer
	child := exec.Cmd{
		Path: self, Args: []string{"grade", "ci", students, "--all", "--course", course, "--workers", "2"},
		Env: append(os.Environ(), "TMPDIR="+temporary, "GITHUB_ACTIONS=", "GITLAB_CI="), Stderr: &told, // a job of its own
	}
	require.NoError(t, child.Start())
	require.Eventually(t, func() bool { return len(within(t, temporary)) == 1 }, time.Minute, time.Millisecond, "results are kept in a folder of its own")
	firstResult(t, filepath.Join(temporary, "*"))
	require.Eventually(t, func() bool { return len(containersOf(t, c, child.Process.Pid)) > 0 }, time.Minute, time.Millisecond, "others are being graded")
	require.NoError(t, child.Process.Signal(syscall.SIGTERM))
	// As timeout(1) does, to the group as well; two at once would be one to the kernel, and after a
	// second the signal ends grade whatever it does.
	for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); {
		_ = child.Process.Signal(syscall.SIGTERM)
	}
	_ = child.Wait()
	assert.Equal(t, exitInterrupted, child.ProcessState.ExitCode(), told.String())
	assert.Contains(t, told.String(), "grade: interrupted\n")
	assert.Empty(t, containersOf(t, c, child.Process.Pid), "nothing of it is left")
	assert.Empty(t, within(t, temporary), "no folder is left")
}

// commitAll makes a folder a clone with one commit of all that is in it, and rules that
// find submissions as class lays them out.
func commitAll(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "grade.yaml"), []byte("submissions: '{student}/{exercise}'\n"), 0o600))
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "one"}} {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}

// within lists what is in a folder.
func within(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, one := range list {
		names = append(names, one.Name())
	}
	return names
}
