package mutate

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mistake reports whether an operator makes a mistake of programmers rather than one of
// the classical changes.
func (o Operator) mistake() bool {
	return slices.Contains([]Operator{Near, Copy, State, Lock, Case, Operand, Bound, Narrow, Float32}, o)
}

// mistaker collects the edits that stand for mistakes of programmers.
type mistaker struct {
	*visitor
	counts  map[ast.Node]bool // statements that only move a loop on
	nested  map[ast.Expr]bool // operands of an expression that is changed as a whole
	bounds  map[ast.Expr]bool // conditions of loops
	indices map[ast.Expr]bool // literals that only unrolled code has
	errors  []*types.Var      // the package's own error values, by name
}

func (s *source) mistakes(tree *ast.File, data []byte) []edit {
	v := &visitor{source: s, data: data}
	m := &mistaker{
		visitor: v, errors: s.sentinels(), counts: map[ast.Node]bool{},
		nested: map[ast.Expr]bool{}, bounds: map[ast.Expr]bool{}, indices: map[ast.Expr]bool{},
	}
	for _, decl := range tree.Decls {
		if d, ok := decl.(*ast.FuncDecl); ok && d.Body != nil {
			v.function = functionName(d)
			ast.Inspect(d.Body, m.visit)
			m.kept(d.Body)
		}
	}
	return v.list
}

// sentinels lists the package's error variables.
func (s *source) sentinels() (list []*types.Var) {
	for _, o := range s.info.Defs {
		v, ok := o.(*types.Var)
		if ok && !v.IsField() && v.Parent() != nil && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() && types.Implements(v.Type(), errorInterface) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, func(a, b *types.Var) int { return strings.Compare(a.Name(), b.Name()) })
	return list
}

var errorInterface = errorType.Underlying().(*types.Interface)

func (m *mistaker) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ForStmt:
		m.counts[n.Post], m.bounds[n.Cond] = true, true
	case *ast.BlockStmt:
		m.unlocked(n)
	case *ast.SwitchStmt:
		m.cases(n.Body)
	case *ast.TypeSwitchStmt:
		m.cases(n.Body)
	case *ast.SelectStmt:
		m.cases(n.Body)
	case *ast.CompositeLit:
		m.fields(n)
	case *ast.CallExpr:
		m.call(n)
	case *ast.ReturnStmt:
		m.unwrapped(n)
	case *ast.Ident:
		m.neighbour(n)
	case *ast.BinaryExpr:
		m.operands(n)
		m.limit(n)
		m.single(n)
	case *ast.IncDecStmt:
		if !m.counts[n] {
			m.wrap(n, n.X, strings.TrimSuffix(n.Tok.String(), n.Tok.String()[1:])+" 1", "uint8")
		}
	case *ast.AssignStmt:
		m.sum(n)
	case *ast.IndexExpr:
		m.indices[n.Index] = true
	case *ast.BasicLit:
		m.size(n)
	}
	return true
}

// neighbour puts the package's next error in the place of one.
func (m *mistaker) neighbour(n *ast.Ident) {
	i := slices.IndexFunc(m.errors, func(v *types.Var) bool { return m.info.Uses[n] == v })
	if i < 0 {
		return
	}
	for k := 1; k < len(m.errors); k++ {
		other := m.errors[(i+k)%len(m.errors)]
		if types.Identical(other.Type(), m.errors[i].Type()) {
			m.edit(Near, n.Pos(), n.End(), other.Name())
			return
		}
	}
}

// unwrapped returns one of the errors that another one should have wrapped. Where it wraps
// only one, the two differ in their words alone.
func (m *mistaker) unwrapped(n *ast.ReturnStmt) {
	for _, e := range n.Results {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok || types.ExprString(call.Fun) != "fmt.Errorf" || strings.Count(m.text(call.Args[0]), "%w") == 1 {
			continue
		}
		for _, arg := range call.Args[1:] {
			if types.Identical(m.info.TypeOf(arg), errorType) {
				m.edit(Near, e.Pos(), e.End(), m.text(arg))
			}
		}
	}
}

// aliases are functions that copy their only argument.
var aliases = []string{"slices.Clone", "maps.Clone", "bytes.Clone"}

func (m *mistaker) call(n *ast.CallExpr) {
	switch f := types.ExprString(n.Fun); {
	case slices.Contains(aliases, f) && len(n.Args) == 1:
		m.edit(Copy, n.Pos(), n.End(), m.text(n.Args[0]))
	case f == "append" && len(n.Args) == 2 && n.Ellipsis.IsValid() && m.empty(n.Args[0]):
		m.edit(Copy, n.Pos(), n.End(), m.text(n.Args[1]))
	case f == "copy" && len(n.Args) == 2:
		m.edit(Copy, n.Pos(), n.End(), m.text(n.Args[0])+" = "+m.text(n.Args[1]))
	case f == "context.Cause" && len(n.Args) == 1:
		m.edit(Near, n.Pos(), n.End(), m.text(n.Args[0])+".Err()")
	case f == "fmt.Errorf" && strings.Contains(m.text(n.Args[0]), "%w"):
		m.edit(Near, n.Args[0].Pos(), n.Args[0].End(), strings.ReplaceAll(m.text(n.Args[0]), "%w", "%v"))
	case f == "make" && len(n.Args) == 2 && isChannel(m.info.TypeOf(n.Args[0])):
		m.halve(n.Args[1])
	case f == "min" || f == "max":
		m.halve(n.Args[len(n.Args)-1])
	}
	m.cause(n)
}

// cause takes the cause of a context in the place of its error.
func (m *mistaker) cause(n *ast.CallExpr) {
	s, ok := n.Fun.(*ast.SelectorExpr)
	if ok && s.Sel.Name == "Err" && len(n.Args) == 0 && types.TypeString(m.info.TypeOf(s.X), nil) == "context.Context" {
		m.edit(Near, n.Pos(), n.End(), "context.Cause("+m.text(s.X)+")")
	}
}

func isChannel(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

// empty recognises []T{}, []T(nil) and nil.
func (m *mistaker) empty(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		return len(e.Args) == 1 && m.info.Types[e.Args[0]].IsNil()
	}
	return m.info.Types[e].IsNil()
}

// unlocked leaves out all locking by one mutex in a block.
func (m *mistaker) unlocked(block *ast.BlockStmt) {
	calls := map[string][]ast.Stmt{}
	var order []string
	for _, s := range block.List {
		name := m.locks(s)
		if name != "" && calls[name] == nil {
			order = append(order, name)
		}
		if name != "" {
			calls[name] = append(calls[name], s)
		}
	}
	for _, name := range order {
		if list := calls[name]; len(list) > 1 {
			m.without(Lock, list)
		}
	}
}

// locks returns the expression of the mutex that a statement locks or unlocks.
func (m *mistaker) locks(s ast.Stmt) string {
	var call *ast.CallExpr
	switch s := s.(type) {
	case *ast.DeferStmt:
		call = s.Call
	case *ast.ExprStmt:
		call, _ = s.X.(*ast.CallExpr)
	}
	if call == nil {
		return ""
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock"}, f.Sel.Name) {
		return ""
	}
	return m.text(f.X)
}

// without leaves out statements of one block.
func (m *mistaker) without(op Operator, list []ast.Stmt) {
	from, to := list[0].Pos(), list[len(list)-1].End()
	var text strings.Builder
	at := from
	for _, s := range list {
		text.Write(m.data[m.fset.Position(at).Offset:m.fset.Position(s.Pos()).Offset])
		at = s.End()
	}
	m.edit(op, from, to, text.String())
}

func (m *mistaker) cases(body *ast.BlockStmt) {
	for _, s := range body.List {
		m.edit(Case, s.Pos(), s.End(), "")
	}
}

// fields leaves out each field of a struct's literal.
func (m *mistaker) fields(n *ast.CompositeLit) {
	for i, e := range n.Elts {
		if _, ok := e.(*ast.KeyValueExpr); !ok {
			return
		}
		to := n.Rbrace
		if i+1 < len(n.Elts) {
			to = n.Elts[i+1].Pos()
		}
		m.edit(Operand, e.Pos(), to, "")
	}
}

// operands leaves out either side of && and ||, and either term of a sum of numbers.
func (m *mistaker) operands(n *ast.BinaryExpr) {
	switch {
	case m.info.Types[n].Value != nil:
	case n.Op == token.LAND, n.Op == token.LOR, n.Op == token.ADD && isNumber(m.info.TypeOf(n)):
		m.edit(Operand, n.Pos(), n.End(), m.text(n.X))
		m.edit(Operand, n.Pos(), n.End(), m.text(n.Y))
	}
}

// limit halves or doubles the right side of a comparison of integers. In the condition
// of a loop that would be an index out of range.
func (m *mistaker) limit(n *ast.BinaryExpr) {
	if boundaries[n.Op] != 0 && !m.bounds[n] {
		m.halve(n.Y)
	}
}

// halve halves and doubles a whole number that is not written as a literal.
func (m *mistaker) halve(e ast.Expr) {
	if t := m.info.Types[e]; t.Value != nil || !isInteger(t.Type) {
		return
	}
	m.edit(Bound, e.Pos(), e.End(), "("+m.text(e)+")/2")
	m.edit(Bound, e.Pos(), e.End(), "("+m.text(e)+")*2")
}

// size halves and doubles a literal.
func (m *mistaker) size(n *ast.BasicLit) {
	if n.Kind != token.INT || m.indices[n] {
		return
	}
	x, exact := constant.Int64Val(constant.MakeFromLiteral(n.Value, n.Kind, 0))
	if !exact || x < 2 || x > 1<<40 {
		return
	}
	m.edit(Bound, n.Pos(), n.End(), fmt.Sprint(x/2))
	m.edit(Bound, n.Pos(), n.End(), fmt.Sprint(x*2))
}

func isInteger(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// sum narrows what is added to an integer, and rounds what is added to a float.
func (m *mistaker) sum(n *ast.AssignStmt) {
	if n.Tok != token.ADD_ASSIGN || len(n.Lhs) != 1 || m.counts[n] {
		return
	}
	switch t := m.info.TypeOf(n.Lhs[0]); {
	case isInteger(t):
		m.wrap(n, n.Lhs[0], "+ ("+m.text(n.Rhs[0])+")", "uint16")
	case isFloat64(t):
		m.round(n.Rhs[0])
	}
}

// wrap computes an integer in a narrower type.
func (m *mistaker) wrap(s ast.Stmt, x ast.Expr, change, narrow string) {
	if t := m.info.TypeOf(x); isInteger(t) {
		name := types.TypeString(t, m.qualify)
		m.edit(Narrow, s.Pos(), s.End(), fmt.Sprintf("%s = %s(%s(%s %s))", m.text(x), name, narrow, m.text(x), change))
	}
}

func isFloat64(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Float64
}

// single rounds the result of an outermost expression to single precision.
func (m *mistaker) single(n *ast.BinaryExpr) {
	for _, side := range []ast.Expr{n.X, n.Y} {
		m.nested[ast.Unparen(side)] = true
	}
	if arithmetic[n.Op] != 0 && !m.nested[n] && m.info.Types[n].Value == nil {
		m.round(n)
	}
}

func (m *mistaker) round(e ast.Expr) {
	if t := m.info.Types[e]; t.Value == nil && isFloat64(t.Type) {
		m.edit(Float32, e.Pos(), e.End(), types.TypeString(t.Type, m.qualify)+"(float32("+m.text(e)+"))")
	}
}

// kept makes a local slice, map or pointer one that is kept for the next call.
func (m *mistaker) kept(body *ast.BlockStmt) {
	for _, s := range body.List {
		a, ok := s.(*ast.AssignStmt)
		if ok && a.Tok == token.DEFINE && len(a.Lhs) == 1 && fresh(a.Rhs[0]) {
			m.keep(a, m.text(a.Lhs[0]), m.info.TypeOf(a.Rhs[0]))
		}
	}
}

// fresh reports whether an expression makes a new value: make, new, &T{}, T{}.
func fresh(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		f := types.ExprString(e.Fun)
		return f == "make" || f == "new"
	case *ast.UnaryExpr:
		_, ok := e.X.(*ast.CompositeLit)
		return ok && e.Op == token.AND
	case *ast.CompositeLit:
		return true
	}
	return false
}

func (m *mistaker) keep(s *ast.AssignStmt, name string, t types.Type) {
	same := "ok"
	switch t.Underlying().(type) {
	case *types.Slice:
		same = "ok && len(k) == len(" + name + ")"
	case *types.Map, *types.Pointer:
	default:
		return
	}
	text := fmt.Sprintf("%s\n\tif k, ok := kept.(%s); %s {\n\t\t%s = k\n\t}\n\tkept = %s",
		m.text(s), types.TypeString(t, m.qualify), same, name, name)
	m.edit(State, s.Pos(), s.End(), text)
	m.list[len(m.list)-1].global = "var kept any"
}
