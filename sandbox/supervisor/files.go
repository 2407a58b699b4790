//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"grade/sandbox"
)

// place writes one file of a request below the work directory. Programs can
// read and run it, not change it.
func (s *supervisor) place(name string, exec bool, size int64, data io.Reader) error {
	if !filepath.IsLocal(name) || strings.ContainsRune(name, '\\') {
		return fmt.Errorf("file name %q leads out of the work directory", name)
	}
	root := s.work
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	// A running program's file cannot be written to: make way for a new one.
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	mode := fs.FileMode(0o644)
	if exec {
		mode = 0o755
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, data)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	// Dated ahead: tools that remember a file by its name, size and time, such as
	// the go command with its index of packages, leave out one that is too new to
	// tell. They would fail to remember it where their cache is read-only.
	ahead := time.Now().Add(datedAhead)
	return errors.Join(err, f.Close(), root.Chtimes(name, ahead, ahead))
}

// datedAhead is longer than any box lives.
const datedAhead = 24 * time.Hour

// collect reads the files that a request asks for. A program could have put
// anything there: only regular files below the scratch directory are opened,
// without waiting for a FIFO's other end.
func (s *supervisor) collect(q sandbox.Request) []sandbox.File {
	var files []sandbox.File
	for _, name := range q.Collect {
		if data, err := readRegular(s.scratch.Root, name, q.Limits.CollectMax); err == nil {
			files = append(files, sandbox.File{Name: name, Data: data})
		}
	}
	return files
}

func readRegular(root *os.Root, name string, most int64) ([]byte, error) {
	// Root follows links that stay inside: harmless, but no regular file.
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: %w", name, err)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s is no regular file of at most %d bytes", name, most)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}
