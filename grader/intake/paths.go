package intake

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
)

// Below returns dir, slash-separated, as seen from the folder root, if it lies there. It
// does not resolve links: [Resolved] does.
func Below(root, dir string) (rel string, ok bool) {
	root, err := filepath.Abs(root)
	if err != nil {
		return "", false
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", false
	}
	rel, err = filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// FolderIn returns dir as seen from the folder root, or from the current one if root is
// empty. It returns "" if dir is root itself or not below it.
func FolderIn(root, dir string) string {
	rel, ok := Below(cmp.Or(root, "."), dir)
	if !ok || rel == "." {
		return ""
	}
	return rel
}

// Resolved returns a path with its links resolved, as far as it exists.
func Resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(Resolved(dir), filepath.Base(path))
	}
	return path
}

// LinkOnTheWay returns a link below root that a file would be written through; empty: none.
func LinkOnTheWay(root, file string) string {
	rel, ok := Below(root, file)
	if !ok {
		return ""
	}
	name := root
	for part := range strings.SplitSeq(rel, "/") {
		name = filepath.Join(name, part)
		if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return name
		}
	}
	return ""
}
