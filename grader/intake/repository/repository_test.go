package repository

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"grade/grader/heap"
)

// clone is a repository of a test.
type clone struct {
	t   *testing.T
	dir string
	*Repository
}

func newClone(t *testing.T) *clone {
	t.Helper()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
	} {
		t.Setenv(name, value)
	}
	c := &clone{t: t, dir: t.TempDir()}
	c.run("", "init", "-q", "-b", "main")
	r, err := Open(t.Context(), c.dir)
	require.NoError(t, err)
	c.Repository = r
	return c
}

// run runs git and returns what it says.
func (c *clone) run(in string, args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = c.dir, strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, "git %s: %s", args, out)
	return strings.TrimSpace(string(out))
}

func (c *clone) write(name, text string) {
	c.t.Helper()
	file := filepath.Join(c.dir, filepath.FromSlash(name))
	require.NoError(c.t, os.MkdirAll(filepath.Dir(file), 0o777))
	require.NoError(c.t, os.WriteFile(file, []byte(text), 0o666))
}

// commit commits what is in the folder.
func (c *clone) commit() string {
	c.t.Helper()
	c.run("", "add", "-A")
	c.run("", "commit", "-qm", "x", "--allow-empty")
	return c.run("", "rev-parse", "HEAD")
}

func everywhere(string) bool { return true }

func TestChanges(t *testing.T) {
	c := newClone(t)
	c.write("a/one.go", "1")
	c.write("a/gone.go", "1")
	c.write("b/was a folder/x.go", "1")
	first := c.commit()
	c.write("a/one.go", "2")
	c.write("c/new\nline \"and\" ü\xff.go", "1")
	require.NoError(t, os.Remove(filepath.Join(c.dir, "a", "gone.go")))
	require.NoError(t, os.RemoveAll(filepath.Join(c.dir, "b", "was a folder")))
	require.NoError(t, os.Symlink("../a", filepath.Join(c.dir, "b", "was a folder")))
	second := c.commit()

	got, err := c.Changes(t.Context(), first, second, everywhere)
	require.NoError(t, err)
	assert.Equal(t, []Change{
		{"a/gone.go", Absent}, {"a/one.go", File}, {"b/was a folder", Link}, {"b/was a folder/x.go", Absent}, {"c/new\nline \"and\" ü\xff.go", File},
	}, got)
	got, err = c.Changes(t.Context(), first, second, func(folder string) bool { return folder == "b" })
	require.NoError(t, err)
	assert.Equal(t, []Change{{"a", Folder}, {"b/was a folder", Link}, {"c", Folder}}, got, "as deep as into looks")
	got, err = c.Changes(t.Context(), second, first, func(string) bool { return false })
	require.NoError(t, err)
	assert.Equal(t, []Change{{"a", Folder}, {"b", Folder}, {"c", Absent}}, got)
	got, err = c.Changes(t.Context(), second, second, everywhere)
	require.NoError(t, err)
	assert.Empty(t, got)
	got, err = c.Changes(t.Context(), "", first, everywhere)
	require.NoError(t, err)
	assert.Len(t, got, 3, "all there is")
	_, err = c.Changes(t.Context(), strings.Repeat("1", 40), second, everywhere)
	require.ErrorContains(t, err, "missing")
}

// What a file of the checkout says of submodules hides none.
func TestChangesOfModules(t *testing.T) {
	c := newClone(t)
	c.write(".gitmodules", "[submodule \"x\"]\n\tpath = students/bo\n\turl = ../x\n\tignore = all\n")
	first := c.commit()
	c.run("", "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",students/bo")
	c.run("", "commit", "-qm", "x")
	got, err := c.Changes(t.Context(), first, c.run("", "rev-parse", "HEAD"), everywhere)
	require.NoError(t, err)
	assert.Equal(t, []Change{{"students/bo", Module}}, got)
}

// bomb is a commit of few objects: levels folders in each other, each with width names for
// the next one.
func (c *clone) bomb(width, levels int) string {
	c.t.Helper()
	id := c.run("package x\n", "hash-object", "-w", "--stdin")
	kind := "100644 blob"
	for range levels {
		var tree strings.Builder
		for i := range width {
			fmt.Fprintf(&tree, "%s %s\tn%d\n", kind, id, i)
		}
		id, kind = c.run(tree.String(), "mktree"), "040000 tree"
	}
	return c.run("", "commit-tree", "-m", "x", id)
}

// A commit of a few objects can hold more names than there is memory for.
func TestTreeBombs(t *testing.T) {
	c := newClone(t)
	deep, wide := c.bomb(10, 12), c.bomb(3000, 3)
	start := time.Now()
	assert.Less(t, heap.Allocated(func() {
		got, err := c.Changes(t.Context(), "", deep, func(folder string) bool { return strings.Count(folder, "/") < 2 })
		require.NoError(t, err)
		assert.Len(t, got, 1000, "and none of the 10^12 below")
		for _, into := range []func(string) bool{everywhere, func(folder string) bool { return strings.Count(folder, "/") < 2 }} {
			for _, head := range []string{deep, wide} {
				if _, err := c.Changes(t.Context(), "", head, into); head == wide || into("a/b/c/d") {
					require.ErrorIs(t, err, ErrTooMany)
				}
			}
		}
	}), uint64(500<<20), "in five times")
	list, err := c.List(t.Context(), c.bomb(maxEntries+5000, 1), "")
	require.NoError(t, err)
	assert.Len(t, list, maxEntries)
	assert.Less(t, time.Since(start), 5*time.Minute, "and not for as long as 10^12 take")
}

// The name of a folder is in that of everything below it. Two trees are enough to fill the memory.
func TestChangesBelowLongNames(t *testing.T) {
	c := newClone(t)
	blob := c.run("hello", "hash-object", "-w", "--stdin")
	wide := make([]string, 20_000)
	for i := range wide {
		wide[i] = c.named("100644", fmt.Sprintf("%06d", i), blob)
	}
	below := c.literal(wide...)
	for name, levels := range map[string]int{"one folder": 1, "deep ones": maxPath / 256} {
		length, id := 64<<10, below
		if levels > 1 {
			length = 250
		}
		for range levels {
			id = c.literal(c.named("40000", strings.Repeat("x", length), id))
		}
		commit := c.run("", "commit-tree", "-m", "x", id)
		assert.Less(t, heap.Allocated(func() {
			got, err := c.Changes(t.Context(), "", commit, everywhere)
			if levels > 1 {
				require.ErrorIs(t, err, ErrTooMany, name)
				return
			}
			require.NoError(t, err)
			assert.Len(t, got, 1, "it is not looked into")
		}), uint64(300<<20), name)
	}
}

// Impossible names, and one name again and again, take time in proportion to their number.
func TestChangesOfImpossibleNames(t *testing.T) {
	c := newClone(t)
	blob := c.run("hello", "hash-object", "-w", "--stdin")
	for _, name := range []string{"a/b", "a"} {
		entries := make([]string, 20_000)
		for i := range entries {
			entries[i] = c.named("100644", name, blob)
		}
		head := c.run("", "commit-tree", "-m", "x", c.literal(entries...))
		assert.Less(t, heap.Allocated(func() {
			got, err := c.Changes(t.Context(), "", head, everywhere)
			require.NoError(t, err)
			assert.Len(t, got, 1)
			assert.Equal(t, Malformed, got[0].Kind)
		}), uint64(100<<20), name)
	}
}

// literal makes a tree of entries as they stand, which no git would.
func (c *clone) literal(entries ...string) string {
	c.t.Helper()
	return c.run(strings.Join(entries, ""), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
}

// named is an entry of a literal tree: a mode, a name and an object.
func (c *clone) named(mode, name, id string) string {
	c.t.Helper()
	raw, err := hex.DecodeString(id)
	require.NoError(c.t, err)
	return mode + " " + name + "\x00" + string(raw)
}

// A tree that no git makes is told as a change of its folder, or of the name that is in it
// twice, and takes nothing else with it; in both commits it is no change.
func TestChangesOfBrokenTrees(t *testing.T) {
	c := newClone(t)
	blob := c.run("hello", "hash-object", "-w", "--stdin")
	good := c.named("100644", "ok.go", blob)
	lost := strings.Repeat("1", 40)
	for name, b := range map[string]struct {
		tree string
		want []Change
	}{
		"a slash":                 {c.literal(c.named("100644", "../ada/x", blob), good), []Change{{"s", Malformed}, {"s/ok.go", File}}},
		"above":                   {c.literal(c.named("40000", "..", blob), good), []Change{{"s", Malformed}, {"s/ok.go", File}}},
		"a dot":                   {c.literal(c.named("40000", ".", blob), good), []Change{{"s", Malformed}, {"s/ok.go", File}}},
		"git's own":               {c.literal(c.named("40000", ".GIT", blob), good), []Change{{"s", Malformed}, {"s/ok.go", File}}},
		"no name":                 {c.literal(c.named("100644", "", blob), good), []Change{{"s", Malformed}, {"s/ok.go", File}}},
		"a name twice":            {c.literal(good, c.named("120000", "x", blob), c.named("100644", "x", blob), c.named("40000", "x", lost)), []Change{{"s/ok.go", File}, {"s/x", Malformed}}},
		"cut off":                 {c.literal(good, "100644 x\x00short"), []Change{{"s", Malformed}, {"s/ok.go", File}}},
		"no mode":                 {c.literal("garbage"), []Change{{"s", Malformed}}},
		"nothing":                 {c.literal(), nil},
		"mode 0":                  {c.literal(c.named("0", "x", blob), good), []Change{{"s/ok.go", File}, {"s/x", Module}}},
		"a folder that is a file": {c.literal(c.named("40000", "x", blob), good), []Change{{"s/ok.go", File}, {"s/x", Malformed}}},
		"a folder that is lost":   {c.literal(c.named("40000", "x", lost), good), []Change{{"s/ok.go", File}, {"s/x", Malformed}}},
		"not UTF-8":               {c.literal(c.named("100644", "\xff", blob)), []Change{{"s/\xff", File}}},
		"a file, no tree":         {blob, []Change{{"s", Malformed}}},
		"lost":                    {lost, []Change{{"s", Malformed}}},
	} {
		t.Run(name, func(t *testing.T) {
			commit := func(more string) string {
				return c.run("", "commit-tree", "-m", "x", c.literal(c.named("40000", "r", c.literal(good)), c.named("40000", "s", b.tree), more))
			}
			head := commit("")
			got, err := c.Changes(t.Context(), "", head, everywhere)
			require.NoError(t, err)
			assert.Equal(t, append([]Change{{"r/ok.go", File}}, b.want...), got)
			got, err = c.Changes(t.Context(), head, commit(c.named("100644", "t", blob)), everywhere)
			require.NoError(t, err)
			assert.Equal(t, []Change{{"t", File}}, got)
		})
	}
	c.run("", "config", "remote.origin.promisor", "true")
	_, err := c.Changes(t.Context(), "", c.run("", "commit-tree", "-m", "x", c.literal(c.named("40000", "s", lost))), everywhere)
	require.ErrorContains(t, err, "fetch without --filter")
}

// What cannot be read of a submission is its author's fault, unless the clone lacks it.
func TestExtractBroken(t *testing.T) {
	c := newClone(t)
	lost := strings.Repeat("1", 40)
	tree := c.run("", "mktree")
	for name, id := range map[string]string{"lost": lost, "a folder": tree} {
		head := c.run("", "commit-tree", "-m", "x", c.literal(c.named("40000", "s", c.literal(c.named("100644", "a.go", id)))))
		_, err := c.Extract(t.Context(), head, "s", t.TempDir(), 100, everywhere)
		var broken *Broken
		require.ErrorAs(t, err, &broken, name)
		assert.Equal(t, "a.go", broken.Name)
		left, err := c.Extract(t.Context(), head, "s", t.TempDir(), 100, func(string) bool { return false })
		require.NoError(t, err, "it is not needed")
		assert.Empty(t, left)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.List(ctx, c.commit(), "")
	require.ErrorIs(t, err, context.Canceled)
	c.Close()
	_, err = c.List(t.Context(), c.commit(), "")
	require.NoError(t, err, "it can be read again")
	c.Close()
}

func TestKindOf(t *testing.T) {
	for mode, want := range map[string]Kind{"40000": Folder, "100777": File, "100664": File, "120000": Link, "160000": Module, "170000": Module, "x": Module} {
		assert.Equal(t, want, kindOf(mode), mode)
	}
}

func TestCommits(t *testing.T) {
	c := newClone(t)
	c.write("a", "1")
	first := c.commit()
	c.run("", "checkout", "-qb", "side")
	side := c.commit()
	c.run("", "checkout", "-q", "main")
	c.write("a", "2")
	second := c.commit()
	c.run("", "checkout", "-q", "--orphan", "other")
	other := c.commit()

	id, ok, err := c.Commit(t.Context(), "main")
	require.NoError(t, err)
	assert.Equal(t, second, id)
	assert.True(t, ok)
	for _, missing := range []string{strings.Repeat("1", 40), "refs/remotes/origin/main", "--help"} {
		_, ok, err = c.Commit(t.Context(), missing)
		require.NoError(t, err)
		assert.False(t, ok, missing)
	}
	c.run("", "update-ref", "refs/remotes/origin/main", second)
	for _, name := range []string{"origin/main", "main", "HEAD"} {
		c.run("", "tag", name, other)
	}
	for revision, want := range map[string]string{"origin/main": second, "main": second, "main~1": first, "origin/main^": first, "HEAD": other, "refs/tags/main": other, first: first} {
		id, ok, err = c.Commit(t.Context(), revision)
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, want, id, "a tag is called %s too", revision)
	}

	bases, err := c.MergeBases(t.Context(), side, second)
	require.NoError(t, err)
	assert.Equal(t, []string{first}, bases)
	bases, err = c.MergeBases(t.Context(), other, second)
	require.NoError(t, err)
	assert.Empty(t, bases)

	shallow, err := c.Shallow(t.Context())
	require.NoError(t, err)
	assert.False(t, shallow)
	_, err = Open(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "not a git repository")
}

func TestReadFile(t *testing.T) {
	c := newClone(t)
	c.write("grade.yaml", "title: x\r\n")
	c.write("folder/x", "")
	require.NoError(t, os.Symlink("grade.yaml", filepath.Join(c.dir, "link")))
	head := c.commit()
	c.write("grade.yaml", "title: not committed")
	data, ok, err := c.ReadFile(t.Context(), head, "grade.yaml")
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, "title: x\r\n", string(data))
	for _, none := range []string{"link", "folder", "nothing"} {
		_, ok, err = c.ReadFile(t.Context(), head, none)
		require.NoError(t, err)
		require.False(t, ok, none)
	}
	files := c.Files(t.Context(), head)
	data, err = fs.ReadFile(files, "grade.yaml")
	require.NoError(t, err)
	assert.Equal(t, "title: x\r\n", string(data))
	for none, want := range map[string]error{"link": fs.ErrNotExist, "folder": fs.ErrNotExist, "nothing": fs.ErrNotExist, "../repository.go": fs.ErrInvalid} {
		_, err = files.Open(none)
		require.ErrorIs(t, err, want, none)
	}
}

// What a commit can bring along is written as it is, or as something harmless in its
// place, and none of it is obeyed.
func TestExtractHostile(t *testing.T) {
	c := newClone(t)
	c.write(".gitattributes", "*.go filter=evil diff=evil text eol=crlf export-subst ident\n")
	c.write("s/a.go", "package a // $Id$ $Format:%H$\n")
	c.write("s/.gitattributes", "* filter=evil\n")
	c.write("s/large.go", strings.Repeat("x", 101))
	c.write("s/notes.txt", "unread")
	c.write("s/new\nline.go", "n")
	c.write("s/-flag.go", "f")
	c.write("s/sub/b.go", "b")
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(c.dir, "s", "link.go")))
	c.run("", "add", "-A")
	c.run("", "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",s/module")
	c.run("", "commit", "-qm", "x")
	head := c.run("", "rev-parse", "HEAD")
	marker := filepath.Join(t.TempDir(), "marker")
	for _, key := range []string{"filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv", "diff.evil.command", "diff.external", "core.fsmonitor", "core.pager"} {
		c.run("", "config", key, "touch "+marker)
	}

	dir := t.TempDir()
	left, err := c.Extract(t.Context(), head, "s", dir, 100, func(name string) bool { return strings.HasSuffix(name, ".go") })
	require.NoError(t, err)
	assert.Empty(t, left)
	for name, want := range map[string]string{"a.go": "package a // $Id$ $Format:%H$\n", "large.go": strings.Repeat("\x00", 101), "notes.txt": "", "new\nline.go": "n", "-flag.go": "f"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, want, string(data), name)
	}
	to, err := os.Readlink(filepath.Join(dir, "link.go"))
	require.NoError(t, err)
	assert.Equal(t, "nowhere", to)
	for _, folder := range []string{"sub", "module"} {
		inside, err := os.ReadDir(filepath.Join(dir, folder))
		require.NoError(t, err)
		assert.Empty(t, inside)
	}
	_, err = c.Changes(t.Context(), "", head, everywhere)
	require.NoError(t, err)
	assert.NoFileExists(t, marker, "nothing was run")
}

// A tree may hold names that no checkout would make.
func TestExtractImpossibleNames(t *testing.T) {
	c := newClone(t)
	blob := c.run("hello", "hash-object", "-w", "--stdin")
	id := make([]byte, 0, 20)
	for i := 0; i < len(blob); i += 2 {
		var b byte
		_, err := fmt.Sscanf(blob[i:i+2], "%02x", &b)
		require.NoError(t, err)
		id = append(id, b)
	}
	long := strings.Repeat("l", 300) + ".go"
	var tree strings.Builder
	for _, name := range []string{".", "..", ".git", "a/../../x.go", "gone/x.go", long, "ok.go", "ok.go", "ok.go/x.go"} {
		tree.WriteString("100644 " + name + "\x00" + string(id))
	}
	sub := c.run(tree.String(), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
	head := c.run("", "commit-tree", "-m", "x", c.run("040000 tree "+sub+"\ts\n", "mktree"))

	parent := t.TempDir()
	dir := filepath.Join(parent, "in")
	require.NoError(t, os.Mkdir(dir, 0o777))
	left, err := c.Extract(t.Context(), head, "s", dir, 100, func(string) bool { return true })
	require.NoError(t, err)
	assert.Equal(t, []string{".", "..", "a/../../x.go", "gone/x.go", long, "ok.go", "ok.go/x.go"}, left)
	outside, err := os.ReadDir(parent)
	require.NoError(t, err)
	assert.Len(t, outside, 1)
	data, err := os.ReadFile(filepath.Join(dir, "ok.go"))
	require.NoError(t, err)
	assert.Equal(t, "hello", string(data))
}

// A disk that is full is not the student's fault.
func TestWritten(t *testing.T) {
	for _, c := range []struct {
		err  error
		ok   bool
		ours bool
	}{{nil, true, false}, {os.ErrExist, false, false}, {errors.New("path escapes"), false, false}, {syscall.ENAMETOOLONG, false, false}, {syscall.ENOSPC, false, true}, {syscall.EACCES, false, true}} {
		ok, err := written(c.err)
		assert.Equal(t, c.ok, ok, "%v", c.err)
		assert.Equal(t, c.ours, err != nil, "%v", c.err)
	}
}
