// Package wholefile replaces files as a whole. A reader of the name sees the old content or
// the new one, never a part of either; if writing fails, the old file stays.
//
// Every function writes to a new file in the same folder and renames it. [Write] and
// [WriteIn] promise no more: after a loss of power the content may be the old one, or none.
// [Keep] promises that its content survives a loss of power too; that costs two waits for
// the disk, so that it suits results and not what can be made again.
//
// A new file has the rights that the umask leaves, an old one keeps its own. Package
// sandbox/toolchain has a writer of its own, because no arrow leads from a sandbox up to
// here.
package wholefile

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Write replaces the content of a file by what write writes. It follows links. It writes
// directly to anything but a regular file, such as a pipe or /dev/null, because a rename
// would replace it.
func Write(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return into(name, write)
		}
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	return WriteIn(root, filepath.Base(name), write)
}

// Bytes writes data, for [Write] and [WriteIn].
func Bytes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// WriteIn is [Write] for a name below a root. It does not follow a link at the name itself:
// the file replaces the link.
func WriteIn(root *os.Root, name string, write func(io.Writer) error) error {
	return replace(root, name, func(f *os.File) error { return write(f) })
}

// Keep replaces the content of a file for good: content and name are on the disk when it
// returns. It does not follow a link at the name itself.
func Keep(name string, data []byte) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	err = replace(root, filepath.Base(name), func(f *os.File) error {
		_, err := f.Write(data)
		return errors.Join(err, f.Sync())
	})
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(name))
}

// SyncDir waits until the names in a folder are on the disk.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) { // not every file system syncs folders
		err = nil
	}
	return errors.Join(err, f.Close())
}

// replace writes a new file and renames it to name. The new file has a random name and the
// umask's rights: [os.CreateTemp] would give it the owner's rights alone, and the umask
// cannot be read without changing it.
func replace(root *os.Root, name string, write func(*os.File) error) error {
	mode, old := os.FileMode(0o666), false
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
		mode, old = info.Mode().Perm(), true
	}
	beside := filepath.Join(filepath.Dir(name), ".new-"+rand.Text())
	f, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer root.Remove(beside) // it is gone already if all went well
	if old {
		err = f.Chmod(mode) // the umask has removed some of an old file's rights
	}
	if err := errors.Join(err, write(f), f.Close()); err != nil {
		return err
	}
	return root.Rename(beside, name)
}

// into writes to a file that a rename must not replace.
func into(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
