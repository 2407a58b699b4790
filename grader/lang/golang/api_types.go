package golang

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"grade/grader/submission"
)

// reference holds facts about the reference besides its declarations.
type reference struct {
	name     string                  // of the package
	declared map[string]bool         // at the top level, methods aside
	types    map[string]*declaration // by name
	scope    *types.Scope            // for the types of constants
	errors   map[string]bool         // variables made by errors.New or fmt.Errorf
}

// parseReference reads and type-checks the sources of a reference, which is safe
// because they are the author's. It does not read the packages that they import: this
// machine may have no Go.
func parseReference(files []submission.File) (*reference, error) {
	r := &reference{declared: map[string]bool{}, types: map[string]*declaration{}, errors: map[string]bool{}}
	fset := token.NewFileSet()
	var parsed []*ast.File
	files = slices.SortedFunc(slices.Values(files), func(a, b submission.File) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range files {
		p, err := parser.ParseFile(fset, f.Name, f.Data, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, p)
		r.name = p.Name.Name
		r.findErrors(p)
	}
	if len(parsed) == 0 {
		return nil, errors.New("no Go file")
	}
	for _, d := range declarations(files) {
		if d.owner != "" {
			continue
		}
		r.declared[d.name] = true
		if d.kind == "type" {
			r.types[d.name] = d
		}
	}
	conf := types.Config{Importer: noImporter{}, Error: func(error) {}, IgnoreFuncBodies: true}
	pkg, _ := conf.Check(r.name, fset, parsed, nil)
	r.scope = pkg.Scope()
	return r, nil
}

type noImporter struct{}

func (noImporter) Import(string) (*types.Package, error) { return nil, errors.New("not needed") }

// findErrors finds the sentinel errors among a file's variables.
func (r *reference) findErrors(f *ast.File) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			spec := spec.(*ast.ValueSpec)
			for i, name := range spec.Names {
				if i >= len(spec.Values) {
					break
				}
				call, ok := spec.Values[i].(*ast.CallExpr)
				r.errors[name.Name] = ok && isErrorMaker(types.ExprString(call.Fun))
			}
		}
	}
}

func isErrorMaker(f string) bool { return f == "errors.New" || f == "fmt.Errorf" }

// typ checks that a type exists, and that its underlying type is the wanted one as far
// as another package can see it. A struct is checked by its exported fields alone, so
// that any type can replace one without such fields.
func (w *apiWriter) typ(d *declaration, node *ast.TypeSpec, s *spelling) []string {
	in := w.generic(node.TypeParams, s)
	self := in.of(d.name)
	if _, ok := node.Type.(*ast.StructType); ok {
		return []string{fmt.Sprintf("func _%s(*%s) {}", in.decl, self)}
	}
	t := s.spell(node.Type)
	if w.isConstraint(node.Type, map[string]bool{}) {
		return w.constraint(in, self, t)
	}
	iface, isInterface := node.Type.(*ast.InterfaceType)
	switch {
	case isInterface && sealed(iface):
		// No submission can have the reference's unexported methods.
		return []string{fmt.Sprintf("func _%s(x %s, y %s) { y = x }", in.decl, self, s.spell(unsealed(iface)))}
	case node.Assign.IsValid():
		return []string{fmt.Sprintf("func _%s(x *%s, y *%s) { x = y; y = x }", in.decl, self, t)}
	case isInterface:
		return []string{fmt.Sprintf("func _%s(x %s, y %s) { x = y; y = x }", in.decl, self, t)}
	case isNamed(node.Type):
		return []string{fmt.Sprintf("func _%s(x %s, y %s) { x = (%s)(y); y = (%s)(x) }", in.decl, self, t, self, t)}
	}
	// ~T is the only way to ask for the underlying type and nothing else.
	return []string{w.instance(in, extra+" ~"+t, in.decl, self)}
}

// extra is the type parameter of a helper, besides those of the API.
const extra = apiPrefix + "Q"

// constraint checks an interface that only constrains type parameters: a type
// parameter under either constraint must satisfy the other.
func (w *apiWriter) constraint(in generics, self, t string) []string {
	return []string{
		w.instance(in, extra+" "+self, in.and(extra+" "+t).decl, extra),
		w.instance(in, extra+" "+t, in.and(extra+" "+self).decl, extra),
	}
}

// instance writes a function with one type parameter more than in, and another
// function that instantiates it with arg.
func (w *apiWriter) instance(in generics, param, decl, arg string) string {
	w.helpers++
	helper := fmt.Sprint(apiPrefix, w.helpers)
	args := arg
	if in.args != "" {
		args = strings.Trim(in.args, "[]") + ", " + arg
	}
	return fmt.Sprintf("func %s%s() {}; func _%s() { %s[%s]() }", helper, in.and(param).decl, decl, helper, args)
}

// isNamed reports whether a type is defined by another named type, whose underlying
// type is unknown here.
func isNamed(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		obj, ok := types.Universe.Lookup(e.Name).(*types.TypeName)
		return !ok || types.IsInterface(obj.Type())
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr:
		return true
	}
	return false
}

// isConstraint reports whether a type can only constrain type parameters.
func (w *apiWriter) isConstraint(e ast.Expr, seen map[string]bool) bool {
	switch e := e.(type) {
	case *ast.InterfaceType:
		return slices.ContainsFunc(e.Methods.List, func(f *ast.Field) bool {
			return len(f.Names) == 0 && (isTerm(f.Type) || w.isConstraint(f.Type, seen))
		})
	case *ast.IndexExpr:
		return w.isConstraint(e.X, seen)
	case *ast.SelectorExpr:
		return types.ExprString(e) == "cmp.Ordered"
	case *ast.Ident:
		if d := w.types[e.Name]; d != nil && !seen[e.Name] {
			seen[e.Name] = true
			return w.isConstraint(d.node.(*ast.TypeSpec).Type, seen)
		}
		return e.Name == "comparable"
	}
	return false
}

// isTerm reports whether an element of an interface is certainly no interface.
func isTerm(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		obj, ok := types.Universe.Lookup(e.Name).(*types.TypeName)
		return ok && !types.IsInterface(obj.Type())
	case *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr, *ast.InterfaceType:
		return false
	}
	return true
}

// sealed reports whether an interface has unexported methods.
func sealed(t *ast.InterfaceType) bool { return len(unsealed(t).Methods.List) < len(t.Methods.List) }

// unsealed returns an interface without its unexported methods.
func unsealed(t *ast.InterfaceType) *ast.InterfaceType {
	list := &ast.FieldList{Opening: t.Methods.Opening, Closing: t.Methods.Closing}
	for _, f := range t.Methods.List {
		if len(f.Names) == 0 || ast.IsExported(f.Names[0].Name) {
			list.List = append(list.List, f)
		}
	}
	return &ast.InterfaceType{Interface: t.Interface, Methods: list}
}
