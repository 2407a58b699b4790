package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"grade/grader/fault"
	"grade/grader/submission"
)

// takeBelow takes the snapshot of a folder or an archive, and follows no link on the way to it
// from a folder that was given: a student may have put one there since the submission was
// found. Where from is empty, or the path itself, links are the caller's.
func takeBelow(from, path string) (*submission.Snapshot, error) {
	rel, err := filepath.Rel(from, path)
	if from == "" || err != nil || rel == "." {
		return submission.Take(path)
	}
	folder, last, err := openBelow(from, rel)
	if errors.Is(err, fs.ErrPermission) {
		return nil, &fault.Error{Message: "open the submission", Advice: "make its folder readable", Err: err, Told: "the submission cannot be opened: make its folder readable"}
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(folder)
	at := filepath.Join(fmt.Sprintf("/proc/self/fd/%d", folder), last)
	s, err := submission.Take(at)
	if err != nil {
		return nil, renamed(err, at, path)
	}
	s.Dir = path
	return s, nil
}

// openBelow opens the folder that a path leads to; if that is no folder, the one that holds it,
// and returns the last name of the path.
func openBelow(from, rel string) (folder int, last string, err error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	if folder, err = unix.Open(from, flags, 0); err != nil {
		return -1, "", &fs.PathError{Op: "open", Path: from, Err: err}
	}
	names := strings.Split(rel, string(filepath.Separator))
	for i, name := range names {
		next, err := unix.Openat(folder, name, flags|unix.O_NOFOLLOW, 0)
		if i == len(names)-1 && errors.Is(err, unix.ENOTDIR) && isFile(folder, name) {
			return folder, name, nil
		}
		unix.Close(folder)
		if err != nil {
			return -1, "", &fs.PathError{Op: "open", Path: filepath.Join(from, filepath.Join(names[:i+1]...)), Err: err}
		}
		folder = next
	}
	return folder, "", nil
}

// isFile reports whether a name in a folder is a regular file and no link to one.
func isFile(folder int, name string) bool {
	var s unix.Stat_t
	err := unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && s.Mode&unix.S_IFMT == unix.S_IFREG
}

// renamed says the path by which the caller knows what was read.
func renamed(err error, from, to string) error {
	f := (*fault.Error)(nil)
	if !errors.As(err, &f) {
		return fmt.Errorf("%s: %w", to, err)
	}
	g := *f
	g.Message, g.Told = strings.ReplaceAll(f.Message, from, to), strings.ReplaceAll(f.Told, from, to)
	return &g
}
