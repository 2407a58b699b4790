package course

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"grade/exercises/course/document"
)

// kit is the import path of the package that hidden tests record observations with.
const kit = "grade/observe"

// hiddenFunc is a test or benchmark in hidden.
type hiddenFunc struct {
	name, file  string
	line        int
	hint        string
	selfReports bool
	checked     bool // a check names it
}

// inspector collects facts about the package hidden while it reads the files.
type inspector struct {
	*document.Faults
	exercise *Exercise
	fset     *token.FileSet
	funcs    map[string]*hiddenFunc
	calls    calls
	imported bool // the exercise's package, by any of the files
}

// inspectHidden reads the hidden tests and returns them by name; nil if a file does
// not parse, because its tests are unknown then.
func inspectHidden(e *Exercise, p *document.Faults) map[string]*hiddenFunc {
	in := &inspector{p, e, token.NewFileSet(), map[string]*hiddenFunc{}, calls{}, false}
	broken := false
	for _, f := range e.Hidden {
		broken = !in.file(f) || broken
	}
	if len(e.Hidden) == 0 || broken {
		return nil
	}
	if !in.imported {
		in.Add(hiddenDir, 0, "no file imports %q", e.ImportPath)
	}
	for _, f := range in.funcs {
		reached := in.calls.from(f.name)
		f.selfReports = reached.selfReports
		if !reached.observes {
			in.Add(f.file, f.line, "%s: it never calls observe.New; a test that records nothing can be forged", f.name)
		}
	}
	return in.funcs
}

// file reads one file and reports whether it parses.
func (in *inspector) file(f File) bool {
	name := path.Join(hiddenDir, f.Name)
	if !isGo(f.Name) || !isTest(f.Name) {
		in.Add(name, 0, "%s may hold only _test.go files, at its top level", hiddenDir)
		return true
	}
	tree, err := parser.ParseFile(in.fset, name, f.Data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		in.syntax(name, err)
		return false
	}
	if tree.Name.Name != hiddenDir {
		in.Add(name, in.line(tree.Name), "package %s; hidden tests belong to package %s", tree.Name.Name, hiddenDir)
	}
	kitName := in.imports(tree)
	for _, decl := range tree.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			in.calls.add(fn, kitName)
			in.function(name, fn)
		}
	}
	return true
}

func (in *inspector) syntax(name string, err error) {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		in.Add(name, 0, "%w", err)
	}
	for _, e := range list {
		in.Add(name, e.Pos.Line, "%s", e.Msg)
	}
}

func (in *inspector) line(n ast.Node) int { return in.fset.Position(n.Pos()).Line }

// imports looks for the exercise's package, and returns the file's name for the kit;
// "" if the file does not import it.
func (in *inspector) imports(tree *ast.File) (kitName string) {
	for _, spec := range tree.Imports {
		switch p, _ := strconv.Unquote(spec.Path.Value); p {
		case in.exercise.ImportPath:
			in.imported = true
		case kit:
			kitName = path.Base(kit)
			if spec.Name != nil {
				kitName = spec.Name.Name
			}
		}
	}
	return kitName
}

// function adds fn if go test runs it.
func (in *inspector) function(file string, fn *ast.FuncDecl) {
	name, line := fn.Name.Name, in.line(fn.Name)
	test, benchmark := isTestName(name, "Test"), isTestName(name, "Benchmark")
	switch {
	case fn.Recv != nil:
		return
	case name == "TestMain", isTestName(name, "Fuzz"), isTestName(name, "Example"):
		in.Add(file, line, "%s: only Test and Benchmark functions are hidden tests", name)
		return
	case !test && !benchmark:
		return
	case test && !takes(fn, "T"), benchmark && !takes(fn, "B"):
		in.Add(file, line, "%s: want one parameter: *testing.T for a test, *testing.B for a benchmark", name)
	}
	f := &hiddenFunc{name: name, file: file, line: line, hint: hint(name, fn.Doc)}
	if f.hint == "" {
		in.Add(file, line, "%s: the comment is missing; students read it as the hint", name)
	}
	in.funcs[name] = f
}

// takes reports whether fn's only parameter is a *testing.T or the like.
func takes(fn *ast.FuncDecl, typeName string) bool {
	params := fn.Type.Params.List
	if len(params) != 1 || len(params[0].Names) > 1 || fn.Type.Results != nil || fn.Type.TypeParams != nil {
		return false
	}
	star, ok := params[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == typeName
}

// isTestName reports whether go test runs a function of that name as one of the
// prefix's kind: TestX and Test, but not Testify.
func isTestName(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && token.IsIdentifier(name) && (rest == "" || !unicode.IsLower(first))
}

// hint makes one paragraph of a function's comment. It drops the function's name at the
// beginning, which tells a student nothing.
func hint(name string, doc *ast.CommentGroup) string {
	words := strings.Fields(doc.Text())
	if len(words) > 0 && strings.TrimRight(words[0], ":,") == name {
		words = words[1:]
		if len(words) > 0 {
			first, n := utf8.DecodeRuneInString(words[0])
			words[0] = string(unicode.ToUpper(first)) + words[0][n:]
		}
	}
	return strings.Join(words, " ")
}
