// Package gittest makes repositories for tests. It is for tests only.
package gittest

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// History is a repository of a test, whose commits have names.
type History struct {
	Dir     string
	Commits map[string]string // by the names that the test has for them
	t       testing.TB
}

// New begins a repository that ignores this machine's git configuration.
func New(t *testing.T) *History {
	t.Helper()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		t.Setenv(name, value)
	}
	h := &History{t: t, Dir: t.TempDir(), Commits: map[string]string{}}
	h.Git("init", "-q", "-b", "main")
	return h
}

// Git runs git in the repository, and returns what it prints.
func (h *History) Git(args ...string) string {
	h.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = h.Dir
	out, err := cmd.CombinedOutput()
	require.NoError(h.t, err, "git %s: %s", args, out)
	return strings.TrimSpace(string(out))
}

// Commit writes files, deletes those without a text, and commits.
func (h *History) Commit(name string, files map[string]string) {
	h.t.Helper()
	for file, text := range files {
		path := filepath.Join(h.Dir, filepath.FromSlash(file))
		switch to, link := strings.CutPrefix(text, "-> "); {
		case text == "":
			require.NoError(h.t, os.Remove(path))
		case link:
			require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o777))
			require.NoError(h.t, os.Symlink(to, path))
		default:
			require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o777))
			require.NoError(h.t, os.WriteFile(path, []byte(text), 0o666))
		}
	}
	h.Git("add", "-A")
	h.Git("commit", "-qm", name, "--allow-empty")
	h.Commits[name] = h.Git("rev-parse", "HEAD")
}

// Course returns the history of a typical course: main continues after ada has begun a
// branch.
func Course(t *testing.T) *History {
	h := New(t)
	h.Commit("start", map[string]string{"grade.yaml": "title: old\n", "students/ada/autograd/a.go": "package gears\n"})
	h.Git("checkout", "-qb", "ada")
	h.Commit("ada", map[string]string{"students/ada/autograd/a.go": "package gears // 1\n", "grade.yaml": "title: ada's own\n"})
	h.Git("checkout", "-q", "main")
	h.Commit("main", map[string]string{"students/bob/cosine/a.go": "package levers\n", "grade.yaml": "title: new\n"})
	h.Git("update-ref", "refs/remotes/origin/main", "main")
	h.Git("checkout", "-q", "--detach", "ada")
	h.Git("merge", "-q", "-X", "ours", "-m", "x", "main")
	h.Commit("taken in", nil)
	h.Git("update-ref", "refs/remotes/origin/merged", "HEAD")
	h.Git("checkout", "-q", "--orphan", "elsewhere")
	h.Git("rm", "-rqf", ".")
	h.Commit("elsewhere", nil)
	h.Git("checkout", "-q", "main")
	return h
}

// LostCommit is in no clone.
const LostCommit = "1111111111111111111111111111111111111111"

// Node is an entry of a [History.Tree]: a mode such as 40000, a name and an object.
func Node(mode, name, id string) string {
	raw, err := hex.DecodeString(id)
	if err != nil {
		panic(err)
	}
	return mode + " " + name + "\x00" + string(raw)
}

// Tree stores a tree of entries as they are, in whatever order and of whatever names.
func (h *History) Tree(entries ...string) string {
	return h.stored("tree", strings.Join(entries, ""))
}

// Blob stores a file's content.
func (h *History) Blob(text string) string { return h.stored("blob", text) }

func (h *History) stored(kind, data string) string {
	h.t.Helper()
	cmd := exec.Command("git", "hash-object", "-w", "-t", kind, "--literally", "--stdin")
	cmd.Dir, cmd.Stdin = h.Dir, strings.NewReader(data)
	out, err := cmd.Output()
	require.NoError(h.t, err)
	return strings.TrimSpace(string(out))
}

// Put commits names that a checkout might not hold together, or at all.
func (h *History) Put(mode, id string, names ...string) {
	h.t.Helper()
	for _, name := range names {
		h.Git("update-index", "--add", "--cacheinfo", mode+","+id+","+name)
	}
	h.Git("commit", "-qm", "put")
}
