package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"grade/exercises/course"
	"grade/grader/fault"
)

// WriteAll writes files below dir: all of them, or none.
func WriteAll(dir string, files []course.File) (err error) {
	undo := &undo{}
	defer func() {
		if err != nil {
			err = errors.Join(theirs(err), undo.run())
		}
	}()
	if err := undo.mkdirAll(dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write to %s: %w", dir, err)
	}
	defer root.Close()
	if err := refuseOverwriting(root, dir, files); err != nil {
		return err
	}
	for _, f := range files {
		if err := undo.write(root, dir, f); err != nil {
			return fmt.Errorf("write to %s: %w", dir, err)
		}
	}
	return nil
}

// Free refuses files that are there already below dir, which need not be there itself.
func Free(dir string, files []course.File) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return theirs(fmt.Errorf("write to %s: %w", dir, err))
	}
	defer root.Close()
	return refuseOverwriting(root, dir, files)
}

func refuseOverwriting(root *os.Root, dir string, files []course.File) error {
	var there []string
	for _, f := range files {
		switch _, err := root.Lstat(filepath.FromSlash(f.Name)); {
		case err == nil, errors.Is(err, syscall.ENOTDIR): // a file where a folder should be
			there = append(there, f.Name)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("write to %s: %w", dir, err)
		}
	}
	if len(there) == 0 {
		return nil
	}
	return refuse("give another folder; nothing was written", "%s has files that would be overwritten: %s", dir, strings.Join(there, ", "))
}

// undo remembers what was made, to take it back.
type undo struct{ made []string }

// mkdirAll makes dir and the folders above it that are missing.
func (u *undo) mkdirAll(dir string) error {
	switch info, err := os.Stat(dir); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return refuse("give a folder, or a name that is free", "%s is a file", dir)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write to %s: %w", dir, err)
	}
	if err := u.mkdirAll(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	u.made = append(u.made, dir)
	return nil
}

// write makes a file that was not there, and the folders it lies in.
func (u *undo) write(root *os.Root, dir string, f course.File) error {
	for parent := range parents(f.Name) {
		switch err := root.Mkdir(parent, 0o777); {
		case err == nil:
			u.made = append(u.made, filepath.Join(dir, parent))
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	file, err := root.OpenFile(filepath.FromSlash(f.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	u.made = append(u.made, filepath.Join(dir, filepath.FromSlash(f.Name)))
	_, err = file.Write(f.Data)
	return errors.Join(err, file.Close())
}

// parents yields the folders of a slash-separated name, outermost first.
func parents(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i, c := range path.Clean(name) {
			if c == '/' && !yield(filepath.FromSlash(name[:i])) {
				return
			}
		}
	}
}

// run removes what was made, the last first. It leaves a folder that is not empty, because
// what is in it is not ours.
func (u *undo) run() error {
	var errs []error
	for _, name := range slices.Backward(u.made) {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// theirs marks the error of a folder in which the caller may not write, or none can.
func theirs(err error) error { return because("nothing was written", err) }

func because(message string, err error) error {
	for _, cause := range []error{fs.ErrPermission, fs.ErrNotExist, syscall.ENOTDIR, syscall.EROFS, syscall.ENAMETOOLONG} {
		if errors.Is(err, cause) {
			return &fault.Error{Message: message, Advice: "give a folder that you may write in", Err: err}
		}
	}
	return err
}

// refuse returns an error of the caller, who named the folder.
func refuse(hint, format string, args ...any) error {
	return &fault.Error{Message: fmt.Sprintf(format, args...), Advice: hint}
}
