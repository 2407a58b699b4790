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

	"grade/grader/fault"
	"grade/grader/verdict"
)

// What a submission's folder may hold besides the files that are taken.
const (
	maxEntries = 10_000 // names in the folder, of all kinds
	maxIgnored = 50     // names that a snapshot lists as ignored; the rest is counted
)

// Snapshot is a submission as it was at one moment. Nothing is read from the
// student's folder after it is taken.
type Snapshot struct {
	Dir      string            // absolute path of the folder, cleaned
	Files    []File            // sorted by name
	Ignored  []string          // what was not taken along, printable, at most a screenful
	Problems []verdict.Problem // files that are refused; they are not in Files
	Hash     string            // SHA-256 over names and contents of Files, hexadecimal

	// The package clause of the first file that has one; empty if none has.
	Package     string
	PackageFile string
	PackageLine int
}

// Take reads the submission in dir: its Go files, through one handle on
// the folder, or out of an archive (zip, tar, tar.gz), without following a link and without blocking on anything that is
// no regular file. What cannot be graded at all is a [UsageError]; what only
// speaks against the submission is in the snapshot's Problems.
func Take(dir string) (*Snapshot, error) {
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
	if err != nil {
		return nil, fmt.Errorf("take snapshot of %s: %w", verdict.Printable(abs), err)
	}
	if len(entries) == 0 {
		return nil, &fault.UsageError{Message: fmt.Sprintf("the folder %s is empty", verdict.Printable(dir)), Hint: hintStart, Student: "the submission is empty"}
	}
	t := taking{root: root, names: map[string]string{}, Snapshot: Snapshot{Dir: abs}}
	if !all {
		t.refuse("", "too-many", fmt.Sprintf("the folder holds more than %d entries; give a folder with the solution alone", maxEntries))
		return t.finish(), nil
	}
	for _, e := range entries {
		if err := t.dirEntry(e); err != nil {
			return nil, err
		}
	}
	if len(t.Files) == 0 && len(t.Problems) == 0 {
		return nil, &fault.UsageError{Message: fmt.Sprintf("no Go file in %s", verdict.Printable(dir)), Hint: hintStart, Student: "no Go file in the submission"}
	}
	return t.finish(), nil
}

const (
	hintDir   = "give the folder that holds your Go files, as in: grade submit DIR"
	hintStart = "give the folder that holds your Go files, or begin with: grade start EXERCISE DIR"
)

// openSubmission resolves dir, once. The check before the opening is there
// because opening a FIFO would block.
func openSubmission(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &fault.UsageError{Message: fmt.Sprintf("there is no folder %s", verdict.Printable(dir)), Hint: hintDir}
	case err != nil:
		return nil, &fault.UsageError{Message: "open the submission", Hint: hintDir, Err: err}
	case !info.IsDir():
		return nil, &fault.UsageError{Message: fmt.Sprintf("%s is not a folder", verdict.Printable(dir)), Hint: hintDir}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &fault.UsageError{Message: "open the submission", Hint: hintDir, Err: err}
	}
	return root, nil
}

// readEntries lists the folder, sorted by name. If there are more than most, it
// stops and says that it has not seen all.
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

// taking is a snapshot in the making.
type taking struct {
	Snapshot
	root    *os.Root
	names   map[string]string // by their lower-case spelling
	goFiles int               // seen, taken or not
	total   int               // bytes taken
	ignored int
	refused int
}

// refuse takes down a problem, as long as somebody may still read it; the rest is counted.
func (t *taking) refuse(name, rule, message string) {
	if t.refused++; t.refused <= verdict.MaxProblems {
		t.Problems = append(t.Problems, verdict.Problem{File: verdict.Printable(name), Rule: rule, Message: message})
	}
}

func (t *taking) ignore(name string) {
	t.ignored++
	if len(t.Ignored) < maxIgnored {
		t.Ignored = append(t.Ignored, verdict.Printable(name))
	}
}

// dirEntry decides on one name in a folder. The kind comes from the directory here,
// and once more from the opened file in read.
func (t *taking) dirEntry(e fs.DirEntry) error {
	return t.entry(e.Name(), e.Type(), func() ([]byte, *verdict.Problem, error) { return t.read(e.Name()) })
}

// entry decides on one name, and takes what it holds if it is to be taken.
func (t *taking) entry(name string, mode fs.FileMode, read readFunc) error {
	isGo := strings.HasSuffix(name, ".go")
	switch {
	case mode.IsDir():
		t.ignore(name + "/")
	case passedOver(name):
		t.ignore(name)
	case !isGo && !IsBuildFile(name):
		t.ignore(name)
	case mode&fs.ModeSymlink != 0:
		t.refuse(name, "symlink", "this is a symbolic link; put a copy of the file in its place")
	case !mode.IsRegular():
		t.refuse(name, "special-file", "this is no regular file; remove it")
	case !isGo:
		t.refuse(name, "file-type", "a submission is Go only: assembly, C and object files are not taken; remove it")
	default:
		return t.goFile(name, read)
	}
	return nil
}

// readFunc returns the content of a file, or what speaks against it.
type readFunc func() ([]byte, *verdict.Problem, error)

// goFile takes one regular file whose name ends in .go.
func (t *taking) goFile(name string, read readFunc) error {
	if t.goFiles++; t.goFiles > MaxFiles {
		if t.goFiles == MaxFiles+1 {
			t.refuse(name, "too-many", fmt.Sprintf("a submission has at most %d Go files; merge some", MaxFiles))
		}
		return nil
	}
	folded := strings.ToLower(name)
	if first, ok := t.names[folded]; ok {
		t.refuse(name, "file-name", fmt.Sprintf("this and %s are one file where case does not matter; rename one", verdict.Printable(first)))
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
		return &fault.UsageError{Message: "read " + name, Hint: hint, Err: err, Student: name + " cannot be read; " + hint}
	case err != nil:
		return fmt.Errorf("read %s: %w", name, err)
	case problem != nil:
		t.refuse(name, problem.Rule, problem.Message)
	case t.total+len(data) > MaxTotalSize:
		t.refuse(name, "too-large", fmt.Sprintf("with this file the submission is larger than %d KiB; make it shorter", MaxTotalSize>>10))
	default:
		t.total += len(data)
		t.Files = append(t.Files, File{Name: name, Data: data})
	}
	return nil
}

// read returns the content of a regular file, or what speaks against it. What
// was opened is compared with what the name stood for before: os.Root follows a
// symbolic link inside the folder, and so one that is put there in between.
func (t *taking) read(name string) ([]byte, *verdict.Problem, error) {
	changed := &verdict.Problem{Rule: "special-file", Message: "this file changed while it was read; submit again when nothing writes to it"}
	before, err := t.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !before.Mode().IsRegular() {
		return nil, changed, nil
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := t.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		// What is not the system's own answer is os.Root's: a link that leads
		// out of the folder, put there meanwhile.
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
		return nil, &verdict.Problem{Rule: "hardlink", Message: "this file has another name elsewhere (a hard link); put a copy in its place"}, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	if err != nil {
		return nil, nil, err
	}
	return data, tooLarge(data), nil
}

// tooLarge speaks against a file of which one byte more than allowed was read.
func tooLarge(data []byte) *verdict.Problem {
	if len(data) <= MaxFileSize {
		return nil
	}
	return &verdict.Problem{Rule: "too-large", Message: fmt.Sprintf("this file is larger than %d KiB; make it shorter", MaxFileSize>>10)}
}

// finish fills in what follows from the files.
func (t *taking) finish() *Snapshot {
	s := &t.Snapshot
	slices.SortFunc(s.Files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	if more := t.ignored - len(s.Ignored); more > 0 {
		s.Ignored = append(s.Ignored, fmt.Sprintf("and %d more", more))
	}
	if more := t.refused - len(s.Problems); more > 0 {
		s.Problems = append(s.Problems, verdict.Problem{Rule: "more", Message: fmt.Sprintf("%d more are refused", more)})
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

// Of is a snapshot of files that are in memory. What it says of a folder is
// name.
func Of(name string, files []File) *Snapshot {
	t := taking{Snapshot: Snapshot{Dir: name, Files: slices.Clone(files)}}
	return t.finish()
}

// hashFiles is a SHA-256 over names and contents, each preceded by its length.
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
