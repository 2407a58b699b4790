//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"grade/sandbox"
)

// places are the directories of a box. They are held open: where a program runs
// as our own user it can move them and put a link in their stead, and what we
// write or wipe must not follow it.
type places struct {
	dirs          sandbox.Dirs
	work, scratch *place
	base          *place // holds both, where they are ours to make; or nil
}

// place is one directory.
type place struct {
	*os.Root
	file *os.File // it again: the only way to its mode that needs no right to it
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

// openPlaces takes directories that are there.
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

// remove takes away what newPlaces made, as far as it got.
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
	_ = os.Remove(filepath.Dir(p.dirs.Work)) // a directory only if it is empty
}

// restore makes the names lead to the directories that we hold again, after a
// program. What stands in the scratch directory's stead goes, and a new one
// comes.
func (p *places) restore() error {
	if p.base == nil || p.scratch.named(p.dirs.Scratch) && p.work.named(p.dirs.Work) {
		return nil
	}
	if !p.work.named(p.dirs.Work) {
		return fmt.Errorf("a program took %s away", p.dirs.Work)
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
