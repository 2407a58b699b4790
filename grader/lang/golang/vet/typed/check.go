// Package typed applies those rules of vet that need types to one package. It runs in the
// sandbox of a build and under its limits, because type-checking hostile source can take
// any time and memory.
package typed

import (
	"cmp"
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

	"grade/grader/lang/golang/vet"
	"grade/grader/verdict"
)

// Package is a package to check, as the compiler is given it.
type Package struct {
	Path      string   // import path
	Files     []string // its Go files
	ImportCfg string   // file with the places of its imports
	Lang      string   // language version, as in go1.26
	Arch      string   // empty: this machine's
	Policy    vet.Policy
}

// Check type-checks the package and applies the rules. Sure is false after an error,
// because some expressions have no type then.
func (p *Package) Check() (problems []verdict.Problem, sure bool) {
	defer func() {
		// A source that crashes go/types is refused, because it cannot be checked.
		if v := recover(); v != nil {
			problems, sure = []verdict.Problem{p.Unclear()}, false
		}
	}()
	names := slices.Sorted(slices.Values(p.Files))
	fset := token.NewFileSet()
	sure = true
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			sure = false
		}
		if f != nil {
			files = append(files, f)
		}
	}
	imports, err := readImports(p.ImportCfg)
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
		GoVersion: p.Lang,
		Sizes:     types.SizesFor("gc", cmp.Or(p.Arch, runtime.GOARCH)),
		Error:     func(error) { sure = false },
	}
	checked, _ := conf.Check(p.Path, fset, files, info)
	r := rules{fset: fset, pkg: checked, info: info, policy: p.Policy, seen: map[place]bool{}, known: map[types.Type]*suspect{}}
	r.apply(files)
	return r.problems, sure
}

// Unclear refuses the package as a whole.
func (p *Package) Unclear() verdict.Problem {
	return verdict.Problem{File: filepath.Base(p.Files[0]), Rule: "types",
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
