package submission

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grade/grader/fault"
	"grade/grader/verdict"
)

// What an archive may hold. It is read as a stream and never unpacked to a disk, so
// that these bound the memory and the time that one can cost.
const (
	maxArchive  = 16 << 20 // bytes of the file
	maxListing  = 2 << 20  // bytes of a zip's list of its members, which takes six times as many to hold
	maxUnpacked = 64 << 20 // bytes that are read out of it
	maxKept     = 8 << 20  // bytes of Go files, in all its folders
)

// walkFunc calls visit for each member of an archive.
type walkFunc func(f *os.File, size int64, visit visitFunc) error

// formats are the ends of names that are read as archives, the longer ones first.
var formats = []struct {
	suffix string
	walk   walkFunc
}{{".tar.gz", walkTarGz}, {".tgz", walkTarGz}, {".tar", walkTar}, {".zip", walkZip}}

// IsArchive reports whether a file of that name is read as an archive.
func IsArchive(name string) bool { return TrimArchive(name) != name }

// TrimArchive is name without the end that makes it an archive's.
func TrimArchive(name string) string {
	suffix, _ := formatOf(name)
	return name[:len(name)-len(suffix)]
}

func formatOf(name string) (suffix string, walk walkFunc) {
	for _, f := range formats {
		if strings.HasSuffix(strings.ToLower(name), f.suffix) {
			return f.suffix, f.walk
		}
	}
	return "", nil
}

// member is a file in an archive.
type member struct {
	name string // as it stands there
	mode fs.FileMode
	data []byte // of a Go file, at most one byte more than is allowed
}

// visitFunc is called for each member, with what opens it.
type visitFunc func(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) error

// archiveProblem is why an archive as a whole is refused.
type archiveProblem struct{ rule, message string }

func (p archiveProblem) Error() string { return p.message }

var errTooLarge = archiveProblem{"too-large", fmt.Sprintf("the archive holds more than %d MiB; send the Go files of the solution alone", maxUnpacked>>20)}

// snapshotArchive takes a submission out of an archive: the files of its one folder
// that holds Go files, or of the topmost such folder. An archive that cannot be read
// is the submission's fault.
func snapshotArchive(name string) (*Snapshot, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, &fault.UsageError{Message: "open the submission", Hint: "make the archive readable", Err: err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("take snapshot of %s: %w", verdict.Printable(abs), err)
	}
	t := taking{names: map[string]string{}, Snapshot: Snapshot{Dir: abs}}
	members, err := t.members(f, info)
	var refused archiveProblem
	switch {
	case errors.As(err, &refused):
		t.refuse(filepath.Base(name), refused.rule, refused.message)
	case err != nil:
		t.refuse(filepath.Base(name), "archive", fmt.Sprintf("this archive cannot be read (%s); make it anew", verdict.Printable(err.Error())))
	default:
		t.takeMembers(filepath.Base(name), members)
	}
	return t.finish(), nil
}

// members reads what could belong to the submission. What is refused by its name
// alone is refused here.
func (t *taking) members(f *os.File, info fs.FileInfo) (list []member, err error) {
	if !info.Mode().IsRegular() || info.Size() > maxArchive {
		return nil, archiveProblem{"too-large", fmt.Sprintf("this is no regular file of at most %d MiB; send the Go files of the solution alone", maxArchive>>20)}
	}
	entries, kept := 0, 0
	_, walk := formatOf(f.Name())
	err = walk(f, info.Size(), func(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) error {
		if entries++; entries > maxEntries {
			return archiveProblem{"too-many", fmt.Sprintf("the archive holds more than %d entries; send the Go files of the solution alone", maxEntries)}
		}
		if mode.IsDir() {
			return nil
		}
		if !filepath.IsLocal(name) || strings.Contains(name, `\`) {
			return archiveProblem{"archive-path", fmt.Sprintf("the name %s leads out of the archive; make it anew, from inside the folder", verdict.Printable(name))}
		}
		m := member{name: path.Clean(name), mode: mode}
		if mode.IsRegular() && strings.HasSuffix(name, ".go") {
			if m.data, err = readMember(open); err != nil {
				return err
			}
		}
		if kept += len(m.data); kept > maxKept {
			return errTooLarge
		}
		list = append(list, m)
		return nil
	})
	return list, err
}

func readMember(open func() (io.ReadCloser, error)) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, MaxFileSize+1))
}

// takeMembers decides on each file of the submission's folder as on one of a disk.
func (t *taking) takeMembers(archive string, members []member) {
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	dir, ok := topFolder(members)
	if !ok {
		t.refuse(archive, "archive", "this archive holds no Go file, or several folders with Go files side by side; put those of the solution at its top")
		return
	}
	for _, m := range members {
		folder, name := path.Split(m.name)
		if path.Clean(folder) != dir {
			t.ignore(m.name)
			continue
		}
		take := func() ([]byte, *verdict.Problem, error) { return m.data, tooLarge(m.data), nil }
		// Nothing is read from a disk here, so nothing can fail.
		_ = t.entry(name, m.mode, take)
	}
}

// topFolder is the one of least depth that holds Go files besides tests.
func topFolder(members []member) (dir string, ok bool) {
	depth, folders := 0, map[string]bool{}
	for _, m := range members {
		if !strings.HasSuffix(m.name, ".go") || strings.HasSuffix(m.name, "_test.go") || strings.HasPrefix(m.name, "__MACOSX/") {
			continue
		}
		here := strings.Count(m.name, "/")
		if len(folders) == 0 || here < depth {
			depth, folders = here, map[string]bool{}
		}
		if here == depth {
			dir = path.Dir(m.name)
			folders[dir] = true
		}
	}
	return dir, len(folders) == 1
}

func walkZip(f *os.File, size int64, visit visitFunc) error {
	from := &listing{f, maxListing}
	r, err := zip.NewReader(from, size)
	from.left = math.MaxInt64
	// A name that leads out is ours to refuse, with a message.
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	for _, m := range r.File {
		if err := visit(m.Name, m.Mode(), m.Open); err != nil {
			return err
		}
	}
	return nil
}

// listing reads an archive as long as there are bytes left to read. The list of a
// zip's members is read before the first of them can be counted.
type listing struct {
	io.ReaderAt
	left int64
}

func (l *listing) ReadAt(p []byte, at int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, archiveProblem{"too-many", fmt.Sprintf("the list of what the archive holds is longer than %d MiB; send the Go files of the solution alone", maxListing>>20)}
	}
	return l.ReaderAt.ReadAt(p, at)
}

func walkTarGz(f *os.File, size int64, visit visitFunc) error {
	r, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	return walkStream(r, visit)
}

func walkTar(f *os.File, _ int64, visit visitFunc) error { return walkStream(f, visit) }

func walkStream(stream io.Reader, visit visitFunc) error {
	limited := &io.LimitedReader{R: stream, N: maxUnpacked}
	r := tar.NewReader(limited)
	for {
		h, err := r.Next()
		switch {
		case limited.N == 0:
			return errTooLarge
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath):
			return err
		}
		mode := h.FileInfo().Mode()
		if h.Typeflag == tar.TypeLink {
			mode |= fs.ModeSymlink // a second name is a link of either kind
		}
		if err := visit(h.Name, mode, func() (io.ReadCloser, error) { return io.NopCloser(r), nil }); err != nil {
			return err
		}
	}
}
