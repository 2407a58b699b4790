package typed

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"grade/grader/lang/golang/vet"
	"grade/grader/verdict"
)

// rules applies the rules to a type-checked package.
type rules struct {
	fset     *token.FileSet
	pkg      *types.Package
	info     *types.Info
	policy   vet.Policy
	problems []verdict.Problem
	seen     map[place]bool
	known    map[types.Type]*suspect
}

// place identifies a problem: the report holds one of each rule on a line.
type place struct {
	file string
	line int
	rule string
}

func (r *rules) refuse(at token.Pos, rule, message string) {
	p := r.fset.PositionFor(at, false)
	where := place{filepath.Base(p.Filename), p.Line, rule}
	if !r.seen[where] {
		r.seen[where] = true
		r.problems = append(r.problems, verdict.Problem{File: where.file, Line: where.line, Rule: rule, Message: message})
	}
}

// apply checks everything that the type checker recorded, in any order, and sorts the
// problems.
func (r *rules) apply(files []*ast.File) {
	for e, tv := range r.info.Types {
		r.typ(e.Pos(), tv.Type)
	}
	for id, obj := range r.info.Defs {
		if obj != nil {
			r.typ(id.Pos(), obj.Type())
			r.method(id, obj)
		}
	}
	for n, obj := range r.info.Implicits {
		r.typ(n.Pos(), obj.Type())
	}
	for id, inst := range r.info.Instances {
		r.typ(id.Pos(), inst.Type)
		for t := range inst.TypeArgs.Types() {
			r.typ(id.Pos(), t)
		}
	}
	for id, obj := range r.info.Uses {
		r.use(id, obj)
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			r.writes(n)
			return true
		})
	}
	slices.SortFunc(r.problems, func(a, b verdict.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Rule, b.Rule))
	})
}

// typ refuses an expression by its type.
func (r *rules) typ(at token.Pos, t types.Type) {
	bad := r.known[t]
	if bad == nil {
		bad = &suspect{rules: r, visited: map[types.Type]bool{}}
		bad.visit(t)
		r.known[t] = bad
	}
	switch {
	case bad.unsafe:
		r.refuse(at, "unsafe", "the type of this expression contains unsafe.Pointer: "+r.policy.Type("unsafe"))
	case bad.name != "":
		r.refuse(at, "type", "the type of this expression contains "+verdict.Clip(bad.name, 80)+", which is not allowed: "+bad.why)
	}
}

// suspect searches a type for forbidden parts. It descends into unnamed types and
// type arguments, and not into the named types of other packages: a submission
// reaches their parts by an expression, which has a type of its own.
type suspect struct {
	rules   *rules
	visited map[types.Type]bool
	unsafe  bool
	name    string // a type of a package that is never open
	why     string
}

func (s *suspect) visit(t types.Type) {
	if t == nil || s.unsafe || s.visited[t] {
		return
	}
	s.visited[t] = true
	switch t := t.(type) {
	case *types.Alias:
		s.args(t.TypeArgs())
		s.visit(types.Unalias(t))
	case *types.Basic:
		s.unsafe = t.Kind() == types.UnsafePointer && s.rules.policy.Type("unsafe") != ""
	case *types.Named:
		s.named(t)
	case interface{ Elem() types.Type }: // pointer, slice, array, channel, map
		if m, ok := t.(*types.Map); ok {
			s.visit(m.Key())
		}
		s.visit(t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			s.visit(v.Type())
		}
	case *types.Signature:
		s.visit(t.Params())
		s.visit(t.Results())
	case *types.Struct:
		for f := range t.Fields() {
			s.visit(f.Type())
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			s.visit(m.Type())
		}
		for e := range t.EmbeddedTypes() {
			s.visit(e)
		}
	case *types.Union:
		for term := range t.Terms() {
			s.visit(term.Type())
		}
	}
}

func (s *suspect) named(t *types.Named) {
	if pkg := t.Obj().Pkg(); pkg != nil && pkg != s.rules.pkg {
		if why := s.rules.policy.Type(pkg.Path()); why != "" {
			s.name, s.why = pkg.Name()+"."+t.Obj().Name(), why
		}
		// Another package may define a named type as unsafe.Pointer.
		if b, ok := t.Underlying().(*types.Basic); ok {
			s.visit(b)
		}
	}
	s.args(t.TypeArgs())
}

func (s *suspect) args(list *types.TypeList) {
	for t := range list.Types() {
		s.visit(t)
	}
}

// use refuses an object by the package that declares it.
func (r *rules) use(id *ast.Ident, obj types.Object) {
	if b, ok := obj.(*types.Builtin); ok && (b.Name() == "print" || b.Name() == "println") {
		r.refuse(id.Pos(), "builtin-print", b.Name()+" writes to standard error, which is not graded; remove this call")
		return
	}
	pkg := obj.Pkg()
	if _, isImport := obj.(*types.PkgName); isImport || pkg == nil || pkg == r.pkg {
		return
	}
	if why := r.policy.Type(pkg.Path()); why != "" {
		r.refuse(id.Pos(), "type", "this belongs to package "+verdict.Clip(pkg.Path(), 80)+", which is not allowed: "+why)
		return
	}
	if name := qualified(obj); name != "" {
		if why := r.policy.Selector(pkg.Path(), name); why != "" {
			r.refuse(id.Pos(), "selector", why)
		}
	}
}

// qualified returns the name of an object in its package, Type.Method for a method,
// and "" for a field, which is as open as its type.
func qualified(obj types.Object) string {
	switch obj := obj.(type) {
	case *types.Var:
		if obj.IsField() {
			return ""
		}
	case *types.Func:
		recv := obj.Signature().Recv()
		if recv == nil {
			break
		}
		t := types.Unalias(recv.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		if n, ok := t.(*types.Named); ok {
			return n.Obj().Name() + "." + obj.Name()
		}
		return ""
	}
	return obj.Name()
}
