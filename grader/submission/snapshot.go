package submission

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"grade/grader/fault"
	"grade/grader/verdict"
)

// The caps on a submission's folder besides those on its files.
const (
	maxEntries = 10_000 // names in the folder, of all kinds
	maxIgnored = 50     // names that a snapshot lists as ignored; the others it counts
)

// Snapshot is a submission as it was at one moment. A grading reads it instead of the
// student's folder, which may change meanwhile.
type Snapshot struct {
	Dir      string            // absolute path of the folder, cleaned
	Files    []File            // sorted by name
	Ignored  []string          // printable names of what is not taken, at most a screenful
	Problems []verdict.Problem // reasons to refuse files, which are not in Files
	Hash     string            // SHA-256 over names and contents of Files, hexadecimal
	Took     time.Duration     // to read it

	// The package clause of the first file that has one; empty if none has.
	Package     string
	PackageFile string
	PackageLine int
}

// Take reads the Go files of the submission in dir: a folder, through one handle on
// it, or an archive (zip, tar, tar.gz). It follows no link and does not block on a
// pipe or a device. An error is a [fault.Error] if there is nothing to grade; a
// reason to refuse the submission is in the snapshot's Problems.
func Take(dir string) (*Snapshot, error) { return timed(dir, read) }

// timed takes a snapshot, and adds how long that took.
func timed(path string, read func(string) (*Snapshot, error)) (*Snapshot, error) {
	started := time.Now()
	s, err := read(path)
	if err != nil {
		return nil, err
	}
	s.Took = time.Since(started)
	return s, nil
}

func read(dir string) (*Snapshot, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() && IsArchive(dir) {
		return snapshotArchive(dir)
	}
	root, err := openSubmission(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("take snapshot: %w", err)
	}
	entries, all, err := readEntries(root, maxEntries)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(err, hintDir)
	}
	if err != nil {
		return nil, fmt.Errorf("take snapshot of %s: %w", verdict.Printable(abs), err)
	}
	if len(entries) == 0 {
		return nil, &fault.Error{Message: fmt.Sprintf("the folder %s is empty", verdict.Printable(dir)), Advice: hintDir, Told: "the submission is empty: hand in the folder that holds your Go files"}
	}
	t := reader{root: root, names: map[string]string{}, Snapshot: Snapshot{Dir: abs}}
	if !all {
		t.refuse("", "too-many", fmt.Sprintf("the folder holds more than %d entries; hand in a folder that holds only the solution", maxEntries))
		return t.finish(), nil
	}
	for _, e := range entries {
		if err := t.dirEntry(e); err != nil {
			return nil, err
		}
	}
	if len(t.Files) == 0 && len(t.Problems) == 0 {
		return nil, noGoFile(dir)
	}
	return t.finish(), nil
}

const hintDir = "give the folder that holds your Go files"

// openSubmission resolves dir once. It looks at the name before it opens it, because
// opening a FIFO would block.
func openSubmission(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault.Error{Message: fmt.Sprintf("there is no folder %s", verdict.Printable(dir)), Advice: hintDir}
	case err != nil:
		return nil, unreadable(err, hintDir)
	case !info.IsDir():
		return nil, &fault.Error{Message: fmt.Sprintf("%s is not a folder", verdict.Printable(dir)), Advice: hintDir}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(err, hintDir)
	}
	return root, nil
}

// unreadable returns the error of a submission that cannot be opened. Permissions, and what
// stands there, are its author's to mend; a failing disk is not.
func unreadable(err error, advice string) error {
	u := &fault.Error{Message: "open the submission", Advice: advice, Err: err}
	for _, theirs := range []error{ErrNoArchive, fs.ErrPermission, fs.ErrNotExist, syscall.ELOOP, syscall.ENOTDIR, syscall.ENXIO, syscall.ENAMETOOLONG} {
		if errors.Is(err, theirs) {
			u.Told = "the submission cannot be opened: " + theirs.Error() + "; make it a folder or an archive that can be read"
		}
	}
	return u
}

// readEntries lists the folder, sorted by name. It stops after one entry more than
// most, and reports whether it has seen all.
func readEntries(root *os.Root, most int) (entries []fs.DirEntry, all bool, err error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	entries, err = f.ReadDir(most + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, len(entries) <= most, nil
}

// reader collects a snapshot, from a folder or from an archive.
type reader struct {
	Snapshot
	root    *os.Root
	names   map[string]string // by their lower-case spelling
	goFiles int               // seen, taken or not
	total   int               // bytes taken
	ignored int
	refused int
}

// refuse adds a problem; above [verdict.MaxProblems] it only counts, because a report
// shows no more.
func (t *reader) refuse(name, rule, message string) {
	if t.refused++; t.refused <= verdict.MaxProblems {
		t.Problems = append(t.Problems, verdict.Problem{File: verdict.Printable(name), Rule: rule, Message: message})
	}
}

func (t *reader) ignore(name string) {
	t.ignored++
	if len(t.Ignored) < maxIgnored {
		t.Ignored = append(t.Ignored, verdict.Printable(name))
	}
}

// dirEntry reads one name in a folder. The directory states its kind here; read checks
// the kind again on the opened file.
func (t *reader) dirEntry(e fs.DirEntry) error {
	return t.entry(e.Name(), e.Type(), func() ([]byte, *verdict.Problem, error) { return t.read(e.Name()) })
}

// entry takes, ignores or refuses one name.
func (t *reader) entry(name string, mode fs.FileMode, read readFunc) error {
	isGo := IsSource(name)
	switch {
	case mode.IsDir():
		t.ignore(name + "/")
	case !isGo && !isBuildFile(name):
		t.ignore(name)
	case mode&fs.ModeSymlink != 0:
		t.refuse(name, "symlink", "this is a symbolic link; put a copy of the file in its place")
	case !mode.IsRegular():
		t.refuse(name, "special-file", "this is not a regular file; remove it")
	case !isGo:
		t.refuse(name, "file-type", "a submission consists of Go files only; remove this assembly, C or object file")
	default:
		return t.goFile(name, read)
	}
	return nil
}

// readFunc returns the content of a file, or a reason to refuse it.
type readFunc func() ([]byte, *verdict.Problem, error)

// goFile takes one regular file whose name ends in .go.
func (t *reader) goFile(name string, read readFunc) error {
	if t.goFiles++; t.goFiles > MaxFiles {
		if t.goFiles == MaxFiles+1 {
			t.refuse(name, "too-many", fmt.Sprintf("a submission has at most %d Go files; merge some", MaxFiles))
		}
		return nil
	}
	folded := strings.ToLower(name)
	if first, ok := t.names[folded]; ok {
		t.refuse(name, "file-name", fmt.Sprintf("this name and %s differ only in case, which some systems ignore; rename one of the two files", verdict.Printable(first)))
		return nil
	}
	t.names[folded] = name
	if p := CheckName(name); p != nil {
		t.Problems = append(t.Problems, *p)
		return nil
	}
	data, problem, err := read()
	switch {
	case errors.Is(err, fs.ErrPermission):
		const hint = "make the file readable, or leave it out"
		return &fault.Error{Message: "read " + name, Advice: hint, Err: err, Told: name + " cannot be read; " + hint}
	case err != nil:
		return fmt.Errorf("read %s: %w", name, err)
	case problem != nil:
		t.refuse(name, problem.Rule, problem.Message)
	case t.total+len(data) > MaxTotalSize:
		t.refuse(name, "too-large", fmt.Sprintf("this file brings the submission above %d KiB; shorten it", MaxTotalSize>>10))
	default:
		t.total += len(data)
		t.Files = append(t.Files, File{Name: name, Data: data})
	}
	return nil
}

// read returns the content of a regular file, or a reason to refuse it. It compares
// the opened file with the one that the name stood for before: os.Root follows a
// symbolic link inside the folder, even one that is put there in between.
func (t *reader) read(name string) ([]byte, *verdict.Problem, error) {
	changed := &verdict.Problem{Rule: "special-file", Message: "this file changed while it was read; submit again when no program writes to it"}
	before, err := t.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !before.Mode().IsRegular() {
		return nil, changed, nil
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := t.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		// An error that is no errno comes from os.Root: the name has become a link
		// that leads out of the folder.
		var errno syscall.Errno
		now, again := t.root.Lstat(name)
		if !errors.As(err, &errno) || again != nil || !os.SameFile(before, now) {
			return nil, changed, nil
		}
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular() || !os.SameFile(before, info):
		return nil, changed, nil
	case links(info) != 1:
		return nil, &verdict.Problem{Rule: "hardlink", Message: "this file is a hard link: it has a second name elsewhere; put a copy in its place"}, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, nil, err
	}
	return data, tooLarge(data), nil
}

// tooLarge refuses a file of which one byte more than allowed was read.
func tooLarge(data []byte) *verdict.Problem {
	if len(data) <= MaxFileSize {
		return nil
	}
	return &verdict.Problem{Rule: "too-large", Message: fmt.Sprintf("this file is larger than %d KiB; shorten it", MaxFileSize>>10)}
}

// finish sorts the files and fills in hash, package and counts.
func (t *reader) finish() *Snapshot {
	s := &t.Snapshot
	slices.SortFunc(s.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	if more := t.ignored - len(s.Ignored); more > 0 {
		s.Ignored = append(s.Ignored, fmt.Sprintf("and %d more", more))
	}
	if more := t.refused - len(s.Problems); more > 0 {
		s.Problems = append(s.Problems, verdict.Problem{Rule: "more", Message: fmt.Sprintf("%d more problems are not listed", more)})
	}
	s.Hash = hashFiles(s.Files)
	for _, f := range s.Files {
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, f.Name, f.Data, parser.PackageClauseOnly|parser.SkipObjectResolution)
		if err == nil {
			s.Package, s.PackageFile = parsed.Name.Name, f.Name
			s.PackageLine = fset.PositionFor(parsed.Name.Pos(), false).Line
			break
		}
	}
	return s
}

// Of returns the snapshot of files in memory that are known to be fit, as the reference's
// are, with name in place of a folder.
func Of(name string, files []File) *Snapshot {
	t := reader{Snapshot: Snapshot{Dir: name, Files: slices.Clone(files)}}
	return t.finish()
}

// Refused returns the snapshot of a submission of which nothing is read, with the reason.
// File may be empty.
func Refused(name, file, rule, message string) *Snapshot {
	s := Of(name, nil)
	s.Problems = []verdict.Problem{{File: file, Rule: rule, Message: message}}
	return s
}

// FromFiles takes a submission that is in memory by all the rules that [Take] has for a
// folder. A name with a slash is in a folder below, of which nothing is taken. What a
// snapshot says of a folder is name.
func FromFiles(name string, files []File) (*Snapshot, error) {
	t := reader{names: map[string]string{}, Snapshot: Snapshot{Dir: name}}
	folders := map[string]bool{}
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) }) {
		if folder, _, below := strings.Cut(f.Name, "/"); below {
			if !folders[folder] {
				t.ignore(folder + "/")
			}
			folders[folder] = true
			continue
		}
		// Nothing is read from a disk here, so nothing can fail.
		_ = t.entry(f.Name, 0, func() ([]byte, *verdict.Problem, error) { return f.Data, tooLarge(f.Data), nil })
	}
	if len(t.Files) == 0 && len(t.Problems) == 0 {
		return nil, noGoFile(name)
	}
	return t.finish(), nil
}

func noGoFile(dir string) error {
	return &fault.Error{Message: fmt.Sprintf("no Go file in %s", verdict.Printable(dir)), Advice: hintDir, Told: "no Go file in the submission"}
}

// hashFiles returns a SHA-256 over names and contents, each preceded by its length.
func hashFiles(files []File) string {
	h := sha256.New()
	part := func(b []byte) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	for _, f := range files {
		part([]byte(f.Name))
		part(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
