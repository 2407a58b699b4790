// Package repository reads commits whose content is hostile. It gets names and bytes from
// git's objects, by commands that only look things up. It opens no file of a checkout and
// follows no link, and it obeys nothing that a commit can bring along: attributes, filters,
// hooks, modules, names that look like options. Git does read the repository's own
// configuration, which no commit can change.
package repository

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Repository is a clone.
type Repository struct {
	dir, top string

	mu    sync.Mutex // guards what follows
	kept  []*objects
	trees map[string]string // ids of folders that [Repository.Changes] has seen, by commit and name
}

// Open finds the repository that dir is in.
func Open(ctx context.Context, dir string) (*Repository, error) {
	r := &Repository{dir: dir, top: dir}
	if _, err := r.git(ctx, "rev-parse", "--git-dir"); err != nil {
		return nil, err
	}
	if top, err := r.git(ctx, "rev-parse", "--show-toplevel"); err == nil { // a bare one has none
		r.top = strings.TrimSuffix(string(top), "\n")
	}
	return r, nil
}

// Top returns the root of the checkout, or of a repository without one.
func (r *Repository) Top() string { return r.top }

// Commit resolves a revision; ok is false if it is not in the clone. The name of a branch
// means that branch: git would prefer a tag of the same name, and every user who may push
// can make a tag called origin/main.
func (r *Repository) Commit(ctx context.Context, revision string) (id string, ok bool, err error) {
	names := []string{revision}
	if !exact.MatchString(revision) {
		names = []string{"refs/remotes/" + revision, "refs/heads/" + revision, revision}
	}
	for _, name := range names {
		if id, ok, err = r.lookup(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}"); ok || err != nil {
			break
		}
	}
	return id, ok, err
}

// exact matches revisions that no branch or tag can shadow.
var exact = regexp.MustCompile(`^(HEAD([~^@:]|$)|@([~^{]|$)|refs/|([0-9a-f]{40}|[0-9a-f]{64})$)`)

// MergeBases returns the best common commits of two, which are several where each has merged
// what the other was before. Their dates, by which git puts them in order, are their author's.
func (r *Repository) MergeBases(ctx context.Context, one, other string) (ids []string, err error) {
	out, _, err := r.lookup(ctx, "merge-base", "--all", one, other)
	return strings.Fields(out), err
}

// lookup runs a git command that exits with 1 if there is no answer.
func (r *Repository) lookup(ctx context.Context, args ...string) (string, bool, error) {
	out, err := r.git(ctx, args...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return "", false, nil
	}
	return strings.TrimSpace(string(out)), err == nil, err
}

// Shallow reports whether the clone lacks history.
func (r *Repository) Shallow(ctx context.Context) (bool, error) {
	out, err := r.git(ctx, "rev-parse", "--is-shallow-repository")
	return strings.TrimSpace(string(out)) == "true", err
}

// Kind is the type of a name in a commit. The zero value is invalid.
type Kind string

// The values of Kind.
const (
	Absent Kind = "absent"
	Folder Kind = "folder"
	File   Kind = "file"
	Link   Kind = "symbolic link"
	Module Kind = "submodule"
	// Malformed is a name that a tree has twice, or a tree with names that cannot be.
	Malformed Kind = "malformed entry"
)

// kindOf returns the kind that git takes a mode for: git reads more modes than it writes.
func kindOf(mode string) Kind {
	bits, err := strconv.ParseUint(mode, 8, 32)
	switch {
	case mode == brokenMode:
		return Malformed
	case err == nil && bits&0o170000 == 0o040000:
		return Folder
	case err == nil && bits&0o170000 == 0o100000:
		return File
	case err == nil && bits&0o170000 == 0o120000:
		return Link
	}
	return Module
}

// Entry is a name in a folder.
type Entry struct {
	Name string // hostile, but without a slash
	Kind Kind
	Size int64 // bytes of a file
	id   string
}

// Stat describes a name in a commit.
func (r *Repository) Stat(ctx context.Context, commit, name string) (e Entry, err error) {
	e = Entry{Kind: Absent}
	err = r.reading(ctx, func(o *objects) error {
		list, err := r.nodes(o, commit, path.Dir(name))
		if i := slices.IndexFunc(list, func(n node) bool { return n.name == path.Base(name) }); i >= 0 && err == nil {
			e = list[i].entry()
			err = o.size(&e)
		}
		return err
	})
	if broken := (*Broken)(nil); errors.As(err, &broken) && (broken.absent || !r.partial(ctx)) {
		return Entry{Kind: Absent}, nil
	}
	return e, err
}

// List lists a folder of a commit, up to maxEntries names, without their sizes. A [*Broken] says that the commit
// has none there that can be listed.
func (r *Repository) List(ctx context.Context, commit, folder string) (list []Entry, err error) {
	err = r.reading(ctx, func(o *objects) error {
		nodes, err := r.nodes(o, commit, folder)
		for _, n := range nodes[:min(len(nodes), maxEntries)] {
			list = append(list, n.entry())
		}
		return err
	})
	return list, r.whose(ctx, err)
}

// whose keeps the error of a broken commit, unless it is the clone that lacks objects.
func (r *Repository) whose(ctx context.Context, err error) error {
	if broken := (*Broken)(nil); errors.As(err, &broken) && !broken.absent && r.partial(ctx) {
		return fmt.Errorf("git: %s; a clone needs all objects: fetch without --filter", broken)
	}
	return err
}

// remember keeps the id of a folder's tree, which a list of all that lies beside it need
// not be read for again.
func (r *Repository) remember(commit, folder, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trees == nil {
		r.trees = map[string]string{}
	}
	r.trees[commit+":"+folder] = id
}

// nodes reads the tree of a folder.
func (r *Repository) nodes(o *objects, commit, folder string) (list []node, err error) {
	r.mu.Lock()
	id, known := r.trees[commit+":"+folder]
	r.mu.Unlock()
	if known {
		list, _, err = o.tree(id, maxTrees)
		return list, err
	}
	if list, _, err = o.tree(commit+"^{tree}", maxTrees); err != nil || folder == "" || folder == "." {
		return list, err
	}
	for part := range strings.SplitSeq(folder, "/") {
		good, _ := sound(list)
		i := slices.IndexFunc(good, func(n node) bool { return n.name == part && n.folder() })
		if i < 0 {
			return nil, &Broken{Name: folder, Why: "there is no such folder", absent: true}
		}
		if list, _, err = o.tree(good[i].tree(), maxTrees); err != nil {
			return list, err
		}
	}
	return list, nil
}

// entry describes a node of a tree, but for the size of a file.
func (n node) entry() Entry {
	return Entry{Name: n.name, Kind: n.kind(), id: hex.EncodeToString([]byte(n.id))}
}

// size fills in the size of a file.
func (o *objects) size(e *Entry) (err error) {
	if e.Kind == File {
		_, e.Size, err = o.stat(e.id, "blob")
	}
	if broken := (*Broken)(nil); errors.As(err, &broken) {
		broken.Name = e.Name
	}
	return err
}

// sized returns an entry with the size of a file.
func (r *Repository) sized(ctx context.Context, e Entry) (Entry, error) {
	err := r.reading(ctx, func(o *objects) error { return o.size(&e) })
	return e, r.whose(ctx, err)
}

// maxFile is the largest file of the course's that is read out of a commit, in bytes.
const maxFile = 16 << 20

// ReadFile reads a file of a commit; ok is false if the name is missing or no file.
func (r *Repository) ReadFile(ctx context.Context, commit, name string) (data []byte, ok bool, err error) {
	e, err := r.Stat(ctx, commit, name)
	if err != nil || e.Kind != File {
		return nil, false, err
	}
	if e.Size > maxFile {
		return nil, false, fmt.Errorf("%s is larger than %d MiB", name, maxFile>>20)
	}
	data, err = r.blob(ctx, e)
	return data, err == nil, err
}

func (r *Repository) blob(ctx context.Context, e Entry) (data []byte, err error) {
	err = r.reading(ctx, func(o *objects) error {
		_, data, err = o.read(e.id, "blob", e.Size)
		return err
	})
	return data, err
}

// git runs git in the repository, without a terminal, so that it asks no question.
func (r *Repository) git(ctx context.Context, args ...string) ([]byte, error) {
	out, err := r.command(ctx, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %s: %w", args[0], strings.TrimSpace(string(exit.Stderr)), err)
	}
	return out, err
}

func (r *Repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager", "--no-replace-objects", "--literal-pathspecs", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir, cmd.WaitDelay = r.dir, time.Second
	// Git does not fetch missing objects, because that would run whatever the clone's
	// origin configures.
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
	cmd.Stdin = bytes.NewReader(nil)
	return cmd
}
