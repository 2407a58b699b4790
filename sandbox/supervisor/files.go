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

// place writes one file of a request below the work directory, where programs
// can read and run it but not change it.
func (s *supervisor) place(name string, exec bool, size int64, data io.Reader) error {
	if !filepath.IsLocal(name) || strings.ContainsRune(name, '\\') {
		return fmt.Errorf("file name %q is outside the work directory", name)
	}
	root := s.work
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	// The file of a running program cannot be overwritten: replace it.
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
	// The time lies in the future because the go command, which caches its index of
	// packages by the names, sizes and times of their files, skips packages with
	// very new files. With a read-only cache it could not store them later.
	ahead := time.Now().Add(datedAhead)
	return errors.Join(err, f.Close(), root.Chtimes(name, ahead, ahead))
}

// datedAhead exceeds the lifetime of every box.
const datedAhead = 24 * time.Hour

// collect reads the files that a request asks for. It opens only regular files
// below the scratch directory, and never waits for the other end of a FIFO,
// because a program can have put anything there.
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
	// Root follows links that stay inside: harmless, but not regular files.
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: %w", name, err)
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
		return nil, fmt.Errorf("%s is not a regular file of at most %d bytes", name, most)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}
