package grade_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The commands of the README do what it says, in its order and in an empty
// folder: for a student who has not written anything yet, and for a CI.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllSubmatch(readme, -1)
	require.Len(t, blocks, 3, "the README has a block of commands for a student, one for a CI and one for many submissions")
	env := withGrade(t)

	dir := t.TempDir()
	fails := map[string]bool{"go test": true, "grade submit": true} // nothing is written yet
	for line := range strings.Lines(string(blocks[0][1])) {
		command, _, _ := strings.Cut(line, "#")
		command = strings.TrimSpace(command)
		if to, ok := strings.CutPrefix(command, "cd "); ok {
			dir = filepath.Join(dir, to)
			continue
		}
		out, status := bash(t, dir, env, command)
		want := 0
		if fails[command] {
			want = 1
		}
		assert.Equal(t, want, status, "%s: %s", command, out)
		delete(fails, command)
	}
	assert.Empty(t, fails, "commands that the README does not have any more")

	out, status := bash(t, dir, env, string(blocks[1][1]))
	assert.Equal(t, 0, status, out)
	assert.Contains(t, out, "graded:")
	assert.FileExists(t, filepath.Join(dir, "result.json"))

	class := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(class, "students", "ada", "autograd"), os.DirFS(dir)))
	out, status = bash(t, class, env, string(blocks[2][1]))
	assert.Equal(t, 0, status, out)
	assert.True(t, strings.HasSuffix(out, "\ngraded 1, cached 0, no verdict 0\n"), out)
	assert.FileExists(t, filepath.Join(class, "grades", "results.jsonl"))
}

// withGrade puts grade on the path. Without an engine the test is
// skipped on a laptop, and fails where CI is set.
func withGrade(t *testing.T) (env []string) {
	t.Helper()
	bin := program(t)
	said, err := doctor()
	if err != nil && os.Getenv("CI") == "" {
		t.Skipf("NOT TESTED: this machine cannot grade: %v\n%s", err, said)
	}
	require.NoError(t, err, "%s", said)
	return append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GOWORK=off")
}

// doctor looks at this machine, once for all tests.
var doctor = sync.OnceValues(func() (said []byte, err error) {
	return exec.Command(filepath.Join(programDir, "grade"), "doctor").CombinedOutput()
})

func bash(t *testing.T, dir string, env []string, script string) (out string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
	cmd.Dir, cmd.Env = dir, env
	b, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return string(b), cmd.ProcessState.ExitCode()
}
