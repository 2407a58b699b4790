package repository

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Paths are files of a repository, as git's pathspecs.
type Paths []string

// PathsOf returns the paths of a file, or of a folder with all in it.
func PathsOf(name string) Paths { return Paths{":(top,literal)" + name} }

// PathsIn returns the files directly in a folder whose names match want and none of but. A
// * matches anything.
func PathsIn(folder, want string, but ...string) Paths {
	if folder = special.Replace(folder) + "/"; folder == "./" {
		folder = ""
	}
	p := Paths{":(top,glob)" + folder + want}
	for _, b := range but {
		p = append(p, ":(top,glob,exclude)"+folder+b)
	}
	return p
}

// special escapes the characters with a meaning in a pattern of git's.
var special = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// LastChange returns the date of the last commit that changed one of some files, which may
// be deleted since. ok is false if there is none, or its date is invalid. The commit's
// author chose the date.
func (r *Repository) LastChange(ctx context.Context, commit string, paths Paths) (at time.Time, ok bool, err error) {
	out, err := r.git(ctx, append([]string{"--no-literal-pathspecs", "rev-list", "-1", "--format=%cI", commit, "--"}, paths...)...)
	if err != nil {
		return time.Time{}, false, err
	}
	_, date, _ := strings.Cut(strings.TrimSpace(string(out)), "\n") // after a line with the commit
	at, err = time.Parse(time.RFC3339, date)
	return at, err == nil, nil
}

// Holds reports whether the file at path, or the wanted files in the folder there, equal
// what a commit has by that name. It opens only regular files.
func (r *Repository) Holds(ctx context.Context, commit, name, path string, wanted func(string) bool) (bool, error) {
	e, err := r.Stat(ctx, commit, name)
	if err != nil || e.Kind != File && e.Kind != Folder {
		return false, err
	}
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() != (e.Kind == Folder) {
		return false, err
	}
	if e.Kind == File {
		return e.is(os.DirFS(filepath.Dir(path)), info)
	}
	list, err := r.List(ctx, commit, name)
	if err != nil {
		return false, err
	}
	for i, e := range list {
		if e.Kind == File && wanted(e.Name) {
			if list[i], err = r.sized(ctx, e); err != nil {
				return false, err
			}
		}
	}
	return holds(list, os.DirFS(path), wanted)
}

// holds reports whether a folder has the files of a list that are wanted, and no others.
func holds(list []Entry, folder fs.FS, wanted func(string) bool) (bool, error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return false, err
	}
	there := map[string]fs.FileInfo{}
	for _, d := range entries {
		if wanted(d.Name()) {
			if there[d.Name()], err = d.Info(); err != nil {
				return false, err
			}
		}
	}
	for _, e := range list {
		if !wanted(e.Name) {
			continue
		}
		if same, err := e.is(folder, there[e.Name]); !same || err != nil {
			return false, err
		}
		delete(there, e.Name)
	}
	return len(there) == 0, nil
}

// is reports whether a file has the content that git has. Git names content by a hash over
// its kind, its size and itself.
func (e Entry) is(folder fs.FS, info fs.FileInfo) (bool, error) {
	if info == nil || !info.Mode().IsRegular() || e.Kind != File || info.Size() != e.Size {
		return false, nil
	}
	f, err := folder.Open(info.Name())
	if err != nil {
		return false, err
	}
	defer f.Close()
	var h hash.Hash = sha1.New()
	if len(e.id) == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", e.Size)
	if _, err := io.CopyN(h, f, e.Size); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.Equal([]byte(hex.EncodeToString(h.Sum(nil))), []byte(e.id)), nil
}
