package mutate

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mutantsOf returns the mutants of a package with one file, given without its package
// clause.
func mutantsOf(t *testing.T, code string) []Mutant {
	t.Helper()
	list, err := Of(t.Context(), []File{{Name: "a.go", Data: []byte("package a\n\n" + strings.TrimSpace(code) + "\n")}})
	require.NoError(t, err)
	return list
}

// changes are the lines that an operator's mutants have instead of others; a
// mutant that only leaves something out has "".
func changes(list []Mutant, op Operator) (lines []string) {
	for _, m := range list {
		if m.Operator != op {
			continue
		}
		var added []string
		for l := range strings.Lines(m.Diff) {
			if rest, ok := strings.CutPrefix(l, "+"); ok && strings.TrimSpace(rest) != "" {
				added = append(added, strings.TrimSpace(rest))
			}
		}
		lines = append(lines, strings.Join(added, " "))
	}
	return lines
}

func TestOperators(t *testing.T) {
	if testing.Short() {
		t.Skip("reads much, and nothing runs beside it")
	}
	for _, c := range []struct {
		op   Operator
		code string
		want []string
	}{
		{Statement, "var n int\n\nfunc F() {\n\tn = 3\n\tn++\n}", []string{"", ""}},
		{Statement, "var n int\n\nfunc F(x int) {\n\tif x > 2 {\n\t\tn--\n\t}\n}", []string{""}},
		{Statement, "var n int\n\nfunc F(x int) {\n\tif x > 2 {\n\t\tn--\n\t\tn = x\n\t}\n}", []string{"", "", ""}},
		{Statement, "func F(x int) int { y := x; return y }", nil},
		{Error, "import \"errors\"\n\nvar one = errors.New(\"one\")\n\nfunc F(x int) (int, error) {\n\tif x == 1 {\n\t\treturn 0, one\n\t}\n\treturn x, nil\n}", []string{"return 0, nil"}},
		{Return, "func F(x int) (string, *int) {\n\treturn \"a\", &x\n}", []string{`if true { return "", nil }`}},
		{Return, "type t struct{ x int }\n\nfunc F() (t, [2]bool, float64) {\n\treturn t{1}, [2]bool{}, 1\n}", []string{"if true { return *new(t), *new([2]bool), 0 }"}},
		{Return, "func F(x int) (y int) {\n\ty = x\n\treturn\n}", []string{"if true { return }"}},
		{Condition, "func F(x, y int) bool {\n\treturn x < y || x == 3\n}", []string{"return x >= y || x == 3", "return x < y || x != 3"}},
		{Logic, "func F(x, y bool) bool {\n\treturn x && !y\n}", []string{"return x || !y"}},
		{Negation, "func F(x bool, y int) int {\n\tif x {\n\t\treturn -y\n\t}\n\tif !x {\n\t\treturn 2\n\t}\n\treturn 0\n}", []string{"if !(x) {", "return y", "if x {"}},
		{Arguments, "func f(x, y int, s string) int { return x - y }\n\nfunc F(x, y int) int {\n\treturn f(x, y, \"\") + max(x, y)\n}", []string{"return f(y, x, \"\") + max(x, y)"}},
		{Arguments, "import \"fmt\"\n\nfunc F(x, y error) error {\n\treturn fmt.Errorf(\"%w: %w\", x, y)\n}", nil},
		{Arithmetic, "func F(x, y int, s string) int {\n\ts += s + s\n\tx += y\n\treturn x*y + x%2\n}", []string{"x -= y", "return x*y - x%2", "return x/y + x%2", "return x*y + x*2"}},
		{Loop, "func F(xs []int) (n int) {\n\tfor _, x := range xs {\n\t\tif x == 0 {\n\t\t\tcontinue\n\t\t}\n\t\tn += x\n\t}\n\treturn n\n}", []string{"break", "break"}},
		{Boundary, "func F(x int) bool {\n\treturn x < 2 && x >= 0 && x != 1\n}", []string{"return x < 2 && x > 0 && x != 1", "return x <= 2 && x >= 0 && x != 1"}},
		{Constant, "import \"errors\"\n\nfunc F(x int) (int, bool, error) {\n\tif x > 2 {\n\t\treturn 7, true, errors.New(\"large\")\n\t}\n\treturn 3, false, nil\n}",
			[]string{"if x > 3 {", "return 4, false, nil", "return 3, true, nil"}},
		{Constant, "import \"math\"\n\nfunc F(x float64) (float64, bool) {\n\treturn math.Inf(-1) + math.Inf(1), math.IsInf(x, 0)\n}", []string{"return math.Inf(-1) + math.Inf(-1), math.IsInf(x, 0)"}},
		{Constant, "const eps = 1e-3\n\nfunc F(x float64) (float64, bool) {\n\treturn x + eps*1 + 2.5, true\n}",
			[]string{"const eps = 1.001", "return x + eps*1 + 3.5, true", "return x + eps*0 + 2.5, true", "return x + eps*1 + 2.5, false"}},
		// A floating-point literal changes to another floating-point literal.
		{Constant, "func F() float64 {\n\tx := 1.0\n\treturn x / 4.0\n}", []string{"x := 0.0", "return x / 5.0"}},
		{Constant, "func F() float64 { return 1e300 }", nil},
	} {
		assert.ElementsMatch(t, c.want, changes(mutantsOf(t, c.code), c.op), "%s of\n%s", c.op, c.code)
	}
}

// Every mutant compiles, and no two are the same program.
func TestMutantsCompileAndDiffer(t *testing.T) {
	list := mutantsOf(t, "func F(x int) int {\n\tvar y int\n\ty = x + 1\n\tif y > 3 {\n\t\treturn 2\n\t}\n\treturn y\n}")
	require.NotEmpty(t, list)
	seen := map[string]bool{}
	for _, m := range list {
		assert.False(t, seen[string(m.Data)], m.Diff)
		seen[string(m.Data)] = true
		_, err := Of(t.Context(), []File{{Name: "a.go", Data: m.Data}})
		assert.NoError(t, err, m.Diff)
	}
}

// An ID outlives changes elsewhere in the file, because equivalent.yaml names it.
func TestIDsStay(t *testing.T) {
	ids := func(code string) (list []string) {
		for _, m := range mutantsOf(t, code) {
			list = append(list, m.ID)
		}
		return list
	}
	f := "func F(x int) int {\n\treturn x + x + 3\n}\n"
	before, after := ids(f), ids("// G is new.\nfunc G() int { return 7 }\n\n"+f)
	require.NotEmpty(t, before)
	assert.Subset(t, after, before)
	slices.Sort(before)
	assert.Len(t, slices.Compact(before), len(before), "no ID twice")
	assert.Contains(t, before[0], "a.go:F:")
}

func TestOfRefusesABrokenPackage(t *testing.T) {
	for code, want := range map[string]string{
		"package a\nfunc":                             "expected '('",
		"package a\n\nvar x int = \"\"\n":             "cannot use",
		"package a\n\nimport _ \"no/such/package\"\n": "no/such/package",
	} {
		_, err := Of(t.Context(), []File{{Name: "a.go", Data: []byte(code)}})
		require.ErrorContains(t, err, want)
	}
}

func TestKeptFilesHaveNoMutants(t *testing.T) {
	list, err := Of(t.Context(), []File{
		{Name: "a.go", Data: []byte("package a\n\nfunc F() int { return G() + 2 }\n")},
		{Name: "b.go", Data: []byte("package a\n\nfunc G() int { return 3 }\n"), Keep: true},
	})
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for _, m := range list {
		assert.Equal(t, "a.go", m.File)
	}
}
