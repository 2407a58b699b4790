package intake

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/fault"
)

// gitIn runs git with an author and a date of long ago.
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
	d, err := NewDates(t.Context(), ".")
	require.NoError(t, err)
	for path, want := range map[string]string{
		"ada/mean": "the commit", "bo.zip": "the commit", "cem/mean": "the newest file", "dora/mean": "the newest file", "ed/mean": "the newest file", "fay/mean": "the commit",
	} {
		at, source, err := d.Of(t.Context(), filepath.Join(root, "students", path))
		require.NoError(t, err, path)
		assert.Equal(t, want, source, path)
		if want == "the commit" {
			stamp := time.Date(2020, 2, 3, 3, 5, 6, 0, time.UTC)
			assert.True(t, stamp.Equal(at), "%s: %v", path, at)
		} else {
			assert.True(t, stamp.Equal(at), "%s: %v", path, at)
		}
	}
	// What is not graded makes nothing late, whether git has it or not; a source that was
	// taken away does.
	late := []string{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "late", "--date=2022-01-01T00:00:00Z"}
	commit := func() {
		t.Helper()
		gitIn(t, ".", "add", "students/ada", "students/[x]*")
		cmd := exec.Command("git", late...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2022-01-01T00:00:00Z")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	date := func(student string) string {
		t.Helper()
		fresh, err := NewDates(t.Context(), ".")
		require.NoError(t, err)
		at, source, err := fresh.Of(t.Context(), filepath.Join(root, "students", student, "mean"))
		require.NoError(t, err)
		return at.UTC().Format("2006 ") + source
	}
	put(t, "students/ada/mean/mean_test.go", "package mean\n")
	put(t, "students/ada/mean/sub/sub.go", "package sub\n")
	put(t, "students/[x]*/mean/mean.go", "package mean\n")
	commit()
	assert.Equal(t, "2020 the commit", date("ada"))
	assert.Equal(t, "2022 the commit", date("[x]*"))
	put(t, "students/ed/mean/notes.txt", "written today")
	assert.Equal(t, "2021 the newest file", date("ed"))
	t.Chdir(filepath.Join(root, "students"))
	assert.Equal(t, "2020 the commit", date("ada"), "from wherever it is asked")
	t.Chdir(root)
	put(t, "students/ada/mean/more.go", "package mean\n")
	gitIn(t, ".", "add", "students/ada")
	gitIn(t, ".", "commit", "-qm", "2020 again")
	require.NoError(t, os.Remove("students/ada/mean/more.go"))
	commit()
	assert.Equal(t, "2022 the commit", date("ada"))

	at, source, err := d.Of(t.Context(), t.TempDir())
	require.NoError(t, err)
	assert.True(t, at.IsZero())
	assert.Equal(t, "the newest file", source)

	t.Chdir(t.TempDir())
	outside, err := NewDates(t.Context(), ".")
	require.NoError(t, err)
	_, source, err = outside.Of(t.Context(), filepath.Join(root, "students", "ada", "mean"))
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
		d, err := NewDates(t.Context(), ".")
		require.NoError(t, err)
		for _, name := range []string{"clone", "bare"} {
			_, source, err := d.Of(t.Context(), filepath.Join(root, "students", name, "mean"))
			require.NoError(t, err)
			assert.Equal(t, versioned && name == "bare", source == "the commit", name)
		}
		assert.NoFileExists(t, marker)
	}
}

// An invalid date counts as unknown, and prevents no verdict.
func TestDatesOfJokes(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	put(t, "students/ada/mean/mean.go", "package mean\n")
	gitIn(t, ".", "init", "-q")
	gitIn(t, ".", "add", "-A")
	tree := exec.Command("git", "write-tree")
	id, err := tree.Output()
	require.NoError(t, err)
	for _, joke := range []string{"1700000000 +9999", "316000000000 +0000", "99999999999999 -0100"} {
		cmd := exec.Command("git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
		cmd.Stdin = strings.NewReader("tree " + string(id) + "author a <a@example.com> " + joke + "\ncommitter a <a@example.com> " + joke + "\n\nx\n")
		commit, err := cmd.Output()
		require.NoError(t, err)
		gitIn(t, ".", "update-ref", "refs/heads/main", strings.TrimSpace(string(commit)))
		d, err := NewDates(t.Context(), ".")
		require.NoError(t, err)
		_, _, err = d.Of(t.Context(), filepath.Join(root, "students", "ada", "mean"))
		assert.NoError(t, err, joke)
	}
}

// A shallow clone has no date of what is older than its oldest commit: that is refused, and
// what git does not have keeps the date of its file.
func TestDatesInShallowClones(t *testing.T) {
	origin, root := t.TempDir(), filepath.Join(t.TempDir(), "clone")
	put(t, filepath.Join(origin, "students/ada/mean/mean.go"), "package mean\n")
	gitIn(t, origin, "init", "-q")
	gitIn(t, origin, "add", "-A")
	gitIn(t, origin, "commit", "-qm", "ada's")
	gitIn(t, origin, "commit", "-qm", "another", "--allow-empty")
	gitIn(t, origin, "clone", "-q", "--depth=1", "file://"+origin, root)
	t.Chdir(root)
	put(t, "students/bo/mean/mean.go", "package mean\n")
	ada, bo := filepath.Join(root, "students/ada/mean"), filepath.Join(root, "students/bo/mean")
	d, err := NewDates(t.Context(), ".")
	require.NoError(t, err)
	require.NoError(t, d.Known(t.Context(), bo))
	_, source, err := d.Of(t.Context(), bo)
	require.NoError(t, err)
	assert.Equal(t, "the newest file", source)
	_, _, err = d.Of(t.Context(), ada)
	assert.Equal(t, err, d.Known(t.Context(), ada))
	var refused *fault.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, fault.Caller, fault.KindOf(err))
	assert.Contains(t, refused.Message, "is shallow: when students/ada/mean was handed in is not in it")
	assert.Contains(t, refused.Advice, "git fetch --unshallow")

	gitIn(t, ".", "fetch", "-q", "--unshallow")
	d, err = NewDates(t.Context(), ".")
	require.NoError(t, err)
	require.NoError(t, d.Known(t.Context(), ada))
	_, source, err = d.Of(t.Context(), ada)
	require.NoError(t, err)
	assert.Equal(t, "the commit", source)
}

// A clone without some objects knows all the same what it has no name of.
func TestDatesInPartialClones(t *testing.T) {
	origin, root := t.TempDir(), filepath.Join(t.TempDir(), "clone")
	put(t, filepath.Join(origin, "students/ada/mean/mean.go"), "package mean\n")
	gitIn(t, origin, "init", "-q")
	gitIn(t, origin, "config", "uploadpack.allowFilter", "true")
	gitIn(t, origin, "add", "-A")
	gitIn(t, origin, "commit", "-qm", "all")
	gitIn(t, origin, "clone", "-q", "--filter=blob:none", "file://"+origin, root)
	t.Chdir(root)
	put(t, "students/bo/mean/mean.go", "package mean\n")
	put(t, "students/ada/cosine/cosine.go", "package cosine\n")
	d, err := NewDates(t.Context(), ".")
	require.NoError(t, err)
	for name, want := range map[string]string{"ada/mean": "the commit", "bo/mean": "the newest file", "ada/cosine": "the newest file", "cem/mean/x/y": "the newest file"} {
		_, source, err := d.Of(t.Context(), filepath.Join(root, "students", name))
		require.NoError(t, err, name)
		assert.Equal(t, want, source, name)
	}
}
