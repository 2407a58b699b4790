package course

import (
	"fmt"
	"io/fs"
	"os"
)

// maxRead is the largest file of a course that is read, in bytes.
const maxRead = 16 << 20

// Folder returns the files below a folder that can be read as a whole: a pipe would wait
// for a writer, and a device has no end.
func Folder(dir string) fs.FS { return folder{os.DirFS(dir)} }

// folder looks at a file before it opens it, because opening a pipe would block.
type folder struct{ fs.FS }

func (f folder) Open(name string) (fs.File, error) {
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		return nil, err
	}
	if err := readable(info); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return f.FS.Open(name)
}

func (f folder) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

func (f folder) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

// readable refuses what is neither a folder nor a regular file of a size to be read.
func readable(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("want a regular file, not a pipe or a device: put a copy in its place")
	case info.Size() > maxRead:
		return fmt.Errorf("larger than %d MiB", maxRead>>20)
	}
	return nil
}

// ReadFile reads a file of the course's by its path, as [Folder] does.
func ReadFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil {
		if err = readable(info); err != nil {
			err = &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}
