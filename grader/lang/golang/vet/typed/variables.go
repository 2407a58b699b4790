package typed

import (
	"go/ast"
	"go/token"
	"go/types"

	"grade/grader/verdict"
)

// writes refuses a node that changes another package's variable or takes its address:
// an assignment to io.EOF, &io.EOF, a method on a pointer to it.
func (r *rules) writes(n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			r.foreign(e, "assigns to")
		}
	case *ast.IncDecStmt:
		r.foreign(n.X, "assigns to")
	case *ast.RangeStmt:
		r.foreign(n.Key, "assigns to")
		r.foreign(n.Value, "assigns to")
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			r.foreign(n.X, "takes the address of")
		}
	case *ast.SliceExpr:
		if _, isArray := r.underlying(n.X).(*types.Array); isArray {
			r.foreign(n.X, "takes the address of")
		}
	case *ast.SelectorExpr:
		if r.takesAddress(n) {
			r.foreign(n.X, "takes the address of")
		}
	case *ast.CallExpr:
		if r.changesFirst(n.Fun) && len(n.Args) > 0 {
			r.foreign(n.Args[0], "changes what is in")
		}
	}
}

func (r *rules) underlying(e ast.Expr) types.Type {
	if t := r.info.TypeOf(e); t != nil {
		return t.Underlying()
	}
	return nil
}

// takesAddress reports whether a selector calls a pointer's method on a value.
func (r *rules) takesAddress(e *ast.SelectorExpr) bool {
	sel := r.info.Selections[e]
	if sel == nil || sel.Kind() != types.MethodVal {
		return false
	}
	f, ok := sel.Obj().(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return false
	}
	_, wantsPointer := types.Unalias(f.Signature().Recv().Type()).(*types.Pointer)
	_, isPointer := sel.Recv().Underlying().(*types.Pointer)
	return wantsPointer && !isPointer
}

// changesFirst reports whether a function is a builtin that changes its first argument.
func (r *rules) changesFirst(fun ast.Expr) bool {
	id, ok := ast.Unparen(fun).(*ast.Ident)
	if !ok {
		return false
	}
	b, ok := r.info.Uses[id].(*types.Builtin)
	if !ok {
		return false
	}
	switch b.Name() {
	case "append", "clear", "copy", "delete":
		return true
	}
	return false
}

// foreign refuses another package's variable or a part of one.
func (r *rules) foreign(e ast.Expr, does string) {
	for e != nil {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.TypeAssertExpr:
			e = x.X
		case *ast.SelectorExpr:
			if r.isForeign(x.Sel) {
				e = x.Sel
			} else {
				e = x.X
			}
		case *ast.Ident:
			if r.isForeign(x) {
				v := r.info.Uses[x]
				r.refuse(x.Pos(), "foreign-variable", "this "+does+" "+verdict.Clip(v.Pkg().Name()+"."+v.Name(), 80)+
					", which belongs to another package; use a variable of your own")
			}
			return
		default:
			return
		}
	}
}

// isForeign reports whether a name stands for a variable of another package.
func (r *rules) isForeign(id *ast.Ident) bool {
	v, ok := r.info.Uses[id].(*types.Var)
	return ok && !v.IsField() && v.Pkg() != nil && v.Pkg() != r.pkg
}
