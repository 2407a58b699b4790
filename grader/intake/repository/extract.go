package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// maxEntries bounds the names that are written of a folder: one more than a submission may
// have, so that the next reader sees that there are too many.
const maxEntries = 10_001

// Extract writes a folder of a commit to dir, which is empty: its files, and empty
// stand-ins of the same kind for folders, links and modules. It writes only the name of a
// file that wanted rejects, and limit+1 bytes of a file that is longer than limit. It
// returns the names that the system cannot have. A [*Broken] says that the commit lacks
// what it should hold.
func (r *Repository) Extract(ctx context.Context, commit, folder, dir string, limit int64, wanted func(name string) bool) (left []string, err error) {
	list, err := r.List(ctx, commit, folder)
	if err != nil {
		return nil, fmt.Errorf("extract %s: %w", folder, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("extract %s: %w", folder, err)
	}
	defer root.Close()
	for _, e := range list {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if strings.Contains(e.Name, "/") { // git never writes it, and it would be a path
			left = append(left, e.Name)
			continue
		}
		ok, err := r.extract(ctx, root, e, limit, wanted(e.Name))
		if err != nil {
			return nil, fmt.Errorf("extract %s: %w", folder, err)
		}
		if !ok {
			left = append(left, e.Name)
		}
	}
	return left, nil
}

// extract writes one name, unless the system cannot have it.
func (r *Repository) extract(ctx context.Context, root *os.Root, e Entry, limit int64, wanted bool) (ok bool, err error) {
	switch e.Kind {
	case Folder, Module:
		return written(root.Mkdir(e.Name, 0o700))
	case Link:
		return written(root.Symlink("nowhere", e.Name)) // its target does not matter
	}
	if wanted {
		if e, err = r.sized(ctx, e); err != nil {
			return false, err
		}
	}
	f, err := root.OpenFile(e.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return written(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	switch {
	case !wanted:
		return true, nil
	case e.Size > limit:
		return true, f.Truncate(limit + 1)
	}
	return true, r.copyTo(ctx, f, e)
}

// written tells an impossible name from a disk that cannot be written. Names in a commit
// may be there twice, be too long, or be "..", which is no error of the system's.
func written(err error) (ok bool, _ error) {
	var system syscall.Errno
	for _, names := range []error{fs.ErrExist, syscall.ENAMETOOLONG, syscall.EINVAL, syscall.EILSEQ, syscall.EISDIR} {
		if errors.Is(err, names) {
			return false, nil
		}
	}
	if err != nil && !errors.As(err, &system) {
		return false, nil
	}
	return err == nil, err
}

func (r *Repository) copyTo(ctx context.Context, w io.Writer, e Entry) error {
	data, err := r.blob(ctx, e)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
