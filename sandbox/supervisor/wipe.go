//go:build linux

package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
)

// clean empties the scratch directory after a program. What another user left
// in directories of its own, only that user can remove: we have no capability
// to override permissions, so a copy of us does it under that user's name.
func (s *supervisor) clean() error {
	if s.uid < 0 {
		_ = s.scratch.file.Chmod(0o700) // its owner may have closed it
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

// wipeAs is the copy's side of wipeAsUser.
func wipeAs(args []string) int {
	if len(args) != 1 {
		return 2
	}
	// Where memory is out, the kernel shall choose this copy, not process 1.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	root, err := os.OpenRoot(args[0])
	if err != nil {
		return 1
	}
	wipe(root)
	return 0
}

// wipe removes everything below a directory, made unreadable or not; what it
// cannot remove it leaves. Links are removed, never followed. A directory's
// directories are moved up to the top before it goes: a program can nest them
// deeper than we have descriptors or stack to follow.
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

// flatten empties and removes one directory at the top, with its directories
// moved up beside it. It reports whether anything was removed or moved.
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
			// Moving a directory changes the ".." in it, so it has to be writable.
			if openUp(dir, entry) && top.Rename(name+"/"+entry, ".wipe-"+rand.Text()) == nil {
				progress = true
			}
		}
	}
	return top.Remove(name) == nil || any
}

// openUp gives the owner access to what it reports to be a directory.
func openUp(in *os.Root, name string) bool {
	info, err := in.Lstat(name)
	return err == nil && info.IsDir() && in.Chmod(name, 0o700) == nil
}

// names lists some of the entries of a directory: few enough to hold in memory,
// whatever a program has left; none only where there are none.
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
