package golang

import (
	"go/ast"
	"go/parser"
	"go/types"
	"strconv"
	"strings"
)

// maxSpelled caps the bytes of a type that is written out. Types in honest code are
// far shorter.
const maxSpelled = 4 << 10

// text returns the declaration on one line, for a message.
func (d *declaration) text() string {
	switch node := d.node.(type) {
	case *ast.FuncDecl:
		sig := strings.TrimPrefix(writeType(node.Type), "func")
		if d.kind == "func" {
			return "func " + d.name + paramsText(node.Type.TypeParams) + sig
		}
		recv := node.Recv.List[0]
		name := ""
		if len(recv.Names) > 0 {
			name = recv.Names[0].Name + " "
		}
		return "func (" + name + writeType(recv.Type) + ") " + d.name + sig
	case *ast.TypeSpec:
		return "type " + d.name + paramsText(node.TypeParams) + declEquals(node) + declShape(node, writeType)
	case *ast.Field:
		return "field " + d.name + " " + writeType(d.typ) + " in type " + d.owner
	}
	if d.typ == nil {
		return d.kind + " " + d.name
	}
	return d.kind + " " + d.name + " " + writeType(d.typ)
}

// canon returns a form that two declarations of one name share only if they declare
// the same, whatever their parameters, type parameters and imports are called.
func (d *declaration) canon() string {
	subst := make(map[string]string, len(d.params))
	for i, p := range d.params {
		subst[p] = "$" + strconv.Itoa(i)
	}
	s := spelling{imports: d.imports, rename: func(path string) string { return path }, subst: subst}
	switch node := d.node.(type) {
	case *ast.FuncDecl:
		if d.kind == "func" {
			return "func" + s.params(node.Type.TypeParams) + s.spell(node.Type)
		}
		if _, star, _ := receiver(node.Recv.List[0].Type); star {
			return "method on pointer " + s.spell(node.Type)
		}
		return "method on value " + s.spell(node.Type)
	case *ast.TypeSpec:
		return "type" + s.params(node.TypeParams) + declEquals(node) + declShape(node, s.spell)
	}
	if d.typ == nil {
		return d.kind
	}
	return d.kind + " " + s.spell(d.typ)
}

// declShape returns the right-hand side of a type declaration. A struct is the bare
// word, because its fields are declarations of their own.
func declShape(spec *ast.TypeSpec, write func(ast.Expr) string) string {
	if _, ok := spec.Type.(*ast.StructType); ok {
		return "struct"
	}
	return write(spec.Type)
}

func declEquals(spec *ast.TypeSpec) string {
	if spec.Assign.IsValid() {
		return " = "
	}
	return " "
}

// paramsText returns a list of type parameters as source has it.
func paramsText(list *ast.FieldList) string {
	if list == nil {
		return ""
	}
	if list.NumFields() > maxParams {
		return "[...]"
	}
	var fields []string
	for _, f := range list.List {
		var names []string
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
		fields = append(fields, strings.Join(names, ", ")+" "+writeType(f.Type))
	}
	return "[" + strings.Join(fields, ", ") + "]"
}

// writeType is types.ExprString with a cap.
func writeType(e ast.Expr) string {
	if text := types.ExprString(e); len(text) <= maxSpelled {
		return text
	}
	return "..."
}

// spelling replaces names in a type that it spells out.
type spelling struct {
	imports map[string]string        // names of a file's imports to their paths
	rename  func(path string) string // returns the name to write for an imported package
	subst   map[string]string        // other names to their replacements
	use     func(name string)        // called with every name that is not replaced; may be nil
}

// params spells out the constraints of a list of type parameters.
func (s *spelling) params(list *ast.FieldList) string {
	if list.NumFields() > maxParams {
		return "[...]"
	}
	text := ""
	if list != nil {
		for _, f := range list.List {
			text += strings.Repeat(s.spell(f.Type)+",", len(f.Names))
		}
	}
	return "[" + text + "]"
}

// maxParams caps the type parameters that are written out.
const maxParams = 64

// spell writes a type on one line, without the names of parameters. It replaces names
// in a copy, which it makes by parsing the type's text.
func (s *spelling) spell(e ast.Expr) string {
	e, err := parser.ParseExpr(writeType(e))
	if err != nil || spelledLen(e) > maxSpelled {
		return "..."
	}
	done := map[ast.Expr]bool{}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			n.Params, n.Results = unnamed(n.Params), unnamed(n.Results)
		case *ast.Field: // its name is no name of a type
			if !done[n.Type] {
				done[n.Type] = true
				ast.Inspect(n.Type, visit)
			}
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && s.imports[x.Name] != "" && s.subst[x.Name] == "" {
				x.Name = s.rename(s.imports[x.Name])
			}
			return false
		case *ast.Ident:
			if to, ok := s.subst[n.Name]; ok {
				n.Name = to
			} else if s.use != nil {
				s.use(n.Name)
			}
		}
		return true
	}
	ast.Inspect(e, visit)
	return types.ExprString(e)
}

// spelledLen counts the bytes of a type without the names of parameters, up to maxSpelled+1:
// groups of them within groups multiply, so that a few hundred bytes can stand for gigabytes.
// The type is one that was just parsed, because what does not multiply is measured by its
// positions.
func spelledLen(e ast.Expr) int {
	size := int(e.End() - e.Pos())
	ast.Inspect(e, func(n ast.Node) bool {
		f, ok := n.(*ast.FuncType)
		if !ok {
			return true
		}
		size += grown(f.Params) + grown(f.Results)
		return false
	})
	return min(size, maxSpelled+1)
}

// grown returns by how many bytes a list of parameters is longer without its names.
func grown(list *ast.FieldList) (more int) {
	if list == nil {
		return 0
	}
	for _, f := range list.List {
		times := max(1, len(f.Names))
		more += times*spelledLen(f.Type) + (times-1)*len(", ") - int(f.End()-f.Pos())
	}
	return more
}

// unnamed drops the names from a list of parameters: (a, b T) becomes (T, T).
// The two share one T.
func unnamed(list *ast.FieldList) *ast.FieldList {
	if list == nil {
		return nil
	}
	bare := &ast.FieldList{}
	for _, f := range list.List {
		for range max(1, len(f.Names)) {
			bare.List = append(bare.List, &ast.Field{Type: f.Type})
		}
	}
	return bare
}
