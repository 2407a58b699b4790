package files

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"grade/grader/gradebook"
	"grade/grader/report"
	"grade/grader/wholefile"
)

// What stands in a file's name for the submission that the file is about.
const (
	forStudent  = "{student}"
	forExercise = "{exercise}"
)

// each reports whether a file's name stands for many.
func each(file string) bool {
	return strings.Contains(file, forStudent) || strings.Contains(file, forExercise)
}

// writeEach writes a report of each submission that has a verdict. What lies below the
// folder before the first placeholder may be a student's, in a checkout: no link there is
// followed.
func writeEach(t Target, b *gradebook.Book) error {
	dir, pattern := splitEach(t.File)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var errs []error
	for _, e := range b.Entries() {
		result := e.Cell.Result()
		if result == nil {
			continue
		}
		name := filepath.Clean(strings.NewReplacer(forStudent, fileName(e.Student), forExercise, fileName(e.Exercise)).Replace(pattern))
		id := report.Identity{Student: e.Student, Folder: e.Folder, Counted: &e.Cell}
		if err := writeBelow(root, name, func(f io.Writer) error { return t.Write(f, result, id) }); err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", filepath.Join(dir, name), err))
		}
	}
	return errors.Join(errs...)
}

// splitEach is the folder that holds the files of all submissions, and their names in it.
func splitEach(file string) (dir, pattern string) {
	fixed, _, _ := strings.Cut(file, forStudent)
	fixed, _, _ = strings.Cut(fixed, forExercise)
	dir = filepath.Dir(fixed + "x")
	pattern, err := filepath.Rel(dir, file)
	if err != nil {
		return ".", file // both are below the same folder: it cannot be
	}
	return dir, pattern
}

// writeBelow writes a file below root, unless a link is on the way.
func writeBelow(root *os.Root, name string, write func(io.Writer) error) error {
	for at := name; at != "."; at = filepath.Dir(at) {
		if info, err := root.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a link, which is not followed: take it away", at)
		}
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return wholefile.WriteIn(root, name, write)
}

// longestName is as much of a name as stands in a file's, in bytes, which may have 255 in all.
const longestName = 200

// fileName is a name as one segment of a path, and no other name's. Of a long one there is
// the start, and a hash behind a comma, which is in no other.
func fileName(s string) string {
	if strings.Trim(s, ".") == "" {
		s = strings.ReplaceAll(s, ".", "%2E")
	} else {
		s = url.PathEscape(s)
	}
	if len(s) <= longestName {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return s[:longestName/2] + "," + hex.EncodeToString(sum[:16])
}
