package repository

import (
	"bytes"
	"context"
	"io/fs"
	"time"
)

// Files returns the regular files of a commit. Nothing else can be opened.
func (r *Repository) Files(ctx context.Context, commit string) fs.FS { return files{ctx, r, commit} }

type files struct {
	ctx    context.Context // of the reader: fs.FS has no place for it
	repo   *Repository
	commit string
}

func (f files) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	data, ok, err := f.repo.ReadFile(f.ctx, f.commit, name)
	if err == nil && !ok {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{*bytes.NewReader(data), name}, nil
}

// file is a file that was read as a whole. It is its own fs.FileInfo as well.
type file struct {
	bytes.Reader
	name string
}

func (f *file) Stat() (fs.FileInfo, error) { return f, nil }
func (f *file) Close() error               { return nil }
func (f *file) Name() string               { return f.name }
func (f *file) Mode() fs.FileMode          { return 0o444 }
func (f *file) ModTime() time.Time         { return time.Time{} }
func (f *file) IsDir() bool                { return false }
func (f *file) Sys() any                   { return nil }
