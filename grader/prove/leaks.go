package prove

import (
	"cmp"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"grade/exercises/course"
	"grade/grader"
	"grade/observe/wire"
)

// The least size of a value that counts as a leak; a shorter one is in any source by
// chance.
const (
	leakDigits = 4 // significant ones, of a number
	leakLength = 8 // bytes of a text
)

// leaks finds expected values in hidden tests. A submission runs in the program that
// these tests are compiled into, and can search it: a literal that the reference answers
// on every input is such a value. It ignores small numbers, and texts that no test
// compares with anything, such as labels.
type leaks struct {
	literals map[any][]literal // by their value: a float64, without its sign, or a string
	seen     map[sighting]int  // number of runs
	runs     map[string]int    // of each check
}

type literal struct {
	file string // below the course's root
	line int
	text string
}

// sighting is a value that a check has observed of the reference.
type sighting struct {
	check string
	value any
}

// newLeaks reads the hidden tests in the folder dir.
func newLeaks(dir string, hidden []course.File) *leaks {
	l := &leaks{map[any][]literal{}, map[sighting]int{}, map[string]int{}}
	for _, f := range hidden {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, f.Name, f.Data, parser.SkipObjectResolution)
		if err != nil {
			continue // Load reports it
		}
		ast.PreorderStack(tree, nil, func(n ast.Node, stack []ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok {
				if v := valueOf(lit, stack); v != nil {
					l.literals[v] = append(l.literals[v], literal{path.Join(dir, f.Name), fset.Position(lit.Pos()).Line, lit.Value})
				}
			}
			return true
		})
	}
	return l
}

// valueOf returns the value of a literal that can be an expected value; else nil.
func valueOf(lit *ast.BasicLit, stack []ast.Node) any {
	switch lit.Kind {
	case token.INT, token.FLOAT:
		x, _ := constant.Float64Val(constant.ToFloat(constant.MakeFromLiteral(lit.Value, lit.Kind, 0)))
		if long(x) {
			return x
		}
	case token.STRING:
		s, err := strconv.Unquote(lit.Value)
		if err == nil && len(s) >= leakLength && compared(stack) {
			return s
		}
	}
	return nil
}

// long reports whether a number has enough digits. A power of two has not, because it
// is usually a size.
func long(x float64) bool {
	if frac, _ := math.Frexp(x); frac == 0.5 || math.IsInf(x, 0) {
		return false
	}
	digits, _, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	return len(strings.Replace(digits, ".", "", 1)) >= leakDigits
}

// compared reports whether the innermost node compares its operand with a value. A text
// elsewhere, as in a table, is a label or a sentinel's name more often than an answer.
func compared(stack []ast.Node) bool {
	switch n := stack[len(stack)-1].(type) {
	case *ast.BinaryExpr:
		return n.Op == token.EQL || n.Op == token.NEQ
	case *ast.CaseClause:
		return true
	}
	return false
}

// hear takes what a run of the reference has recorded.
func (l *leaks) hear(run grader.Run) {
	if s, err := wire.Decode(run.Reference.Observations); err == nil {
		l.observe(run.Check, s.Records)
	}
}

// observe counts the literals that a run of the reference records.
func (l *leaks) observe(check course.Check, records []wire.Record) {
	here := map[any]bool{}
	note := func(v any) {
		if _, ok := l.literals[v]; ok {
			here[v] = true
		}
	}
	for _, r := range records {
		note(r.Value.String)
		for _, s := range r.Value.Strings {
			note(s)
		}
		note(math.Abs(float64(r.Value.Int)))
		for _, n := range r.Value.Ints {
			note(math.Abs(float64(n)))
		}
		note(math.Abs(r.Value.Float))
		for _, x := range r.Value.Floats {
			note(math.Abs(x))
		}
	}
	l.runs[check.Name]++
	for v := range here {
		l.seen[sighting{check.Name, v}]++
	}
}

// findings returns the literals that a check has observed in every one of several runs.
func (l *leaks) findings() (list []Finding) {
	for s, runs := range l.seen {
		if runs < 2 || runs < l.runs[s.check] {
			continue
		}
		for _, at := range l.literals[s.value] {
			list = append(list, Finding{at.file, at.line, at.text + " is what " + s.check + " observes of the reference, whatever the seed: an expected value does not belong into the program that a submission runs in; make it depend on o.Rand(), or leave it to the reference"})
		}
	}
	slices.SortFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	return list
}
