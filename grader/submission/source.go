// Package submission reads what a student hands in: the Go files of a folder or of
// an archive, taken at one moment. It knows which names and sizes it takes; of their
// content it reads the package clause only.
//
// [Take] returns a [Snapshot], and [TakeArchive] that of an archive alone. A file that it refuses is a problem of the snapshot,
// which its author reads; an error says that there is nothing to grade. Names, links
// and archives come from an untrusted hand: Take follows no link, waits for no pipe,
// and unpacks nothing to a disk.
package submission

import (
	"fmt"
	"path"
	"strings"

	"grade/grader/verdict"
)

// A File is one Go file of a submission.
type File struct {
	Name string // base name
	Data []byte
}

// The limits on a submission are far above any honest solution, and low enough that
// parsing all of it takes a moment.
const (
	MaxFiles     = 64
	MaxFileSize  = 256 << 10 // bytes
	MaxTotalSize = 1 << 20   // bytes, all files together
	MaxNameSize  = 100       // bytes of a file name
)

// APIFile names the file that the grader adds to a submission's package when it
// builds it. A submission with such a file is refused.
const APIFile = "zz_api.go"

// platforms are the suffixes of file names that go build reads as a constraint:
// internal/syslist of Go 1.26, past, present and future systems alike.
var platforms = set(
	"aix", "android", "darwin", "dragonfly", "freebsd", "hurd", "illumos", "ios", "js", "linux", "nacl",
	"netbsd", "openbsd", "plan9", "solaris", "wasip1", "windows", "zos",
	"386", "amd64", "amd64p32", "arm", "armbe", "arm64", "arm64be", "loong64", "mips", "mipsle", "mips64",
	"mips64le", "mips64p32", "mips64p32le", "ppc", "ppc64", "ppc64le", "riscv", "riscv64", "s390", "s390x",
	"sparc", "sparc64", "wasm",
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// IsSource reports whether a file of that base name belongs to a submission: a Go
// file, neither a test nor one that the go command ignores for the . or _ it begins
// with. Every other rule on names is in [CheckName], which refuses a source by name.
func IsSource(name string) bool {
	return strings.HasSuffix(name, goSuffix) && !strings.HasSuffix(name, "_test"+goSuffix) && !ignoredByGo(name)
}

func ignoredByGo(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

const goSuffix = ".go"

// CheckName returns a reason to refuse a file of that name, or nil. A name that
// passes has one spelling on every file system, is compiled on every platform
// and needs no quoting in a shell, a terminal or a report.
func CheckName(name string) *verdict.Problem {
	refuse := func(rule, format string, args ...any) *verdict.Problem {
		return &verdict.Problem{File: verdict.Printable(name), Rule: rule, Message: fmt.Sprintf(format, args...)}
	}
	base, isGo := strings.CutSuffix(name, goSuffix)
	switch {
	case !isGo || base == "" || len(name) > MaxNameSize || strings.ContainsFunc(base, odd):
		return refuse("file-name", "a file name consists of a to z, 0 to 9 and _, ends in .go and has at most %d bytes; rename this file, for example to value.go", MaxNameSize)
	case base[0] == '_':
		return refuse("file-name", "Go ignores a file whose name begins with _; rename this file or leave it out")
	case strings.HasSuffix(base, "_test"):
		return refuse("file-name", "a submission contains no tests; leave this file out")
	case name == APIFile:
		return refuse("file-name", "the grader adds a file of this name; rename yours")
	}
	if i := strings.LastIndexByte(base, '_'); i >= 0 && platforms[base[i+1:]] {
		return refuse("build-constraint", "Go compiles a file whose name ends in _%s on some platforms only; rename this file", base[i+1:])
	}
	return nil
}

func odd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
}

// notGo are the endings of files that go build hands to a C compiler, an assembler
// or a linker.
var notGo = set(".c", ".cc", ".cxx", ".cpp", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".F", ".for", ".f90",
	".s", ".S", ".sx", ".swig", ".swigcxx", ".syso")

// isBuildFile reports whether go build uses a file of that name although it is not Go.
func isBuildFile(name string) bool { return notGo[path.Ext(name)] && !ignoredByGo(name) }
