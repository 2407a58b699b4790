//go:build unix

package submission

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
)

func fifo(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func socket(t *testing.T, dir, name string) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(dir, name))
	if err != nil {
		t.Skip(err) // the path of the folder may be too long
	}
	t.Cleanup(func() { l.Close() })
}

func device(t *testing.T, dir, name string) {
	t.Helper()
	if err := syscall.Mknod(filepath.Join(dir, name), syscall.S_IFCHR|0o644, 1<<8|5); err != nil {
		t.Skip(err) // only root may
	}
}
