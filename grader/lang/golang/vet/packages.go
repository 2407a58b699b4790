package vet

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"grade/grader/verdict"
)

// class says how much of a package a submission may use.
type class int

const (
	unlisted class = iota // refused unless an exercise opens it
	core                  // open to every exercise
	inPart                // the names in allow are open to every exercise
	onDemand              // the names in allow are open if an exercise opens the package
	never                 // refused, and so are values of its types
)

// entry is one line of the table.
type entry struct {
	path   string // an import path; one that ends in /* stands for all below it
	class  class
	allow  []string // names, Type.Method, or patterns of them; !pattern takes away
	reason string   // why it is open, or what to do instead
}

// packages is the allow-list. The sandbox is the boundary of a submission, not this
// table: it keeps honest programs to what an exercise needs, and refuses others
// before anything is built.
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
	{"math/rand", core, nil, "answers are compared with the reference's, so a random one fails"},
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
	{"bufio", core, nil, "works on the readers and writers that it gets"},
	{"encoding/hex", core, nil, "pure computation"},
	{"encoding/base64", core, nil, "pure computation"},
	{"encoding/binary", core, nil, "works on the bytes, readers and writers that it gets"},

	{"fmt", inPart, []string{"Sprint*", "Fprint*", "Append*", "Errorf", "Sscan*", "Fscan*", "Formatter", "FormatString",
		"GoStringer", "Scanner", "ScanState", "State", "Stringer"},
		"standard input is empty and printed output is not graded; return values, or build strings with fmt.Sprint"},
	{"io", inPart, []string{"*"}, "its variables are shared by all packages and may not be assigned to"},
	{"time", inPart, []string{"*", "!LoadLocation", "!Local"}, "there are no time zones where submissions run; use time.UTC"},
	{"context", inPart, []string{"*"}, "its variables are shared by all packages and may not be assigned to"},
	{"sync/atomic", inPart, []string{"Bool", "Int32", "Int64", "Uint32", "Uint64", "Uintptr", "Pointer", "Value"},
		"use the types, such as atomic.Int64"},
	{"os", onDemand, []string{"Open", "ReadFile", "Stat", "File", "File.Read", "File.ReadAt", "File.Seek", "File.Close", "File.Name",
		"File.Stat", "FileInfo", "FileMode", "PathError", "ErrNotExist", "ErrExist", "ErrClosed", "ErrInvalid", "ErrPermission",
		"IsNotExist"}, "a submission uses what the exercise opens, mostly the reading of files, and nothing else of the system: no environment, no standard streams, no exit"},

	{"unsafe", never, nil, "a submission uses memory through Go's types only"},
	{"reflect", never, nil, "it hands out unsafe pointers; write out the types, or use generics"},
	{"C", never, nil, "a submission is written in Go only"},
	{"runtime", never, nil, "a submission may not change how it is run and measured"},
	{"runtime/*", never, nil, "a submission may not change how it is run and measured"},
	{"syscall", never, nil, "a submission makes no system calls of its own"},
	{"net", never, nil, "there is no network"},
	{"net/*", never, nil, "there is no network"},
	{"plugin", never, nil, "a submission may not load other code"},
	{"embed", never, nil, "a submission consists of Go files only; write data as a literal"},
	{"testing", never, nil, "a submission contains no tests"},
	{"testing/*", never, nil, "a submission contains no tests"},
	{"flag", never, nil, "a submission has no command line"},
	{"log", never, nil, "printed output is not graded; return an error"},
	{"log/*", never, nil, "printed output is not graded; return an error"},
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

// find returns the table's entry for a package; its class is unlisted if there is none.
func find(importPath string) entry {
	for _, e := range packages {
		prefix, tree := strings.CutSuffix(e.path, "*")
		if e.path == importPath || tree && strings.HasPrefix(importPath, prefix) {
			return e
		}
	}
	return entry{path: importPath}
}

// Policy holds an exercise's own rules on source.
type Policy struct {
	Package string // the name in the package clause; empty: any
	// Imports opens packages beyond those open to every exercise. An entry of
	// the form path:pattern opens a part, as in fmt:Print* or os:File.Write.
	Imports []string
}

// Opens reports whether the exercise opens a package or a part of it.
func (p Policy) Opens(importPath string) bool {
	return slices.ContainsFunc(p.Imports, func(entry string) bool {
		opened, _, _ := strings.Cut(entry, ":")
		return opened == importPath
	})
}

// Import returns the reason to refuse an import, or "".
func (p Policy) Import(importPath string) string {
	e := find(importPath)
	switch {
	case importPath == "C", e.class == unlisted && strings.HasPrefix(importPath, "."):
		return refusal(importPath, find("C").reason)
	case e.class == core, e.class == inPart, p.Opens(importPath):
		return ""
	case e.class == unlisted:
		return refusal(importPath, "write the part of it that you need yourself")
	}
	return refusal(importPath, e.reason)
}

func refusal(importPath, reason string) string {
	return fmt.Sprintf("this exercise does not allow package %s: %s", verdict.Clip(importPath, 80), reason)
}

// Selector returns the reason to refuse a name of a package, or "". The name is that
// of an object, or Type.Method.
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
	return fmt.Sprintf("this exercise does not allow %s.%s: %s", path.Base(importPath), verdict.Clip(name, 80), e.reason)
}

func (e entry) namesMethodsOf(typ string) bool {
	return slices.ContainsFunc(e.allow, func(pattern string) bool { return strings.HasPrefix(pattern, typ+".") })
}

func match(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// Type returns the reason to refuse values of a package's types, or "". An open
// package can return them, as encoding/json returns a reflect.Value in an error.
func (p Policy) Type(importPath string) string {
	if e := find(importPath); e.class == never && !p.Opens(importPath) {
		return e.reason
	}
	return ""
}

// Package is one line of the table as a reader sees it.
type Package struct{ Path, Why string }

// PackageGroup lists the packages of one class.
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
