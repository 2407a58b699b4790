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

// What a submission may be at most. They are far above any honest solution and
// low enough that parsing all of it is over in a moment.
const (
	MaxFiles     = 64
	MaxFileSize  = 256 << 10 // bytes
	MaxTotalSize = 1 << 20   // bytes, all files together
	MaxNameSize  = 100       // bytes of a file name
)

// APIFile is the name of the file that the grader adds to a submission's package
// when it builds it. No submission may bring one.
const APIFile = "zz_api.go"

// platforms are the file name suffixes that go build takes for a constraint:
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

// CheckName returns what speaks against a file of that name, or nil. A name that
// passes has one spelling on every file system, is compiled on every platform
// and needs no quoting in a shell, a terminal or a report.
func CheckName(name string) *verdict.Problem {
	refuse := func(rule, format string, args ...any) *verdict.Problem {
		return &verdict.Problem{File: verdict.Printable(name), Rule: rule, Message: fmt.Sprintf(format, args...)}
	}
	base, isGo := strings.CutSuffix(name, ".go")
	switch {
	case !isGo || base == "" || len(name) > MaxNameSize || strings.ContainsFunc(base, odd):
		return refuse("file-name", "file names are made of a to z, 0 to 9 and _ and end in .go; rename it, for example to value.go")
	case base[0] == '_':
		return refuse("file-name", "Go ignores files whose names begin with _; rename it or leave it out")
	case strings.HasSuffix(base, "_test"):
		return refuse("file-name", "a submission has no test files; leave it out")
	case name == APIFile:
		return refuse("file-name", "the grader adds a file of that name; rename yours")
	}
	if i := strings.LastIndexByte(base, '_'); i >= 0 && platforms[base[i+1:]] {
		return refuse("build-constraint", "the ending _%s makes Go compile the file on some platforms only; rename it", base[i+1:])
	}
	return nil
}

func odd(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_'
}

// notGo are the files that go build would hand to a C compiler, an assembler or
// a linker, by their ending.
var notGo = set(".c", ".cc", ".cxx", ".cpp", ".m", ".h", ".hh", ".hpp", ".hxx", ".f", ".F", ".for", ".f90",
	".s", ".S", ".sx", ".swig", ".swigcxx", ".syso")

// IsBuildFile reports whether go build would use a file of that name although it
// is no Go file.
func IsBuildFile(name string) bool { return notGo[path.Ext(name)] }

// IsSource reports whether a submission's code may be in a file of that name: a Go file
// that is no test, and that Go does not ignore for its name. It is the one rule for that;
// [CheckName] says afterwards which of these names are refused.
func IsSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !passedOver(name)
}

// passedOver reports whether a file of that name is no part of any package but a test's.
func passedOver(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_test.go")
}
