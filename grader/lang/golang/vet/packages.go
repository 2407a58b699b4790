package vet

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"grade/grader/verdict"
)

// class says how far a package is open.
type class int

const (
	unlisted class = iota // refused unless an exercise opens it
	core                  // open to every exercise
	inPart                // open to every exercise, but only what allow names
	onDemand              // like inPart, if an exercise opens it
	never                 // refused, and so are values of its types
)

// entry is one line of the table.
type entry struct {
	path   string // an import path; one that ends in /* stands for all below it
	class  class
	allow  []string // names, Type.Method, or patterns of them; !pattern takes away
	reason string   // why it is open, or what to do instead
}

// packages is the allow-list. The boundary of a submission is the sandbox, not
// this table: it keeps honest programs to what an exercise needs, and tells the
// others early.
var packages = []entry{
	{"bytes", core, nil, "pure computation"},
	{"cmp", core, nil, "pure computation"},
	{"container/heap", core, nil, "pure computation"},
	{"container/list", core, nil, "pure computation"},
	{"container/ring", core, nil, "pure computation"},
	{"errors", core, nil, "errors are part of most contracts"},
	{"math", core, nil, "pure computation"},
	{"math/big", core, nil, "pure computation"},
	{"math/bits", core, nil, "pure computation"},
	{"math/cmplx", core, nil, "pure computation"},
	{"math/rand", core, nil, "answers are compared, so chance is the submission's own risk"},
	{"math/rand/v2", core, nil, "as math/rand"},
	{"slices", core, nil, "pure computation"},
	{"maps", core, nil, "pure computation"},
	{"iter", core, nil, "pure computation"},
	{"sort", core, nil, "pure computation"},
	{"strconv", core, nil, "pure computation"},
	{"strings", core, nil, "pure computation"},
	{"unicode", core, nil, "pure computation"},
	{"unicode/utf8", core, nil, "pure computation"},
	{"unicode/utf16", core, nil, "pure computation"},
	{"sync", core, nil, "concurrency is part of the course"},
	{"bufio", core, nil, "works on readers and writers it is given"},
	{"encoding/hex", core, nil, "pure computation"},
	{"encoding/base64", core, nil, "pure computation"},
	{"encoding/binary", core, nil, "works on what it is given"},

	{"fmt", inPart, []string{"Sprint*", "Fprint*", "Append*", "Errorf", "Sscan*", "Fscan*", "Formatter", "FormatString",
		"GoStringer", "Scanner", "ScanState", "State", "Stringer"},
		"nothing is read from standard input and nothing printed counts; return values, or make strings with fmt.Sprint"},
	{"io", inPart, []string{"*"}, "its variables belong to everybody"},
	{"time", inPart, []string{"*", "!LoadLocation", "!Local"}, "there are no time zones where submissions run; use time.UTC"},
	{"context", inPart, []string{"*"}, "its variables belong to everybody"},
	{"sync/atomic", inPart, []string{"Bool", "Int32", "Int64", "Uint32", "Uint64", "Uintptr", "Pointer", "Value"},
		"use the types, such as atomic.Int64"},
	{"os", onDemand, []string{"Open", "ReadFile", "Stat", "File", "File.Read", "File.ReadAt", "File.Seek", "File.Close", "File.Name",
		"File.Stat", "FileInfo", "FileMode", "PathError", "ErrNotExist", "ErrExist", "ErrClosed", "ErrInvalid", "ErrPermission",
		"IsNotExist"}, "a submission does not touch the system; where files are part of an exercise, they are opened for reading"},

	{"unsafe", never, nil, "memory is used by its types"},
	{"reflect", never, nil, "it hands out unsafe pointers; write out the types, or use generics"},
	{"C", never, nil, "a submission is Go only"},
	{"runtime", never, nil, "a submission does not steer what measures it"},
	{"runtime/*", never, nil, "a submission does not steer what measures it"},
	{"syscall", never, nil, "a submission does not touch the system"},
	{"net", never, nil, "there is no network"},
	{"net/*", never, nil, "there is no network"},
	{"plugin", never, nil, "code comes from the submission alone"},
	{"embed", never, nil, "a submission is its Go files; write data as a literal"},
	{"testing", never, nil, "tests are the grader's part"},
	{"testing/*", never, nil, "tests are the grader's part"},
	{"flag", never, nil, "a submission has no command line"},
	{"log", never, nil, "nothing printed counts; return an error"},
	{"log/*", never, nil, "nothing printed counts; return an error"},
	{"go/*", never, nil, "it reads files"},
	{"debug/*", never, nil, "it reads files"},
	{"text/template", never, nil, "it reads files and calls by name; use strings.Builder"},
	{"html/template", never, nil, "it reads files and calls by name; use strings.Builder"},
	{"archive/*", never, nil, "it reads files"},
	{"path/filepath", never, nil, "a submission does not walk the file system"},
	{"crypto/tls", never, nil, "there is no network"},
	{"expvar", never, nil, "there is no network"},
	{"internal/*", never, nil, "it is internal to Go"},
}

// find returns the table's line on a package; its class is unlisted if there
// is none.
func find(importPath string) entry {
	for _, e := range packages {
		prefix, tree := strings.CutSuffix(e.path, "*")
		if e.path == importPath || tree && strings.HasPrefix(importPath, prefix) {
			return e
		}
	}
	return entry{path: importPath}
}

// Policy is what an exercise asks of a submission's source.
type Policy struct {
	Package string // the name in the package clause; empty: any
	// Imports opens packages beyond those open to every exercise. An entry of
	// the form path:pattern opens a part, as in fmt:Print* or os:File.Write.
	Imports []string
}

// opens reports whether the exercise itself opens a package or a part of it.
func (p Policy) opens(importPath string) bool {
	return slices.ContainsFunc(p.Imports, func(entry string) bool {
		opened, _, _ := strings.Cut(entry, ":")
		return opened == importPath
	})
}

// Import returns what speaks against importing a package, or nothing.
func (p Policy) Import(importPath string) string {
	e := find(importPath)
	switch {
	case importPath == "C", e.class == unlisted && strings.HasPrefix(importPath, "."):
		return refusal(importPath, find("C").reason)
	case e.class == core, e.class == inPart, p.opens(importPath):
		return ""
	case e.class == unlisted:
		return refusal(importPath, "write the part of it that you need yourself")
	}
	return refusal(importPath, e.reason)
}

func refusal(importPath, reason string) string {
	return fmt.Sprintf("package %s is not open to this exercise: %s", verdict.Clip(importPath, 80), reason)
}

// Selector returns what speaks against a name of a package, or nothing. The
// name is that of an object, or Type.Method.
func (p Policy) Selector(importPath, name string) string {
	e := find(importPath)
	if e.class != inPart && e.class != onDemand {
		return ""
	}
	for _, entry := range p.Imports {
		if opened, pattern, ok := strings.Cut(entry, ":"); ok && opened == importPath && match(pattern, name) {
			return ""
		}
	}
	if typ, _, isMethod := strings.Cut(name, "."); isMethod && !e.namesMethodsOf(typ) {
		return ""
	}
	open := false
	for _, pattern := range e.allow {
		if denied, ok := strings.CutPrefix(pattern, "!"); ok {
			if match(denied, name) {
				open = false
				break
			}
		} else if match(pattern, name) {
			open = true
		}
	}
	if open {
		return ""
	}
	return fmt.Sprintf("%s.%s is not open to this exercise: %s", path.Base(importPath), verdict.Clip(name, 80), e.reason)
}

func (e entry) namesMethodsOf(typ string) bool {
	return slices.ContainsFunc(e.allow, func(pattern string) bool { return strings.HasPrefix(pattern, typ+".") })
}

func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// Type returns what speaks against values of a package's types, or nothing.
// They come out of packages that are open, as reflect.Value comes out of an
// error of encoding/json.
func (p Policy) Type(importPath string) string {
	if e := find(importPath); e.class == never && !p.opens(importPath) {
		return e.reason
	}
	return ""
}

// Package is a package of the table, for people.
type Package struct{ Path, Why string }

// PackageGroup is the part of the table that is open in one way.
type PackageGroup struct {
	Title    string
	Packages []Package
}

// Packages returns the table, the most open packages first.
func Packages() []PackageGroup {
	groups := []PackageGroup{{Title: "Open"}, {Title: "Open in part"}, {Title: "Open in part where the exercise opens it"}, {Title: "Refused, and so are values of its types"}}
	for _, e := range packages {
		g := &groups[e.class-core]
		g.Packages = append(g.Packages, Package{e.path, e.reason})
	}
	return groups
}
