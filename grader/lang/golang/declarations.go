package golang

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"grade/grader/lang/golang/vet"
	"grade/grader/submission"
)

// A declaration is a package-level declaration, a method or a struct field. It is
// never type-checked, because the package may be a student's. Its methods make texts
// on demand, so that a hostile package costs time in proportion to its length.
type declaration struct {
	kind  string // func, method, type, field, const, var
	owner string // of a method or a field: the type
	name  string
	file  string
	line  int

	node    ast.Node          // *ast.FuncDecl, *ast.TypeSpec, *ast.Field or *ast.ValueSpec
	typ     ast.Expr          // of a field, const or var; nil if the source states none
	imports map[string]string // of its file, name to path
	params  []string          // names of the type parameters, of a method its receiver's
}

// key names a declaration in its package. It shares the memory of the source: joined to one
// text, the name of a type would be held once for each of its fields.
type key struct{ owner, name string }

func (k key) String() string {
	if k.owner != "" {
		return k.owner + "." + k.name
	}
	return k.name
}

func (d *declaration) key() key { return key{d.owner, d.name} }

// declarations lists what the files declare, in the order of files and lines. It skips
// a file that does not parse.
func declarations(files []submission.File) []*declaration {
	l := lister{fset: token.NewFileSet()}
	files = slices.SortedFunc(slices.Values(files), func(a, b submission.File) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range files {
		parsed, err := parser.ParseFile(l.fset, f.Name, f.Data, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		l.file, l.imports = f.Name, importNames(parsed)
		for _, d := range parsed.Decls {
			l.decl(d)
		}
	}
	return l.all
}

type lister struct {
	fset    *token.FileSet
	file    string
	imports map[string]string
	all     []*declaration
}

func (l *lister) add(d declaration, at token.Pos) {
	d.file, d.line, d.imports = l.file, l.fset.PositionFor(at, false).Line, l.imports
	l.all = append(l.all, &d)
}

func (l *lister) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || len(d.Recv.List) == 0 {
			l.add(declaration{kind: "func", name: d.Name.Name, node: d, params: typeParams(d.Type.TypeParams)}, d.Name.Pos())
			return
		}
		base, _, params := receiver(d.Recv.List[0].Type)
		l.add(declaration{kind: "method", owner: base, name: d.Name.Name, node: d, params: params}, d.Name.Pos())
	case *ast.GenDecl:
		var last *ast.ValueSpec // a const without a value repeats the one before
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				l.typeSpec(spec)
			case *ast.ValueSpec:
				if last == nil || len(spec.Values) > 0 || d.Tok == token.VAR {
					last = spec
				}
				for _, name := range spec.Names {
					l.add(declaration{kind: d.Tok.String(), name: name.Name, node: spec, typ: last.Type}, name.Pos())
				}
			}
		}
	}
}

func (l *lister) typeSpec(spec *ast.TypeSpec) {
	params := typeParams(spec.TypeParams)
	l.add(declaration{kind: "type", name: spec.Name.Name, node: spec, params: params}, spec.Name.Pos())
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range st.Fields.List {
		for _, name := range fieldNames(f) {
			l.add(declaration{kind: "field", owner: spec.Name.Name, name: name, node: f, typ: f.Type, params: params}, f.Pos())
		}
	}
}

func fieldNames(f *ast.Field) []string {
	var names []string
	for _, n := range f.Names {
		names = append(names, n.Name)
	}
	if names == nil { // an embedded field has the name of its type
		t := types.ExprString(f.Type)
		t, _, _ = strings.Cut(strings.TrimPrefix(t, "*"), "[")
		names = append(names, t[strings.LastIndexByte(t, '.')+1:])
	}
	return names
}

// receiver splits a receiver's type into its name, star and type parameters.
func receiver(t ast.Expr) (base string, star bool, params []string) {
	t = ast.Unparen(t)
	if p, ok := t.(*ast.StarExpr); ok {
		t, star = ast.Unparen(p.X), true
	}
	var args []ast.Expr
	switch x := t.(type) {
	case *ast.IndexExpr:
		t, args = x.X, []ast.Expr{x.Index}
	case *ast.IndexListExpr:
		t, args = x.X, x.Indices
	}
	for _, a := range args {
		params = append(params, types.ExprString(a))
	}
	if id, ok := t.(*ast.Ident); ok {
		base = id.Name
	}
	return base, star, params
}

// typeParams returns the names in a list of type parameters.
func typeParams(list *ast.FieldList) []string {
	if list == nil {
		return nil
	}
	var names []string
	for _, f := range list.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}

// importNames maps the names of a file's imports to their paths.
func importNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := vet.ImportName(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = p
	}
	return names
}
