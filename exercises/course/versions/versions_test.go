package versions

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/exercises/course/scaffold"
	"grade/grader/fault"
)

// repository is a course with two exercises in git, of which mean has changed since.
func repository(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "git %v: %s", args, out)
	}
	write(t, dir, "go.mod", "module example.com/mine\n\ngo 1.26\n")
	for _, name := range []string{"mean", "mode"} {
		files, err := scaffold.Exercise(name, "example.com/mine")
		require.NoError(t, err)
		require.NoError(t, scaffold.WriteAll(dir, files))
	}
	write(t, dir, ".gitattributes", "* export-ignore\n") // keeps nothing from being read
	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "all")
	write(t, dir, "exercises/mean/README.md", "# Mean\n\nChanged.\n")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
}

func TestFind(t *testing.T) {
	dir := repository(t)
	p, err := Find(t.Context(), dir, "HEAD:mode", filepath.Join(dir, "exercises", "mode"))
	require.NoError(t, err)
	assert.Equal(t, p.Old.Exercise.Hash, p.New.Exercise.Hash, "nothing has changed")
	assert.Equal(t, dir, p.New.Dir)
	require.NoError(t, p.Close())
	assert.NoDirExists(t, p.Old.Dir)

	p, err = Find(t.Context(), dir, "HEAD:mean", "mean")
	require.NoError(t, err)
	assert.NotContains(t, string(p.Old.Exercise.Readme), "Changed.")
	assert.Contains(t, string(p.New.Exercise.Readme), "Changed.")
	require.NoError(t, p.Close())
}

func TestFindRefuses(t *testing.T) {
	dir := repository(t)
	for want, args := range map[string][3]string{
		"OLD is the exercise mode, and NEW is mean": {dir, "mode", "mean"},
		`there is no exercise "tanh"`:               {dir, "tanh", "mean"},
		"HEAD:tanh: there was no such exercise":     {dir, "HEAD:tanh", "mean"},
		"nowhere:mean: git: ":                       {dir, "nowhere:mean", "mean"},
		"--all:mean: git: ":                         {dir, "--all:mean", "mean"},
		"mean: no exercise in a course":             {"", "mean", "mean"},
		"..: no exercise in a course":               {dir, "..", "mean"},
	} {
		p, err := Find(t.Context(), args[0], args[1], args[2])
		var usage *fault.Error
		require.ErrorAs(t, err, &usage, want)
		require.ErrorContains(t, err, want)
		require.NoError(t, p.Close())
		assert.NoDirExists(t, p.temp)
	}
}

// What is shared by all exercises changes all.
func TestChangedSince(t *testing.T) {
	dir := repository(t)
	touched, all, err := ChangedSince(t.Context(), dir, "HEAD")
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"mean": true}, touched)
	assert.False(t, all)
	write(t, dir, "reference/mode/new.go", "package mode\n") // git does not know it yet
	write(t, dir, "kit/kit.go", "package kit\n")
	write(t, dir, "exercises/chapters.yaml", "chapters: []\n")
	touched, all, err = ChangedSince(t.Context(), dir, "HEAD")
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"mean": true, "mode": true, "chapters.yaml": true}, touched)
	assert.True(t, all)
	_, _, err = ChangedSince(t.Context(), dir, "nowhere")
	require.ErrorContains(t, err, "git: ")
}
