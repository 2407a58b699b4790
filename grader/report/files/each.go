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
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"grade/grader/gradebook"
	"grade/grader/report"
	"grade/grader/wholefile"
)

// The placeholders of a file's name.
const (
	forStudent  = "{student}"
	forExercise = "{exercise}"
)

// each reports whether a file's name has a placeholder.
func each(file string) bool {
	return strings.Contains(file, forStudent) || strings.Contains(file, forExercise)
}

// writeEach writes a report of each submission that has a verdict. It follows no link below
// the folder before the first placeholder: in a checkout a student may have made it.
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
		name := nameFor(pattern, e.Student, e.Exercise)
		id := report.Identity{Student: e.Student, Folder: e.Folder, Counted: &e.Cell}
		if err := writeBelow(root, name, func(f io.Writer) error { return t.Write(f, result, id) }); err != nil {
			errs = append(errs, fmt.Errorf("write %s: %w", filepath.Join(dir, name), err))
		}
	}
	return errors.Join(errs...)
}

// nameFor returns the name of the file of one submission.
func nameFor(pattern, student, exercise string) string {
	return filepath.Clean(strings.NewReplacer(forStudent, fileName(student), forExercise, fileName(exercise)).Replace(pattern))
}

// pagesFrom returns links from a report to the pages of single submissions that are written
// with it. It returns nil if none are, or if the report goes to standard output, which is at
// no place that a link could start from.
func (l Targets) pagesFrom(file string) func(student, exercise string) string {
	i := slices.IndexFunc(l, func(t Target) bool { return t.Name == "html" && each(t.File) })
	if i < 0 || file == Stdout {
		return nil
	}
	return func(student, exercise string) string {
		dir, pattern := splitEach(l[i].File)
		to, err := filepath.Rel(filepath.Dir(file), filepath.Join(dir, nameFor(pattern, student, exercise)))
		if err != nil {
			return ""
		}
		parts := strings.Split(filepath.ToSlash(to), "/")
		for i, p := range parts {
			parts[i] = url.PathEscape(p)
		}
		return "./" + strings.Join(parts, "/") // not to be read as a scheme
	}
}

// splitEach returns the folder that holds the files of all submissions, and the pattern of
// their names in it.
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

// longestName is how many bytes of a name a file's name holds; a file system takes 255 in
// all.
const longestName = 200

// fileName makes one segment of a path from a name, which no other name gets. It cuts a
// long name and adds a hash after a comma, which no other segment contains.
func fileName(s string) string {
	if strings.Trim(s, ".") == "" {
		s = strings.ReplaceAll(s, ".", "%2E")
	} else {
		s = escaped(s)
	}
	if len(s) <= longestName {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return strings.ToValidUTF8(s[:longestName/2], "") + "," + hex.EncodeToString(sum[:16])
}

// escaped is [url.PathEscape], but for letters and for spaces between others.
func escaped(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == ' ' && i > 0 && i < len(s)-1, plainLetter(r):
			b.WriteRune(r)
		default:
			_, size := utf8.DecodeRuneInString(s[i:])
			b.WriteString(url.PathEscape(s[i : i+size]))
		}
	}
	return b.String()
}

// plainLetter reports whether a letter is one file name on every system, which no other
// spelling of it shares. Some systems take a letter with an accent and the letter before a
// combining accent for one name: the second is escaped. In later alphabets there are
// letters that are one name with another letter, and a few here are one with two letters.
func plainLetter(r rune) bool {
	const endOfCyrillic, twofold = 0x0530, "ßİŉǰΐΰ"
	return r < endOfCyrillic && unicode.In(r, unicode.Lu, unicode.Ll) && !strings.ContainsRune(twofold, r)
}
