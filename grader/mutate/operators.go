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

// Operator is a kind of change to a program.
type Operator string

// The operators, in the order of how much a survivor tells about missing tests.
const (
	Statement  Operator = "statement"  // an assignment, a call or the body of an if is left out
	Error      Operator = "error"      // an error is not returned
	Return     Operator = "return"     // a function returns zeros before it does anything
	Condition  Operator = "condition"  // == for !=, < for >=
	Logic      Operator = "logic"      // && for ||
	Negation   Operator = "negation"   // a sign or a not is dropped, a condition turned round
	Arguments  Operator = "arguments"  // two arguments of one type change places
	Arithmetic Operator = "arithmetic" // + for -, * for /, << for >>, ++ for --
	Loop       Operator = "loop"       // a loop ends after its first round; break for continue
	Boundary   Operator = "boundary"   // < for <=
	Constant   Operator = "constant"   // a number that is one off, true for false

	// Mistakes that programmers make, beside the classical operators above.
	Near    Operator = "near"    // another error than the right one: a sentinel's neighbour, a cause, one that wraps nothing
	Copy    Operator = "copy"    // the original instead of a copy
	State   Operator = "state"   // a slice, map or pointer that is kept for the next call
	Lock    Operator = "lock"    // nothing is locked
	Case    Operator = "case"    // a case of a switch or select is left out
	Operand Operator = "operand" // an operand of several, or a field of a literal, is left out
	Bound   Operator = "bound"   // a bound is halved or doubled
	Narrow  Operator = "narrow"  // a counter wraps at 256, a sum of integers at 65536
	Float32 Operator = "float32" // an intermediate result has single precision
)

// Operators lists all of them in that order.
var Operators = []Operator{Statement, Error, Near, Copy, State, Lock, Case, Operand, Return, Condition, Logic, Negation, Arguments,
	Arithmetic, Bound, Narrow, Float32, Loop, Boundary, Constant}

var (
	opposites = map[token.Token]token.Token{
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
	}
	boundaries = map[token.Token]token.Token{
		token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	}
	connectives = map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND}
	arithmetic  = map[token.Token]token.Token{
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
		token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND, token.AND_NOT: token.AND, token.SHL: token.SHR, token.SHR: token.SHL,
		token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN,
		token.QUO_ASSIGN: token.MUL_ASSIGN, token.REM_ASSIGN: token.MUL_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN,
		token.OR_ASSIGN: token.AND_ASSIGN, token.XOR_ASSIGN: token.AND_ASSIGN, token.AND_NOT_ASSIGN: token.AND_ASSIGN,
		token.SHL_ASSIGN: token.SHR_ASSIGN, token.SHR_ASSIGN: token.SHL_ASSIGN,
		token.INC: token.DEC, token.DEC: token.INC,
	}
)

// visitor collects the edits of one file.
type visitor struct {
	*source
	data     []byte
	function string
	results  []*types.Tuple    // of the functions around, the innermost last
	settled  map[ast.Expr]bool // values that no test can check: returned beside an error, or the sign of an infinity
	list     []edit
}

// edits returns every change that the operators make to a file. The mistakes come
// last: a mutant that a classical operator makes as well keeps the ID it has by that.
func (s *source) edits(tree *ast.File, data []byte) []edit {
	v := &visitor{source: s, data: data, settled: map[ast.Expr]bool{}}
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				v.function = functionName(d)
				v.body(d.Name, d.Body)
			}
		case *ast.GenDecl:
			if d.Tok == token.CONST || d.Tok == token.VAR {
				v.function = d.Tok.String()
				v.inspect(d)
			}
		}
	}
	return append(v.list, s.mistakes(tree, data)...)
}

func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	switch x := t.(type) {
	case *ast.IndexExpr:
		t = x.X
	case *ast.IndexListExpr:
		t = x.X
	}
	return types.ExprString(t) + "." + d.Name.Name
}

// body visits the body of a function; fn is its name or its literal.
func (v *visitor) body(fn ast.Expr, body *ast.BlockStmt) {
	var signature *types.Signature
	if id, ok := fn.(*ast.Ident); ok {
		signature, _ = v.info.Defs[id].Type().(*types.Signature)
	} else {
		signature, _ = v.info.Types[fn].Type.(*types.Signature)
	}
	if signature == nil {
		return
	}
	v.results = append(v.results, signature.Results())
	v.early(signature.Results(), body)
	v.inspect(body)
	v.results = v.results[:len(v.results)-1]
}

// early makes a function return at once.
func (v *visitor) early(results *types.Tuple, body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	var zeros []string
	for result := range results.Variables() {
		zeros = append(zeros, v.zero(result.Type()))
	}
	at := body.Lbrace + 1
	if results.Len() > 0 && results.At(0).Name() != "" {
		zeros = nil
	}
	// After a plain return, the compiler would complain about unused variables.
	v.edit(Return, at, at, "\n\tif true {\n\t\treturn "+strings.Join(zeros, ", ")+"\n\t}\n")
}

// zero returns the zero value of a type as source code.
func (v *visitor) zero(t types.Type) string {
	if _, ok := t.(*types.TypeParam); !ok {
		switch u := t.Underlying().(type) {
		case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature, *types.Interface:
			return "nil"
		case *types.Basic:
			switch {
			case u.Info()&types.IsNumeric != 0:
				return "0"
			case u.Info()&types.IsString != 0:
				return `""`
			case u.Info()&types.IsBoolean != 0:
				return "false"
			}
		}
	}
	return "*new(" + types.TypeString(t, v.qualify) + ")"
}

// qualify returns the name of a package in the original's files.
func (v *visitor) qualify(p *types.Package) string {
	if p.Path() == "mutated" {
		return ""
	}
	return p.Name()
}

func (v *visitor) inspect(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			v.body(n, n.Body)
			return false
		case *ast.BlockStmt:
			v.statements(n.List)
		case *ast.CaseClause:
			v.statements(n.Body)
		case *ast.CommClause:
			v.statements(n.Body)
		case *ast.IfStmt:
			v.conditional(n)
		case *ast.ForStmt:
			v.once(n.Body)
		case *ast.RangeStmt:
			v.once(n.Body)
		case *ast.BranchStmt:
			v.branch(n)
		case *ast.ReturnStmt:
			v.dropErrors(n)
		case *ast.BinaryExpr:
			v.binary(n)
		case *ast.UnaryExpr:
			v.unary(n)
		case *ast.CallExpr:
			v.swap(n)
			v.sign(n)
		case *ast.AssignStmt:
			v.token(Arithmetic, arithmetic, n.Tok, n.TokPos, n.Lhs[0])
		case *ast.IncDecStmt:
			v.token(Arithmetic, arithmetic, n.Tok, n.TokPos, n.X)
		case *ast.BasicLit:
			v.literal(n)
		case *ast.Ident:
			v.truth(n)
		}
		return true
	})
}

func (v *visitor) edit(op Operator, from, to token.Pos, text string) {
	v.list = append(v.list, edit{from: v.fset.Position(from).Offset, to: v.fset.Position(to).Offset, text: text, function: v.function, operator: op})
}

func (v *visitor) text(n ast.Node) string {
	return string(v.data[v.fset.Position(n.Pos()).Offset:v.fset.Position(n.End()).Offset])
}

func (v *visitor) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		case *ast.ReturnStmt:
			if len(s.Results) > 0 {
				continue
			}
		default:
			continue
		}
		v.edit(Statement, s.Pos(), s.End(), "")
	}
}

func (v *visitor) conditional(n *ast.IfStmt) {
	if len(n.Body.List) > 0 {
		v.edit(Statement, n.Body.Lbrace+1, n.Body.Rbrace, "\n")
	}
	switch c := ast.Unparen(n.Cond).(type) {
	case *ast.BinaryExpr:
	case *ast.UnaryExpr:
		if c.Op != token.NOT {
			v.edit(Negation, n.Cond.Pos(), n.Cond.End(), "!("+v.text(n.Cond)+")")
		}
	default:
		v.edit(Negation, n.Cond.Pos(), n.Cond.End(), "!("+v.text(n.Cond)+")")
	}
}

// once ends a loop after its first round.
func (v *visitor) once(body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	switch body.List[len(body.List)-1].(type) {
	case *ast.BranchStmt, *ast.ReturnStmt: // the loop's body decides itself how to go on
	default:
		v.edit(Loop, body.Rbrace, body.Rbrace, "\nbreak\n")
	}
}

func (v *visitor) branch(n *ast.BranchStmt) {
	swap := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}
	if other := swap[n.Tok]; other != "" && n.Label == nil {
		v.edit(Loop, n.Pos(), n.End(), other)
	}
}

var errorType = types.Universe.Lookup("error").Type()

func (v *visitor) dropErrors(n *ast.ReturnStmt) {
	results := v.results[len(v.results)-1]
	if results.Len() != len(n.Results) {
		return
	}
	for i, e := range n.Results {
		if types.Identical(results.At(i).Type(), errorType) && !v.info.Types[e].IsNil() {
			v.edit(Error, e.Pos(), e.End(), "nil")
			for _, other := range n.Results {
				v.settled[other] = true
			}
		}
	}
}

func (v *visitor) binary(n *ast.BinaryExpr) {
	if t := v.info.Types[n]; t.Value != nil && v.function != "const" && v.function != "var" {
		// literal changes the literals of a constant expression.
		return
	}
	v.token(Condition, opposites, n.Op, n.OpPos, nil)
	v.token(Boundary, boundaries, n.Op, n.OpPos, nil)
	v.token(Logic, connectives, n.Op, n.OpPos, nil)
	v.token(Arithmetic, arithmetic, n.Op, n.OpPos, n.X)
}

// token replaces a token by its counterpart. The operand, if given, must be a number.
func (v *visitor) token(op Operator, counterparts map[token.Token]token.Token, tok token.Token, at token.Pos, operand ast.Expr) {
	other, ok := counterparts[tok]
	if !ok {
		return
	}
	if operand != nil && !isNumber(v.info.TypeOf(operand)) {
		return
	}
	v.edit(op, at, at+token.Pos(len(tok.String())), other.String())
}

// isNumber accepts a type parameter as well: a mutant that does not compile is dropped.
func isNumber(t types.Type) bool {
	if _, ok := t.(*types.TypeParam); ok || t == nil {
		return ok
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

func (v *visitor) unary(n *ast.UnaryExpr) {
	if n.Op == token.NOT || n.Op == token.SUB && v.info.Types[n].Value == nil {
		v.edit(Negation, n.OpPos, n.OpPos+1, "")
	}
}

// symmetric are functions whose arguments may change places. fmt.Errorf is one of them
// because no test checks the text of an error.
var symmetric = []string{"fmt.Errorf", "min", "max", "math.Max", "math.Min", "math.Hypot", "bits.Mul64", "bits.Mul"}

// swap exchanges two adjacent arguments of one type.
func (v *visitor) swap(n *ast.CallExpr) {
	if v.info.Types[n.Fun].IsType() || slices.Contains(symmetric, types.ExprString(n.Fun)) {
		return
	}
	for i := 1; i < len(n.Args); i++ {
		a, b := n.Args[i-1], n.Args[i]
		if types.Identical(v.info.Types[a].Type, v.info.Types[b].Type) && v.text(a) != v.text(b) {
			v.edit(Arguments, a.Pos(), b.End(), v.text(b)+", "+v.text(a))
		}
	}
}

// sign negates an infinity. It keeps literal from changing the sign to 0, which means
// the same as 1 there.
func (v *visitor) sign(n *ast.CallExpr) {
	if f := types.ExprString(n.Fun); f != "math.Inf" && f != "math.IsInf" {
		return
	}
	last := n.Args[len(n.Args)-1]
	if minus, ok := last.(*ast.UnaryExpr); ok {
		last = minus.X
	}
	v.settled[last] = true
	if at := n.Args[len(n.Args)-1]; v.text(at) == "1" {
		v.edit(Constant, at.Pos(), at.End(), "-1")
	}
}

// literal adds one to a number, and changes 1 to 0.
func (v *visitor) literal(n *ast.BasicLit) {
	if n.Kind != token.INT && n.Kind != token.FLOAT || v.settled[n] {
		return
	}
	x := constant.MakeFromLiteral(n.Value, n.Kind, 0)
	other := constant.BinaryOp(x, token.ADD, constant.MakeInt64(1))
	if constant.Compare(x, token.EQL, constant.MakeInt64(1)) {
		other = constant.MakeInt64(0)
	}
	text := other.ExactString()
	if n.Kind == token.FLOAT {
		was, _ := constant.Float64Val(x)
		is, _ := constant.Float64Val(other)
		if is == was {
			return
		}
		if text = fmt.Sprint(is); !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
	}
	v.edit(Constant, n.Pos(), n.End(), text)
}

func (v *visitor) truth(n *ast.Ident) {
	if v.settled[n] {
		return
	}
	if c, ok := v.info.Uses[n].(*types.Const); ok && c.Pkg() == nil && c.Parent() == types.Universe {
		switch n.Name {
		case "true":
			v.edit(Constant, n.Pos(), n.End(), "false")
		case "false":
			v.edit(Constant, n.Pos(), n.End(), "true")
		}
	}
}
