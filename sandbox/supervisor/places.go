//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"grade/sandbox"
)

// places holds the directories of a box open. A program with the supervisor's own
// user can move them and put a link in their place, and writing or wiping must not
// follow that link.
type places struct {
	dirs          sandbox.Dirs
	work, scratch *place
	base          *place // parent of both, if newPlaces made them; else nil
}

// place is one directory.
type place struct {
	*os.Root
	file *os.File // the same directory: changes its mode without permission to enter it
}

func openPlace(root *os.Root, err error) (*place, error) {
	if err != nil {
		return nil, err
	}
	file, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &place{root, file}, nil
}

func (p *place) close() {
	p.Root.Close()
	p.file.Close()
}

// named reports whether name is this directory, and not a link to it.
func (p *place) named(name string) bool {
	held, err := p.file.Stat()
	if err != nil {
		return false
	}
	info, err := os.Lstat(name)
	return err == nil && os.SameFile(held, info)
}

// openPlaces opens directories that exist.
func openPlaces(dirs sandbox.Dirs) (*places, error) {
	work, err := openPlace(os.OpenRoot(dirs.Work))
	if err != nil {
		return nil, err
	}
	scratch, err := openPlace(os.OpenRoot(dirs.Scratch))
	if err != nil {
		return nil, err
	}
	return &places{dirs: dirs, work: work, scratch: scratch}, nil
}

// newPlaces makes work and scratch in a fresh directory below parent.
func newPlaces(parent string, dirs sandbox.Dirs) (*places, error) {
	name, err := os.MkdirTemp(parent, "grade-box-")
	if err != nil {
		return nil, err
	}
	p := &places{dirs: dirs}
	p.dirs.Work, p.dirs.Scratch = filepath.Join(name, "work"), filepath.Join(name, "scratch")
	if p.base, err = openPlace(os.OpenRoot(name)); err != nil {
		return nil, errors.Join(err, os.Remove(name))
	}
	if p.work, err = p.fresh("work"); err == nil {
		p.scratch, err = p.fresh("scratch")
	}
	if err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *places) fresh(name string) (*place, error) {
	if err := p.base.Mkdir(name, 0o700); err != nil {
		return nil, err
	}
	return openPlace(p.base.OpenRoot(name))
}

// remove deletes the directories that newPlaces made, as far as it got.
func (p *places) remove() {
	if p.base == nil {
		return
	}
	for _, place := range []*place{p.scratch, p.work, p.base} {
		if place != nil {
			_ = place.file.Chmod(0o700)
			wipe(place.Root)
			place.close()
		}
	}
	_ = os.Remove(filepath.Dir(p.dirs.Work)) // fails if it is not empty
}

// restore checks, after a program, that the paths still name the open directories.
// It replaces a scratch directory that was moved, and fails if the work directory
// was.
func (p *places) restore() error {
	if p.base == nil || p.scratch.named(p.dirs.Scratch) && p.work.named(p.dirs.Work) {
		return nil
	}
	if !p.work.named(p.dirs.Work) {
		return fmt.Errorf("a program moved or removed %s", p.dirs.Work)
	}
	if err := p.base.RemoveAll("scratch"); err != nil {
		return err
	}
	scratch, err := p.fresh("scratch")
	if err != nil {
		return err
	}
	p.scratch.close()
	p.scratch = scratch
	return nil
}
