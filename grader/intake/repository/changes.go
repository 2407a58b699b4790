package repository

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
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

// maxNames bounds the bytes of all names that differ, from the root on: a long name of a folder
// is in the name of everything below it. maxPath is the longest one of a folder that is looked
// into, as long as a path may be on Linux.
const (
	maxNames = 64 << 20
	maxPath  = 4096
)

// ErrTooMany is the error of what reads trees if there are more names than are read.
var ErrTooMany = errors.New("more folders and files have changed than grade looks at")

// Changes lists what differs between two commits, by name. It looks into a folder only if
// into returns true; any other folder is one change. Without a base it lists all that head
// holds.
//
// It does not use git's own comparison, which keeps all names in memory before it prints
// one.
func (r *Repository) Changes(ctx context.Context, base, head string, into func(folder string) bool) (list []Change, err error) {
	w := &comparison{ctx: ctx, repo: r, head: head, into: into, left: maxTrees, names: maxNames}
	if base != "" {
		base += "^{tree}"
	}
	err = r.reading(ctx, func(o *objects) error {
		w.objects = o
		return w.folder("", base, head+"^{tree}")
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(w.list, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return w.list, nil
}

type comparison struct {
	ctx     context.Context // of one comparison
	repo    *Repository
	objects *objects
	head    string
	into    func(folder string) bool
	left    int64 // bytes of trees that may still be read
	names   int64 // bytes of names that may still differ
	list    []Change
}

// folder compares two trees. An empty id stands for a tree that does not exist.
func (w *comparison) folder(name, base, head string) error {
	old, odd, err := w.side(name, base)
	if err != nil {
		return err
	}
	now, odder, err := w.side(name, head)
	if err != nil {
		return err
	}
	if odder != "" && odder != odd {
		w.list = append(w.list, Change{cmp.Or(name, "."), Malformed})
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
		differs := cmp.Or(is.name, was.name)
		if w.names -= int64(len(name) + len(differs)); w.names < 0 {
			return ErrTooMany
		}
		if err := w.entry(path.Join(name, differs), was, is); err != nil {
			return err
		}
	}
	return nil
}

// side reads one of two trees: its entries, sorted by name, and what no git has put there.
func (w *comparison) side(name, id string) (list []node, odd string, err error) {
	if id == "" {
		return nil, "", nil
	}
	if err := context.Cause(w.ctx); err != nil {
		return nil, "", err
	}
	list, read, err := w.objects.tree(id, w.left)
	w.left -= read
	broken := (*Broken)(nil)
	switch {
	case errors.As(err, &broken) && name == "":
		return nil, "", fmt.Errorf("look into a commit: %w; a clone needs all objects: fetch without --filter", err)
	case errors.As(err, &broken) && len(list) == 0 && w.repo.partial(w.ctx):
		return nil, "", fmt.Errorf("look into the folder %q: %w; a clone needs all objects: fetch without --filter", name, err)
	case errors.As(err, &broken):
		odd = broken.Error()
	case err != nil:
		return nil, "", fmt.Errorf("look into the folder %q: %w", name, err)
	}
	list, bad := sound(list)
	return list, odd + bad, nil
}

// sound returns the entries of a tree that git could have made, sorted by name. A name that
// is there twice is one that is broken. Bad lists names that cannot be. It overwrites list.
func sound(list []node) (good []node, bad string) {
	var impossible strings.Builder
	good = list[:0]
	slices.SortFunc(list, func(a, b node) int { return cmp.Compare(a.name, b.name) })
	for len(list) > 0 {
		n, same := list[0], 1
		for same < len(list) && list[same].name == n.name {
			same++
		}
		switch {
		case n.name == "" || n.name == "." || n.name == ".." || strings.EqualFold(n.name, ".git") || strings.Contains(n.name, "/"):
			for _, n := range list[:same] {
				fmt.Fprintf(&impossible, "%q %s %q ", n.name, n.mode, n.id)
			}
		case same > 1:
			good = append(good, node{n.name, brokenMode, joined(list[:same])})
		default:
			good = append(good, n)
		}
		list = list[same:]
	}
	return good, impossible.String()
}

// joined is the ids of entries, one behind the other.
func joined(list []node) string {
	var ids strings.Builder
	for _, n := range list {
		ids.WriteString(n.id)
	}
	return ids.String()
}

func skip(list []node, n node) []node {
	if n == (node{}) {
		return list
	}
	return list[1:]
}

// entry adds a name that differs, or what differs below it.
func (w *comparison) entry(name string, was, is node) error {
	below := (was.folder() || is.folder()) && len(name) <= maxPath && w.into(name)
	if is.folder() && !below {
		w.repo.remember(w.head, name, is.tree())
	}
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

// tree reads the entries of a tree of at most so many bytes, in its order. With a
// [*Broken], the list holds those before what cannot be read.
func (o *objects) tree(id string, most int64) (list []node, size int64, err error) {
	hash, data, err := o.read(id, "tree", most)
	if err != nil {
		return nil, 0, err
	}
	list, ok := parseTree(string(data), hex.DecodedLen(len(hash)))
	if !ok {
		err = &Broken{Name: hash, Why: "a tree that is none"}
	}
	return list, int64(len(data)), err
}

// brokenMode marks a name that a tree has twice. No tree can say it.
const brokenMode = "twice"

// parseTree parses entries in git's format: 100644 name NUL id.
func parseTree(data string, idSize int) (list []node, ok bool) {
	list = make([]node, 0, len(data)/(len("40000 x\x00")+idSize))
	for data != "" {
		head, rest, ok := strings.Cut(data, "\x00")
		mode, name, named := strings.Cut(head, " ")
		if !ok || !named || len(rest) < idSize {
			return list, false
		}
		list, data = append(list, node{name, mode, rest[:idSize]}), rest[idSize:]
	}
	return list, true
}
