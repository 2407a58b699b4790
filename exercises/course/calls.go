package course

import "go/ast"

// facts say what a function does, itself or in a function that it calls.
type facts struct{ observes, selfReports bool }

// calls is the call graph of the package hidden, by bare names: a function counts as
// calling every name that it mentions, and methods of one name count as one. The graph
// may hold calls that do not happen, which is good enough to find a test that records
// nothing.
type calls map[string]*node

type node struct {
	facts
	mentions map[string]bool
}

// add adds fn, from a file that imports the kit as kitName ("" if it does not).
func (c calls) add(fn *ast.FuncDecl, kitName string) {
	n := c[fn.Name.Name]
	if n == nil {
		n = &node{mentions: map[string]bool{}}
		c[fn.Name.Name] = n
	}
	if fn.Body == nil {
		return
	}
	ast.Inspect(fn.Body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.Ident:
			n.mentions[x.Name] = true
		case *ast.CallExpr:
			n.call(x, kitName)
		}
		return true
	})
}

func (n *node) call(x *ast.CallExpr, kitName string) {
	sel, ok := x.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	if sel.Sel.Name == "SelfReported" {
		n.selfReports = true
	}
	if on, ok := sel.X.(*ast.Ident); ok && kitName != "" && on.Name == kitName && sel.Sel.Name == "New" {
		n.observes = true
	}
}

// from returns the facts about a function and its callees.
func (c calls) from(name string) (f facts) {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		n := c[name]
		if n == nil || seen[name] {
			return
		}
		seen[name] = true
		f.observes = f.observes || n.observes
		f.selfReports = f.selfReports || n.selfReports
		for m := range n.mentions {
			visit(m)
		}
	}
	visit(name)
	return f
}
