package repository

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// Change is a name that differs between two commits.
type Change struct {
	Name string // slash-separated, from the root of the repository
	Kind Kind   // in the newer commit
}

// maxTrees bounds the bytes of git's trees that are read: some 200,000 names. A few objects
// that contain each other many times over unfold to more names than there is memory for.
const maxTrees = 8 << 20

// ErrTooMany is the error of [Repository.Changes] if there are more names than it reads.
var ErrTooMany = errors.New("more folders and files have changed than grade looks at")

// Changes lists what differs between two commits, by name. It looks into a folder only if
// into returns true; any other folder is one change. Without a base it lists all that head
// holds.
//
// It does not use git's own comparison, which keeps all names in memory before it prints
// one.
func (r *Repository) Changes(ctx context.Context, base, head string, into func(folder string) bool) (list []Change, err error) {
	t, err := r.openTrees(ctx)
	if err != nil {
		return nil, err
	}
	defer t.close()
	w := &comparison{trees: t, into: into}
	if base != "" {
		base += "^{tree}"
	}
	if err := w.folder("", base, head+"^{tree}"); err != nil {
		return nil, err
	}
	slices.SortFunc(w.list, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return w.list, nil
}

type comparison struct {
	trees *trees
	into  func(folder string) bool
	list  []Change
}

// folder compares two trees. An empty id stands for a tree that does not exist.
func (w *comparison) folder(name, base, head string) error {
	old, err := w.trees.read(base)
	if err != nil {
		return fmt.Errorf("look into the folder %q: %w", name, err)
	}
	now, err := w.trees.read(head)
	if err != nil {
		return fmt.Errorf("look into the folder %q: %w", name, err)
	}
	for len(old) > 0 || len(now) > 0 { // both are sorted
		var was, is node
		if len(now) == 0 || len(old) > 0 && old[0].name <= now[0].name {
			was = old[0]
		}
		if len(old) == 0 || len(now) > 0 && now[0].name <= old[0].name {
			is = now[0]
		}
		old, now = skip(old, was), skip(now, is)
		if was == is {
			continue
		}
		if err := w.entry(path.Join(name, cmp.Or(is.name, was.name)), was, is); err != nil {
			return err
		}
	}
	return nil
}

func skip(list []node, n node) []node {
	if n == (node{}) {
		return list
	}
	return list[1:]
}

// entry adds a name that differs, or what differs below it.
func (w *comparison) entry(name string, was, is node) error {
	below := (was.folder() || is.folder()) && w.into(name)
	if below {
		if err := w.folder(name, was.tree(), is.tree()); err != nil {
			return err
		}
	}
	if !below || !is.folder() && is != (node{}) {
		w.list = append(w.list, Change{name, is.kind()})
	}
	return nil
}

// node is a name in a tree. The zero node stands for a name that does not exist.
type node struct{ name, mode, id string }

func (n node) folder() bool { return n.kind() == Folder }

func (n node) kind() Kind {
	if n == (node{}) {
		return Absent
	}
	return kindOf(n.mode)
}

// tree returns the id of a folder's tree, or "" if the node is no folder.
func (n node) tree() string {
	if !n.folder() {
		return ""
	}
	return hex.EncodeToString([]byte(n.id))
}

// trees reads folders in git's own format, one after the other.
type trees struct {
	cmd    *exec.Cmd
	cancel context.CancelFunc
	in     io.WriteCloser
	out    *bufio.Reader
	said   bytes.Buffer // git's standard error
	left   int64        // bytes that may still be read
}

func (r *Repository) openTrees(ctx context.Context) (*trees, error) {
	ctx, cancel := context.WithCancel(ctx)
	t := &trees{cmd: r.command(ctx, "cat-file", "--batch"), cancel: cancel, left: maxTrees}
	t.cmd.Stdin, t.cmd.Stderr = nil, &t.said
	in, err := t.cmd.StdinPipe()
	out, outErr := t.cmd.StdoutPipe()
	if err = errors.Join(err, outErr); err == nil {
		err = t.cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	t.in, t.out = in, bufio.NewReader(out)
	return t, nil
}

// close stops git in whatever state: all answers have been read.
func (t *trees) close() {
	t.cancel()
	_ = t.cmd.Wait()
}

// read returns the entries of a tree, sorted by name; none for the empty id.
func (t *trees) read(object string) ([]node, error) {
	if object == "" {
		return nil, nil
	}
	if _, err := fmt.Fprintln(t.in, object); err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	line, err := t.out.ReadString('\n')
	if err != nil { // git has ended
		_ = t.in.Close()
		_ = t.cmd.Wait()
		return nil, fmt.Errorf("git cat-file: %s: %w", strings.TrimSpace(t.said.String()), err)
	}
	var id, kind string
	var size int64
	if _, err := fmt.Sscan(line, &id, &kind, &size); err != nil || kind != "tree" {
		return nil, fmt.Errorf("git: want a tree, and there is: %s; a clone needs all objects: fetch without --filter", strings.TrimSpace(line))
	}
	if t.left -= size; t.left < 0 {
		return nil, ErrTooMany
	}
	data := make([]byte, size+1) // and a newline
	if _, err := io.ReadFull(t.out, data); err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	return parseTree(string(data[:size]), hex.DecodedLen(len(id)))
}

// parseTree parses entries in git's format: 100644 name NUL id.
func parseTree(data string, idSize int) (list []node, err error) {
	for data != "" {
		head, rest, ok := strings.Cut(data, "\x00")
		mode, name, named := strings.Cut(head, " ")
		if !ok || !named || len(rest) < idSize {
			return nil, errors.New("git: a tree that is none")
		}
		if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return nil, fmt.Errorf("git: a tree with the name %q, which no git makes", name)
		}
		list, data = append(list, node{name, mode, rest[:idSize]}), rest[idSize:]
	}
	slices.SortFunc(list, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	for i := range list[:max(0, len(list)-1)] {
		if list[i].name == list[i+1].name {
			return nil, fmt.Errorf("git: a tree with the name %q twice, which no git makes", list[i].name)
		}
	}
	return list, nil
}
