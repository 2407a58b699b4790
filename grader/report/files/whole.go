package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Whole writes a file whole or not at all: beside the old one, which it then takes
// the place of. What is no ordinary file, such as a pipe or /dev/null, is written to.
func Whole(name string, write func(*os.File) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", name, err)
		}
	}()
	at := name
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return writeInto(name, write)
		}
		if at, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(filepath.Dir(at))
	if err != nil {
		return err
	}
	defer root.Close()
	return replace(root, filepath.Base(at), write)
}

// replace puts a file in the place of an old one, or where there was none.
func replace(root *os.Root, name string, write func(*os.File) error) error {
	mode, old := os.FileMode(0o666), false // less what the umask takes
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
		mode, old = info.Mode().Perm(), true
	}
	// os.CreateTemp would leave only the owner's rights, and the umask is not to be had.
	beside := filepath.Join(filepath.Dir(name), ".report-"+rand.Text())
	f, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer root.Remove(beside) // not there any more, if all went well
	if old {
		err = f.Chmod(mode) // an old file's stays, whatever the umask is now
	}
	if err := errors.Join(err, write(f), f.Close()); err != nil {
		return err
	}
	return root.Rename(beside, name)
}

func writeInto(name string, write func(*os.File) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
