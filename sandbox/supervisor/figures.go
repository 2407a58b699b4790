//go:build linux

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// figures is a small file that the kernel makes up anew at each look, as those of control
// groups and of processes. It stays open, because to open and close one takes a few times as
// long as to read it. When what it tells of has gone, it cannot be read: that of a process
// never tells of another with the same number. The zero value is a missing file.
type figures struct{ file *os.File }

// figuresMax is more than any of these files has, in bytes. A longer one counts as missing.
const figuresMax = 4 << 10

// openFigures opens the file that the parts of its path name.
func openFigures(path ...string) figures {
	file, _ := openQuietly(filepath.Join(path...))
	return figures{file}
}

// glance reads a file once.
func glance(path string, buf *[figuresMax]byte) ([]byte, error) {
	file, err := openQuietly(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return figures{file}.look(buf)
}

// openQuietly opens a file, which programs do not inherit. os.Open would also hand it to the
// runtime's poller: that takes as long again, and the kernel would wake the poller when
// something happens to a control group.
func openQuietly(path string) (*os.File, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

func (f figures) close() { _ = f.file.Close() } // which may be nil

// look reads the file, from its beginning, into buf. The buffer is the caller's, on its stack: two can look at once.
func (f figures) look(buf *[figuresMax]byte) ([]byte, error) {
	n, err := f.file.ReadAt(buf[:], 0)
	if err == nil { // it goes on
		return nil, errors.New("a file with figures is too long")
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return buf[:n], nil
}

// number reads a file that holds one number.
func (f figures) number() (int64, bool) {
	var buf [figuresMax]byte
	b, err := f.look(&buf)
	if err != nil {
		return 0, false
	}
	return parse(b)
}

// keyed reads the number behind a key of a "key number" file.
func (f figures) keyed(key string) (int64, bool) {
	var buf [figuresMax]byte
	b, err := f.look(&buf)
	if err != nil {
		return 0, false
	}
	for line := b; len(b) > 0; {
		line, b, _ = bytes.Cut(b, []byte("\n"))
		if k, v, ok := bytes.Cut(line, []byte(" ")); ok && string(k) == key {
			return parse(v)
		}
	}
	return 0, false
}

// word returns one of the words between single spaces.
func word(b []byte, i int) []byte {
	for range i {
		_, b, _ = bytes.Cut(b, []byte(" "))
	}
	b, _, _ = bytes.Cut(b, []byte(" "))
	return b
}

func parse(b []byte) (int64, bool) {
	v, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return v, err == nil
}
