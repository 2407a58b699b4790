package vet

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"grade/grader/submission"
	"grade/grader/verdict"
)

// Source applies the rules to the files of a submission. Problems are reasons to
// refuse it, syntax holds the parser's errors; both are sorted by file and line. It
// never panics, and takes time in proportion to the files' size.
func Source(files []submission.File, p Policy) (problems, syntax []verdict.Problem) {
	v := walker{policy: p, declared: map[string]bool{}}
	v.all(files)
	return capped(v.problems), capped(v.syntax)
}

func capped(problems []verdict.Problem) []verdict.Problem {
	slices.SortStableFunc(problems, func(a, b verdict.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	problems = slices.Compact(problems)
	return problems[:min(len(problems), verdict.MaxProblems)]
}

// walker applies the rules to the files one after the other, and collects problems.
type walker struct {
	policy   Policy
	problems []verdict.Problem
	syntax   []verdict.Problem
	parsed   []*source
	declared map[string]bool // at the top level of the package
}

// source is a parsed file.
type source struct {
	vet    *walker
	name   string
	fset   *token.FileSet
	ast    *ast.File
	broken bool // by syntax errors: the tree is reliable up to the imports only
}

func (v *walker) refuse(file string, line int, rule, message string) {
	if len(v.problems) < 100*verdict.MaxProblems { // sorted before they are cut
		v.problems = append(v.problems, verdict.Problem{File: verdict.Printable(file), Line: line, Rule: rule, Message: message})
	}
}

func (v *walker) all(files []submission.File) {
	if len(files) > submission.MaxFiles {
		v.refuse(files[submission.MaxFiles].Name, 0, "too-many", fmt.Sprintf("a submission has at most %d Go files; merge some", submission.MaxFiles))
		files = files[:submission.MaxFiles]
	}
	total := 0
	for _, f := range files {
		if p := submission.CheckName(f.Name); p != nil {
			v.problems = append(v.problems, *p)
		}
		total += len(f.Data)
		if len(f.Data) > submission.MaxFileSize || total > submission.MaxTotalSize {
			v.refuse(f.Name, 0, "too-large", fmt.Sprintf("a file has at most %d KiB and a submission %d KiB; shorten this file",
				submission.MaxFileSize>>10, submission.MaxTotalSize>>10))
			continue
		}
		if v.scan(f) {
			v.parse(f)
		}
	}
	for _, s := range v.parsed {
		s.check()
	}
}

// maxSyntax caps the errors of one file: the first are the cause of the rest.
const maxSyntax = 3

// parse parses one file without resolving names, which a hostile file can make slow.
func (v *walker) parse(f submission.File) {
	s := &source{vet: v, name: f.Name, fset: token.NewFileSet()}
	var err error
	s.ast, err = parser.ParseFile(s.fset, "", f.Data, parser.SkipObjectResolution)
	s.broken = err != nil
	var list scanner.ErrorList
	if errors.As(err, &list) {
		for _, e := range list[:min(len(list), maxSyntax)] {
			// A //line directive may claim another line, but not another offset.
			line := 1 + strings.Count(string(f.Data[:min(e.Pos.Offset, len(f.Data))]), "\n")
			v.syntax = append(v.syntax, verdict.Problem{File: verdict.Printable(f.Name), Line: line, Rule: "syntax", Message: verdict.Clip(e.Msg, 200)})
		}
	} else if err != nil {
		v.syntax = append(v.syntax, verdict.Problem{File: verdict.Printable(f.Name), Line: 0, Rule: "syntax", Message: verdict.Clip(err.Error(), 200)})
	}
	if s.broken && (s.ast == nil || s.ast.Name == nil || s.ast.Name.Name == "") { // so many errors that the parser gave up
		s.ast, _ = parser.ParseFile(s.fset, "", f.Data, parser.ImportsOnly|parser.SkipObjectResolution)
	}
	if s.ast == nil || s.ast.Name == nil || s.ast.Name.Name == "" {
		return
	}
	v.parsed = append(v.parsed, s)
	for _, d := range s.ast.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
			v.declared[f.Name.Name] = true
		}
	}
}

func (s *source) refuse(at token.Pos, rule, format string, args ...any) {
	line := 0
	if at.IsValid() {
		line = s.fset.PositionFor(at, false).Line
	}
	s.vet.refuse(s.name, line, rule, fmt.Sprintf(format, args...))
}

// check applies the rules on syntax trees to one file.
func (s *source) check() {
	if want, got := s.vet.policy.Package, s.ast.Name.Name; want != "" && got != want && got != "_" {
		s.refuse(s.ast.Name.Pos(), "package", "this file says package %s; change it to package %s", verdict.Clip(got, 80), want)
	}
	imports := s.imports()
	if s.broken {
		return
	}
	local := s.localNames()
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body == nil {
				s.refuse(n.Pos(), "bodyless", "function %s has no body; write one", verdict.Clip(n.Name.Name, 80))
			}
		case *ast.CallExpr:
			f, ok := ast.Unparen(n.Fun).(*ast.Ident)
			if ok && (f.Name == "print" || f.Name == "println") && !local[f.Name] && !s.vet.declared[f.Name] {
				s.refuse(f.Pos(), "builtin-print", "%s writes to standard error, which is not graded; remove this call", f.Name)
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || imports[x.Name] == "" || local[x.Name] {
				break
			}
			if why := s.vet.policy.Selector(imports[x.Name], n.Sel.Name); why != "" {
				s.refuse(n.Sel.Pos(), "selector", "%s", why)
			}
		}
		return true
	})
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// ImportName returns the name of an import without an alias. It derives the name from
// the path, which is right for all of the standard library.
func ImportName(importPath string) string {
	if dir, base := path.Split(importPath); dir == "" || !majorVersion.MatchString(base) {
		return base
	}
	return path.Base(path.Dir(importPath))
}

// imports checks the imports and maps their names to their paths.
func (s *source) imports() map[string]string {
	names := map[string]string{}
	for _, spec := range s.ast.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has reported it
		}
		if why := s.vet.policy.Import(importPath); why != "" {
			s.refuse(spec.Pos(), "import", "%s", why)
		}
		name := ImportName(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			s.refuse(spec.Pos(), "import", "a dot import hides which package a name comes from; remove the dot")
			continue
		}
		names[name] = importPath
	}
	return names
}

// localNames returns the names that the file declares anywhere. A local name that is
// also an import's or a builtin's may mean either, which only the rules with types
// can tell.
func (s *source) localNames() map[string]bool {
	names := map[string]bool{}
	add := func(list ...*ast.Ident) {
		for _, id := range list {
			names[id.Name] = true
		}
	}
	addExprs := func(tok token.Token, list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok && tok == token.DEFINE {
				add(id)
			}
		}
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			addExprs(n.Tok, n.Lhs...)
		case *ast.RangeStmt:
			addExprs(n.Tok, n.Key, n.Value)
		case *ast.ValueSpec:
			add(n.Names...)
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.Field:
			add(n.Names...)
		}
		return true
	})
	return names
}
