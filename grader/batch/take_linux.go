package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"grade/grader/fault"
	"grade/grader/intake"
	"grade/grader/submission"
	"grade/grader/verdict"
)

// takeBelow takes the snapshot of a folder or an archive, and follows no link on the way to it
// from a folder that was given: a student may have put one there since the submission was
// found. Where from is empty, or not above the path, links are the caller's.
//
// What was found as an archive is taken as one, or not at all.
func takeBelow(found intake.Submission) (*submission.Snapshot, error) {
	from, path := found.From, found.Path
	rel, err := filepath.Rel(from, path)
	if from == "" || err != nil || rel == "." || !filepath.IsLocal(rel) {
		return takeFound(found)
	}
	folder, last, err := openBelow(from, rel)
	if errors.Is(err, fs.ErrPermission) {
		return nil, &fault.Error{Message: "open the submission", Advice: "make its folder readable", Err: err, Told: "the submission cannot be opened: make its folder readable"}
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(folder)
	if found.Archive && last == "" {
		return nil, &fs.PathError{Op: "open", Path: path, Err: submission.ErrNoArchive}
	}
	return takeIn(folder, last, path)
}

// takeIn takes the snapshot of what openBelow has opened: the folder or, by its last name in that,
// an archive. The name may have come to stand for a link or a folder since openBelow looked: then
// nothing is taken.
func takeIn(folder int, last, path string) (*submission.Snapshot, error) {
	opened := fmt.Sprintf("/proc/self/fd/%d", folder)
	if _, err := os.Stat(opened); err != nil {
		return nil, fmt.Errorf("read %s: /proc has to be mounted: %s", verdict.Printable(path), err.Error())
	}
	take := submission.Take
	if last != "" {
		take = submission.TakeArchive
	}
	s, err := take(filepath.Join(opened, last))
	if err != nil {
		return nil, renamed(err, filepath.Join(opened, last), path)
	}
	s.Dir = path
	return s, nil
}

// openBelow opens the folder that a path leads to; if that is no folder, the one that holds it,
// and returns the last name of the path.
func openBelow(from, rel string) (folder int, last string, err error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	if folder, err = uninterrupted(func() (int, error) { return unix.Open(from, flags, 0) }); err != nil {
		return -1, "", &fs.PathError{Op: "open", Path: from, Err: err}
	}
	names := strings.Split(rel, string(filepath.Separator))
	for i, name := range names {
		next, err := uninterrupted(func() (int, error) { return unix.Openat(folder, name, flags|unix.O_NOFOLLOW, 0) })
		if i == len(names)-1 && errors.Is(err, unix.ENOTDIR) {
			if err = regular(folder, name); err == nil {
				return folder, name, nil
			}
		}
		unix.Close(folder)
		if err != nil {
			return -1, "", &fs.PathError{Op: "open", Path: filepath.Join(from, filepath.Join(names[:i+1]...)), Err: err}
		}
		folder = next
	}
	return folder, "", nil
}

// regular returns an error unless a name in a folder is a regular file, and no link to one.
func regular(folder int, name string) error {
	var s unix.Stat_t
	_, err := uninterrupted(func() (int, error) { return 0, unix.Fstatat(folder, name, &s, unix.AT_SYMLINK_NOFOLLOW) })
	if err == nil && s.Mode&unix.S_IFMT != unix.S_IFREG {
		err = unix.ENOTDIR
	}
	return err
}

// uninterrupted calls do again for as long as a signal interrupts it, as package os does.
func uninterrupted(do func() (int, error)) (int, error) {
	for {
		if n, err := do(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// renamed says the path by which the caller knows what was read.
func renamed(err error, from, to string) error {
	says := strings.NewReplacer(verdict.Printable(from), verdict.Printable(to), from, verdict.Printable(to))
	f := (*fault.Error)(nil)
	if !errors.As(err, &f) {
		return renamedError{says.Replace(err.Error()), err}
	}
	g := *f
	g.Message, g.Told = says.Replace(f.Message), says.Replace(f.Told)
	if f.Err != nil {
		g.Err = renamedError{says.Replace(f.Err.Error()), f.Err}
	}
	return &g
}

// renamedError is an error in other words.
type renamedError struct {
	text string
	err  error
}

func (e renamedError) Error() string { return e.text }
func (e renamedError) Unwrap() error { return e.err }
