package submission

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"grade/grader/verdict"
)

// The caps on an archive bound the memory and the time that reading one can cost. It
// is read as a stream and never unpacked to a disk.
const (
	maxArchive  = 16 << 20 // bytes of the file
	maxListing  = 2 << 20  // bytes of a zip's list of its members, which takes six times as many to hold
	maxUnpacked = 64 << 20 // bytes that are read out of it
	maxKept     = 8 << 20  // bytes of Go files, in all its folders
)

// walkFunc calls visit for each member of an archive.
type walkFunc func(f *os.File, size int64, visit visitFunc) error

// formats are the endings of archives' names, the longer ones first.
var formats = []struct {
	suffix string
	walk   walkFunc
}{{".tar.gz", walkTarGz}, {".tgz", walkTarGz}, {".tar", walkTar}, {".zip", walkZip}}

// IsArchive reports whether a file of that name is read as an archive.
func IsArchive(name string) bool { return TrimArchive(name) != name }

// TrimArchive returns name without the ending of an archive.
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
	data []byte // of a source, at most one byte more than is allowed
}

// visitFunc is called for each member, with what opens it.
type visitFunc func(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) error

// archiveProblem is a reason to refuse an archive as a whole.
type archiveProblem struct{ rule, message string }

func (p archiveProblem) Error() string { return p.message }

// memberHeader is more than what is read of a member beside its content.
const memberHeader = 64

var (
	errLongList = archiveProblem{"too-many", fmt.Sprintf("the archive's table of contents is longer than %d MiB; hand in only the Go files of the solution", maxListing>>20)}
	errShared   = archiveProblem{"archive", "several entries of this archive lie in the same place; create it again"}
)

var errTooLarge = archiveProblem{"too-large", fmt.Sprintf("the archive unpacks to more than %d MiB; hand in only the Go files of the solution", maxUnpacked>>20)}

// ErrNoArchive is the error of what has to be an archive and is none: a folder, a device, or a
// file of another name.
var ErrNoArchive = errors.New("not a regular .zip, .tar or .tar.gz file")

// TakeArchive is [Take] of what the caller knows to be an archive. It opens name once, by no
// link in its last part, and reads what it has opened: whatever may have come to stand there
// since the caller looked, a folder or a link to one, is a [fault.Error] and never taken.
func TakeArchive(name string) (*Snapshot, error) { return timed(name, snapshotArchive) }

// snapshotArchive takes a submission out of an archive: the files of the topmost
// folder that holds sources. A damaged archive is a problem of the submission and no
// error: handing it in again mends it.
func snapshotArchive(name string) (*Snapshot, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	f, info, err := openArchive(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := reader{names: map[string]string{}, Snapshot: Snapshot{Dir: abs}}
	members, err := t.members(f, info)
	var refused archiveProblem
	var disk *fs.PathError
	switch {
	case errors.As(err, &disk): // and not what stands in it
		return nil, fmt.Errorf("take snapshot of %s: %w", verdict.Printable(abs), err)
	case errors.As(err, &refused):
		t.refuse(filepath.Base(name), refused.rule, refused.message)
	case err != nil:
		t.refuse(filepath.Base(name), "archive", fmt.Sprintf("this archive cannot be read (%s); create it again", verdict.Printable(err.Error())))
	default:
		t.takeMembers(filepath.Base(name), members)
	}
	return t.finish(), nil
}

// openArchive opens a regular file that has the name of an archive. What it is, the opened file
// tells: the name may stand for another one by now.
func openArchive(name string) (*os.File, fs.FileInfo, error) {
	const advice = "give a .zip, .tar or .tar.gz file that can be read, and no link to one"
	no := &fs.PathError{Op: "open", Path: name, Err: ErrNoArchive}
	if !IsArchive(name) {
		return nil, nil, unreadable(no, advice)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, nil, unreadable(err, advice)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		return f, info, nil
	}
	f.Close()
	if err != nil {
		return nil, nil, fmt.Errorf("take snapshot of %s: %w", verdict.Printable(name), err)
	}
	return nil, nil, unreadable(no, advice)
}

// members reads the entries that could belong to the submission, and refuses those
// whose names lead out of the archive.
func (t *reader) members(f *os.File, info fs.FileInfo) (list []member, err error) {
	if info.Size() > maxArchive {
		return nil, archiveProblem{"too-large", fmt.Sprintf("an archive has at most %d MiB; hand in only the Go files of the solution", maxArchive>>20)}
	}
	entries, kept := 0, 0
	_, walk := formatOf(f.Name())
	err = walk(f, info.Size(), func(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) error {
		if entries++; entries > maxEntries {
			return archiveProblem{"too-many", fmt.Sprintf("the archive holds more than %d entries; hand in only the Go files of the solution", maxEntries)}
		}
		if mode.IsDir() {
			return nil
		}
		if !filepath.IsLocal(name) || strings.Contains(name, `\`) {
			return archiveProblem{"archive-path", fmt.Sprintf("the entry %s points outside of the archive; create the archive again, from inside the solution's folder", verdict.Printable(name))}
		}
		m := member{name: path.Clean(name), mode: mode}
		if mode.IsRegular() && IsSource(path.Base(name)) {
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

// takeMembers reads each file of the submission's folder as one of a disk.
func (t *reader) takeMembers(archive string, members []member) {
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	dir, ok := topFolder(members)
	if !ok {
		t.refuse(archive, "archive", "this archive holds no Go file, or Go files in several folders side by side; put the solution's Go files at its top level")
		return
	}
	for _, m := range members {
		folder, name := path.Split(m.name)
		if path.Clean(folder) != dir {
			t.ignore(m.name)
			continue
		}
		take := func() ([]byte, *verdict.Problem, error) { return m.data, tooLarge(m.data), nil }
		// An entry in memory cannot fail to be read.
		_ = t.entry(name, m.mode, take)
	}
}

// topFolder returns the folder of least depth that holds sources. Of two at the same
// depth, either could be meant, and ok is false.
func topFolder(members []member) (dir string, ok bool) {
	depth, folders := 0, map[string]bool{}
	for _, m := range members {
		if !IsSource(path.Base(m.name)) || strings.HasPrefix(m.name, "__MACOSX/") {
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
	// archive/zip reads the list as a whole before the first member can be counted.
	from := &cappedReader{f, size, maxListing, errLongList}
	r, err := zip.NewReader(from, size)
	// Each byte is read once, as members share none. Thousands that do could take hours.
	from.left, from.exceeded = size+maxEntries*memberHeader, errShared
	// members refuses a name that leads out, with a message.
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	for _, m := range r.File {
		if m.Flags&1 != 0 {
			return archiveProblem{"archive", "this archive is encrypted; create it again, without a password"}
		}
		if err := visit(m.Name, m.Mode(), m.Open); err != nil {
			return err
		}
	}
	return nil
}

// cappedReader reads an archive up to a number of bytes. A place outside of the archive, which
// the list of its members may name, is a fault of the archive: a file's own answer would be that
// of a disk which fails.
type cappedReader struct {
	io.ReaderAt
	size, left int64
	exceeded   archiveProblem
}

func (l *cappedReader) ReadAt(p []byte, at int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, l.exceeded
	}
	if at < 0 || at > l.size {
		return 0, zip.ErrFormat
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
			mode |= fs.ModeSymlink // hard links are refused as symbolic ones are
		}
		if err := visit(h.Name, mode, func() (io.ReadCloser, error) { return io.NopCloser(r), nil }); err != nil {
			return err
		}
	}
}
