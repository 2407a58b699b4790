// Package mutate makes mutants of a Go package: copies with one small change that
// stands for a typical mistake. A mutant that passes every hidden test shows a rule
// that no test checks. The package knows Go and neither exercises nor grading, and runs
// nothing but the go command's list of packages, which compiles what they import.
package mutate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"
)

// File is a file of the package.
type File struct {
	Name string // without a folder
	Data []byte
	Keep bool // keeps the file out of mutation
}

// Mutant is the package with one change.
type Mutant struct {
	// ID is file:function:operator:digest. It stays the same as long as the changed
	// lines and the one before them do, wherever they move within the function.
	ID       string
	File     string
	Line     int // of the change, in the original
	Operator Operator
	Diff     string // the lines that differ, each after - or +
	Data     []byte // of File, changed
}

// Of returns all mutants of a package that compile, by file and line. The package may
// import the standard library only.
func Of(ctx context.Context, files []File) ([]Mutant, error) {
	return Those(ctx, files, func(string) bool { return true })
}

// Those returns the mutants of [Of] whose IDs are wanted. It compiles few others, and is the
// faster for it.
func Those(ctx context.Context, files []File, want func(id string) bool) ([]Mutant, error) {
	files = formatted(files)
	p, err := load(ctx, files)
	if err != nil {
		return nil, fmt.Errorf("mutate: %w", err)
	}
	list := p.mutants(p.drafts(files), want)
	slices.SortStableFunc(list, func(a, b Mutant) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return list, nil
}

// formatted formats the files, so that a mutant differs by its change only.
func formatted(files []File) []File {
	files = slices.Clone(files)
	for i, f := range files {
		if data, err := format.Source(f.Data); err == nil {
			files[i].Data = data
		}
	}
	return files
}

// draft is a mutant that may not compile, and has no number in its ID yet.
type draft struct {
	Mutant
	index int               // of its file
	text  [sha256.Size]byte // the digest of its file, by which drafts are the same mutant
}

func (s *source) drafts(files []File) (list []draft) {
	for i, tree := range s.trees {
		if files[i].Keep {
			continue
		}
		for _, e := range s.edits(tree, files[i].Data) {
			if m, ok := e.mutant(files[i]); ok {
				list = append(list, draft{m, i, sha256.Sum256(blank.ReplaceAll(m.Data, []byte("\n")))})
			}
		}
	}
	return list
}

// mutants returns those of the drafts that compile, once each.
func (s *source) mutants(drafts []draft, want func(id string) bool) (list []Mutant) {
	compile, seen, ids := deciding(drafts, want), map[[sha256.Size]byte]bool{}, map[string]int{}
	for _, d := range drafts {
		if !compile[d.text] || seen[d.text] || !s.repaired(d.index, &d.Mutant) {
			continue
		}
		seen[d.text] = true
		ids[d.ID]++
		if d.ID = numbered(d.ID, ids[d.ID]); want(d.ID) {
			list = append(list, d.Mutant)
		}
	}
	return list
}

// deciding returns the texts of the drafts that decide which mutants have a wanted ID: each
// that may get one, because the mutants of one ID are numbered, and each with the text
// of such a one, because the first of them gets the ID.
func deciding(drafts []draft, want func(id string) bool) map[[sha256.Size]byte]bool {
	count, wanted, texts := map[string]int{}, map[string]bool{}, map[[sha256.Size]byte]bool{}
	for _, d := range drafts {
		count[d.ID]++
		wanted[d.ID] = wanted[d.ID] || want(numbered(d.ID, count[d.ID]))
	}
	for _, d := range drafts {
		if wanted[d.ID] {
			texts[d.text] = true
		}
	}
	return texts
}

// numbered returns the ID of the n-th mutant of one ID.
func numbered(id string, n int) string {
	if n == 1 {
		return id
	}
	return fmt.Sprintf("%s.%d", id, n)
}

// blank matches blank lines; mutants that differ only in them are the same.
var blank = regexp.MustCompile(`\n\s*\n`)

// source is a parsed and type-checked package.
type source struct {
	fset    *token.FileSet
	trees   []*ast.File // in the order of the files
	info    *types.Info
	imports map[string]*types.Package
}

// load parses and type-checks the package.
func load(ctx context.Context, files []File) (*source, error) {
	s := &source{fset: token.NewFileSet()}
	for _, f := range files {
		tree, err := parser.ParseFile(s.fset, f.Name, f.Data, parser.SkipObjectResolution|parser.AllErrors)
		if err != nil {
			return nil, err
		}
		s.trees = append(s.trees, tree)
	}
	var err error
	if s.imports, err = imported(ctx, s.trees); err != nil {
		return nil, err
	}
	s.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	return s, s.check(s.trees, s.info)
}

// imported returns the packages that files import. The go command finds them from a
// temporary folder, whose package has these imports and nothing else: it would compile the
// files as well. Types come from export data, which a build leaves in the go command's cache.
// To type-check the standard library's sources takes longer than all else here. The flag is
// that of the builds of grade and of its tests, which have filled that cache.
func imported(ctx context.Context, trees []*ast.File) (map[string]*types.Package, error) {
	dir, err := importing(trees)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	loaded, err := packages.Load(&packages.Config{
		Context: ctx, Dir: dir, BuildFlags: []string{"-trimpath"},
		Env:  append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod"),
		Mode: packages.NeedName | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax,
	}, ".")
	if err != nil {
		return nil, err
	}
	found := map[string]*types.Package{}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, errors.New(e.Msg) // without a place, which is in the temporary folder
		}
		for path, i := range p.Imports {
			found[path] = i.Types
		}
	}
	return found, nil
}

// importing makes a folder with a module whose only file has the imports of trees. The
// caller removes it.
func importing(trees []*ast.File) (dir string, err error) {
	text := "package mutated\n"
	for _, tree := range trees {
		for _, i := range tree.Imports {
			text += "\nimport _ " + i.Path.Value
		}
	}
	if dir, err = os.MkdirTemp("", "grade-mutate-"); err != nil {
		return "", err
	}
	for name, data := range map[string]string{"go.mod": "module mutated\n", "imports.go": text + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// Import makes a source the importer of its own imports.
func (s *source) Import(path string) (*types.Package, error) {
	if p := s.imports[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("not imported by the original: " + path)
}

func (s *source) check(trees []*ast.File, info *types.Info) error {
	_, err := (&types.Config{Importer: s}).Check("mutated", s.fset, trees, info)
	return err
}

// compiles reports whether the package compiles with other contents of one file.
func (s *source) compiles(changed int, data []byte) bool {
	tree, err := parser.ParseFile(s.fset, "changed.go", data, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	trees := slices.Clone(s.trees)
	trees[changed] = tree
	return s.check(trees, nil) == nil
}

// repaired reports whether a mutant compiles. A mistake that takes the last use of an
// import takes the import with it.
func (s *source) repaired(changed int, m *Mutant) bool {
	if s.compiles(changed, m.Data) {
		return true
	}
	if !m.Operator.mistake() {
		return false
	}
	m.Data = withoutUnusedImports(m.Data)
	return s.compiles(changed, m.Data)
}

func withoutUnusedImports(data []byte) []byte {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "changed.go", data, parser.ParseComments)
	if err != nil {
		return data
	}
	for _, i := range slices.Clone(tree.Imports) {
		if name, err := strconv.Unquote(i.Path.Value); err == nil && !astutil.UsesImport(tree, name) {
			astutil.DeleteImport(fset, tree, name)
		}
	}
	var b bytes.Buffer
	if err := format.Node(&b, fset, tree); err != nil {
		return data
	}
	return b.Bytes()
}

// edit replaces the bytes [from, to) of a file.
type edit struct {
	from, to int
	text     string
	function string
	operator Operator
	global   string // a declaration for the end of the file
}

// mutant applies the edit; ok is false if the result does not parse or is no change.
func (e edit) mutant(f File) (m Mutant, ok bool) {
	data, err := format.Source(slices.Concat(f.Data[:e.from], []byte(e.text), f.Data[e.to:]))
	if err != nil || bytes.Equal(data, f.Data) {
		return Mutant{}, false
	}
	first, before, removed, added := difference(f.Data, data)
	digest := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", strings.TrimSpace(before), trimmed(removed), trimmed(added)))
	if e.global != "" {
		data = fmt.Appendf(data, "\n%s\n", e.global)
		added = append(added, e.global)
	}
	return Mutant{
		ID:   fmt.Sprintf("%s:%s:%s:%x", f.Name, e.function, e.operator, digest[:3]),
		File: f.Name, Line: first, Operator: e.operator, Data: data,
		Diff: prefixed("-", removed) + prefixed("+", added),
	}, true
}

// difference returns the lines that differ, between the common beginning and end of two
// texts, with the number of the first and the text of the line before it.
func difference(original, changed []byte) (first int, before string, removed, added []string) {
	a, b := strings.Split(string(original), "\n"), strings.Split(string(changed), "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		before, a, b, first = a[0], a[1:], b[1:], first+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return first + 1, before, a, b
}

func trimmed(lines []string) (list []string) {
	for _, l := range lines {
		list = append(list, strings.TrimSpace(l))
	}
	return list
}

func prefixed(mark string, lines []string) (text string) {
	for _, l := range lines {
		text += mark + l + "\n"
	}
	return text
}
