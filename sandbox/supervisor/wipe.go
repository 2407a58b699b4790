//go:build linux

package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
)

// clean empties the scratch directory after a program. Only the programs' user can
// delete from that user's directories, because the supervisor has no capability to
// override permissions; a copy of the supervisor does it as that user.
func (s *supervisor) clean() error {
	if s.uid < 0 {
		_ = s.scratch.file.Chmod(0o700) // the program may have locked it
	}
	left, err := names(s.scratch.Root)
	if err == nil && len(left) > 0 {
		if s.uid < 0 {
			wipe(s.scratch.Root)
		} else if err := s.wipeAsUser(); err != nil {
			return err
		}
		left, err = names(s.scratch.Root)
	}
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("scratch directory still holds %q after it was wiped", left[0])
	}
	return errors.Join(err, s.restore())
}

func (s *supervisor) wipeAsUser() error {
	p, err := os.StartProcess(s.self, []string{s.self, "wipe", s.dirs.Scratch}, &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{nil, nil, os.Stderr}, Sys: s.attributes(),
	})
	if err != nil {
		return err
	}
	state, err := p.Wait()
	if err == nil && !state.Success() {
		err = errors.New("wipe: " + state.String())
	}
	return err
}

// wipeAs runs in the copy that wipeAsUser starts.
func wipeAs(args []string) int {
	if len(args) != 1 {
		return 2
	}
	// When memory runs out, the kernel should kill this copy, not process 1.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	root, err := os.OpenRoot(args[0])
	if err != nil {
		return 1
	}
	wipe(root)
	return 0
}

// wipe removes as much as it can below a directory, unreadable directories
// included. It removes links and never follows them. It moves nested directories
// up to the top instead of descending, because a program can nest them deeper than
// descriptors or stack allow to follow.
func wipe(top *os.Root) {
	for progress := true; progress; {
		progress = false
		list, _ := names(top)
		for _, name := range list {
			if top.Remove(name) == nil || flatten(top, name) {
				progress = true
			}
		}
	}
}

// flatten moves the directories in one directory at the top up beside it, and
// removes the rest of it. It reports whether it removed or moved anything.
func flatten(top *os.Root, name string) bool {
	if !openUp(top, name) {
		return false
	}
	dir, err := top.OpenRoot(name)
	if err != nil {
		return false
	}
	defer dir.Close()
	any := false
	for progress := true; progress; any = any || progress {
		progress = false
		list, _ := names(dir)
		for _, entry := range list {
			if dir.Remove(entry) == nil {
				progress = true
				continue
			}
			// Moving a directory changes its "..", so it has to be writable.
			if openUp(dir, entry) && top.Rename(name+"/"+entry, ".wipe-"+rand.Text()) == nil {
				progress = true
			}
		}
	}
	return top.Remove(name) == nil || any
}

// openUp gives the owner access to a directory. It reports false for other files.
func openUp(in *os.Root, name string) bool {
	info, err := in.Lstat(name)
	return err == nil && info.IsDir() && in.Chmod(name, 0o700) == nil
}

// names lists up to 1024 entries of a directory, which fit in memory whatever a
// program has left. The list is empty only if the directory is.
func names(dir *os.Root) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.Readdirnames(1024)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return list, err
}
