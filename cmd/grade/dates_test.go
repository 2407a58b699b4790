package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/batch"
)

// gitIn runs git, as somebody who commits on a day of long ago.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_COMMITTER_DATE=2020-02-03T04:05:06+01:00", "GIT_AUTHOR_DATE=2019-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
}

// put writes a file, and the folders it is in.
func put(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

func TestDates(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	put(t, "students/ada/mean/mean.go", "package mean\n")
	put(t, "students/bo.zip", "not really one")
	put(t, "students/cem/mean/mean.go", "package mean\n")
	put(t, "students/dora/mean/mean.go", "package mean\n")
	put(t, "students/fay/mean/notes.txt", "")
	gitIn(t, ".", "init", "-q")
	gitIn(t, ".", "add", "-A")
	gitIn(t, ".", "commit", "-qm", "all")
	put(t, "students/cem/mean/mean.go", "package mean // changed\n")
	put(t, "students/dora/mean/more.go", "package mean\n")
	put(t, "students/ed/mean/mean.go", "package mean\n")
	put(t, "students/ada/mean/notes.txt", "no part of it")
	stamp := time.Date(2021, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, name := range []string{"cem/mean/mean.go", "dora/mean/mean.go", "dora/mean/more.go", "ed/mean/mean.go"} {
		require.NoError(t, os.Chtimes(filepath.Join("students", name), stamp, stamp))
	}
	d, err := newDates(t.Context())
	require.NoError(t, err)
	for path, want := range map[string]string{
		"ada/mean": "the commit", "bo.zip": "the commit", "cem/mean": "the newest file", "dora/mean": "the newest file", "ed/mean": "the newest file", "fay/mean": "the commit",
	} {
		at, source, err := d.of(t.Context(), batch.Submission{Path: filepath.Join(root, "students", path)})
		require.NoError(t, err, path)
		assert.Equal(t, want, source, path)
		if want == "the commit" {
			stamp := time.Date(2020, 2, 3, 3, 5, 6, 0, time.UTC)
			assert.True(t, stamp.Equal(at), "%s: %v", path, at)
		} else {
			assert.True(t, stamp.Equal(at), "%s: %v", path, at)
		}
	}
	at, source, err := d.of(t.Context(), batch.Submission{Path: t.TempDir()})
	require.NoError(t, err)
	assert.True(t, at.IsZero())
	assert.Equal(t, "the newest file", source)

	t.Chdir(t.TempDir())
	outside, err := newDates(t.Context())
	require.NoError(t, err)
	_, source, err = outside.of(t.Context(), batch.Submission{Path: filepath.Join(root, "students", "ada", "mean")})
	require.NoError(t, err)
	assert.Equal(t, "the newest file", source, "that repository is not this folder's")
}

// A repository of a student's could have git run a program: it is never asked.
func TestDatesObeyNoStudent(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	marker := filepath.Join(root, "obeyed")
	monitor := "\n[core]\n\tfsmonitor = \"touch " + marker + "\"\n[log]\n\tshowSignature = true\n[gpg]\n\tprogram = \"touch " + marker + "\"\n"
	for _, name := range []string{"clone", "bare"} {
		put(t, filepath.Join("students", name, "mean", "mean.go"), "package mean\n")
	}
	gitIn(t, "students/clone", "init", "-q")
	gitIn(t, "students/clone", "add", "-A")
	gitIn(t, "students/clone", "commit", "-qm", "all")
	config, err := os.ReadFile("students/clone/.git/config")
	require.NoError(t, err)
	put(t, "students/clone/.git/config", string(config)+monitor)
	put(t, "students/bare/HEAD", "ref: refs/heads/main\n")
	put(t, "students/bare/config", "[core]\n\tbare = false\n\tworktree = .\n\trepositoryformatversion = 0\n"+monitor)
	put(t, "students/bare/objects/x", "")
	put(t, "students/bare/refs/x", "")
	for _, versioned := range []bool{false, true} {
		if versioned {
			gitIn(t, ".", "-c", "advice.addEmbeddedRepo=false", "init", "-q")
			gitIn(t, ".", "add", "students/bare")
			gitIn(t, ".", "commit", "-qm", "all")
		}
		d, err := newDates(t.Context())
		require.NoError(t, err)
		for _, name := range []string{"clone", "bare"} {
			_, source, err := d.of(t.Context(), batch.Submission{Path: filepath.Join(root, "students", name, "mean")})
			require.NoError(t, err)
			assert.Equal(t, versioned && name == "bare", source == "the commit", name)
		}
		assert.NoFileExists(t, marker)
	}
}
