package golang

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/types"
	"maps"
	"slices"
	"strings"

	"grade/grader/submission"
)

// api spells out the exports of a reference as Go, so that the compiler checks a
// submission against it and its errors can be translated into the declarations that
// the exercise wants.
type api struct {
	// file is the content of [submission.APIFile], which the build adds to the
	// submission's package. It adds no code to the program, and each newAPI makes
	// another one.
	file []byte

	dir   string // of the package in the build tree
	items []apiItem
	lines map[int]int    // line of file to index of items
	names map[string]int // key of a declaration to index of items
	uses  map[string]bool
}

// An apiItem is one declaration that a submission must have.
type apiItem struct {
	key         key
	kind        string
	want, canon string
}

// newAPI reads the API of a reference from its sources, file name to content, without
// tests. Dir is the folder of the package in the build tree, such as
// reference/autograd. An error says that the reference exports a declaration that no
// submission can have.
func newAPI(dir string, sources map[string][]byte) (*api, error) {
	var files []submission.File
	for name, data := range sources {
		files = append(files, submission.File{Name: name, Data: data})
	}
	ref, err := parseReference(files)
	if err != nil {
		return nil, fmt.Errorf("read the reference's API: %w", err)
	}
	w := apiWriter{
		reference: ref,
		api:       &api{dir: dir, lines: map[int]int{}, names: map[string]int{}, uses: map[string]bool{}},
		imports:   map[string]string{},
	}
	for _, d := range declarations(files) {
		if ast.IsExported(d.name) && (d.owner == "" || ast.IsExported(d.owner)) {
			w.declaration(d)
		}
	}
	if err := errors.Join(w.errs...); err != nil {
		return nil, fmt.Errorf("read the reference's API: %w", err)
	}
	return w.finish()
}

// apiWriter collects the lines of the file that checks a submission.
type apiWriter struct {
	*reference
	api     *api
	imports map[string]string // alias to path
	body    []apiLine
	helpers int
	errs    []error
}

type apiLine struct {
	item int
	text string
}

// declaration adds the checks of one exported declaration.
func (w *apiWriter) declaration(d *declaration) {
	item := len(w.api.items)
	w.api.items = append(w.api.items, apiItem{key: d.key(), kind: d.kind, want: d.text(), canon: d.canon()})
	w.api.names[d.key().String()] = item
	for _, line := range w.checks(d) {
		w.body = append(w.body, apiLine{item, line})
	}
}

func (w *apiWriter) checks(d *declaration) []string {
	s := w.spelling(d)
	switch node := d.node.(type) {
	case *ast.FuncDecl:
		if d.kind == "func" {
			return w.function(d, node, s)
		}
		return w.method(d, node)
	case *ast.TypeSpec:
		return w.typ(d, node, s)
	case *ast.Field:
		of := w.types[d.owner].node.(*ast.TypeSpec)
		in := w.generic(of.TypeParams, s)
		self, t := in.of(d.owner), s.spell(d.typ)
		return []string{
			fmt.Sprintf("func _%s(x *%s) { var _ *%s = &x.%s }", in.decl, self, t, d.name),
			fmt.Sprintf("func _%s(x %s) { _ = %s{%s: x} }", in.decl, t, self, d.name),
		}
	}
	return w.value(d, s)
}

// spelling writes types as the file names them: imported packages by an alias that no
// submission has, and none of the reference's unexported types.
func (w *apiWriter) spelling(d *declaration) *spelling {
	params := map[string]bool{}
	for _, p := range d.params {
		params[p] = true
	}
	return &spelling{
		imports: d.imports,
		rename: func(path string) string {
			alias := apiPrefix + strings.Map(func(r rune) rune {
				if r == '/' || r == '.' || r == '-' {
					return '_'
				}
				return r
			}, path)
			w.imports[alias] = path
			return alias
		},
		use: func(name string) {
			w.api.uses[name] = true
			if !params[name] && !ast.IsExported(name) && w.declared[name] {
				w.errs = append(w.errs, fmt.Errorf("%s:%d: %s is exported, and %s in it is not", d.file, d.line, d.key(), name))
			}
		},
	}
}

const apiPrefix = "zz_api_"

// function checks a function's type. A variable of that type passes as well.
func (w *apiWriter) function(d *declaration, node *ast.FuncDecl, s *spelling) []string {
	in := w.generic(node.Type.TypeParams, s)
	return []string{fmt.Sprintf("func _%s() { var _ %s = %s }", in.decl, s.spell(node.Type), in.of(d.name))}
}

// method checks a method by a method expression, which lets a value's method stand in
// for a pointer's, and not the reverse.
func (w *apiWriter) method(d *declaration, node *ast.FuncDecl) []string {
	owner := w.types[d.owner]
	if owner == nil {
		return nil
	}
	of := owner.node.(*ast.TypeSpec)
	_, star, params := receiver(node.Recv.List[0].Type)
	s := w.spelling(d)
	s.subst = map[string]string{} // the type's own names for its parameters
	for i, p := range owner.params {
		if i < len(params) && params[i] != p && params[i] != "_" {
			s.subst[params[i]] = p
		}
	}
	in := w.generic(of.TypeParams, w.spelling(owner))
	self := in.of(d.owner)
	if star {
		self = "*" + self
	}
	sig := strings.TrimPrefix(s.spell(node.Type), "func(")
	if !strings.HasPrefix(sig, ")") {
		sig = ", " + sig
	}
	return []string{fmt.Sprintf("func _%s() { var _ func(%s%s = (%s).%s }", in.decl, self, sig, self, d.name)}
}

// value checks that a constant has the same type and that a variable is assignable to
// its type. A variable's own type is not compared, so that an error may be of any type.
func (w *apiWriter) value(d *declaration, s *spelling) []string {
	t := w.typeOf(d, s)
	switch {
	case d.kind == "const" && t == "":
		return []string{fmt.Sprintf("func _() { const _ = %s }", d.name)}
	case d.kind == "const":
		return []string{fmt.Sprintf("func _() { const c = %s; x := c; var _ *%s = &x }", d.name, t)}
	case t == "":
		return []string{fmt.Sprintf("func _() { _ = %s }", d.name)}
	}
	return []string{fmt.Sprintf("func _() { var _ %s = %s }", t, d.name)}
}

// typeOf spells the type of a const or var of the reference; "" if only the standard
// library's sources could tell it.
func (w *apiWriter) typeOf(d *declaration, s *spelling) string {
	if d.typ != nil {
		return s.spell(d.typ)
	}
	if w.errors[d.name] {
		return "error"
	}
	obj := w.scope.Lookup(d.name)
	if obj == nil {
		return ""
	}
	text := types.TypeString(types.Default(obj.Type()), func(*types.Package) string { return "" })
	t, err := parser.ParseExpr(text)
	if err != nil { // the text is "invalid type"
		return ""
	}
	return s.spell(t)
}

// finish writes the file and maps its lines.
func (w *apiWriter) finish() (*api, error) {
	var b bytes.Buffer
	// The random text keeps the package out of go's build cache, because compile
	// applies its rules only when the package is compiled.
	fmt.Fprintf(&b, "// Code generated by grade; DO NOT EDIT.\n// %s\n\npackage %s\n\n", rand.Text(), w.name)
	for _, alias := range slices.Sorted(maps.Keys(w.imports)) {
		fmt.Fprintf(&b, "import %s %q\n", alias, w.imports[alias])
	}
	line := bytes.Count(b.Bytes(), []byte("\n"))
	for _, l := range w.body {
		line++
		w.api.lines[line] = l.item
		b.WriteString(l.text + "\n")
	}
	if _, err := format.Source(b.Bytes()); err != nil {
		return nil, fmt.Errorf("spell out the reference's API: %w", err)
	}
	w.api.file = b.Bytes()
	return w.api, nil
}

// generics is a list of type parameters, as a declaration and as an instance.
type generics struct {
	decl string // as in a declaration, "[T any]" or ""
	args string // as in an instance, "[T]" or ""
}

func (g generics) of(name string) string { return name + g.args }

// and adds a type parameter to the declaration.
func (g generics) and(param string) generics {
	if g.decl == "" {
		return generics{decl: "[" + param + "]", args: g.args}
	}
	return generics{decl: strings.TrimSuffix(g.decl, "]") + ", " + param + "]", args: g.args}
}

func (w *apiWriter) generic(list *ast.FieldList, s *spelling) generics {
	if list == nil {
		return generics{}
	}
	var decl []string
	for _, f := range list.List {
		for _, n := range f.Names {
			decl = append(decl, n.Name+" "+s.spell(f.Type))
		}
	}
	return generics{"[" + strings.Join(decl, ", ") + "]", "[" + strings.Join(typeParams(list), ", ") + "]"}
}
