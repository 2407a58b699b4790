// Package repository reads commits whose content is hostile. It gets names and bytes from
// git's objects, by commands that only look things up. It opens no file of a checkout and
// follows no link, and it obeys nothing that a commit can bring along: attributes, filters,
// hooks, modules, names that look like options. Git does read the repository's own
// configuration, which no commit can change.
package repository

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Repository is a clone.
type Repository struct{ dir, top string }

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

// MergeBase returns the newest common commit of two; ok is false if there is none.
func (r *Repository) MergeBase(ctx context.Context, one, other string) (id string, ok bool, err error) {
	return r.lookup(ctx, "merge-base", one, other)
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
)

// kindOf returns the kind that git takes a mode for: git reads more modes than it writes.
func kindOf(mode string) Kind {
	bits, err := strconv.ParseUint(mode, 8, 32)
	switch {
	case err == nil && bits&0o170000 == 0o040000:
		return Folder
	case err == nil && bits&0o170000 == 0o100000:
		return File
	case err == nil && bits&0o170000 == 0o120000:
		return Link
	}
	return Module
}

// field returns the n-th word of a line of git's.
func field(line string, n int) string {
	fields := strings.Fields(line)
	if n >= len(fields) {
		return ""
	}
	return fields[n]
}

// Entry is a name in a folder.
type Entry struct {
	Name string // hostile, but without a slash
	Kind Kind
	Size int64 // bytes of a file
	id   string
}

// Stat describes a name in a commit.
func (r *Repository) Stat(ctx context.Context, commit, name string) (Entry, error) {
	list, err := r.entries(ctx, 1, commit, "--", name)
	if err != nil || len(list) == 0 {
		return Entry{Kind: Absent}, err
	}
	return list[0], nil
}

// List lists a folder of a commit, up to maxEntries names.
func (r *Repository) List(ctx context.Context, commit, folder string) ([]Entry, error) {
	return r.entries(ctx, maxEntries, commit+":"+folder)
}

// entries lists up to most names, and then stops git.
func (r *Repository) entries(ctx context.Context, most int, args ...string) (list []Entry, err error) {
	err = r.lines(ctx, func(line string) (bool, error) {
		e, err := parseEntry(line)
		list = append(list, e)
		return len(list) < most, err
	}, append([]string{"ls-tree", "-z", "-l", "--full-tree"}, args...)...)
	return list, err
}

// parseEntry parses a line of ls-tree: 100644 blob 0123456 12 TAB name.
func parseEntry(line string) (e Entry, err error) {
	what, name, _ := strings.Cut(line, "\t")
	e = Entry{Name: name, Kind: kindOf(field(what, 0)), id: field(what, 2)}
	if e.Kind == File {
		if _, err := fmt.Sscan(field(what, 3), &e.Size); err != nil {
			return e, fmt.Errorf("git: the size of %q: %w; a clone needs all objects: fetch without --filter", name, err)
		}
	}
	return e, nil
}

// ReadFile reads a file of a commit; ok is false if the name is missing or no file.
func (r *Repository) ReadFile(ctx context.Context, commit, name string) (data []byte, ok bool, err error) {
	e, err := r.Stat(ctx, commit, name)
	if err != nil || e.Kind != File {
		return nil, false, err
	}
	data, err = r.git(ctx, "cat-file", "blob", e.id)
	return data, err == nil, err
}

// git runs git in the repository, without a terminal, so that it asks no question.
func (r *Repository) git(ctx context.Context, args ...string) ([]byte, error) {
	out, err := r.command(ctx, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %s: %w", args[0], strings.TrimSpace(string(exit.Stderr)), err)
	}
	return out, err
}

// lines runs git and passes what it prints, up to each NUL, to take until that has enough.
func (r *Repository) lines(ctx context.Context, take func(line string) (more bool, err error), args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := r.command(ctx, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("git %s: %w", args[0], err)
	}
	in := bufio.NewReader(out)
	for more := true; more && err == nil; {
		var line string
		if line, err = readLine(in); err == nil {
			more, err = take(line)
		}
	}
	if !errors.Is(err, io.EOF) { // take has enough, or reading has failed
		cancel()
		_ = cmd.Wait()
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("git %s: %s: %w", args[0], strings.TrimSpace(said.String()), err)
	}
	return nil
}

// maxLine bounds what is kept of a line of git's, in bytes: no system has names as long.
const maxLine = 1 << 13

// readLine reads up to a NUL.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice(0)
		line = append(line, part[:min(len(part), maxLine-len(line))]...)
		switch {
		case err == nil:
			return strings.TrimSuffix(string(line), "\x00"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

func (r *Repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager", "--no-replace-objects", "--literal-pathspecs", "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = r.dir
	// Git does not fetch missing objects, because that would run whatever the clone's
	// origin configures.
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
	cmd.Stdin = bytes.NewReader(nil)
	return cmd
}
