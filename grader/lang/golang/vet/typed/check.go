package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"grade/grader/verdict"
)

// check type-checks the package and applies the rules. Sure is false after an error,
// because some expressions have no type then.
func (j *job) check() (problems []verdict.Problem, sure bool) {
	defer func() {
		// A source that crashes go/types is refused, because it cannot be checked.
		if v := recover(); v != nil {
			problems, sure = []verdict.Problem{j.unclear()}, false
		}
	}()
	slices.Sort(j.files)
	fset := token.NewFileSet()
	sure = true
	var files []*ast.File
	for _, name := range j.files {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			sure = false
		}
		if f != nil {
			files = append(files, f)
		}
	}
	imports, err := readImports(j.importcfg)
	if err != nil {
		fmt.Fprintf(os.Stderr, "typed: %v\n", err)
		return nil, false
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
	}
	conf := types.Config{
		Importer:  importer.ForCompiler(fset, "gc", imports.open),
		GoVersion: j.lang,
		Sizes:     types.SizesFor("gc", j.goarch()),
		Error:     func(error) { sure = false },
	}
	pkg, _ := conf.Check(j.path, fset, files, info)
	r := rules{fset: fset, pkg: pkg, info: info, policy: j.policy, seen: map[place]bool{}, known: map[types.Type]*suspect{}}
	r.apply(files)
	return r.problems, sure
}

func (j *job) goarch() string {
	if j.arch != "" {
		return j.arch
	}
	return runtime.GOARCH
}

// unclear refuses the package as a whole.
func (j *job) unclear() verdict.Problem {
	return verdict.Problem{File: filepath.Base(j.files[0]), Rule: "types",
		Message: "the types of this package are too complex to be checked; make them simpler"}
}

// imports maps import paths to packages and packages to files of export data.
type imports struct {
	files map[string]string
	names map[string]string
}

// readImports reads the import configuration, a file that the go command writes for
// the compiler.
func readImports(name string) (imports, error) {
	i := imports{map[string]string{}, map[string]string{}}
	data, err := os.ReadFile(name)
	if err != nil {
		return i, fmt.Errorf("read the import configuration: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		from, to, _ := strings.Cut(rest, "=")
		switch verb {
		case "packagefile":
			i.files[from] = to
		case "importmap":
			i.names[from] = to
		}
	}
	return i, nil
}

func (i imports) open(path string) (io.ReadCloser, error) {
	if to, ok := i.names[path]; ok {
		path = to
	}
	name, ok := i.files[path]
	if !ok {
		return nil, fmt.Errorf("package %s is not in the import configuration", path)
	}
	return os.Open(name)
}
